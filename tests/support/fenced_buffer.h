// Memory for what a kernel reads: beyond its end the process ends at once, in any build.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <new>

#include "ir/core/tensor.h"

namespace sardonyx {

// Of `bytes`, zeros, aligned to 64. It ends where a page begins that nobody may touch, but for the
// 63 bytes that Buffer::allocate rounds up by.
inline std::shared_ptr<Buffer> fenced_buffer(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t space = (bytes + 63) / 64 * 64, pages = (space + page - 1) / page * page;
  void* const begin = mmap(nullptr, pages + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  const std::shared_ptr<void> keeper(begin, [=](void* mapped) { munmap(mapped, pages + page); });
  if (pages > 0 && mprotect(begin, pages, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return Buffer::borrow(static_cast<std::byte*>(begin) + (pages - space), bytes, keeper);
}

}  // namespace sardonyx
