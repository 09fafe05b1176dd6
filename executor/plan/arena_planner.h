// Places buffers of known lifetimes in one arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sardonyx {

struct MemoryItem {
  uint32_t value = UINT32_MAX;  // what it holds, for messages; UINT32_MAX for scratch
  size_t bytes = 0;
  size_t first_step = 0, last_step = 0;  // inclusive
  size_t offset = 0;                     // set by assign_offsets
};

constexpr size_t kArenaAlignment = 64;

// Sets the offsets so that items alive at the same step do not overlap, and returns the arena's
// size. Each item goes into the smallest gap that fits; several orders are tried (by size, by
// breadth, by first use, by length of life; the first two are those of Pisarchyk and Lee,
// arXiv:2001.03288) until one needs no more than peak_live_bytes, and the best is kept.
size_t assign_offsets(std::vector<MemoryItem>& items);

// Placement for tests, without reuse: every item keeps its bytes for the whole run, ends at a
// multiple of `gap` (itself one of kArenaAlignment) and is at least `gap` bytes from the next.
// Returns the arena's size, which includes a gap at both ends.
size_t place_items_apart(std::vector<MemoryItem>& items, size_t gap);

// Forbids (see ir/core/memory/guard_pages.h) the gaps between the items in an arena of `bytes`
// bytes at `base`, and allows the items.
void guard_gaps(const std::vector<MemoryItem>& items, std::byte* base, size_t bytes);

// The largest sum of bytes alive at one step, each rounded up to the alignment: no placement can
// need less.
size_t peak_live_bytes(const std::vector<MemoryItem>& items);

}  // namespace sardonyx
