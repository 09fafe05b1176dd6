// FlatBuffers, the format of ONNX Runtime's own files: tables, whose fields are found by number, at
// distances from where they are named.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/error.h"

namespace sardonyx {

// Bytes in which every position is checked before it is read. They must outlive what refers to
// them.
class FlatBuffer {
 public:
  FlatBuffer(std::span<const std::byte> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {}

  // The four letters behind the first offset.
  static bool has_identifier(std::span<const std::byte> bytes, std::string_view letters) {
    return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, letters.data(), 4) == 0;
  }

  template <typename T>
  T read(size_t at) const {
    check(at, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  // Where an offset at `at` leads to.
  size_t target(size_t at) const { return at + read<uint32_t>(at); }
  std::span<const std::byte> part(size_t at, size_t count, size_t element_size) const {
    check(at, count * element_size);
    return bytes_.subspan(at, count * element_size);
  }
  size_t size() const { return bytes_.size(); }
  const std::string& name() const { return name_; }

  [[noreturn]] void refuse() const {
    fail(ErrorCode::kInvalidModel, name_, ": the file ends early or is corrupt");
  }

 private:
  void check(size_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) refuse();
  }

  std::span<const std::byte> bytes_;
  std::string name_;
};

// A table of a FlatBuffer. Fields that are left out read as nothing.
class FlatTable {
 public:
  FlatTable(const FlatBuffer& file, size_t at) : file_(&file), at_(at) {}
  static FlatTable root_of(const FlatBuffer& file) { return {file, file.target(0)}; }

  template <typename T>
  T number(size_t field, T absent = 0) const {
    const size_t place = place_of(field);
    return place == 0 ? absent : file_->read<T>(place);
  }
  std::string_view text(size_t field) const {
    const size_t place = place_of(field);
    return place == 0 ? std::string_view() : text_at(place);
  }
  std::optional<FlatTable> table(size_t field) const {
    const size_t place = place_of(field);
    if (place == 0) return std::nullopt;
    return FlatTable(*file_, file_->target(place));
  }
  // The elements of a vector of numbers, where they are.
  std::span<const std::byte> bytes(size_t field, size_t element_size = 1) const {
    const size_t place = place_of(field);
    return place == 0 ? std::span<const std::byte>() : vector_at(place, element_size);
  }
  template <typename T>
  std::vector<T> numbers(size_t field) const {
    const std::span<const std::byte> from = bytes(field, sizeof(T));
    std::vector<T> values(from.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), from.data(), from.size());
    return values;
  }
  template <typename Visit>
  void each_table(size_t field, const Visit& visit) const {
    each_offset(field, [&](size_t place) { visit(FlatTable(*file_, file_->target(place))); });
  }
  template <typename Visit>
  void each_text(size_t field, const Visit& visit) const {
    each_offset(field, [&](size_t place) { visit(text_at(place)); });
  }

 private:
  // 0 where the field is left out.
  size_t place_of(size_t field) const {
    const int64_t layout = static_cast<int64_t>(at_) - file_->read<int32_t>(at_);
    if (layout < 0) file_->refuse();
    const size_t begin = static_cast<size_t>(layout), slot = 4 + 2 * field;
    if (slot + 2 > file_->read<uint16_t>(begin)) return 0;
    const uint16_t distance = file_->read<uint16_t>(begin + slot);
    return distance == 0 ? 0 : at_ + distance;
  }
  std::span<const std::byte> vector_at(size_t place, size_t element_size) const {
    const size_t at = file_->target(place);
    return file_->part(at + 4, file_->read<uint32_t>(at), element_size);
  }
  std::string_view text_at(size_t place) const {
    const std::span<const std::byte> text = vector_at(place, 1);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  template <typename Visit>
  void each_offset(size_t field, const Visit& visit) const {
    const size_t count = bytes(field, sizeof(uint32_t)).size() / sizeof(uint32_t);
    if (count == 0) return;
    const size_t first = file_->target(place_of(field)) + 4;
    for (size_t i = 0; i < count; ++i)
      visit(first + i * sizeof(uint32_t));
  }

  const FlatBuffer* file_;
  size_t at_;
};

}  // namespace sardonyx
