#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "eager/files/state_files.h"
#include "ir/core/tensor.h"
#include "onnx_io/file_access.h"
#include "onnx_io/file_write.h"

namespace sardonyx::eager {
namespace {

using Json = nlohmann::json;

// As the reference implementation has it.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kMaxRank = 64;

struct NamedType {
  const char* name;
  DType dtype;
};
constexpr NamedType kTypes[] = {
    {"F64", DType::kDouble},
    {"F32", DType::kFloat},
    {"F16", DType::kFloat16},
    {"BF16", DType::kBFloat16},
    {"I64", DType::kInt64},
    {"I32", DType::kInt32},
    {"I16", DType::kInt16},
    {"I8", DType::kInt8},
    {"U64", DType::kUInt64},
    {"U32", DType::kUInt32},
    {"U16", DType::kUInt16},
    {"U8", DType::kUInt8},
    {"BOOL", DType::kBool},
    {"C64", DType::kComplex64},
    {"F8_E4M3", DType::kFloat8E4M3FN},
    {"F8_E5M2", DType::kFloat8E5M2},
    {"F8_E8M0", DType::kFloat8E8M0},
};

struct TensorEntry {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;
  uint64_t begin = 0, end = 0;
};

// Takes the header's three levels apart as they come: names, fields, numbers. Anything else stops
// the parser, so that no depth or size of JSON is ever built.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(Metadata& metadata) : metadata_(metadata) {}
  std::vector<TensorEntry> entries;
  std::string problem;

  bool start_object(size_t) override {
    if (depth_ == 1 && !in_list_) {
      is_metadata_ = name_ == "__metadata__";
      if (!is_metadata_) entries.push_back({.name = name_});
      offsets_.clear();
      seen_.clear();
    } else if (depth_ != 0) {
      return stop("objects within objects");
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (--depth_ != 1 || is_metadata_) return true;
    TensorEntry& entry = entries.back();
    if (entry.dtype == DType::kUndefined || !has_shape_ || offsets_.size() != 2)
      return stop("'" + entry.name + "' lacks its dtype, shape or data_offsets");
    entry.begin = offsets_[0];
    entry.end = offsets_[1];
    has_shape_ = false;
    return true;
  }
  bool key(string_t& key) override {
    if (depth_ == 1) {
      if (!names_.insert(key).second) return stop("'" + key + "' twice");
      name_ = key;
    } else {
      if (!seen_.insert(key).second) return stop("'" + key + "' twice in '" + name_ + "'");
      field_ = key;
    }
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ != 2 || in_list_) return stop("a string in an unexpected place");
    if (is_metadata_) {
      metadata_[field_] = value;
      return true;
    }
    if (field_ != "dtype") return stop("'" + name_ + "': unexpected " + field_);
    const auto* type =
        std::ranges::find_if(kTypes, [&](const NamedType& type) { return value == type.name; });
    if (type == std::end(kTypes)) return stop("'" + name_ + "' has the unknown dtype " + value);
    entries.back().dtype = type->dtype;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) return stop("a number in an unexpected place");
    if (field_ == "data_offsets") {
      offsets_.push_back(value);
      return offsets_.size() <= 2 || stop("'" + name_ + "' has more than two data_offsets");
    }
    Shape& shape = entries.back().shape;
    if (value > INT64_MAX || shape.size() == kMaxRank)
      return stop("'" + name_ + "' has an impossible shape");
    shape.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 2 || is_metadata_ || in_list_ || (field_ != "shape" && field_ != "data_offsets"))
      return stop("a list in an unexpected place");
    has_shape_ |= field_ == "shape";
    return in_list_ = true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }
  bool null() override { return stop("null"); }
  bool boolean(bool) override { return stop("a bool"); }
  bool number_integer(number_integer_t) override { return stop("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return stop("a fraction"); }
  bool binary(binary_t&) override { return stop("binary data"); }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    return stop(text("no JSON at byte ", at));
  }

 private:
  bool stop(const std::string& why) {
    if (problem.empty()) problem = why;
    return false;
  }
  Metadata& metadata_;
  int depth_ = 0;
  bool in_list_ = false, is_metadata_ = false, has_shape_ = false;
  std::string name_, field_;
  std::vector<uint64_t> offsets_;
  std::set<std::string> names_, seen_;
};

uint64_t bytes_of(const TensorEntry& entry, const std::string& file) {
  try {
    return bytes_for(entry.dtype, element_count(entry.shape));
  } catch (const Error& error) {
    fail(ErrorCode::kInvalidArgument, file, ": no safetensors file: '", entry.name, "' of shape ",
         to_text(entry.shape), ": ", error.what());
  }
}

