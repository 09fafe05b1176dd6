#include "tools/onnx-serve/api/json_data.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "executor/batching/serving_error.h"
#include "executor/serving/datatype.h"
#include "executor/serving/json_text.h"
#include "ir/core/dtype_convert.h"

namespace sardonyx::serve {
namespace {

using serving::refuse;
using serving::Status;

constexpr size_t kMaxDepth = 100;  // of arrays within arrays

// Reads the scalars of nested arrays in order, and holds the nesting to the shape.
class ArrayScanner {
 public:
  ArrayScanner(std::string_view text, const Shape& shape, std::string_view what)
      : text_(text), shape_(shape), what_(what) {}

  // Calls element(text) at the beginning of each scalar; it takes the scalar off `text`.
  template <typename Element>
  void each(const Element& element) {
    const int64_t count = serving::checked_count(shape_, what_);
    skip_space();
    if (text_.empty() || text_[0] != '[') wrong("expected an array");
    bool wants_value = false;  // after a comma
    bool is_first = true;      // right after an opening bracket
    open();
    while (depth_ > 0) {
      skip_space();
      if (text_.empty()) wrong("the array has no end");
      const char c = text_[0];
      if (c == ']') {
        if (wants_value) wrong("a value is missing after a comma");
        text_.remove_prefix(1);
        close();
        is_first = false;
        continue;
      }
      if (!is_first && !wants_value) {
        if (c != ',') wrong("expected a comma or ]");
        text_.remove_prefix(1);
        wants_value = true;
        continue;
      }
      ++sizes_[depth_ - 1];
      wants_value = is_first = false;
      if (c == '[') {
        open();
        is_first = true;
        continue;
      }
      if (scalar_depth_ == 0) scalar_depth_ = depth_;
      if (scalar_depth_ != depth_) wrong("elements at different depths");
      if (scalars_ == count) wrong("more elements than shape " + to_text(shape_) + " has");
      element(text_);
      ++scalars_;
    }
    skip_space();
    if (!text_.empty()) wrong("something follows the array");
    if (scalars_ != count) {
      wrong(text("expected ", count, " elements for shape ", to_text(shape_), ", got ", scalars_));
    }
    check_nesting();
  }

  [[noreturn]] void wrong(const std::string& why) const {
    refuse(Status::kInvalidArgument, what_, ": data: ", why, " (at element ", scalars_, ")");
  }

 private:
  void skip_space() {
    size_t at = 0;
    while (at < text_.size() &&
           (text_[at] == ' ' || text_[at] == '\n' || text_[at] == '\t' || text_[at] == '\r'))
      ++at;
    text_.remove_prefix(at);
  }
  void open() {
    if (depth_ == kMaxDepth)
      wrong(text("JSON nesting depth exceeds maximum allowed limit (", kMaxDepth, ")"));
    text_.remove_prefix(1);
    sizes_[depth_++] = 0;
  }
  // Arrays of one depth are alike.
  void close() {
    const int64_t size = sizes_[--depth_];
    std::optional<int64_t>& extent = extents_[depth_];
    if (!extent) extent = size;
    if (*extent != size) wrong(text("arrays of ", *extent, " and of ", size, " at one depth"));
  }
  // Nested arrays are those of the shape, where dims of 1 don't count; or they are fewer: what is
  // within is flat then.
  void check_nesting() const {
    const auto is_one = [](int64_t size) { return size == 1; };
    Shape given, wanted = shape_;
    for (size_t depth = 0; depth < kMaxDepth && extents_[depth]; ++depth)
      given.push_back(*extents_[depth]);
    const std::string nesting = to_text(given);
    std::erase_if(given, is_one);
    std::erase_if(wanted, is_one);
    const bool is_empty = scalars_ == 0 && given.size() <= wanted.size();
    if (given.size() < 2 || given.size() < wanted.size() || given == wanted || is_empty) return;
    wrong(text("an array of ", nesting, " does not fit shape ", to_text(shape_)));
  }

