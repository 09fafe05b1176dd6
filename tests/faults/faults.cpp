#include "tests/faults/faults.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <new>

namespace sardonyx::test {
namespace {

std::atomic<bool> g_counts_allocations{false}, g_lasting{false};
std::atomic<size_t> g_allocations{0}, g_failing_allocation{0};

bool allocation_fails() {
  if (!g_counts_allocations) return false;
  const size_t number = g_allocations++;
  return g_lasting ? number >= g_failing_allocation : number == g_failing_allocation;
}

std::atomic<bool> g_counts_calls{false};
std::atomic<size_t> g_calls{0}, g_failing_call{0};
CallFault g_fault = CallFault::kError;
int g_error = 0;

// The fault that this call is to suffer, where it is its turn.
bool is_hit() {
  if (!g_counts_calls || g_calls++ != g_failing_call) return false;
  if (g_fault == CallFault::kKill) kill(getpid(), SIGKILL);
  return true;
}

// For calls that are never short: 0, or the errno to fail with.
int error_of_call() {
  return is_hit() && g_fault == CallFault::kError ? g_error : 0;
}

}  // namespace

AllocationFault::AllocationFault(size_t at, bool lasting) {
  g_allocations = 0;
  g_failing_allocation = at;
  g_lasting = lasting;
  g_counts_allocations = true;
}
AllocationFault::~AllocationFault() {
  g_counts_allocations = false;
}
size_t AllocationFault::seen() const {
  return g_allocations;
}

SystemCallFault::SystemCallFault(size_t at, CallFault kind, int error) {
  g_calls = 0;
  g_failing_call = at;
  g_fault = kind;
  g_error = error;
  g_counts_calls = true;
}
SystemCallFault::~SystemCallFault() {
  g_counts_calls = false;
}
size_t SystemCallFault::seen() const {
  return g_calls;
}

}  // namespace sardonyx::test

using sardonyx::test::CallFault;

[[gnu::noinline]] void* operator new(size_t bytes) {
  if (sardonyx::test::allocation_fails()) throw std::bad_alloc();
  if (void* made = std::malloc(bytes ? bytes : 1)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* data) noexcept {
  std::free(data);
}
[[gnu::noinline]] void operator delete(void* data, size_t) noexcept {
  std::free(data);
}

// The linker sends calls from the libraries under test here (--wrap).
extern "C" {

void* __real_aligned_alloc(size_t alignment, size_t bytes);
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return sardonyx::test::allocation_fails() ? nullptr : __real_aligned_alloc(alignment, bytes);
}

#define FAIL_WITH(result)                                  \
  if (const int error = sardonyx::test::error_of_call()) { \
    errno = error;                                         \
    return result;                                         \
  }

int __real_open(const char* path, int flags, mode_t mode);
int __wrap_open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  FAIL_WITH(-1)
  return __real_open(path, flags, mode);
}

int __real_openat(int folder, const char* path, int flags);
int __wrap_openat(int folder, const char* path, int flags, ...) {
  FAIL_WITH(-1)
  return __real_openat(folder, path, flags);
}

int __real_fstat(int file, struct stat* out);
int __wrap_fstat(int file, struct stat* out) {
  FAIL_WITH(-1)
  return __real_fstat(file, out);
}

void* __real_mmap(void* at, size_t bytes, int access, int flags, int file, off_t offset);
void* __wrap_mmap(void* at, size_t bytes, int access, int flags, int file, off_t offset) {
  FAIL_WITH(MAP_FAILED)
  return __real_mmap(at, bytes, access, flags, file, offset);
}

int __real_fsync(int file);
int __wrap_fsync(int file) {
  FAIL_WITH(-1)
  return __real_fsync(file);
}

int __real_rename(const char* from, const char* to);
int __wrap_rename(const char* from, const char* to) {
  FAIL_WITH(-1)
  return __real_rename(from, to);
}

int __real_close(int file);
int __wrap_close(int file) {
  const int error = sardonyx::test::error_of_call();
  const int result = __real_close(file);  // it is closed even where an error is reported
  if (error == 0) return result;
  errno = error;
  return -1;
}

// What a read or write does: 0 as asked, -1 after an error, else the shortened size.
static ssize_t shortened(size_t bytes) {
  if (!sardonyx::test::is_hit()) return 0;
  if (sardonyx::test::g_fault == CallFault::kShort)
    return bytes > 1 ? static_cast<ssize_t>(bytes / 2) : 0;
  errno = sardonyx::test::g_fault == CallFault::kInterrupted ? EINTR : sardonyx::test::g_error;
  return -1;
}

ssize_t __real_pread(int file, void* out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int file, void* out, size_t bytes, off_t offset) {
  const ssize_t fault = shortened(bytes);
  if (fault < 0) return -1;
  return __real_pread(file, out, fault > 0 ? static_cast<size_t>(fault) : bytes, offset);
}

ssize_t __real_write(int file, const void* data, size_t bytes);
ssize_t __wrap_write(int file, const void* data, size_t bytes) {
  const ssize_t fault = shortened(bytes);
  if (fault < 0) return -1;
  return __real_write(file, data, fault > 0 ? static_cast<size_t>(fault) : bytes);
}

}  // extern "C"
