// Memory for what a kernel reads: beyond its end the process ends at once, in any build.
#pragma once

#include <memory>
#include <new>

#include "ir/core/memory/guard_pages.h"
#include "ir/core/tensor.h"

namespace sardonyx {

// Of `bytes`, zeros, aligned to 64. It ends where a page begins that nobody may touch, but for the
// 63 bytes that Buffer::allocate rounds up by.
inline std::shared_ptr<Buffer> fenced_buffer(size_t bytes) {
  const size_t space = (bytes + 63) / 64 * 64;
  void* const begin = allocate_guarded(space);
  if (!begin) throw std::bad_alloc();
  const std::shared_ptr<void> keeper(begin, [=](void* data) { free_guarded(data, space); });
  return Buffer::borrow(begin, bytes, keeper);
}

}  // namespace sardonyx
