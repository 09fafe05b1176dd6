// Writes FlatBuffers from their beginning to their end: what a table refers to follows it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "ir/core/error.h"

namespace sardonyx {

class FlatWriter {
 public:
  // An empty file, but for the letters that tell what it is; root() is where it begins to refer.
  explicit FlatWriter(std::string_view letters) {
    leave_offset();
    append(letters.data(), 4);
  }

  static constexpr size_t root() { return 0; }
  size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

  // Zeros until what follows `ahead` bytes is aligned.
  void align(size_t alignment, size_t ahead = 0) {
    while ((size() + ahead) % alignment != 0)
      bytes_.push_back({});
  }
  size_t append(const void* data, size_t bytes) {
    constexpr size_t kMaxBytes = (size_t{1} << 31) - 1;
    if (bytes > kMaxBytes - size())
      fail(ErrorCode::kResourceExhausted, "the file would have more than the 2 GiB of its format");
    const size_t at = size();
    bytes_.resize(at + bytes);
    if (bytes > 0) std::memcpy(bytes_.data() + at, data, bytes);
    return at;
  }
  template <typename T>
  size_t put(T value) {
    return append(&value, sizeof value);
  }

  // The place of an offset, which refer() fills in.
  size_t leave_offset() { return put<uint32_t>(0); }
  void refer(size_t from, size_t to) {
    const auto distance = static_cast<uint32_t>(to - from);
    std::memcpy(bytes_.data() + from, &distance, sizeof distance);
  }

  // What the offset at `from` refers to: a text, numbers, or places of offsets.
  void text(size_t from, std::string_view value) {
    vector(from, value.data(), value.size(), 1, 4);
    put('\0');
  }
  void vector(size_t from, const void* data, size_t count, size_t element_bytes, size_t alignment) {
    align(std::max<size_t>(alignment, 4), sizeof(uint32_t));
    refer(from, put(static_cast<uint32_t>(count)));
    append(data, count * element_bytes);
  }
  template <typename T>
  void numbers(size_t from, const T& values) {
    using Number = typename T::value_type;
    vector(from, values.data(), static_cast<size_t>(values.size()), sizeof(Number), sizeof(Number));
  }
  std::vector<size_t> offsets(size_t from, size_t count) {
    align(4);
    refer(from, put(static_cast<uint32_t>(count)));
    std::vector<size_t> places(count);
    for (size_t& place : places)
      place = leave_offset();
    return places;
  }
  // Puts each element behind the list of them.
  template <typename List, typename Put>
  void each(size_t from, const List& list, const Put& put_element) {
    const std::vector<size_t> places = offsets(from, static_cast<size_t>(list.size()));
    size_t next = 0;
    for (const auto& element : list)
      put_element(places[next++], element);
  }
  template <typename List>
  void texts(size_t from, const List& list) {
    each(from, list, [&](size_t place, const auto& one) { text(place, one); });
  }

 private:
  std::vector<std::byte> bytes_;
};

// The fields of a table, gathered before it is written.
class FlatFields {
 public:
  static constexpr size_t kMaxFields = 16;
  // Where the offsets of a table that was written are, by field.
  using Places = std::array<size_t, kMaxFields>;

  template <typename T>
  FlatFields& number(size_t field, T value) {
    PlacedField& made = fields_[field];
    made.bytes = sizeof value;
    std::memcpy(made.content.data(), &value, sizeof value);
    return *this;
  }
  FlatFields& offset(size_t field) { return number<uint32_t>(field, 0); }

  // Writes the table, which the offset at `from` then refers to.
  Places write(FlatWriter& file, size_t from) {
    size_t count = kMaxFields;
    while (count > 0 && fields_[count - 1].bytes == 0)
      --count;
    const size_t bytes = place_fields();
    const size_t layout_bytes = 2 * (count + 2);
    file.align(8, layout_bytes);
    file.put(static_cast<uint16_t>(layout_bytes));
    file.put(static_cast<uint16_t>(bytes));
    for (size_t i = 0; i < count; ++i)
      file.put(static_cast<uint16_t>(fields_[i].at));
    std::vector<std::byte> content(bytes);
    const auto to_layout = static_cast<int32_t>(layout_bytes);
    std::memcpy(content.data(), &to_layout, sizeof to_layout);
    for (const PlacedField& field : fields_)
      std::memcpy(content.data() + field.at, field.content.data(), field.bytes);
    const size_t begin = file.append(content.data(), content.size());
    file.refer(from, begin);
    Places places{};
    for (size_t i = 0; i < count; ++i)
      places[i] = begin + fields_[i].at;
    return places;
  }

 private:
  struct PlacedField {
    size_t bytes = 0, at = 0;
    std::array<std::byte, 8> content{};
  };

  // The largest first, each at a multiple of its size; the table's bytes.
  size_t place_fields() {
    size_t end = sizeof(int32_t);
    for (const size_t size : {8, 4, 2, 1}) {
      for (PlacedField& field : fields_) {
        if (field.bytes != size) continue;
        end = (end + size - 1) / size * size;
        field.at = end;
        end += size;
      }
    }
    return end;
  }

  std::array<PlacedField, kMaxFields> fields_{};
};

}  // namespace sardonyx
