#include "executor/serving/datatype.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "executor/batching/serving_error.h"
#include "ir/core/bools.h"

namespace sardonyx::serving {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 14> kProtocolNames = {{
    {DType::kBool, "BOOL"},
    {DType::kUInt8, "UINT8"},
    {DType::kUInt16, "UINT16"},
    {DType::kUInt32, "UINT32"},
    {DType::kUInt64, "UINT64"},
    {DType::kInt8, "INT8"},
    {DType::kInt16, "INT16"},
    {DType::kInt32, "INT32"},
    {DType::kInt64, "INT64"},
    {DType::kFloat16, "FP16"},
    {DType::kFloat, "FP32"},
    {DType::kDouble, "FP64"},
    {DType::kString, "BYTES"},
    {DType::kBFloat16, "BF16"},
}};

Tensor strings_from_binary(Shape shape, std::span<const std::byte> bytes, std::string_view what) {
  const int64_t count = checked_count(shape, what);
  // An element takes four bytes at least, so a short body never asks for many strings.
  if (static_cast<uint64_t>(count) > bytes.size() / sizeof(uint32_t)) {
    refuse(Status::kInvalidArgument, "unexpected number of string elements for inference ", what,
           ", expecting ", count, ": they need at least ", count, " * 4 bytes, got ", bytes.size());
  }
  Tensor tensor = Tensor::allocate(DType::kString, std::move(shape));
  size_t at = 0;
  int64_t index = 0;
  for (std::string& element : tensor.mutable_values<std::string>()) {
    uint32_t size = 0;
    if (bytes.size() - at < sizeof(size))
      refuse(Status::kInvalidArgument, "incomplete string length indicator for inference ", what,
             ", expecting ", sizeof(size), " bytes but only ", bytes.size() - at,
             " bytes available for element ", index);
    std::memcpy(&size, bytes.data() + at, sizeof(size));
    at += sizeof(size);
    if (bytes.size() - at < size) {
      refuse(Status::kInvalidArgument, "incomplete string data for inference ", what,
             ", expecting string of length ", size, " but only ", bytes.size() - at,
             " bytes available for element ", index);
    }
    element.assign(reinterpret_cast<const char*>(bytes.data() + at), size);
    at += size;
    ++index;
  }
  if (at != bytes.size()) {
    refuse(Status::kInvalidArgument, "unexpected number of string elements for inference ", what,
           ", expecting ", count, ": ", bytes.size() - at, " bytes follow the last one");
  }
  return tensor;
}

void check_size(DType dtype, const Shape& shape, size_t bytes, std::string_view what) {
  const size_t wanted = bytes_for(dtype, checked_count(shape, what));
  if (wanted != bytes) {
    refuse(Status::kInvalidArgument, "input byte size mismatch for ", what, ". Expected ", wanted,
           ", got ", bytes, " bytes of ", protocol_name(dtype), to_text(shape));
  }
}

}  // namespace

std::string_view protocol_name(DType dtype) {
  for (const auto& [type, name] : kProtocolNames) {
    if (type == dtype) return name;
  }
  return {};
}

DType dtype_of_protocol_name(std::string_view name) {
  for (const auto& [type, known] : kProtocolNames) {
    if (known == name) return type;
  }
  return DType::kUndefined;
}

DType required_dtype(std::string_view name, std::string_view what) {
  const DType dtype = dtype_of_protocol_name(name);
  if (dtype == DType::kUndefined) {
    refuse(Status::kInvalidArgument, what, ": unknown datatype '", name,
           "'; there are BOOL, (U)INT8 to (U)INT64, FP16, BF16, FP32, FP64 and BYTES");
  }
  return dtype;
}

int64_t checked_count(const Shape& shape, std::string_view what) {
  for (const int64_t dim : shape) {
    if (dim < 0)
      refuse(Status::kInvalidArgument, what, ": negative size in shape ", to_text(shape));
  }
  try {
    return element_count(shape);
  } catch (const Error&) {
    refuse(Status::kInvalidArgument, what, ": shape ", to_text(shape),
           " causes total element count to exceed maximum size of ",
           std::numeric_limits<int64_t>::max());
  }
}

Tensor tensor_from_binary(DType dtype, Shape shape, std::span<const std::byte> bytes,
                          std::string_view what) {
  if (dtype == DType::kString) return strings_from_binary(std::move(shape), bytes, what);
  check_size(dtype, shape, bytes.size(), what);
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  if (!bytes.empty()) std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  normalize_bools(tensor);
  return tensor;
}

Tensor tensor_from_binary(DType dtype, Shape shape, const std::shared_ptr<Buffer>& buffer,
                          size_t offset, size_t bytes, std::string_view what) {
  SARDONYX_CHECK(offset <= buffer->size() && bytes <= buffer->size() - offset);
  const std::span<const std::byte> source(buffer->data() + offset, bytes);
  if (dtype == DType::kString) return strings_from_binary(std::move(shape), source, what);
  const auto alignment = std::max<size_t>(1, static_cast<size_t>(bits_of(dtype)) / 8);
  if (reinterpret_cast<uintptr_t>(source.data()) % alignment != 0)
    return tensor_from_binary(dtype, std::move(shape), source, what);
  check_size(dtype, shape, bytes, what);
  Tensor tensor(dtype, std::move(shape), buffer, offset);
  normalize_bools(tensor);
  return tensor;
}

size_t binary_size(const Tensor& tensor) {
  if (tensor.dtype() != DType::kString) return tensor.bytes();
  size_t bytes = 0;
  for (const std::string& element : tensor.values<std::string>())
    bytes += sizeof(uint32_t) + element.size();
  return bytes;
}

void append_binary_strings(const Tensor& tensor, std::string& out) {
  for (const std::string& element : tensor.values<std::string>()) {
    if (element.size() > UINT32_MAX)
      refuse(Status::kInternal, "a string of ", element.size(), " bytes has no binary form");
    const auto size = static_cast<uint32_t>(element.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof(size));
    out += element;
  }
}

}  // namespace sardonyx::serving