// Every byte of the data belongs to one tensor.
void check_layout(std::vector<TensorEntry>& entries, uint64_t data_bytes, const std::string& file) {
  std::ranges::sort(entries, [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t at = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin != at || entry.end < entry.begin || entry.end > data_bytes) {
      fail(ErrorCode::kInvalidArgument, file, ": no safetensors file: '", entry.name,
           "' claims bytes ", entry.begin, " to ", entry.end, " of ", data_bytes, ", after byte ",
           at);
    }
    const uint64_t needed = bytes_of(entry, file);
    if (needed != entry.end - entry.begin) {
      fail(ErrorCode::kInvalidArgument, file, ": no safetensors file: '", entry.name, "' of shape ",
           to_text(entry.shape), " takes ", needed, " bytes, not ", entry.end - entry.begin);
    }
    at = entry.end;
  }
  if (at != data_bytes) {
    fail(ErrorCode::kInvalidArgument, file, ": no safetensors file: its tensors take ", at,
         " bytes of ", data_bytes);
  }
}

sardonyx::Tensor read_entry(const OpenFile& file, const TensorEntry& entry, uint64_t data_begin) {
  sardonyx::Tensor made = sardonyx::Tensor::allocate(entry.dtype, entry.shape);
  if (made.bytes() > 0) read_exactly(file, data_begin + entry.begin, made.raw(), made.bytes());
  if (entry.dtype == DType::kBool) {
    const auto* bytes = static_cast<const uint8_t*>(made.raw());
    for (int64_t i = 0; i < made.count(); ++i) {
      if (bytes[i] <= 1) continue;
      fail(ErrorCode::kInvalidArgument, file.name, ": '", entry.name, "' has a bool of value ",
           int{bytes[i]});
    }
  }
  return made;
}

std::optional<const char*> safetensors_name(DType dtype) {
  for (const NamedType& type : kTypes) {
    if (type.dtype == dtype) return type.name;
  }
  return std::nullopt;
}

}  // namespace

nn::StateDict load_safetensors(const std::filesystem::path& path, Metadata* metadata) {
  const OpenFile file = open_regular(path);
  uint64_t header_bytes = 0;
  if (file.size < sizeof header_bytes)
    fail(ErrorCode::kInvalidArgument, file.name, ": no safetensors file: it has ", file.size,
         " bytes");
  read_exactly(file, 0, &header_bytes, sizeof header_bytes);
  if (header_bytes > kMaxHeaderBytes || header_bytes > file.size - sizeof header_bytes) {
    fail(ErrorCode::kInvalidArgument, file.name, ": no safetensors file: its header claims ",
         header_bytes, " bytes");
  }
  std::string header(static_cast<size_t>(header_bytes), '\0');
  read_exactly(file, sizeof header_bytes, header.data(), header.size());
  Metadata found;
  HeaderReader reader(found);
  if (header.empty() || header[0] != '{' || !Json::sax_parse(header, &reader)) {
    fail(ErrorCode::kInvalidArgument, file.name, ": no safetensors file: its header has ",
         reader.problem.empty() ? "no object" : reader.problem);
  }
  const uint64_t data_begin = sizeof header_bytes + header_bytes;
  check_layout(reader.entries, file.size - data_begin, file.name);
  nn::StateDict state;
  for (const TensorEntry& entry : reader.entries)
    state[entry.name] = Tensor(read_entry(file, entry, data_begin));
  if (metadata) *metadata = std::move(found);
  return state;
}

void save_safetensors(const nn::StateDict& state, const std::filesystem::path& path,
                      const Metadata& metadata) {
  std::vector<std::pair<std::string, sardonyx::Tensor>> sorted;
  for (const auto& [name, tensor] : state) {
    if (!safetensors_name(tensor.dtype()) || name == "__metadata__") {
      fail(ErrorCode::kUnsupported, path.string(), ": '", name, "' (", text(tensor.dtype()),
           ") cannot stand in a safetensors file");
    }
    sorted.emplace_back(name, tensor.data());
  }
  // Wide elements first, so that all are aligned.
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    return bits_of(a.second.dtype()) > bits_of(b.second.dtype());
  });
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t at = 0;
  for (const auto& [name, tensor] : sorted) {
    header[name] = {{"dtype", *safetensors_name(tensor.dtype())},
                    {"shape", tensor.shape()},
                    {"data_offsets", {at, at + tensor.bytes()}}};
    at += tensor.bytes();
  }
  std::string json;
  try {
    json = header.dump();
  } catch (const Json::exception&) {
    fail(ErrorCode::kInvalidArgument, path.string(), ": a name or metadata is not UTF-8");
  }
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const uint64_t header_bytes = json.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header_bytes, 1)));
  file.write(std::as_bytes(std::span(json)));
  for (const auto& [name, tensor] : sorted)
    file.write({static_cast<const std::byte*>(tensor.raw()), tensor.bytes()});
  file.commit();
}

}  // namespace sardonyx::eager
