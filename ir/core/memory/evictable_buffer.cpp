#include "ir/core/memory/evictable_buffer.h"

#include "ir/core/error.h"

namespace sardonyx {

void EvictableBuffer::release() {
  data_ = nullptr;
  memory_.reset();
}

void EvictableBuffer::reload() {
  if (is_there()) return;
  auto memory = Buffer::allocate(size_);
  read_(memory->data());
  memory_ = std::move(memory);
  data_ = memory_->data();
}

const std::byte* EvictableBuffer::peek() {
  reload();
  return data_;
}

void load_weight(const Tensor& tensor) {
  if (auto* buffer = dynamic_cast<EvictableBuffer*>(tensor.buffer().get())) buffer->reload();
}

const std::byte* peek(const Tensor& tensor) {
  auto* buffer = dynamic_cast<EvictableBuffer*>(tensor.buffer().get());
  if (!buffer) return static_cast<const std::byte*>(tensor.raw());
  const auto offset = static_cast<const std::byte*>(tensor.raw()) - buffer->data();
  return buffer->peek() + offset;
}

const LooseFloat* peek_floats(const Tensor& tensor) {
  SARDONYX_CHECK(tensor.dtype() == DType::kFloat);
  return reinterpret_cast<const LooseFloat*>(peek(tensor));
}

const std::byte* address_outside(const Tensor& tensor) {
  const auto* buffer = dynamic_cast<const EvictableBuffer*>(tensor.buffer().get());
  if (!buffer || buffer->is_there() || !buffer->outside()) return nullptr;
  const auto offset = static_cast<const std::byte*>(tensor.raw()) - buffer->data();
  return buffer->outside() + offset;
}

ScopedLoad::ScopedLoad(const Tensor& tensor) {
  auto buffer = std::dynamic_pointer_cast<EvictableBuffer>(tensor.buffer());
  if (buffer && !buffer->is_there()) was_evicted_ = std::move(buffer);
}

ScopedLoad::~ScopedLoad() {
  if (was_evicted_) was_evicted_->release();
}

}  // namespace sardonyx
