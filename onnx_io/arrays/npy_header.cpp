#include "onnx_io/arrays/npy_header.h"

#include <charconv>
#include <cstring>

namespace sardonyx {
namespace {

// Reads the header, a Python dict of three entries whose values have the few forms below.
class NpyHeaderParser {
 public:
  NpyHeaderParser(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  NpyHeader parse() {
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
  NpyHeader header_;
};

}  // namespace

DType dtype_of(const NpyHeader& header) {
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

NpyHeader parse_npy_header(std::span<const std::byte> bytes, size_t total,
                           const std::string& where) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const NpyHeaderParser refuser("", where);
  constexpr size_t kVersionEnd = 8;
  if (!all.starts_with(kNpyMagic) || all.size() < kVersionEnd + 4)
    refuser.refuse("it does not begin as a .npy file does");
  const int version = all[6];
  if (version < 1 || version > 3) refuser.refuse(text("format version ", version));
  const size_t length_bytes = version == 1 ? 2 : 4;
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + kVersionEnd, length_bytes);
  const size_t begin = kVersionEnd + length_bytes;
  if (length > total - begin) refuser.refuse("the header is longer than the file");
  if (length > all.size() - begin) refuser.refuse(text("a header of ", length, " bytes"));
  NpyHeader header = NpyHeaderParser(all.substr(begin, length), where).parse();
  if (dtype_of(header) == DType::kUndefined)
    refuser.refuse(text("elements of type '", header.kind, header.width, "'"));
  header.data_begin = begin + length;
  const size_t there = total - header.data_begin;
  const int64_t count = element_count(header.shape);
  const size_t unit = header.kind == 'U' ? 4 : 1;
  // Divided, so that nothing overflows; a string of no characters takes no bytes, and is one
  // element all the same.
  const size_t element_bytes = header.width > SIZE_MAX / unit ? SIZE_MAX : header.width * unit;
  if (element_bytes == 0 && count > 0) refuser.refuse("strings of no characters");
  const auto elements_there = element_bytes == 0 ? 0 : there / element_bytes;
  if (static_cast<uint64_t>(count) > elements_there) {
    refuser.refuse(text("shape ", to_text(header.shape), " needs more than the ", there,
                        " bytes that follow the header"));
  }
  return header;
}

}  // namespace sardonyx
