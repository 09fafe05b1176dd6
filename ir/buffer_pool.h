// Values made in the memory of earlier ones, so that what is done again and again asks for none.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ir/datum.h"

namespace sardonyx {

// Nobody else holds it (ir/core/unique_ownership.h), and it may be written.
bool is_held_alone(const std::shared_ptr<Buffer>& buffer);

// Buffers of no use at the moment, by classes of size: what was given back serves the next who asks
// for no more than that. Beside them, items of sequences. Safe from many threads.
class BufferPool {
 public:
  // Neither a pool nor a sequence that is idle keeps more.
  static constexpr size_t kMaxIdleItems = 4096;

  // At most `limit` bytes are kept. Where more come, all that are there go: others are asked for by
  // now.
  explicit BufferPool(size_t limit) : limit_(limit) {}
  // A buffer of at least `bytes` bytes; its elements are not initialised.
  std::shared_ptr<Buffer> take(size_t bytes);
  // Dropped where somebody else holds it, or where it is none of Buffer::Kind::kBytes.
  void give_back(std::shared_ptr<Buffer> buffer);
  // Makes `items` that many, which are to be written over: what is too many is kept here for others
  // that are too few.
  void resize(std::vector<Datum>& items, size_t size);
  void release();

 private:
  void release_idle();

  // Four classes between one power of two and the next.
  static constexpr size_t kClasses = 4 * 60;
  std::mutex mutex_;
  std::array<std::vector<std::shared_ptr<Buffer>>, kClasses> idle_;
  size_t limit_;
  size_t bytes_ = 0;
  std::vector<Datum> spare_;
};

// Makes `tensor` one of this dtype and shape that is to be written: over what it held before where
// that is large enough and nobody else holds it, else in a buffer of the pool (null: a new one).
// Elements are not initialised; strings may be any.
void renew(Tensor& tensor, DType dtype, std::span<const int64_t> shape, BufferPool* pool = nullptr);
// Like renew(), for a slot: a value that is filled again at each call.
Tensor& renewed_tensor(Datum& slot, DType dtype, std::span<const int64_t> shape,
                       BufferPool* pool = nullptr);
// The Sequence, OptionalDatum or Map in a slot, to be changed: the one that it held, with all that
// is in it, where nobody else holds that; else an empty one.
template <typename T>
T& renewed(Datum& slot) {
  if (T* held = slot.own<T>()) return *held;
  slot = T();
  return *slot.own<T>();
}

// Clears a slot that is about to be written, but for a value whose memory may be.
void keep_own(Datum& slot);
// Prepares a slot for a time of no use: what others hold as well is let go, and large buffers are
// given back. Sequences and optionals give back all: their items are most often values that others
// made.
void recycle(Datum& slot, BufferPool& pool);

}  // namespace sardonyx
