#include "eager/dispatch/kept_memory.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "ir/core/memory/block_allocator.h"

namespace sardonyx::eager {
namespace {

std::atomic<bool> g_is_set{false};

}  // namespace

void set_kept_memory(size_t bytes) {
  g_is_set = true;
  keep_blocks(bytes);
}

void keep_memory_for_training() {
  if (g_is_set.load(std::memory_order_relaxed) || g_is_set.exchange(true)) return;
  constexpr size_t kShare = 8, kMax = size_t{2} << 30;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return;
  keep_blocks(std::min(static_cast<size_t>(pages) / kShare * static_cast<size_t>(page), kMax));
}

}  // namespace sardonyx::eager
