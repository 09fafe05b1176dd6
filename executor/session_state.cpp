#include "executor/session_state.h"

#include "ir/core/memory/block_allocator.h"

namespace sardonyx {

std::shared_ptr<Buffer> SessionState::borrow_arena(size_t bytes) {
  std::shared_ptr<Buffer> arena;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_arenas_.empty()) {
      arena = std::move(idle_arenas_.back());
      idle_arenas_.pop_back();
    }
  }
  if (arena && arena->size() >= bytes) return arena;
  arena.reset();  // before the larger one is asked for
  return Buffer::allocate(bytes);
}

void SessionState::return_arena(std::shared_ptr<Buffer> arena) {
  const std::lock_guard lock(mutex_);
  idle_arenas_.push_back(std::move(arena));
}

std::unique_ptr<Scratch> SessionState::borrow_scratch() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_scratch_.empty()) {
      auto scratch = std::move(idle_scratch_.back());
      idle_scratch_.pop_back();
      return scratch;
    }
  }
  return std::make_unique<Scratch>();
}

void SessionState::return_scratch(std::unique_ptr<Scratch> scratch) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    idle_scratch_.push_back(std::move(scratch));
  } catch (const std::exception&) {
  }
}

void SessionState::trim() {
  {
    const std::lock_guard lock(mutex_);
    idle_arenas_.clear();
    idle_scratch_.clear();
  }
  buffers_.release();
  release_kept_blocks();
}

BorrowedScratch::BorrowedScratch(SessionState& session_state)
    : session_state_(session_state), scratch_(session_state.borrow_scratch()) {
  scope_.emplace(*scratch_);
  mark_.emplace();
}

BorrowedScratch::~BorrowedScratch() {
  mark_.reset();
  scope_.reset();
  session_state_.return_scratch(std::move(scratch_));
}

}  // namespace sardonyx
