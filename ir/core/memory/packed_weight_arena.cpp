#include "ir/core/memory/packed_weight_arena.h"

#include "ir/core/memory/block_allocator.h"
#include "ir/core/memory/memory_reservation.h"

namespace sardonyx {
namespace {

// The bytes of weights from which an arena pays; less fits into a few small pages.
constexpr size_t kWorthwhile = 4 << 20;
// A larger block has large pages of its own.
constexpr size_t kLargestPiece = 4 << 20;
constexpr size_t kChunkBytes = 32 << 20;  // of addresses; memory is taken as it is needed

thread_local PackedWeightArena* t_arena = nullptr;

}  // namespace

// Addresses that are given out from front to back.
class PackedWeightArena::Chunk {
 public:
  Chunk() : begin_(static_cast<std::byte*>(reserve_addresses(kChunkBytes))) {}
  ~Chunk() {
    if (begin_) give_back_addresses(begin_, kChunkBytes);
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  bool has(size_t bytes) const { return begin_ && bytes <= kChunkBytes - used_; }
  std::byte* take(size_t bytes) {
    std::byte* piece = begin_ + used_;
    used_ += bytes;
    if (used_ > there_)
      there_ += take_memory(begin_ + there_, used_ - there_, kChunkBytes - there_);
    return piece;
  }

 private:
  std::byte* begin_;
  size_t used_ = 0;
  size_t there_ = 0;  // bytes with memory behind them
};

class PackedWeightArena::Piece : public Buffer {
 public:
  Piece(std::shared_ptr<Chunk> stretch, size_t bytes, size_t whole)
      : Buffer(nullptr, bytes, Kind::kBytes), share_(bytes), stretch_(std::move(stretch)) {
    data_ = stretch_->take(whole);
  }

 private:
  BudgetShare share_;
  std::shared_ptr<Chunk> stretch_;
};

void PackedWeightArena::expect(size_t bytes) {
  const std::lock_guard lock(mutex_);
  is_worthwhile_ = bytes >= kWorthwhile && !are_blocks_watched();
}

std::shared_ptr<Buffer> PackedWeightArena::allocate(size_t bytes) {
  if (!current_memory_source()) {
    const std::lock_guard lock(mutex_);
    if (is_worthwhile_ && bytes < kLargestPiece) {
      const size_t whole = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
      if (!stretch_ || !stretch_->has(whole)) stretch_ = std::make_shared<Chunk>();
      if (stretch_->has(whole)) return std::make_shared<Piece>(stretch_, bytes, whole);
      stretch_.reset();
    }
  }
  return Buffer::allocate(bytes);
}

PackedWeightArena::Scope::Scope(PackedWeightArena& arena) : previous_(t_arena) {
  t_arena = &arena;
}

PackedWeightArena::Scope::~Scope() {
  t_arena = previous_;
}

std::shared_ptr<Buffer> allocate_packed(size_t bytes) {
  return t_arena ? t_arena->allocate(bytes) : Buffer::allocate(bytes);
}

}  // namespace sardonyx
