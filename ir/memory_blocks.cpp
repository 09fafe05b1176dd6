#include "ir/memory_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace sardonyx {
namespace {

// Below, the heap serves well.
constexpr size_t kLarge = 256 << 10;
// Larger ones are not kept: to write them costs more than to map them.
constexpr size_t kLargestKept = 4 << 20;
constexpr size_t kKeptBytes = 8 << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHeapOnly = true;  // there, blocks are watched
#else
constexpr bool kHeapOnly = false;
#endif

// Sizes in steps of an eighth of the next lower power of two, so that a block fits sizes nearby.
// The pages behind what is asked for are never touched.
size_t mapped_bytes(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

// Blocks of no use at the moment, the last one given back at the end.
class KeptBlocks {
 public:
  void* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (size_t i = blocks_.size(); i-- > 0;) {
      if (blocks_[i].bytes != bytes) continue;
      void* block = blocks_[i].data;
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
      total_ -= bytes;
      return block;
    }
    return nullptr;
  }

  void give_back(void* data, size_t bytes) {
    const std::lock_guard lock(mutex_);
    while (!blocks_.empty() && (total_ + bytes > kKeptBytes || blocks_.size() == kMost)) {
      total_ -= blocks_.front().bytes;
      munmap(blocks_.front().data, blocks_.front().bytes);
      blocks_.erase(blocks_.begin());
    }
    blocks_.reserve(kMost);
    blocks_.push_back({data, bytes});
    total_ += bytes;
  }

 private:
  static constexpr size_t kMost = kKeptBytes / kLarge;
  struct Block {
    void* data;
    size_t bytes;
  };
  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t total_ = 0;
};

// Never destroyed: buffers of static lifetime may come back after everything else is gone.
KeptBlocks& kept_blocks() {
  static auto* const blocks = new KeptBlocks;
  return *blocks;
}

}  // namespace

void* take_block(size_t bytes) {
  if (kHeapOnly || bytes < kLarge) {
    // Rounded up, so that a kernel may load whole vectors at the end.
    const size_t rounded = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
    if (rounded < bytes) return nullptr;
    return std::aligned_alloc(kBlockAlignment, std::max(rounded, kBlockAlignment));
  }
  if (bytes > SIZE_MAX / 2) return nullptr;
  const size_t mapped = mapped_bytes(bytes);
  if (mapped <= kLargestKept) {
    if (void* kept = kept_blocks().take(mapped)) return kept;
  }
  void* made = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return made == MAP_FAILED ? nullptr : made;
}

void give_back_block(void* block, size_t bytes) {
  if (kHeapOnly || bytes < kLarge) return std::free(block);
  const size_t mapped = mapped_bytes(bytes);
  if (mapped <= kLargestKept)
    kept_blocks().give_back(block, mapped);
  else
    munmap(block, mapped);
}

}  // namespace sardonyx
