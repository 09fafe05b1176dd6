#include "onnx_io/file_write.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "ir/core/error.h"
#include "ir/core/run_control.h"
#include "onnx_io/unfinished_files.h"

namespace sardonyx {
namespace {

constexpr mode_t kMode = 0666;  // as any new file; the user's mask applies

bool is_link(const std::filesystem::path& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

// The N of /proc/self/fd/N; below 0 for other paths.
int own_descriptor(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(path.parent_path(), error);
  if (error || folder != text("/proc/", getpid(), "/fd")) return -1;
  return std::atoi(path.filename().c_str());
}

// A write beyond the process's limit of file sizes (RLIMIT_FSIZE) is an error (EFBIG) while one of
// these is there, and does not end the program by SIGXFSZ, which goes to the thread that writes.
class FileSizeSignalScope {
 public:
  FileSizeSignalScope() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalScope() {
    const int error = errno;
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  FileSizeSignalScope(const FileSizeSignalScope&) = delete;
  FileSizeSignalScope& operator=(const FileSizeSignalScope&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

// Where the links lead to whose last name is `path`; the file need not be there. Stops at a
// descriptor's link, which is no name of a file.
std::filesystem::path followed(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as the kernel
  for (int i = 0; i < kMostLinks && is_link(path) && own_descriptor(path) < 0; ++i) {
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
  }
  return path;
}

// A reader may come a moment later, as where a shell starts both at once. To wait for it without
// end would hang a program whose reader has died.
int open_fifo(const std::filesystem::path& fifo, const std::filesystem::path& named) {
  constexpr std::chrono::seconds kPatience{10};
  constexpr std::chrono::milliseconds kBetweenLooks{10};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    const int opened = open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (opened >= 0) {
      // Writes wait for the reader.
      fcntl(opened, F_SETFL, fcntl(opened, F_GETFL) & ~O_NONBLOCK);
      return opened;
    }
    if (errno != ENXIO) return opened;
    if (std::chrono::steady_clock::now() > end) {
      fail(ErrorCode::kInvalidArgument, named.native(), ": nobody reads this FIFO; waited for ",
           kPatience.count(), " s");
    }
    check_interrupted();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

// Whether `name` is `target` with the ending of a temporary file: .PID.N.tmp.
bool is_temporary_of(std::string_view target, std::string_view name) {
  constexpr std::string_view kEnding = ".tmp";
  if (!name.starts_with(target) || !name.ends_with(kEnding)) return false;
  name.remove_prefix(target.size());
  if (name.size() <= kEnding.size()) return false;
  name.remove_suffix(kEnding.size());
  constexpr std::string_view kDigits = "0123456789";
  for (int number = 0; number < 2; ++number) {
    if (!name.starts_with('.')) return false;
    const size_t end = std::min(name.find_first_not_of(kDigits, 1), name.size());
    if (end == 1) return false;
    name.remove_prefix(end);
  }
  return name.empty();
}

// Removes a temporary file whose writer is gone, wherever that ran: writers keep a lock. Where a
// file system has no locks, nothing is removed.
void remove_where_abandoned(const std::filesystem::path& temporary) {
  const int file = open(temporary.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  struct stat status = {};
  const bool is_regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (is_regular && flock(file, LOCK_EX | LOCK_NB) == 0) unlink(temporary.c_str());
  close(file);
}

}  // namespace

void remove_abandoned_beside(const std::filesystem::path& path) {
  const std::filesystem::path target = followed(path);
  const std::string name = target.filename();
  std::error_code error;
  std::filesystem::directory_iterator entries(target.has_parent_path() ? target.parent_path() : ".",
                                              error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::filesystem::path found = entries->path();
    if (is_temporary_of(name, found.filename().native())) remove_where_abandoned(found);
  }
}

void fail_to_write(std::string_view name, std::string_view what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  fail(full ? ErrorCode::kResourceExhausted : ErrorCode::kInvalidArgument, name, ": ", what, ": ",
       std::strerror(error));
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.native().find('\0') != std::string::npos) {
    fail(ErrorCode::kInvalidArgument, "a file name holds a NUL byte");
  }
  const std::filesystem::path target = followed(path_);
  struct stat old = {};
  const bool is_there = stat(target.c_str(), &old) == 0;
  const int own = own_descriptor(target);
  if (own >= 0 || (is_there && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode))) {
    descriptor_ = own >= 0                ? fcntl(own, F_DUPFD_CLOEXEC, 0)
                  : S_ISFIFO(old.st_mode) ? open_fifo(target, path_)
                                          : open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail_to_write(path_.native(), "can't be opened", errno);
    return;
  }
  if (!is_there || !S_ISREG(old.st_mode)) {
    create_beside(target, kMode);
    return;
  }
  // Never wider than it was. Another's file stays theirs where this process may give it to them;
  // the mask, and some file systems, would take bits that it had.
  constexpr mode_t kPermissions = 0777;
  create_beside(target, old.st_mode & kPermissions);
  [[maybe_unused]] int done = fchown(descriptor_, old.st_uid, old.st_gid);
  done = fchmod(descriptor_, old.st_mode & kPermissions);
}

void AtomicFile::create_beside(const std::filesystem::path& target, unsigned mode) {
  // A name of its own for each writer; O_EXCL makes sure of it.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && descriptor_ < 0; ++i) {
    temporary_ = target;
    temporary_ += text(".", getpid(), ".", i, ".tmp");
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST)
      fail_to_write(path_.native(), "can't be created", errno);
    if (descriptor_ < 0 || is_kept_alive()) continue;
    close(std::exchange(descriptor_, -1));
  }
  if (descriptor_ < 0) fail_to_write(path_.native(), "can't be created", EEXIST);
  target_ = target;
  unfinished_ = remember_unfinished(temporary_.c_str());
}

// Locks the temporary file until it has its name, for remove_abandoned_beside(). False where that
// was quicker and removed it; true where there are no locks.
bool AtomicFile::is_kept_alive() {
  lock_ = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  struct stat status = {};
  if (lock_ < 0 || flock(lock_, LOCK_EX) != 0 || fstat(lock_, &status) != 0) return true;
  if (status.st_nlink > 0) return true;
  close(std::exchange(lock_, -1));
  return false;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (lock_ >= 0) close(lock_);
  if (target_.empty()) return;
  unlink(temporary_.c_str());
  forget_unfinished(unfinished_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  // Small enough that a cancellation acts soon.
  constexpr size_t kPiece = size_t{16} << 20;
  const FileSizeSignalScope no_signal;
  while (!bytes.empty()) {
    check_interrupted();
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kPiece));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_to_write(path_.native(), "can't be written", errno);
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
  // A target that is no regular file may have no disk.
  if (fsync(descriptor_) != 0 && !(target_.empty() && (errno == EINVAL || errno == EROFS)))
    fail_to_write(path_.native(), "can't be brought to the disk", errno);
  if (close(std::exchange(descriptor_, -1)) != 0)
    fail_to_write(path_.native(), "can't be written", errno);
  if (target_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0)
    fail_to_write(path_.native(), "can't be renamed to", errno);
  const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
  target_.clear();
  forget_unfinished(unfinished_);
  // The folder's entry as well, so that a power loss does not bring the old file back. Some file
  // systems can't.
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
