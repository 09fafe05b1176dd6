#include "onnx_io/import/decode_tensor.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "ir/core/bools.h"
#include "ir/core/error.h"
#include "ir/core/run_control.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {
namespace {

using onnx_schema::SparseTensorProto;
using onnx_schema::TensorProto;

[[noreturn]] void refuse(const std::string& message) {
  fail(ErrorCode::kInvalidModel, message);
}

// The bytes of a string that was moved out of a message.
class StringBytesBuffer : public Buffer {
 public:
  explicit StringBytesBuffer(std::string bytes) : Buffer(nullptr, bytes.size()) {
    if (const RunControl* control = current_control(); control && control->budget) {
      control->budget->take(bytes.size());
      budget_ = control->budget;
    }
    bytes_ = std::move(bytes);
    data_ = reinterpret_cast<std::byte*>(bytes_.data());
  }
  ~StringBytesBuffer() override {
    if (budget_) budget_->give_back(size_);
  }

 private:
  std::string bytes_;
  std::shared_ptr<MemoryBudget> budget_;
};

Tensor from_string(std::string& raw, DType dtype, Shape shape) {
  // Below this, one more allocation and the string's own overhead cost more than the copy.
  constexpr size_t kWorthMoving = 4096;
  if (dtype == DType::kBool) normalize_bools(raw.data(), raw.data(), raw.size());
  if (raw.size() >= kWorthMoving) {
    return Tensor(dtype, std::move(shape), std::make_shared<StringBytesBuffer>(std::move(raw)));
  }
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  if (!raw.empty()) std::memcpy(tensor.raw(), raw.data(), raw.size());
  return tensor;
}

template <typename To, typename Field>
Tensor copied(const Field& field, DType dtype, Shape shape) {
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  auto* out = static_cast<To*>(tensor.raw());
  for (const auto& value : field)
    *out++ = static_cast<To>(value);
  return tensor;
}

// An integer of `bits` bits, written with its sign or as a bit pattern.
bool fits(int32_t value, int bits) {
  const int64_t range = int64_t{1} << bits;
  return value >= -range / 2 && value < range;
}

Tensor from_strings(TensorProto& proto, Shape shape) {
  Tensor tensor = Tensor::allocate(DType::kString, std::move(shape));
  std::span<std::string> out = tensor.mutable_values<std::string>();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = proto.string_data(static_cast<int>(i));
  return tensor;
}

std::string_view typed_field_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      return "float_data";
    case DType::kDouble:
    case DType::kComplex128:
      return "double_data";
    case DType::kInt64:
      return "int64_data";
    case DType::kUInt32:
    case DType::kUInt64:
      return "uint64_data";
    case DType::kString:
      return "string_data";
    default:
      return "int32_data";
  }
}

int entries_in(const TensorProto& proto, std::string_view field) {
  if (field == "float_data") return proto.float_data_size();
  if (field == "double_data") return proto.double_data_size();
  if (field == "int64_data") return proto.int64_data_size();
  if (field == "uint64_data") return proto.uint64_data_size();
  return field == "string_data" ? proto.string_data_size() : proto.int32_data_size();
}

// How many entries of its typed field `count` elements take.
int64_t entries_of(DType dtype, int64_t count) {
  if (is_complex(dtype)) return 2 * count;
  return is_packed(dtype) ? static_cast<int64_t>(bytes_for(dtype, count)) : count;
}

uint64_t checked_number(std::string_view key, std::string_view value) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    refuse(text("external_data ", key, " is ", in_quotes(value), ", expected a number of bytes"));
  }
  return number;
}

// An unknown key may change what the bytes mean, so it is refused.
void check_known_key(std::string_view key) {
  constexpr std::string_view kKnown[] = {"location", "offset", "length", "checksum", "basepath"};
  // ONNX Runtime notes beside a tensor where it wrote copies of its own.
  if (std::ranges::count(kKnown, key) > 0 || key.starts_with("prepacked")) return;
  refuse(text("external_data has the unknown key ", in_quotes(key),
              ", expected location, offset, length, checksum or basepath"));
}

