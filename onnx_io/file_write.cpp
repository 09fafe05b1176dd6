#include "onnx_io/file_write.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ir/core/error.h"
#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

constexpr mode_t kMode = 0666;  // as any new file; the user's mask applies

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.native().find('\0') != std::string::npos) {
    fail(ErrorCode::kInvalidArgument, "a file name holds a NUL byte");
  }
  // A name of its own for each writer; O_EXCL makes sure of it.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && descriptor_ < 0; ++i) {
    temporary_ = path_;
    temporary_ += text(".", getpid(), ".", i, ".tmp");
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor_ < 0 && errno != EEXIST) fail_write("can't be created", errno);
  }
  if (descriptor_ < 0) fail_write("can't be created", EEXIST);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::fail_write(std::string_view what, int error) const {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  fail(full ? ErrorCode::kResourceExhausted : ErrorCode::kInvalidArgument, path_.native(), ": ",
       what, ": ", std::strerror(error));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  // Small enough that a cancellation acts soon.
  constexpr size_t kPiece = size_t{16} << 20;
  while (!bytes.empty()) {
    check_interrupted();
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kPiece));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_write("can't be written", errno);
    size_ += static_cast<uint64_t>(put);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
}

void AtomicFile::pad_to(uint64_t alignment) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  uint64_t missing = (alignment - size_ % alignment) % alignment;
  while (missing > 0) {
    const size_t piece = std::min<uint64_t>(missing, kZeros.size());
    write(std::span(kZeros).first(piece));
    missing -= piece;
  }
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) fail_write("can't be brought to the disk", errno);
  if (close(std::exchange(descriptor_, -1)) != 0) fail_write("can't be written", errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail_write("can't be renamed to", errno);
  temporary_.clear();
  // The folder's entry as well, so that a power loss does not bring the old file back. Some file
  // systems can't.
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const int handle = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;
  fsync(handle);
  close(handle);
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(bytes)));
  file.commit();
}

}  // namespace sardonyx
