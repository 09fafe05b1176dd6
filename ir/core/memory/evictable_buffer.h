// Elements that can be read again from where they came, so that their memory may be given up for a
// while, or need not be taken before somebody wants to look at them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ir/core/tensor.h"

namespace sardonyx {

class EvictableBuffer : public Buffer {
 public:
  // Writes all bytes; may throw, then nothing is there.
  using Read = std::function<void(std::byte* to)>;

  // The elements are not there before the first `reload`.
  EvictableBuffer(size_t bytes, Read read, std::string origin = "")
      : Buffer(nullptr, bytes), read_(std::move(read)), origin_(std::move(origin)) {}
  // The elements are there, in `memory`.
  EvictableBuffer(std::shared_ptr<Buffer> memory, Read read)
      : Buffer(memory->data(), memory->size()),
        read_(std::move(read)),
        memory_(std::move(memory)) {}
  std::string origin() const override { return origin_; }

  // Gives the memory back. Nobody may look at the elements until they are there again: tensors on
  // this buffer then begin at another address.
  virtual void release();
  // Reads the elements where they are not there, into memory that is counted by the current
  // MemoryBudget.
  void reload();
  bool is_there() const { return memory_ != nullptr; }
  // The elements for a look in passing, until the next `release`: where they are not there they may
  // are at an address that does not suit their type. Throws as `reload` does.
  virtual const std::byte* peek();
  // The address at which peek() finds the elements while the buffer lives, even after `release`;
  // null where peek() reads them.
  virtual const std::byte* outside() const { return nullptr; }

 private:
  Read read_;
  std::string origin_;
  std::shared_ptr<Buffer> memory_;
};

// Sees to it that the elements of any tensor are there.
void load_weight(const Tensor& tensor);
// Its elements, perhaps at an address that does not suit their type.
const std::byte* peek(const Tensor& tensor);
// A float that may be at any address.
using LooseFloat = float __attribute__((aligned(1)));
const LooseFloat* peek_floats(const Tensor& tensor);

// The address of the elements where they stay for as long as the tensor lives without taking memory
// of their own; null where they don't. It may not be aligned for their type.
const std::byte* address_outside(const Tensor& tensor);

// Loads or peeks of `tensor` while this object lives are evicted again if it was evicted before.
class ScopedLoad {
 public:
  explicit ScopedLoad(const Tensor& tensor);
  ~ScopedLoad();
  ScopedLoad(const ScopedLoad&) = delete;
  ScopedLoad& operator=(const ScopedLoad&) = delete;

  // It stays after all where it is what `sharer` is in.
  void keep_for(const Tensor& sharer) {
    if (sharer.buffer() == was_evicted_) was_evicted_ = nullptr;
  }

 private:
  std::shared_ptr<EvictableBuffer> was_evicted_;
};

}  // namespace sardonyx