struct Location {
  std::string path;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Location location_of(const TensorProto& proto) {
  Location location;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location.path = entry.value();
    if (entry.key() == "offset") location.offset = checked_number("offset", entry.value());
    if (entry.key() == "length") location.length = checked_number("length", entry.value());
    check_known_key(entry.key());
  }
  if (location.path.empty()) refuse("external_data has no location, expected a file's path");
  require_utf8(location.path, "external data location");
  return location;
}

// The entry that does not stand behind the one before it, in the order of the elements; nothing
// where all do.
std::optional<size_t> entry_out_of_order(const SparseTensor& sparse) {
  const std::span<const int64_t> indices = sparse.indices.values<int64_t>();
  const size_t width = sparse.indices.rank() == 1 ? 1 : sparse.shape.size();
  for (size_t i = width; width > 0 && i < indices.size(); i += width) {
    const auto here = indices.subspan(i, width), before = indices.subspan(i - width, width);
    if (!std::lexicographical_compare(before.begin(), before.end(), here.begin(), here.end()))
      return i / width;
  }
  return std::nullopt;
}

bool is_narrow_index(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32;
}

}  // namespace

DType checked_dtype(int64_t number, std::string_view what) {
  if (number == 0) refuse(text(what, " has element type UNDEFINED, expected a type"));
  if (number < 0 || number >= kDTypeCount) {
    refuse(text(what, " has the unknown element type ", number));
  }
  return static_cast<DType>(number);
}

Shape TensorDecoder::checked_shape(const google::protobuf::RepeatedField<int64_t>& dims,
                                   DType dtype) {
  Shape shape(dims.begin(), dims.end());
  limits_.check_rank("shape", shape.size());
  for (const int64_t dim : shape) {
    if (dim < 0) refuse(text("shape ", to_text(shape), " has the negative dim ", dim));
  }
  const uint64_t bytes = bytes_for(dtype, element_count(shape));
  if (bytes > limits_.tensor_bytes) {
    fail(ErrorCode::kResourceExhausted, "shape ", to_text(shape), " takes ", bytes,
         " bytes, more than the limit of ", limits_.tensor_bytes);
  }
  return shape;
}

const Tensor& TensorDecoder::tensor(TensorProto& proto) {
  if (const auto found = decoded_.find(&proto); found != decoded_.end()) return found->second;
  check_interrupted();
  Tensor tensor = decode(proto);
  total_bytes_ += tensor.bytes();
  if (total_bytes_ > limits_.total_bytes) {
    fail(ErrorCode::kResourceExhausted, "the tensors together take more than the limit of ",
         limits_.total_bytes, " bytes");
  }
  return decoded_.emplace(&proto, std::move(tensor)).first->second;
}

Tensor TensorDecoder::decode(TensorProto& proto) {
  const DType dtype = checked_dtype(proto.data_type(), "the tensor");
  if (proto.has_segment()) {
    if (!leniency_) fail(ErrorCode::kUnsupported, "the tensor is only a segment of one");
    leniency_->tolerate(kTensorSegment, "the tensor is marked as a segment of one; taken as it is");
  }
  Shape shape = checked_shape(proto.dims(), dtype);
  if (proto.data_location() == TensorProto::EXTERNAL) {
    return decode_external(proto, dtype, std::move(shape));
  }
  const int64_t count = element_count(shape);
  const std::vector<std::string_view> filled = filled_fields(proto);
  if (filled.size() > 1) {
    refuse(text("both ", filled[0], " and ", filled[1], " hold data, expected one field"));
  }
  if (!filled.empty() && filled[0] == "raw_data") return decode_raw(proto, dtype, std::move(shape));
  const std::string_view typed = typed_field_of(dtype);
  if (!filled.empty() && filled[0] != typed) {
    refuse(
        text("the data of ", name_of(dtype), " elements is in ", filled[0], ", expected ", typed));
  }
  if (const int got = entries_in(proto, typed); got != entries_of(dtype, count)) {
    refuse(text(typed, " has ", got, " elements, expected ", entries_of(dtype, count), " for ",
                name_of(dtype), to_text(shape)));
  }
  return from_typed_field(proto, dtype, std::move(shape));
}

