// Memory of a caller's that runs are given, with what must be in it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ir/core/tensor.h"

namespace sardonyx::api_test {

// Bytes between canaries, and what is expected in them. Nobody but the run that it is given to may
// change them, and nobody at all once it was released.
class CallerMemory {
 public:
  explicit CallerMemory(size_t bytes);
  ~CallerMemory();
  CallerMemory(const CallerMemory&) = delete;
  CallerMemory& operator=(const CallerMemory&) = delete;

  std::byte* data() const { return begin_ + kCanary; }
  size_t size() const { return expected_.size(); }
  // A tensor in it that doesn't keep it alive, as C callers have.
  Tensor tensor(DType dtype, const Shape& shape, size_t offset) const;

  // The caller writes.
  void write(size_t offset, std::span<const std::byte> bytes);
  // A run has written there what is right, or may have.
  void accept(size_t offset, size_t bytes);
  // Are these bytes and the canaries as they must be?
  bool is_intact() const;
  // The caller frees it: whoever reads it gets nonsense, whoever writes is found out. With `unmap`,
  // both end the process.
  void release(bool unmap);

 private:
  static constexpr size_t kCanary = 256;
  std::span<std::byte> all() const { return {begin_, 2 * kCanary + size()}; }

  std::byte* begin_ = nullptr;
  size_t mapped_ = 0;
  bool is_gone_ = false;
  std::vector<std::byte> expected_;
};

}  // namespace sardonyx::api_test
