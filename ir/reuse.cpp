#include "ir/reuse.h"

#include <algorithm>
#include <bit>

#include "ir/memory_guard.h"

namespace sardonyx {
namespace {

// Slots that lie idle keep buffers up to this size: of slots there may be many.
constexpr size_t kLargestKept = 64 << 10;

constexpr size_t kSmallest = 64;

// The class of the smallest size that holds `bytes`, and that size.
struct SizeClass {
  size_t index, bytes;
};
SizeClass class_for(size_t bytes) {
  const size_t wanted = std::max(bytes, kSmallest);
  const size_t octave = std::bit_floor(wanted);
  const size_t quarter = octave / 4;
  const size_t quarters = (wanted - octave + quarter - 1) / quarter;
  const auto doublings = static_cast<size_t>(std::countr_zero(octave / kSmallest));
  return {4 * doublings + quarters, octave + quarters * quarter};
}

// The tensor in a slot, an undefined one where it held something else.
Tensor& tensor_in(Datum& slot) {
  if (!slot.is_tensor()) slot = Tensor();
  return const_cast<Tensor&>(slot.tensor());  // the slot itself may be changed
}

int64_t checked_count(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool is_too_large = false;
  for (const int64_t dim : shape) {
    if (dim == 0) return 0;
    is_too_large |= __builtin_mul_overflow(count, dim, &count);
  }
  if (is_too_large) {
    fail(ErrorCode::kResourceExhausted, "a tensor of shape ",
         to_text(Shape(shape.begin(), shape.end())), " is too large");
  }
  return count;
}

}  // namespace

bool is_held_alone(const std::shared_ptr<Buffer>& buffer) {
  if (!buffer || buffer.use_count() != 1 || kind_of(*buffer) == BufferKind::kBorrowed) return false;
  // Letting go of one more makes what is written here come after what the others read.
  std::shared_ptr<Buffer>(buffer).reset();
  return true;
}

std::shared_ptr<Buffer> BufferPool::take(size_t bytes) {
  // Where memory is watched, a buffer ends where what is in it does. Sizes beyond all classes are
  // refused by allocate().
  if (memory_guard() != MemoryGuard::kNone || bytes > SIZE_MAX / 4) return Buffer::allocate(bytes);
  const SizeClass wanted = class_for(bytes);
  {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[wanted.index];
    if (!idle.empty()) {
      std::shared_ptr<Buffer> buffer = std::move(idle.back());
      idle.pop_back();
      bytes_ -= buffer->size();
      return buffer;
    }
  }
  return Buffer::allocate(wanted.bytes);
}

void BufferPool::give_back(std::shared_ptr<Buffer> buffer) {
  if (!is_held_alone(buffer) || kind_of(*buffer) != BufferKind::kBytes) return;
  if (memory_guard() != MemoryGuard::kNone || buffer->size() > limit_) return;
  // Of a size between two classes it serves the lower one.
  SizeClass own = class_for(buffer->size());
  if (own.bytes > buffer->size()) {
    if (own.index == 0) return;
    --own.index;
  }
  const std::lock_guard lock(mutex_);
  if (bytes_ + buffer->size() > limit_) release_idle();
  bytes_ += buffer->size();
  idle_[own.index].push_back(std::move(buffer));
}

void BufferPool::release() {
  const std::lock_guard lock(mutex_);
  release_idle();
}

void BufferPool::release_idle() {
  for (auto& idle : idle_)
    idle.clear();
  bytes_ = 0;
}

void clear_slot(Datum& slot) {
  static const Tensor kUndefined;
  tensor_in(slot) = kUndefined;  // copied: the memory of the shape stays
}

bool holds_tensor(const Datum& slot) {
  return slot.is_tensor() && slot.tensor().defined();
}

size_t offset_of(const Tensor& tensor) {
  return static_cast<size_t>(static_cast<std::byte*>(tensor.raw()) - tensor.buffer()->data());
}

void lay_tensor(Datum& slot, DType dtype, std::span<const int64_t> shape,
                std::shared_ptr<Buffer> buffer, size_t byte_offset) {
  Tensor& tensor = tensor_in(slot);
  // The memory of the old shape serves the new one, which may be just that.
  Shape memory = std::move(const_cast<Shape&>(tensor.shape()));
  if (shape.data() != memory.data() || shape.size() != memory.size())
    memory.assign(shape.begin(), shape.end());
  tensor = Tensor(dtype, std::move(memory), std::move(buffer), byte_offset);
}

Tensor& renewed_tensor(Datum& slot, DType dtype, std::span<const int64_t> shape, BufferPool* pool) {
  const int64_t count = checked_count(shape);
  const size_t bytes = bytes_for(dtype, count);
  const bool is_strings = dtype == DType::kString;
  const BufferKind kind = is_strings ? BufferKind::kStrings : BufferKind::kBytes;
  const std::shared_ptr<Buffer>& old = tensor_in(slot).buffer();
  if (is_held_alone(old) && kind_of(*old) == kind && old->size() >= bytes) {
    lay_tensor(slot, dtype, shape, old);
    return tensor_in(slot);
  }
  std::shared_ptr<Buffer> left = old;
  lay_tensor(slot, dtype, shape,
             is_strings ? Buffer::allocate_strings(count)
             : pool     ? pool->take(bytes)
                        : Buffer::allocate(bytes));
  if (pool) pool->give_back(std::move(left));
  return tensor_in(slot);
}

void keep_own(Datum& slot) {
  if (!holds_tensor(slot) || !is_held_alone(slot.tensor().buffer())) clear_slot(slot);
}

void recycle(Datum& slot, BufferPool& pool) {
  keep_own(slot);
  if (!holds_tensor(slot) || slot.tensor().buffer()->size() <= kLargestKept) return;
  std::shared_ptr<Buffer> buffer = slot.tensor().buffer();
  clear_slot(slot);
  pool.give_back(std::move(buffer));
}

}  // namespace sardonyx