Tensor TensorDecoder::from_int32_data(const TensorProto& proto, DType dtype, Shape shape) {
  const auto& field = proto.int32_data();
  if (dtype == DType::kInt32) return copied<int32_t>(field, dtype, std::move(shape));
  if (dtype == DType::kBool) {
    Tensor tensor = Tensor::allocate(dtype, std::move(shape));
    auto* out = static_cast<uint8_t*>(tensor.raw());
    for (const int32_t value : field)
      *out++ = value != 0;
    return tensor;
  }
  const int bits = std::max(bits_of(dtype), 8);
  const auto odd = std::ranges::find_if(field, [&](int32_t value) { return !fits(value, bits); });
  if (odd != field.end()) {
    const std::string what =
        text("int32_data holds ", *odd, ", which does not fit the element type");
    if (!leniency_ || !is_integer(dtype) || is_packed(dtype)) refuse(what);
    leniency_->tolerate(kElementRange, what, "; the low bits count");
  }
  return bits == 8 ? copied<uint8_t>(field, dtype, std::move(shape))
                   : copied<uint16_t>(field, dtype, std::move(shape));
}

Tensor TensorDecoder::from_typed_field(TensorProto& proto, DType dtype, Shape shape) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      return copied<float>(proto.float_data(), dtype, std::move(shape));
    case DType::kDouble:
    case DType::kComplex128:
      return copied<double>(proto.double_data(), dtype, std::move(shape));
    case DType::kInt64:
      return copied<int64_t>(proto.int64_data(), dtype, std::move(shape));
    case DType::kUInt32:
      return copied<uint32_t>(proto.uint64_data(), dtype, std::move(shape));
    case DType::kUInt64:
      return copied<uint64_t>(proto.uint64_data(), dtype, std::move(shape));
    case DType::kString:
      return from_strings(proto, std::move(shape));
    default:
      return from_int32_data(proto, dtype, std::move(shape));
  }
}

std::vector<std::string_view> TensorDecoder::filled_fields(const TensorProto& proto) const {
  std::vector<std::string_view> filled;
  if (!proto.raw_data().empty() || raw_data_.contains(&proto)) filled.push_back("raw_data");
  for (const std::string_view field :
       {"float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data"}) {
    if (entries_in(proto, field) > 0) filled.push_back(field);
  }
  return filled;
}

Tensor TensorDecoder::decode_raw(TensorProto& proto, DType dtype, Shape shape) {
  if (dtype == DType::kString) refuse("string elements in raw_data, expected string_data");
  const size_t needed = bytes_for(dtype, element_count(shape));
  const auto taken = raw_data_.find(&proto);
  const size_t got = taken == raw_data_.end() ? proto.raw_data().size() : taken->second->size();
  if (got != needed) {
    refuse(text("raw_data has ", got, " bytes, expected ", needed, " for ", name_of(dtype),
                to_text(shape)));
  }
  if (taken == raw_data_.end())
    return from_string(*proto.mutable_raw_data(), dtype, std::move(shape));
  const std::shared_ptr<Buffer> buffer = std::move(taken->second);
  return with_normal_bools(Tensor(dtype, std::move(shape), buffer));
}

