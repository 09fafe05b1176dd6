// Elements that can be read again from where they came, so that their memory may be given up for a
// while.
#pragma once

#include <functional>
#include <memory>

#include "ir/tensor.h"

namespace sardonyx {

class ReloadableBuffer : public Buffer {
 public:
  // Writes all bytes; may throw, then nothing is there.
  using Read = std::function<void(std::byte* to)>;

  // Reads at once, into memory that is counted by the current MemoryBudget.
  ReloadableBuffer(size_t bytes, Read read);

  // Gives the memory back. Nobody may look at the elements until they are there again: tensors on
  // this buffer then begin at another address.
  void release();
  // Reads the elements again where they are not there.
  void reload();
  bool is_there() const { return memory_ != nullptr; }

 private:
  Read read_;
  std::shared_ptr<Buffer> memory_;
};

// While it lives, the elements of `tensor` are there; then they go again if they were away before.
class ElementsThere {
 public:
  explicit ElementsThere(const Tensor& tensor);
  ~ElementsThere();
  ElementsThere(const ElementsThere&) = delete;
  ElementsThere& operator=(const ElementsThere&) = delete;

 private:
  std::shared_ptr<ReloadableBuffer> was_away_;
};

}  // namespace sardonyx