  std::string_view text_;
  const Shape& shape_;
  const std::string_view what_;
  int64_t sizes_[kMaxDepth] = {};  // so far, of the arrays that are open
  std::optional<int64_t> extents_[kMaxDepth];
  size_t depth_ = 0, scalar_depth_ = 0;
  int64_t scalars_ = 0;
};

// Bytes of the JSON number at `text`; 0: there is none. No leading zeros, no bare points.
size_t number_length(std::string_view text, bool& is_integer) {
  size_t at = 0;
  const auto digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  const auto digits = [&] {
    const size_t begin = at;
    while (digit())
      ++at;
    return at > begin;
  };
  is_integer = true;
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (!digits()) {
    return 0;
  }
  if (at < text.size() && text[at] == '.') {
    is_integer = false;
    ++at;
    if (!digits()) return 0;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    is_integer = false;
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return 0;
  }
  return at;
}

std::string excerpt(std::string_view text) {
  return "'" + std::string(text.substr(0, std::min<size_t>(text.find_first_of(",] \n"), 32))) + "'";
}

template <typename T>
T float_at(std::string_view& text, const ArrayScanner& scanner, bool allows_nan) {
  bool is_integer = false;
  const size_t length = number_length(text, is_integer);
  if (length == 0) {
    const struct {
      std::string_view name;
      T value;
    } specials[] = {{"NaN", std::numeric_limits<T>::quiet_NaN()},
                    {"Infinity", std::numeric_limits<T>::infinity()},
                    {"-Infinity", -std::numeric_limits<T>::infinity()}};
    for (const auto& special : specials) {
      if (!text.starts_with(special.name)) continue;
      if (!allows_nan)
        scanner.wrong(std::string(special.name) + " needs parameter allow_nan, or binary data");
      text.remove_prefix(special.name.size());
      return special.value;
    }
    scanner.wrong(excerpt(text) + " is no number");
  }
  T value = 0;
  const auto end = std::from_chars(text.data(), text.data() + length, value);
  if (end.ec == std::errc::result_out_of_range) {
    // Too small for the type is zero; too large has no finite form.
    const double wide = std::strtod(std::string(text.substr(0, length)).c_str(), nullptr);
    if (std::abs(wide) > 1) scanner.wrong(excerpt(text) + " is out of range");
    value = static_cast<T>(wide);
  }
  text.remove_prefix(length);
  return value;
}

template <typename T>
T integer_at(std::string_view& text, const ArrayScanner& scanner) {
  bool is_integer = false;
  const size_t length = number_length(text, is_integer);
  if (length == 0) scanner.wrong(excerpt(text) + " is no number");
  if (!is_integer) scanner.wrong(excerpt(text) + " is no integer");
  T value = 0;
  const auto end = std::from_chars(text.data(), text.data() + length, value);
  if (end.ec != std::errc() || end.ptr != text.data() + length) {
    if (text.substr(0, length) == "-0") {
      value = 0;
    } else {
      scanner.wrong(excerpt(text) + " is out of range");
    }
  }
  text.remove_prefix(length);
  return value;
}

bool bool_at(std::string_view& text, const ArrayScanner& scanner) {
  const struct {
    std::string_view name;
    bool value;
  } names[] = {{"true", true}, {"false", false}, {"1", true}, {"0", false}};
  for (const auto& one : names) {
    if (!text.starts_with(one.name)) continue;
    text.remove_prefix(one.name.size());
    return one.value;
  }
  scanner.wrong(excerpt(text) + " is neither true nor false");
}

// The code unit of "\uXXXX".
unsigned code_unit(std::string_view text) {
  unsigned unit = 0;
  const bool is_there = text.size() >= 6 && text[0] == '\\' && text[1] == 'u';
  const auto end = is_there ? std::from_chars(text.data() + 2, text.data() + 6, unit, 16)
                            : std::from_chars_result{nullptr, std::errc::invalid_argument};
  if (!is_there || end.ec != std::errc() || end.ptr != text.data() + 6)
    refuse(Status::kInvalidArgument, "expected \\uXXXX in a string");
  return unit;
}

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 63));
    put(0x80 | (code & 63));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 63));
    put(0x80 | (code >> 6 & 63));
    put(0x80 | (code & 63));
  }
}

