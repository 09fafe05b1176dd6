#include "tools/onnx-serve/http/body_storage.h"

#include <algorithm>
#include <cstring>

namespace sardonyx::serve {
namespace {

constexpr uint64_t kFirst = 64 << 10;
// What has sent that much gets the space for all of it, where all is no more than this.
constexpr uint64_t kWhole = 2 << 20;
// From this size on a block has memory where it has been written to, and nowhere else.
constexpr uint64_t kLazy = 64 << 20;

size_t grown(uint64_t capacity, uint64_t needed, uint64_t most) {
  const uint64_t wanted = capacity < kFirst  ? kFirst
                          : most <= kWhole   ? most
                          : capacity < kLazy ? 4 * capacity
                                             : 8 * capacity;
  return std::max(needed, std::min(most, wanted));
}

}  // namespace

std::string padded_string() {
  std::string text;
  text.reserve(kJsonPadding);
  return text;
}

char* extend(std::string& text, size_t bytes, uint64_t most, size_t padding) {
  const size_t before = text.size(), needed = before + bytes;
  if (text.capacity() < needed + padding) text.reserve(grown(before, needed, most) + padding);
  text.resize(needed);
  return text.data() + before;
}

char* extend(std::shared_ptr<Buffer>& buffer, size_t used, size_t bytes, uint64_t most) {
  if (!buffer || buffer->size() < used + bytes) {
    auto larger = Buffer::allocate(grown(buffer ? buffer->size() : 0, used + bytes, most));
    if (used > 0) std::memcpy(larger->data(), buffer->data(), used);
    buffer = std::move(larger);
  }
  return reinterpret_cast<char*>(buffer->data()) + used;
}

size_t next_piece(uint64_t got) {
  return static_cast<size_t>(std::clamp<uint64_t>(got, 4 << 10, 256 << 10));
}

}  // namespace sardonyx::serve
