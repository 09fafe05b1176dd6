// Memory of buffers. Large blocks come from the operating system and go back to it, since what a
// heap keeps of blocks of many sizes grows with every new size; a few that were given back last are
// kept for the next to ask.
#pragma once

#include <cstddef>
#include <optional>

namespace sardonyx {

constexpr size_t kBlockAlignment = 64;  // a cache line, and the widest vector

// Allocates at least `bytes` bytes, aligned and not initialised; nullptr where there is no memory.
void* take_block(size_t bytes);
// A block that was taken with the same size.
void give_back_block(void* block, size_t bytes);
// Returns what is kept to the operating system.
void release_kept_blocks();

// Whether every access to a block is checked, so that blocks must not be parts of larger ones.
bool are_blocks_watched();

// Addresses that have no memory behind them yet, from where a page begins; nullptr where there are
// none. `take_memory` gives the first `bytes` from `begin`, where a page begins, memory that is all
// zero, in few large pages where the system has them at hand: then up to `most` bytes. Returns how
// many. Where the system is out of memory it may end the process at the first access, as with all
// it has promised.
void* reserve_addresses(size_t bytes);
size_t take_memory(void* begin, size_t bytes, size_t most);
void give_back_addresses(void* begin, size_t bytes);

// Keeps up to `bytes` of blocks that were given back, whatever their sizes and never more, where
// the next ones to be taken are likely to be of the same sizes: writing to fresh memory costs
// several times as much as to old. Gives back to the system what is more than that. Without a
// number, as it is by default: a few small ones are kept (8 MiB, up to 64 MiB where their sizes are
// asked for again), and larger ones once their sizes are asked for again (up to 256 MiB), as far as
// no other large one is mapped meanwhile.
void keep_blocks(std::optional<size_t> bytes);

}  // namespace sardonyx
