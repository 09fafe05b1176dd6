#include "ir/core/memory/scratch_arena.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "ir/core/memory/guard_pages.h"

namespace sardonyx {
namespace {

thread_local Scratch* t_scratch = nullptr;

// The stack's blocks are aligned for all that is put there.
constexpr size_t kAlignment = 64;
constexpr size_t kSmallestBlock = 4 << 10;

// The first block holds little but what a run notes about its values. It is not taken from the
// memory source of a session, which programs expect to be asked for values alone.
std::shared_ptr<Buffer> first_block() {
  struct alignas(kAlignment) Block {
    std::array<std::byte, kSmallestBlock> bytes;
  };
  const auto block = std::make_shared_for_overwrite<Block>();
  return Buffer::borrow(block->bytes.data(), kSmallestBlock, block);
}

}  // namespace

void* Scratch::do_allocate(size_t bytes, size_t alignment) {
  SARDONYX_CHECK(alignment <= kAlignment);
  for (;; ++block_, used_ = 0) {
    if (block_ == blocks_.size()) {
      const size_t usual = blocks_.empty() ? total_ : 2 * blocks_.back()->size();
      const size_t wanted = std::max(bytes, usual);
      const bool is_first = blocks_.empty() && wanted <= kSmallestBlock;
      blocks_.push_back(is_first ? first_block() : Buffer::allocate(wanted));
    }
    const Buffer& block = *blocks_[block_];
    const size_t begin = (used_ + alignment - 1) / alignment * alignment;
    if (begin > block.size() || bytes > block.size() - begin) continue;
    used_ = begin + bytes;
    return block.data() + begin;
  }
}

void Scratch::rewind(Position position) {
  block_ = position.block;
  used_ = position.used;
  if (block_ > 0 || used_ > 0 || blocks_.size() <= 1) return;
  total_ = 0;
  for (const auto& block : blocks_)
    total_ += block->size();
  blocks_.clear();
}

std::pmr::memory_resource* scratch() {
  // Where memory is watched, each piece is to have borders of its own.
  static const bool is_watched = memory_guard() != MemoryGuard::kNone;
  if (t_scratch && !is_watched) return t_scratch;
  return std::pmr::new_delete_resource();
}

ScratchScope::ScratchScope(Scratch& scratch) : previous_(t_scratch) {
  t_scratch = &scratch;
}
ScratchScope::~ScratchScope() {
  t_scratch = previous_;
}

ScratchMark::ScratchMark() : scratch_(t_scratch) {
  if (scratch_) position_ = scratch_->position();
}
ScratchMark::~ScratchMark() {
  if (scratch_) scratch_->rewind(position_);
}

}  // namespace sardonyx