Tensor TensorDecoder::decode_external(const TensorProto& proto, DType dtype, Shape shape) {
  if (dtype == DType::kString) refuse("string tensors can't be external data");
  if (!filled_fields(proto).empty()) refuse("the tensor is external and holds data as well");
  Location location = location_of(proto);
  if (!external_) {
    fail(ErrorCode::kInvalidModel, "external data location ", in_quotes(location.path),
         ": external data is not allowed here; set allowed_root or external_files if the model is "
         "given as bytes");
  }
  const uint64_t needed = bytes_for(dtype, element_count(shape));
  if (location.length == 0 && needed > 0 && leniency_) {
    leniency_->tolerate(kExternalLength, "external data location ", in_quotes(location.path),
                        ": length is 0 bytes; taken for ", needed, ", as ", name_of(dtype),
                        to_text(shape), " has");
    location.length.reset();
  }
  if (location.length && *location.length != needed) {
    refuse(text("external data length is ", *location.length, " bytes, expected ", needed, " for ",
                name_of(dtype), to_text(shape)));
  }
  const uint64_t size = external_->size_of(location.path);
  if (location.offset > size || needed > size - location.offset) {
    refuse(text("external data at offset ", location.offset, " with length ", needed,
                " is past the end of ", in_quotes(location.path), ", which has ", size, " bytes"));
  }
  return external_->read(location.path, location.offset, dtype, std::move(shape));
}

SparseTensor TensorDecoder::sparse(SparseTensorProto& proto) {
  if (!proto.has_values() || !proto.has_indices()) {
    refuse("the sparse tensor lacks its values or its indices");
  }
  SparseTensor sparse{tensor(*proto.mutable_values()), tensor(*proto.mutable_indices()), {}};
  sparse.shape = checked_shape(proto.dims(), sparse.values.dtype());
  if (sparse.values.rank() != 1) {
    refuse(text("the values of a sparse tensor have shape ", to_text(sparse.values.shape()),
                ", expected one dim"));
  }
  const Shape& indices = sparse.indices.shape();
  const int64_t nonzero = sparse.values.count();
  const bool linear = indices == Shape{nonzero};
  const bool coordinates = indices == Shape{nonzero, static_cast<int64_t>(sparse.shape.size())};
  const DType dtype = sparse.indices.dtype();
  const bool is_index = dtype == DType::kInt64 || (leniency_ && is_narrow_index(dtype));
  if (!is_index || !(linear || coordinates)) {
    refuse(text("the indices of a sparse tensor are ", name_of(dtype), to_text(indices),
                ", expected int64[", nonzero, "] or int64[", nonzero, ", ", sparse.shape.size(),
                "]"));
  }
  mend_indices(sparse);
  return sparse;
}

// ONNX Runtime takes each signed type, and writes the entries one after the other.
void TensorDecoder::mend_indices(SparseTensor& sparse) const {
  if (const DType dtype = sparse.indices.dtype(); dtype != DType::kInt64) {
    leniency_->tolerate(kSparseIndices, "the indices of a sparse tensor are ", name_of(dtype),
                        ", expected int64; taken as they are");
    sparse.indices = Tensor::vector(sparse.indices.to_int64s()).reshaped(sparse.indices.shape());
  }
  const std::optional<size_t> entry = entry_out_of_order(sparse);
  if (!entry) return;
  const std::string what =
      text("the indices of a sparse tensor are not in ascending order at entry ", *entry);
  if (!leniency_) refuse(what);
  leniency_->tolerate(kSparseIndices, what, "; of several for one element the last counts");
}

Tensor TensorDecoder::dense(SparseTensorProto& proto) {
  const SparseTensor decoded = sparse(proto);
  const size_t bytes = bytes_for(decoded.values.dtype(), element_count(decoded.shape));
  if (bytes > limits_.expanded_bytes) {
    fail(ErrorCode::kResourceExhausted, "the sparse tensor takes ", bytes,
         " bytes when dense, more than the limit of ", limits_.expanded_bytes);
  }
  return decoded.to_dense();
}

}  // namespace sardonyx::onnx_import
