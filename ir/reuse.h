// Values made in the memory of earlier ones, so that what is done again and again asks for none.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ir/datum.h"

namespace sardonyx {

// What the last one to hold a buffer may write there: anything, strings, or nothing.
enum class BufferKind : uint8_t { kBytes, kStrings, kBorrowed };
BufferKind kind_of(const Buffer& buffer);
// Nobody else holds it, and it may be written.
bool is_held_alone(const std::shared_ptr<Buffer>& buffer);

// Buffers of no use at the moment, by classes of size: what was given back serves the next who asks
// for no more than that. Safe from many threads.
class BufferPool {
 public:
  // At most `limit` bytes are kept. Where more come, all that lie there go: others are asked for by
  // now.
  explicit BufferPool(size_t limit) : limit_(limit) {}
  // Of at least `bytes` bytes; not initialised.
  std::shared_ptr<Buffer> take(size_t bytes);
  // Dropped where somebody else holds it, or where it is none of BufferKind::kBytes.
  void give_back(std::shared_ptr<Buffer> buffer);
  void release();

 private:
  void release_idle();

  // Four classes between one power of two and the next.
  static constexpr size_t kClasses = 4 * 60;
  std::mutex mutex_;
  std::array<std::vector<std::shared_ptr<Buffer>>, kClasses> idle_;
  size_t limit_;
  size_t bytes_ = 0;
};

// Slots are values that are filled again and again. One that is cleared holds an undefined tensor,
// with the memory of its shape.
void clear_slot(Datum& slot);
bool holds_tensor(const Datum& slot);
// Where a tensor begins in its buffer.
size_t offset_of(const Tensor& tensor);
// Makes the slot a tensor in `buffer`.
void lay_tensor(Datum& slot, DType dtype, std::span<const int64_t> shape,
                std::shared_ptr<Buffer> buffer, size_t byte_offset = 0);
// Makes the slot a tensor of this dtype and shape that is to be written: over what it held before
// where that has room and nobody else holds it, else in a buffer of the pool (null: a new one).
// Elements are not initialised; strings may be any.
Tensor& renewed_tensor(Datum& slot, DType dtype, std::span<const int64_t> shape,
                       BufferPool* pool = nullptr);
// Clears a slot that is about to be written, but for a tensor whose memory may be.
void keep_own(Datum& slot);
// Prepares a slot for a time of no use: what others hold as well is let go, and large buffers are
// given back.
void recycle(Datum& slot, BufferPool& pool);

}  // namespace sardonyx
