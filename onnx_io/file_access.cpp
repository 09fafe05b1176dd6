#include "onnx_io/file_access.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <deque>
#include <utility>

#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

// As many links as Linux itself follows in one path.
constexpr int kMaxLinks = 40;

std::string reason(int error) {
  return std::strerror(error);
}

// Checks what was opened, not what the name pointed to before.
OpenFile checked_regular(FileHandle handle, std::string name, ErrorCode code) {
  struct stat info = {};
  if (fstat(handle.get(), &info) != 0) fail(code, name, ": can't be examined: ", reason(errno));
  if (S_ISDIR(info.st_mode)) fail(code, name, ": is a directory, expected a regular file");
  if (!S_ISREG(info.st_mode)) fail(code, name, ": is not a regular file");
  return {std::move(handle), static_cast<uint64_t>(info.st_size), std::move(name)};
}

// The components of a path, "" and "." left out.
std::deque<std::string> components(std::string_view path) {
  std::deque<std::string> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

std::string link_target(int folder, const std::string& name) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(folder, name.c_str(), target, sizeof target);
  return length < 0 ? std::string() : std::string(target, static_cast<size_t>(length));
}

// Walks a path component by component; see Sandbox.
class Walk {
 public:
  Walk(int root, std::string_view location) : location_(location) {
    folders_.emplace_back(dup(root));
    if (folders_.back().get() < 0) refuse(reason(errno));
  }

  OpenFile run(std::deque<std::string> todo) {
    while (!todo.empty()) {
      const std::string name = std::move(todo.front());
      todo.pop_front();
      if (name == "..") {
        leave();
      } else if (FileHandle file = step(name, todo); file.get() >= 0) {
        return checked_regular(std::move(file), text("external data file ", location_),
                               ErrorCode::kInvalidModel);
      }
    }
    refuse("is a directory, expected a regular file");
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    fail(ErrorCode::kInvalidModel, "external data location \"", location_, "\": ", why);
  }

  void leave() {
    if (folders_.size() == 1) refuse("the path leaves the directory of the model");
    folders_.pop_back();
  }

  // Goes into a folder, puts a link's target in front of what is left to do, or gives back the file
  // at the end.
  FileHandle step(const std::string& name, std::deque<std::string>& todo) {
    const bool last = todo.empty();
    const int kind = last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_RDONLY | O_DIRECTORY;
    const int opened = openat(folders_.back().get(), name.c_str(), kind | O_NOFOLLOW | O_CLOEXEC);
    if (opened >= 0 && last) return FileHandle(opened);
    if (opened >= 0) {
      folders_.emplace_back(opened);
      return FileHandle();
    }
    const int error = errno;
    const std::string target = link_target(folders_.back().get(), name);
    if (target.empty()) refuse(text("can't be opened: ", reason(error)));
    if (++links_ > kMaxLinks) refuse("too many symbolic links, or a loop of them");
    if (target.front() == '/') refuse("a symbolic link leads outside the directory of the model");
    std::deque<std::string> parts = components(target);
    todo.insert(todo.begin(), parts.begin(), parts.end());
    return FileHandle();
  }

  std::string location_;
  std::vector<FileHandle> folders_;  // from the root down to where the walk is
  int links_ = 0;
};

class MappedBuffer : public Buffer {
 public:
  MappedBuffer(void* data, size_t size, std::string origin)
      : Buffer(data, size), origin_(std::move(origin)) {}
  ~MappedBuffer() override { munmap(data_, size_); }
  std::string origin() const override { return origin_; }

 private:
  std::string origin_;
};

}  // namespace

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) close(descriptor_);
}

int FileHandle::release() {
  return std::exchange(descriptor_, -1);
}

