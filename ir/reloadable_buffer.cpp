#include "ir/reloadable_buffer.h"

namespace sardonyx {

ReloadableBuffer::ReloadableBuffer(size_t bytes, Read read)
    : Buffer(nullptr, bytes), read_(std::move(read)) {
  reload();
}

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

ElementsThere::ElementsThere(const Tensor& tensor) {
  auto buffer = std::dynamic_pointer_cast<ReloadableBuffer>(tensor.buffer());
  if (!buffer || buffer->is_there()) return;
  buffer->reload();
  was_away_ = std::move(buffer);
}

ElementsThere::~ElementsThere() {
  if (was_away_) was_away_->release();
}

}  // namespace sardonyx