// Takes an escape off `text` and appends what it means.
void take_escape(std::string_view& text, std::string& out) {
  if (text.size() < 2) refuse(Status::kInvalidArgument, "a string has no end");
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (const size_t at = kNames.find(text[1]); at != std::string_view::npos) {
    out += kMeanings[at];
    text.remove_prefix(2);
    return;
  }
  unsigned code = code_unit(text);
  text.remove_prefix(6);
  if (code >= 0xD800 && code < 0xDC00) {
    const unsigned low = code_unit(text);
    if (low < 0xDC00 || low >= 0xE000)
      refuse(Status::kInvalidArgument, "half of a surrogate pair in a string");
    text.remove_prefix(6);
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    refuse(Status::kInvalidArgument, "half of a surrogate pair in a string");
  }
  append_utf8(out, code);
}

template <typename T, typename Read>
void read_all(ArrayScanner& scanner, Tensor& tensor, const Read& read) {
  T* to = tensor.mutable_values<T>().data();
  scanner.each([&](std::string_view& text) { *to++ = read(text); });
}

template <typename T>
void read_integers(ArrayScanner& scanner, Tensor& tensor) {
  read_all<T>(scanner, tensor,
              [&](std::string_view& text) { return integer_at<T>(text, scanner); });
}

void read_small_floats(ArrayScanner& scanner, Tensor& tensor, bool allows_nan) {
  int64_t index = 0;
  scanner.each([&](std::string_view& text) {
    const std::string_view before = text;
    const double value = float_at<double>(text, scanner, allows_nan);
    store_numbers(tensor.dtype(), tensor.raw(), index, 1, &value);
    double stored = 0;
    load_numbers(tensor.dtype(), tensor.raw(), index, 1, 1, &stored);
    if (std::isfinite(value) && !std::isfinite(stored))
      scanner.wrong(excerpt(before) + " is out of range");
    ++index;
  });
}

template <typename T>
void append_floats(const T* values, int64_t count, std::string& out, std::string_view what,
                   bool allows_nan) {
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    if (!allows_nan && !std::isfinite(values[i])) {
      refuse(Status::kUnsupported, what, ": element ", i, " is ", values[i],
             ", which JSON can't express; ask for binary data, or set parameter allow_nan");
    }
    serving::append_number(out, values[i]);
  }
}

template <typename T>
void append_integers(const Tensor& tensor, std::string& out) {
  bool is_first = true;
  for (const T value : tensor.values<T>()) {
    if (!is_first) out += ',';
    is_first = false;
    if constexpr (sizeof(T) < sizeof(int)) {
      serving::append_number(out, static_cast<int>(value));
    } else {
      serving::append_number(out, value);
    }
  }
}

void append_strings(const Tensor& tensor, std::string& out, std::string_view what) {
  int64_t index = 0;
  for (const std::string& value : tensor.values<std::string>()) {
    if (index > 0) out += ',';
    if (!serving::is_utf8(value)) {
      refuse(Status::kUnsupported, what, ": element ", index,
             " is no UTF-8, which JSON can't express; ask for binary data");
    }
    serving::append_json_string(out, value);
    ++index;
  }
}

}  // namespace

std::string unescaped_json(std::string_view& text) {
  if (text.empty() || text[0] != '"') refuse(Status::kInvalidArgument, "expected a string");
  text.remove_prefix(1);
  std::string out;
  for (;;) {
    size_t plain = 0;
    while (plain < text.size() && text[plain] != '"' && text[plain] != '\\')
      ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) refuse(Status::kInvalidArgument, "a string has no end");
    if (text[0] == '"') break;
    take_escape(text, out);
  }
  text.remove_prefix(1);
  return out;
}

