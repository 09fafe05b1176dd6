#include "onnx_io/npy.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/core/bools.h"
#include "ir/core/run_control.h"
#include "onnx_io/arrays/npy_header.h"
#include "onnx_io/file_access.h"
#include "onnx_io/file_write.h"
#include "onnx_io/utf.h"

namespace sardonyx {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read without swapping");

constexpr size_t kAlignment = 64;  // of the data, counted from the start of the file

void swap_bytes(std::byte* data, size_t bytes, size_t width) {
  for (size_t at = 0; at + width <= bytes; at += width)
    std::reverse(data + at, data + at + width);
}

std::string string_element(const NpyHeader& header, const std::byte* data) {
  if (header.kind == 'S') {
    std::string value(reinterpret_cast<const char*>(data), header.width);
    value.resize(value.find_last_not_of('\0') + 1);
    return value;
  }
  std::u32string characters(header.width, U'\0');
  std::memcpy(characters.data(), data, header.width * 4);
  if (header.byte_order == '>')
    swap_bytes(reinterpret_cast<std::byte*>(characters.data()), header.width * 4, 4);
  characters.resize(characters.find_last_not_of(U'\0') + 1);
  return to_utf8(characters);
}

// Where element `index` in row-major order stands in the file.
int64_t place_of(const NpyHeader& header, int64_t index) {
  if (!header.fortran_order) return index;
  int64_t stride = 1, place = 0;
  Shape indices(header.shape.size());
  for (size_t axis = header.shape.size(); axis-- > 0;) {
    indices[axis] = index % header.shape[axis];
    index /= header.shape[axis];
  }
  for (size_t axis = 0; axis < header.shape.size(); ++axis) {
    place += indices[axis] * stride;
    stride *= header.shape[axis];
  }
  return place;
}

// The form in which a tensor is stored: its own, or the next wider one that numpy has.
Tensor storable(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  const bool widened = dtype == DType::kBFloat16 || dtype == DType::kFloat8E8M0 ||
                       dtype == DType::kFloat4E2M1 || kFloat8s.has(dtype);
  if (widened) {
    Tensor wide = Tensor::allocate(DType::kFloat, tensor.shape());
    std::ranges::transform(tensor.to_doubles(), wide.mutable_values<float>().begin(),
                           [](double x) { return static_cast<float>(x); });
    return wide;
  }
  if (!is_packed(dtype)) return tensor;
  Tensor wide =
      Tensor::allocate(is_signed_integer(dtype) ? DType::kInt8 : DType::kUInt8, tensor.shape());
  std::ranges::transform(tensor.to_int64s(), static_cast<uint8_t*>(wide.raw()),
                         [](int64_t x) { return static_cast<uint8_t>(x); });
  return wide;
}

std::string descr_of(DType dtype) {
  const std::string width = std::to_string(dtype == DType::kString ? 0 : bits_of(dtype) / 8);
  if (dtype == DType::kBool) return "|b1";
  const char kind = is_floating(dtype)         ? 'f'
                    : is_complex(dtype)        ? 'c'
                    : is_signed_integer(dtype) ? 'i'
                                               : 'u';
  return (width == "1" ? "|" : "<") + (kind + width);
}

std::string header_bytes(const std::string& descr, const Shape& shape) {
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (size_t axis = 0; axis < shape.size(); ++axis)
    dict += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  dict += shape.size() == 1 ? ",), }" : "), }";
  constexpr size_t kPrefix = 10;  // magic, version, length
  const size_t unpadded = kPrefix + dict.size() + 1;
  dict.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dict += '\n';
  std::string out(kNpyMagic);
  out += {'\1', '\0', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return out + dict;
}

std::string string_array(const Tensor& tensor) {
  std::vector<std::u32string> all;
  size_t longest = 1;
  for (const std::string& value : tensor.values<std::string>()) {
    std::optional<std::u32string> characters = from_utf8(value);
    if (!characters || value.ends_with('\0')) {
      fail(ErrorCode::kInvalidArgument, "element ", all.size(),
           " of a string tensor can't be written as a numpy string: it ",
           characters ? "ends in NUL" : "is not UTF-8");
    }
    longest = std::max(longest, characters->size());
    all.push_back(std::move(*characters));
  }
  std::string out = header_bytes("<U" + std::to_string(longest), tensor.shape());
  for (std::u32string& characters : all) {
    characters.resize(longest, U'\0');
    out.append(reinterpret_cast<const char*>(characters.data()), longest * 4);
  }
  return out;
}

}  // namespace

Tensor npy_elements(const NpyHeader& header, std::span<const std::byte> data) {
  const DType dtype = dtype_of(header);
  Tensor tensor = Tensor::allocate(dtype, header.shape);
  const size_t width = header.kind == 'U' ? header.width * 4 : header.width;
  if (dtype == DType::kString) {
    const auto out = tensor.mutable_values<std::string>();
    for (size_t i = 0; i < out.size(); ++i) {
      const auto place = static_cast<size_t>(place_of(header, static_cast<int64_t>(i)));
      out[i] = string_element(header, data.data() + place * width);
    }
    return tensor;
  }
  auto* out = static_cast<std::byte*>(tensor.raw());
  if (header.fortran_order) {
    for (int64_t i = 0; i < tensor.count(); ++i) {
      if (i % 65536 == 0) check_interrupted();
      const auto place = static_cast<size_t>(place_of(header, i));
      std::memcpy(out + static_cast<size_t>(i) * width, data.data() + place * width, width);
    }
  } else if (!data.empty()) {
    std::memcpy(out, data.data(), data.size());
  }
  if (header.byte_order == '>')
    swap_bytes(out, data.size(), header.kind == 'c' ? width / 2 : width);
  normalize_bools(tensor);
  return tensor;
}

Tensor parse_npy(std::span<const std::byte> bytes, const std::string& where) {
  const NpyHeader header = parse_npy_header(bytes, bytes.size(), where);
  return npy_elements(header, bytes.subspan(header.data_begin, header.data_bytes()));
}

Tensor read_npy(const std::filesystem::path& path) {
  const OpenFile file = open_regular(path);
  const std::shared_ptr<Buffer> buffer = Buffer::allocate(file.size);
  read_exactly(file, 0, buffer->data(), file.size);
  return parse_npy({buffer->data(), buffer->size()}, path.string());
}

std::string npy_bytes(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) return string_array(tensor);
  const Tensor stored = storable(tensor);
  std::string out = header_bytes(descr_of(stored.dtype()), stored.shape());
  out.append(static_cast<const char*>(stored.raw()), stored.bytes());
  return out;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  write_atomically(path, npy_bytes(tensor));
}

}  // namespace sardonyx
