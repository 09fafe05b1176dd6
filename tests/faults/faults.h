// Makes allocations and system calls of this program fail on purpose.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::test {

// Counts from now on; the one with number `at` (from 0 on) fails, and those after it too where
// `lasting`.
struct AllocationFault {
  AllocationFault(size_t at, bool lasting);
  ~AllocationFault();
  AllocationFault(const AllocationFault&) = delete;
  // Allocations since then, of this thread and others.
  size_t seen() const;
};

enum class CallFault {
  kError,        // fails with the given errno
  kInterrupted,  // fails once with EINTR
  kShort,        // reads or writes do half of what was asked for
  kKill,         // the process ends there, as by kill -9
};

// The same for open, openat, pread, write, fsync, rename, close, fstat and mmap.
struct SystemCallFault {
  SystemCallFault(size_t at, CallFault kind, int error = 0);
  ~SystemCallFault();
  SystemCallFault(const SystemCallFault&) = delete;
  size_t seen() const;
};

}  // namespace sardonyx::test
