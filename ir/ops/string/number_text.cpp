#include "ir/ops/string/number_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "ir/core/error.h"
#include "ir/core/run_control.h"

namespace sardonyx::ops {
namespace {

[[noreturn]] void fail_reading(const std::string& given, DType to) {
  constexpr size_t kMax = 64;  // a message, not a copy of the data
  fail(ErrorCode::kInvalidArgument, "Cast: cannot read \"", given.substr(0, kMax),
       given.size() > kMax ? "...\"" : "\"", " as ", to);
}

// Without blanks around it and its plus sign, which std::from_chars does not take.
std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

// "0x" and at least one digit, which may be behind a point; the sign is read already.
bool is_hexadecimal(std::string_view text) {
  const auto is_digit = [&](size_t at) {
    return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return false;
  return is_digit(2) || (text[2] == '.' && is_digit(3));
}

// std::from_chars leaves a number that is out of range unread: it is too large, or nearly zero.
bool is_tiny(std::string_view number, bool is_hex) {
  const size_t e = number.find_first_of(is_hex ? "pP" : "eE");
  if (e != std::string_view::npos) return e + 1 < number.size() && number[e + 1] == '-';
  return number.starts_with("0") || number.starts_with(".");
}

// Magnitudes beyond float are infinite, as their conversion from double is; those beyond double are
// no number.
template <typename T>
bool try_read_float(std::string_view text, T& value) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.starts_with('-')) return false;
  const bool is_hex = is_hexadecimal(text);
  if (is_hex) text.remove_prefix(2);
  const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
  const char* end = text.data() + text.size();
  T magnitude = 0;
  const auto read = std::from_chars(text.data(), end, magnitude, format);
  if (read.ec == std::errc::invalid_argument) return false;
  if (read.ec == std::errc::result_out_of_range) {
    const std::string_view number(text.data(), static_cast<size_t>(read.ptr - text.data()));
    double wide = 0;
    const bool is_double = std::from_chars(text.data(), end, wide, format).ec == std::errc();
    if (!is_double && !is_tiny(number, is_hex)) return false;
    const bool is_large = wide > static_cast<double>(std::numeric_limits<T>::max());
    magnitude = is_large ? std::numeric_limits<T>::infinity() : static_cast<T>(wide);
  }
  value = is_negative ? -magnitude : magnitude;
  return true;
}

// Unsigned types take what is negative as well, and what int64 does not hold.
template <typename C>
bool try_read_integer(std::string_view text, C& value) {
  const char* end = text.data() + text.size();
  int64_t number = 0;
  if (std::from_chars(text.data(), end, number).ec == std::errc()) {
    value = static_cast<C>(number);
    return true;
  }
  return std::is_unsigned_v<C> && std::from_chars(text.data(), end, value).ec == std::errc();
}

template <typename C>
C read_number(const std::string& given, DType to) {
  const std::string_view text = trimmed(given);
  C value = 0;
  if constexpr (std::is_floating_point_v<C>) {
    if (try_read_float(text, value)) return value;
  } else {
    const bool is_bool = to == DType::kBool;
    if (is_bool && equals_ignoring_case(text, "true")) return 1;
    if (is_bool && equals_ignoring_case(text, "false")) return 0;
    if (try_read_integer(text, value)) return is_bool ? value != 0 : value;
  }
  fail_reading(given, to);
}

// Rounded to 8 significant digits, but float, which has the fewest that read back to the same
// number. Both are plain at the same sizes.
template <typename C>
std::string float_text(DType dtype, C value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  constexpr int kDigits = 8;
  char buffer[32], *last = buffer + sizeof buffer;
  const auto written = [&] {
    if (dtype != DType::kFloat)
      return std::to_chars(buffer, last, value, std::chars_format::general, kDigits);
    const C size = std::fabs(value);
    const bool is_plain = size == 0 || (size >= C(1e-4) && size < C(1e8));
    return std::to_chars(buffer, last, value,
                         is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  }();
  return {buffer, written.ptr};
}

}  // namespace

void numbers_from_text(const std::string* texts, DType to, void* numbers, int64_t count,
                       const ConvertOptions& options) {
  // Types narrower than float are rounded once, from double; float from its own exact reading.
  const DType read_as = is_floating(to) && to != DType::kFloat ? DType::kDouble : to;
  dispatch_domain(read_as, [&]<typename C>() {
    for (int64_t i = 0; i < count; ++i) {
      if (i % 1024 == 0) check_interrupted();
      const C value = read_number<C>(texts[i], to);
      store_numbers(to, numbers, i, 1, &value, options);
    }
  });
}

void numbers_to_text(DType from, const void* numbers, std::string* texts, int64_t count) {
  dispatch_domain(from, [&]<typename C>() {
    for (int64_t i = 0; i < count; ++i) {
      if (i % 1024 == 0) check_interrupted();
      C value;
      load_numbers(from, numbers, i, 1, 1, &value);
      if constexpr (std::is_integral_v<C>)
        texts[i] = std::to_string(value);
      else
        texts[i] = float_text(from, value);
    }
  });
}

}  // namespace sardonyx::ops
