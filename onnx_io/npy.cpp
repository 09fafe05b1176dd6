#include "onnx_io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <complex>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/core/run_control.h"
#include "onnx_io/file_access.h"
#include "onnx_io/file_write.h"
#include "onnx_io/utf.h"

namespace sardonyx {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read without swapping");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;  // of the data, counted from the start of the file

struct Header {
  char byte_order = '<';
  char kind = 0;     // of numpy's dtype: b i u f c U S
  size_t width = 0;  // bytes of an element; of 'U' characters of four bytes
  bool fortran_order = false;
  Shape shape;
};

// Reads the header, a Python dict of three entries whose values have the few forms below.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  Header parse() {
    expect('{');
    bool has_descr = false, has_order = false, has_shape = false;
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !has_descr) {
        descr(quoted());
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header_.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        shape();
        has_shape = true;
      } else {
        refuse(text("header entry '", key, "'"));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape) refuse("the header lacks an entry");
    return header_;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorCode::kInvalidArgument, where_, ": not an array that can be read: ", why);
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n'))
      rest_.remove_prefix(1);
  }
  bool take(char wanted) {
    skip_space();
    if (rest_.empty() || rest_[0] != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) refuse(text("the header has no '", wanted, "' where one belongs"));
  }
  std::string_view quoted() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : rest_.npos;
    if (end == rest_.npos)
      refuse("the header has no string where one belongs (a structured type?)");
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    refuse("fortran_order is neither True nor False");
  }
  uint64_t number() {
    skip_space();
    uint64_t value = 0;
    const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value > static_cast<uint64_t>(INT64_MAX)) refuse("a bad dimension");
    rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
    take('L');  // of Python 2
    return value;
  }
  void shape() {
    constexpr size_t kMaxDims = 64;
    expect('(');
    while (!take(')')) {
      if (header_.shape.size() == kMaxDims) refuse(text("more than ", kMaxDims, " dimensions"));
      header_.shape.push_back(static_cast<int64_t>(number()));
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }
  void descr(std::string_view code) {
    const std::string_view all = code;
    if (!code.empty() && std::string_view("<>|=").find(code[0]) != code.npos) {
      header_.byte_order = code[0] == '>' ? '>' : '<';
      code.remove_prefix(1);
    }
    if (code.empty()) refuse("an empty type");
    header_.kind = code[0];
    const char* end = code.data() + code.size();
    const auto [stop, error] = std::from_chars(code.data() + 1, end, header_.width);
    if (error != std::errc() || stop != end) refuse(text("type '", all, "'"));
  }

  std::string_view rest_;
  const std::string& where_;
  Header header_;
};

DType dtype_of(const Header& header) {
  static constexpr struct {
    char kind;
    size_t width;
    DType dtype;
  } kTypes[] = {
      {'b', 1, DType::kBool},      {'i', 1, DType::kInt8},        {'i', 2, DType::kInt16},
      {'i', 4, DType::kInt32},     {'i', 8, DType::kInt64},       {'u', 1, DType::kUInt8},
      {'u', 2, DType::kUInt16},    {'u', 4, DType::kUInt32},      {'u', 8, DType::kUInt64},
      {'f', 2, DType::kFloat16},   {'f', 4, DType::kFloat},       {'f', 8, DType::kDouble},
      {'c', 8, DType::kComplex64}, {'c', 16, DType::kComplex128},
  };
  if (header.kind == 'U' || header.kind == 'S') return DType::kString;
  for (const auto& type : kTypes) {
    if (type.kind == header.kind && type.width == header.width) return type.dtype;
  }
  return DType::kUndefined;
}

void swap_bytes(std::byte* data, size_t bytes, size_t width) {
  for (size_t at = 0; at + width <= bytes; at += width)
    std::reverse(data + at, data + at + width);
}

std::string string_element(const Header& header, const std::byte* data) {
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
int64_t place_of(const Header& header, int64_t index) {
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

Tensor elements(const Header& header, DType dtype, std::span<const std::byte> data) {
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
  return tensor;
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
  std::string out(kMagic);
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

Tensor parse_npy(std::span<const std::byte> bytes, const std::string& where) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const HeaderParser refuser("", where);
  constexpr size_t kVersionEnd = 8;
  if (!all.starts_with(kMagic) || all.size() < kVersionEnd + 4)
    refuser.refuse("it does not begin as a .npy file does");
  const int version = all[6];
  if (version < 1 || version > 3) refuser.refuse(text("format version ", version));
  const size_t length_bytes = version == 1 ? 2 : 4;
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + kVersionEnd, length_bytes);
  const size_t begin = kVersionEnd + length_bytes;
  if (length > all.size() - begin) refuser.refuse("the header is longer than the file");
  const Header header = HeaderParser(all.substr(begin, length), where).parse();
  const DType dtype = dtype_of(header);
  if (dtype == DType::kUndefined)
    refuser.refuse(text("elements of type '", header.kind, header.width, "'"));
  const std::span<const std::byte> data = bytes.subspan(begin + length);
  const int64_t count = element_count(header.shape);
  const size_t width = header.kind == 'U' ? 4 : 1;
  // Divided, so that nothing overflows; a string of no characters takes no bytes, and is one
  // element all the same.
  const size_t element_bytes = header.width > SIZE_MAX / width ? SIZE_MAX : header.width * width;
  if (element_bytes == 0 && count > 0) refuser.refuse("strings of no characters");
  const auto elements_there = element_bytes == 0 ? 0 : data.size() / element_bytes;
  if (static_cast<uint64_t>(count) > elements_there) {
    refuser.refuse(text("shape ", to_text(header.shape), " needs more than the ", data.size(),
                        " bytes that follow the header"));
  }
  return elements(header, dtype, data.first(static_cast<size_t>(count) * element_bytes));
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
