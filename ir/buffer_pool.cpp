#include "ir/buffer_pool.h"

#include <algorithm>
#include <bit>

#include "ir/core/memory/guard_pages.h"

namespace sardonyx {
namespace {

// Slots that are idle keep buffers up to this size: of slots there may be many.
constexpr size_t kLargestPooled = 64 << 10;

constexpr size_t kSmallest = 64;

// Space for items that a sequence is given at least: sequences that grow in a loop change places
// from run to run, and all of them are to have enough soon.
constexpr size_t kMinRoom = 32;

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
  return buffer && buffer->kind() != Buffer::Kind::kBorrowed && is_sole_owner(buffer);
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
  if (!is_held_alone(buffer) || buffer->kind() != Buffer::Kind::kBytes) return;
  if (memory_guard() != MemoryGuard::kNone || buffer->size() > limit_) return;
  // A buffer whose size is between two classes serves the lower one.
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

void BufferPool::resize(std::vector<Datum>& items, size_t size) {
  for (size_t i = size; i < items.size(); ++i)
    recycle(items[i], *this);
  if (items.capacity() < size) items.reserve(std::max(2 * size, kMinRoom));
  const std::lock_guard lock(mutex_);
  for (; items.size() > size && spare_.size() < kMaxIdleItems; items.pop_back())
    spare_.push_back(std::move(items.back()));
  for (; items.size() < size && !spare_.empty(); spare_.pop_back())
    items.push_back(std::move(spare_.back()));
  items.resize(size);
}

void BufferPool::release() {
  const std::lock_guard lock(mutex_);
  release_idle();
  spare_ = {};
}

void BufferPool::release_idle() {
  for (auto& idle : idle_)
    idle.clear();
  bytes_ = 0;
}

void renew(Tensor& tensor, DType dtype, std::span<const int64_t> shape, BufferPool* pool) {
  const int64_t count = checked_count(shape);
  const size_t bytes = bytes_for(dtype, count);
  const bool is_strings = dtype == DType::kString;
  const auto kind = is_strings ? Buffer::Kind::kStrings : Buffer::Kind::kBytes;
  const std::shared_ptr<Buffer>& old = tensor.buffer();
  if (is_held_alone(old) && old->kind() == kind && old->size() >= bytes)
    return tensor.assign(dtype, shape, old);
  std::shared_ptr<Buffer> left = old;
  tensor.assign(dtype, shape,
                is_strings ? Buffer::allocate_strings(count)
                : pool     ? pool->take(bytes)
                           : Buffer::allocate(bytes));
  if (pool) pool->give_back(std::move(left));
}

Tensor& renewed_tensor(Datum& slot, DType dtype, std::span<const int64_t> shape, BufferPool* pool) {
  Tensor& tensor = slot.as_tensor();
  renew(tensor, dtype, shape, pool);
  return tensor;
}

void keep_own(Datum& slot) {
  const bool is_own = slot.is_tensor()
                          ? is_held_alone(slot.tensor().buffer())
                          : slot.own<Sequence>() || slot.own<OptionalDatum>() || slot.own<Map>();
  if (!is_own) slot.clear();
}

namespace {

void give_back(Tensor& tensor, BufferPool& pool) {
  std::shared_ptr<Buffer> buffer = tensor.buffer();
  tensor.clear();
  pool.give_back(std::move(buffer));
}

void recycle(Tensor& tensor, BufferPool& pool) {
  if (!is_held_alone(tensor.buffer()))
    tensor.clear();
  else if (tensor.buffer()->size() > kLargestPooled)
    give_back(tensor, pool);
}

void recycle_item(Datum& item, BufferPool& pool) {
  const bool is_bytes = item.is_tensor() && item.tensor().dtype() != DType::kString;
  is_bytes ? give_back(item.as_tensor(), pool) : recycle(item, pool);
}

}  // namespace

void recycle(Datum& slot, BufferPool& pool) {
  if (slot.is_tensor()) {
    recycle(slot.as_tensor(), pool);
  } else if (Map* map = slot.own<Map>()) {
    recycle(map->keys, pool);
    recycle(map->values, pool);
  } else if (OptionalDatum* optional = slot.own<OptionalDatum>()) {
    for (Datum& item : optional->items)
      recycle_item(item, pool);
  } else if (Sequence* sequence = slot.own<Sequence>()) {
    for (Datum& item : sequence->items)
      recycle_item(item, pool);
    if (sequence->items.size() > BufferPool::kMaxIdleItems) slot.clear();
  } else {
    slot.clear();
  }
}

}  // namespace sardonyx
