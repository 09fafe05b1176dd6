#include "executor/ort_abi/load/model_fields.h"

#include <array>
#include <fstream>

#include "executor/ort_abi/load/load_errors.h"
#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {
namespace {

// Bytes of a message one after another, from a file or from memory; what is passed over is not
// read.
class MessageBytes {
 public:
  explicit MessageBytes(const ModelSource& source) : bytes_(source.bytes), left_(bytes_.size()) {
    if (!source.path) return;
    std::error_code ignored;
    const uintmax_t size = std::filesystem::file_size(*source.path, ignored);
    if (!ignored) left_ = size;
    file_.open(*source.path, std::ios::binary);
  }
  explicit MessageBytes(const std::string& bytes)
      : bytes_(std::as_bytes(std::span(bytes))), left_(bytes.size()) {}

  bool is_at_end() const { return left_ == 0; }
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      char byte = 0;
      if (!read(&byte, 1)) return std::nullopt;
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if ((byte & 128) == 0) return value;
    }
    return std::nullopt;
  }
  bool skip(uint64_t count) {
    if (count > left_) return false;
    left_ -= count;
    if (file_.is_open())
      return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(count), std::ios::cur));
    bytes_ = bytes_.subspan(count);
    return true;
  }
  std::optional<std::string> text(uint64_t size) {
    if (size > left_) return std::nullopt;
    std::string out(size, '\0');
    return read(out.data(), size) ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  bool read(char* to, size_t count) {
    if (count > left_) return false;
    left_ -= count;
    if (file_.is_open())
      return static_cast<bool>(file_.read(to, static_cast<std::streamsize>(count)));
    std::memcpy(to, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return true;
  }

  std::span<const std::byte> bytes_;
  std::ifstream file_;
  uint64_t left_;
};

struct WireField {
  uint64_t key = 0;   // number and wire type
  uint64_t size = 0;  // of what follows; a varint has been read
};

// Of the field that begins here; none where the bytes are no message.
std::optional<WireField> next_field(MessageBytes& bytes) {
  constexpr std::array<uint64_t, 6> kSizes{0, 8, 0, 0, 0, 4};  // by wire type
  const std::optional<uint64_t> key = bytes.varint();
  if (!key) return std::nullopt;
  const uint64_t wire = *key & 7;
  if (wire == 2) {
    const std::optional<uint64_t> size = bytes.varint();
    return size ? std::optional(WireField{*key, *size}) : std::nullopt;
  }
  if (wire >= kSizes.size() || (wire == 0 && !bytes.varint())) return std::nullopt;
  return WireField{*key, kSizes[wire]};
}

// Text fields 1 and 2 of a StringStringEntryProto.
std::optional<std::pair<std::string, std::string>> entry_of(const std::string& message) {
  MessageBytes bytes(message);
  std::pair<std::string, std::string> entry;
  while (!bytes.is_at_end()) {
    const std::optional<WireField> field = next_field(bytes);
    if (!field) return std::nullopt;
    std::optional<std::string> text = bytes.text(field->size);
    if (!text) return std::nullopt;
    if (field->key == (1 << 3 | 2)) entry.first = *std::move(text);
    if (field->key == (2 << 3 | 2)) entry.second = *std::move(text);
  }
  return entry;
}

constexpr uint64_t message_key(uint64_t number) {
  return number << 3 | 2;
}

// Calls `see` with the number and the bytes of each field of `message` that has a length. What is
// broken ends it.
void each_field(const std::string& message, const auto& see) {
  MessageBytes bytes(message);
  while (!bytes.is_at_end()) {
    const std::optional<WireField> field = next_field(bytes);
    if (!field) return;
    if ((field->key & 7) != 2) {
      if (!bytes.skip(field->size)) return;
      continue;
    }
    const std::optional<std::string> content = bytes.text(field->size);
    if (!content) return;
    see(field->key >> 3, *content);
  }
}

// What a message that is field `number` of `message` says; the last one, as protobuf has it.
std::string field_of(const std::string& message, uint64_t number) {
  std::string found;
  each_field(message, [&](uint64_t at, const std::string& content) {
    if (at == number) found = content;
  });
  return found;
}

// Of a ValueInfoProto: name 1, type 2, in it tensor_type 1, shape 2, dim 1, denotation 3.
void add_denoted_dims(const std::string& value_info, std::vector<DenotedDim>& dims) {
  const std::string name = field_of(value_info, 1);
  const std::string shape = field_of(field_of(field_of(value_info, 2), 1), 2);
  size_t axis = 0;
  each_field(shape, [&](uint64_t number, const std::string& dim) {
    if (number != 1) return;
    std::string denotation = field_of(dim, 3);
    if (!denotation.empty()) dims.push_back({name, axis, std::move(denotation)});
    ++axis;
  });
}

}  // namespace

bool names_model_version(const ModelSource& source) {
  if (is_ort_format(source)) return true;
  constexpr uint64_t kModelVersion = 5 << 3;  // field 5, a varint
  MessageBytes bytes(source);
  while (!bytes.is_at_end()) {
    const std::optional<WireField> field = next_field(bytes);
    if (!field) return false;
    if (field->key == kModelVersion) return true;
    if (!bytes.skip(field->size)) return false;
  }
  return false;
}

std::vector<DenotedDim> denoted_dims(const ModelSource& source) {
  constexpr uint64_t kGraph = message_key(7), kInput = message_key(11);
  std::vector<DenotedDim> dims;
  MessageBytes bytes(source);
  // The fields of the graph are read as if they were the model's, which has none of number 11.
  bool is_in_graph = false;
  while (!bytes.is_at_end()) {
    const std::optional<WireField> field = next_field(bytes);
    if (!field) break;
    if (!is_in_graph && field->key == kGraph) {
      is_in_graph = true;
    } else if (is_in_graph && field->key == kInput) {
      const std::optional<std::string> value_info = bytes.text(field->size);
      if (!value_info) break;
      add_denoted_dims(*value_info, dims);
    } else if (!bytes.skip(field->size)) {
      break;
    }
  }
  return dims;
}

std::optional<std::string> metadata_prop(const ModelSource& source, std::string_view key) {
  constexpr uint64_t kMetadataProps = 14 << 3 | 2;
  constexpr const char* kBroken = "Protobuf parsing failed.";
  MessageBytes bytes(source);
  while (!bytes.is_at_end()) {
    const std::optional<WireField> field = next_field(bytes);
    if (!field) refuse(ORT_INVALID_GRAPH, kBroken);
    if (field->key != kMetadataProps) {
      if (!bytes.skip(field->size)) refuse(ORT_INVALID_GRAPH, kBroken);
      continue;
    }
    const std::optional<std::string> message = bytes.text(field->size);
    auto entry = message ? entry_of(*message) : std::nullopt;
    if (!entry) refuse(ORT_INVALID_GRAPH, kBroken);
    if (entry->first == key) return std::move(entry->second);
  }
  return std::nullopt;
}

}  // namespace sardonyx::ort_abi
