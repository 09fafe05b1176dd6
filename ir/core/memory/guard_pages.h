// Finds accesses beyond buffers that sanitizers can't see: oneDNN's kernels are generated while the
// program runs, and values within one arena have no border.
#pragma once

#include <cstddef>

namespace sardonyx {

enum class MemoryGuard {
  kNone,
  // A program under AddressSanitizer: items of an arena have gaps between them, and a gap is
  // poisoned.
  kPoison,
  // SARDONYX_GUARD_PAGES=1 in the environment: each buffer, and each item of an arena, ends where a
  // page begins that nobody may touch, but for the 63 bytes that Buffer::allocate rounds up by.
  kPages,
};

// Decided once for the process.
MemoryGuard memory_guard();

// Distance that items of an arena keep from each other; 0 where nothing is guarded. With kPages
// it is that of one page, and offsets are to be chosen so that items end where a page does.
size_t guard_gap();

// `bytes` (a multiple of 64) that end at a page which nobody may touch; nullptr where memory is
// out. Whatever the guard is.
void* allocate_guarded(size_t bytes);
void free_guarded(void* data, size_t bytes);

// Forbids every access to a gap, or allows it again. Does nothing without a guard.
void close_gap(void* begin, size_t bytes);
void open_gap(void* begin, size_t bytes);

}  // namespace sardonyx
