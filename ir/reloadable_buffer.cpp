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

}  // namespace sardonyx