OpenFile open_regular(const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (name.find('\0') != std::string::npos) {
    fail(ErrorCode::kInvalidArgument, "a file name holds a NUL byte");
  }
  if (name.empty()) fail(ErrorCode::kInvalidArgument, "expected the path of a file, got \"\"");
  // Without O_NONBLOCK, opening a FIFO would wait for its writer.
  FileHandle handle(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (handle.get() < 0)
    fail(ErrorCode::kInvalidArgument, name, ": can't be opened: ", reason(errno));
  return checked_regular(std::move(handle), name, ErrorCode::kInvalidArgument);
}

Sandbox::Sandbox(const std::filesystem::path& root, const std::filesystem::path& base)
    : root_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (root_.get() < 0) {
    fail(ErrorCode::kInvalidArgument, root.native(),
         ": can't be opened as a folder: ", reason(errno));
  }
  std::error_code error;
  const std::filesystem::path real_root = std::filesystem::canonical(root, error);
  const std::filesystem::path real_base = std::filesystem::canonical(base, error);
  const std::filesystem::path inside = real_base.lexically_relative(real_root);
  if (error || inside.empty() || *inside.begin() == "..") {
    fail(ErrorCode::kInvalidArgument, "the allowed root ", root.native(),
         " does not hold the model's folder ", base.native());
  }
  for (std::string& part : components(inside.native()))
    base_.push_back(std::move(part));
}

OpenFile Sandbox::open(std::string_view location) const {
  const auto refuse = [&](std::string_view why) {
    const std::string_view shown = location.substr(0, location.find('\0'));
    fail(ErrorCode::kInvalidModel, "external data location \"", shown, "\": ", why);
  };
  if (location.empty()) refuse("is empty");
  if (location.front() == '/') refuse("an absolute path is not allowed");
  if (location.find('\0') != std::string_view::npos) refuse("the path holds a NUL byte");
  if (location.size() >= PATH_MAX) refuse("the path is too long");
  std::deque<std::string> todo = components(location);
  todo.insert(todo.begin(), base_.begin(), base_.end());
  return Walk(root_.get(), location).run(std::move(todo));
}

namespace {

// Does the system's clock of files, which ticks every few milliseconds, perhaps still show this
// time? Then the next change does not show.
bool is_fresh(const timespec& changed) {
  using namespace std::chrono;
  constexpr milliseconds kTick{20};
  const auto at = seconds(changed.tv_sec) + nanoseconds(changed.tv_nsec);
  return system_clock::now().time_since_epoch() - at < kTick;
}

}  // namespace

std::string identity_of(const OpenFile& file) {
  struct stat info = {};
  if (fstat(file.handle.get(), &info) != 0 || is_fresh(info.st_ctim)) return "";
  const auto time = [](const timespec& at) { return text(at.tv_sec, ".", at.tv_nsec); };
  return text("file ", info.st_dev, ":", info.st_ino, " of ", info.st_size, " bytes, written ",
              time(info.st_mtim), ", changed ", time(info.st_ctim));
}

std::shared_ptr<Buffer> map_file(const OpenFile& file) {
  void* data = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.handle.get(), 0);
  if (data == MAP_FAILED) {
    fail(ErrorCode::kResourceExhausted, file.name, ": can't map ", file.size,
         " bytes: ", reason(errno));
  }
  return std::make_shared<MappedBuffer>(data, file.size, identity_of(file));
}

void forget_pages(const std::byte* begin, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(begin);
  // Pages at the ends hold something else as well.
  const uintptr_t first = (address + page - 1) / page * page,
                  last = (address + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

void read_exactly(const OpenFile& file, uint64_t offset, void* out, size_t bytes) {
  // Small enough that a cancellation acts soon.
  constexpr size_t kPiece = size_t{16} << 20;
  auto* to = static_cast<std::byte*>(out);
  while (bytes > 0) {
    check_interrupted();
    const ssize_t got =
        pread(file.handle.get(), to, std::min(bytes, kPiece), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorCode::kInvalidArgument, file.name, ": can't be read: ", reason(errno));
    if (got == 0) fail(ErrorCode::kInvalidArgument, file.name, ": ends early at byte ", offset);
    to += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
}

}  // namespace sardonyx
