#include "ir/reloadable_buffer.h"

#include "ir/error.h"

namespace sardonyx {

void ReloadableBuffer::release() {
  data_ = nullptr;
  memory_.reset();
}

void ReloadableBuffer::reload() {
  if (is_there()) return;
  auto memory = Buffer::allocate(size_);
  read_(memory->data());
  memory_ = std::move(memory);
  data_ = memory_->data();
}

const std::byte* ReloadableBuffer::peek() {
  reload();
  return data_;
}

void bring(const Tensor& tensor) {
  if (auto* buffer = dynamic_cast<ReloadableBuffer*>(tensor.buffer().get())) buffer->reload();
}

const std::byte* peek(const Tensor& tensor) {
  auto* buffer = dynamic_cast<ReloadableBuffer*>(tensor.buffer().get());
  if (!buffer) return static_cast<const std::byte*>(tensor.raw());
  const auto offset = static_cast<const std::byte*>(tensor.raw()) - buffer->data();
  return buffer->peek() + offset;
}

const LooseFloat* peek_floats(const Tensor& tensor) {
  SARDONYX_CHECK(tensor.dtype() == DType::kFloat);
  return reinterpret_cast<const LooseFloat*>(peek(tensor));
}

const std::byte* address_outside(const Tensor& tensor) {
  const auto* buffer = dynamic_cast<const ReloadableBuffer*>(tensor.buffer().get());
  if (!buffer || buffer->is_there() || !buffer->outside()) return nullptr;
  const auto offset = static_cast<const std::byte*>(tensor.raw()) - buffer->data();
  return buffer->outside() + offset;
}

PassingLook::PassingLook(const Tensor& tensor) {
  auto buffer = std::dynamic_pointer_cast<ReloadableBuffer>(tensor.buffer());
  if (buffer && !buffer->is_there()) was_away_ = std::move(buffer);
}

PassingLook::~PassingLook() {
  if (was_away_) was_away_->release();
}

}  // namespace sardonyx
