// Memory for clients, and from theirs.
#pragma once

#include <cstddef>
#include <memory>

#include "executor/ort_abi/values/memory_info.h"
#include "ir/core/memory/memory_source.h"

namespace sardonyx::ort_abi {

// For all: it is never released. 64-byte alignment; no bytes are NULL.
OrtAllocator* default_allocator();
// Memory of the library's own, whose buffers need not come from the functions of the allocator.
bool is_own(const OrtAllocator& allocator);
// An allocator that a caller releases.
OrtAllocator* new_allocator(const OrtMemoryInfo& info);
// The same; refuses what would make the bytes in use more than `limit` (0: none).
OrtAllocator* new_arena(const OrtMemoryInfo& info, size_t limit);
// The same; passes on what it is asked to `target`.
OrtAllocator* new_forwarding(std::shared_ptr<OrtAllocator> target);

// The memory of `allocator`, whichever alignment its blocks have.
std::shared_ptr<MemorySource> memory_from(std::shared_ptr<OrtAllocator> allocator);

// From the caller's allocator; throws Failure where it has none left.
void* allocate(OrtAllocator& allocator, size_t bytes);
// `text` with a NUL behind, in memory of the allocator's.
char* copied_string(OrtAllocator* allocator, const char* text);

}  // namespace sardonyx::ort_abi