Tensor tensor_from_json(DType dtype, Shape shape, std::string_view text, std::string_view what,
                        bool allows_nan) {
  // An element takes two characters at least, its comma included.
  const int64_t count = serving::checked_count(shape, what);
  if (static_cast<uint64_t>(count) > text.size() / 2 + 1)
    refuse(Status::kInvalidArgument, what, ": data: fewer than the ", count, " elements of shape ",
           to_text(shape));
  Tensor tensor = Tensor::allocate(dtype, shape);
  ArrayScanner scanner(text, shape, what);
  switch (dtype) {
    case DType::kBool:
      read_all<bool>(scanner, tensor, [&](std::string_view& at) { return bool_at(at, scanner); });
      break;
    case DType::kUInt8:
      read_integers<uint8_t>(scanner, tensor);
      break;
    case DType::kUInt16:
      read_integers<uint16_t>(scanner, tensor);
      break;
    case DType::kUInt32:
      read_integers<uint32_t>(scanner, tensor);
      break;
    case DType::kUInt64:
      read_integers<uint64_t>(scanner, tensor);
      break;
    case DType::kInt8:
      read_integers<int8_t>(scanner, tensor);
      break;
    case DType::kInt16:
      read_integers<int16_t>(scanner, tensor);
      break;
    case DType::kInt32:
      read_integers<int32_t>(scanner, tensor);
      break;
    case DType::kInt64:
      read_integers<int64_t>(scanner, tensor);
      break;
    case DType::kFloat:
      read_all<float>(scanner, tensor, [&](std::string_view& at) {
        return float_at<float>(at, scanner, allows_nan);
      });
      break;
    case DType::kDouble:
      read_all<double>(scanner, tensor, [&](std::string_view& at) {
        return float_at<double>(at, scanner, allows_nan);
      });
      break;
    case DType::kFloat16:
    case DType::kBFloat16:
      read_small_floats(scanner, tensor, allows_nan);
      break;
    case DType::kString:
      read_all<std::string>(scanner, tensor, [&](std::string_view& at) {
        if (at[0] != '"') scanner.wrong(excerpt(at) + " is no string");
        return unescaped_json(at);
      });
      break;
    default:
      refuse(Status::kUnsupported, what, ": type ", dtype, " has no JSON form");
  }
  return tensor;
}

void append_json_data(const Tensor& tensor, std::string& out, std::string_view what,
                      bool allows_nan) {
  out += '[';
  switch (tensor.dtype()) {
    case DType::kBool: {
      bool is_first = true;
      for (const bool value : tensor.values<bool>()) {
        out += is_first ? "" : ",";
        is_first = false;
        out += value ? "true" : "false";
      }
      break;
    }
    case DType::kUInt8:
      append_integers<uint8_t>(tensor, out);
      break;
    case DType::kUInt16:
      append_integers<uint16_t>(tensor, out);
      break;
    case DType::kUInt32:
      append_integers<uint32_t>(tensor, out);
      break;
    case DType::kUInt64:
      append_integers<uint64_t>(tensor, out);
      break;
    case DType::kInt8:
      append_integers<int8_t>(tensor, out);
      break;
    case DType::kInt16:
      append_integers<int16_t>(tensor, out);
      break;
    case DType::kInt32:
      append_integers<int32_t>(tensor, out);
      break;
    case DType::kInt64:
      append_integers<int64_t>(tensor, out);
      break;
    case DType::kFloat:
      append_floats(tensor.values<float>().data(), tensor.count(), out, what, allows_nan);
      break;
    case DType::kDouble:
      append_floats(tensor.values<double>().data(), tensor.count(), out, what, allows_nan);
      break;
    case DType::kFloat16:
    case DType::kBFloat16: {
      std::vector<float> values(static_cast<size_t>(tensor.count()));
      load_numbers(tensor.dtype(), tensor.raw(), 0, 1, tensor.count(), values.data());
      append_floats(values.data(), tensor.count(), out, what, allows_nan);
      break;
    }
    case DType::kString:
      append_strings(tensor, out, what);
      break;
    default:
      refuse(Status::kUnsupported, what, ": type ", tensor.dtype(), " has no JSON form");
  }
  out += ']';
}

}  // namespace sardonyx::serve
