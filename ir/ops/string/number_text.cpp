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

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  // std::from_chars takes no plus sign.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

// std::from_chars leaves a number that is out of range unread: it is infinite, or zero.
template <typename T>
T out_of_range(std::string_view text) {
  const bool negative = text.front() == '-';
  const size_t e = text.find_first_of("eE");
  const bool tiny = e != std::string_view::npos && e + 1 < text.size() && text[e + 1] == '-';
  const bool fraction =
      e == std::string_view::npos && text.substr(negative ? 1 : 0).starts_with("0");
  const T magnitude = tiny || fraction ? T{0} : std::numeric_limits<T>::infinity();
  return negative ? -magnitude : magnitude;
}

template <typename T>
bool try_read(std::string_view text, T& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ptr != text.data() + text.size() || text.empty()) return false;
  if constexpr (std::is_floating_point_v<T>) {
    if (result.ec == std::errc::result_out_of_range) value = out_of_range<T>(text);
    return result.ec != std::errc::invalid_argument;
  } else {
    return result.ec == std::errc{};
  }
}

template <typename C>
C read_number(const std::string& given, DType to) {
  const std::string_view text = trimmed(given);
  C value = 0;
  if (try_read(text, value)) return value;
  if constexpr (std::is_integral_v<C>) {
    if (to == DType::kBool && equals_ignoring_case(text, "true")) return 1;
    if (to == DType::kBool && equals_ignoring_case(text, "false")) return 0;
    double number = 0;
    if (try_read(text, number) && (std::isfinite(number) || to == DType::kBool)) {
      if (to == DType::kBool) return number != 0;
      // The least power of two that C does not hold.
      const double end = std::ldexp(1.0, std::numeric_limits<C>::digits);
      if (number < end && number >= -std::ldexp(1.0, 63)) return integer_from<C>(number);
    }
  }
  fail_reading(given, to);
}

// The shortest digits of a positive finite number, and the decimal exponent of the first.
template <typename T>
std::pair<std::string, int> shortest_digits(T value) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
  const size_t e = text.find('e');
  std::string digits(text.substr(0, e));
  std::erase(digits, '.');
  return {digits, std::stoi(std::string(text.substr(e + 1)))};
}

template <typename T>
std::string float_text(T value) {
  if (std::isnan(value)) return "NaN";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "INF";
  auto [digits, exponent] = shortest_digits(std::fabs(value));
  if (exponent < -5 || exponent >= 16) {
    if (digits.size() > 1) digits.insert(1, ".");
    const std::string power = std::to_string(std::abs(exponent));
    return sign + digits + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
  }
  if (exponent < 0) {
    digits.insert(0, static_cast<size_t>(-exponent), '0');
    return sign + digits.insert(1, ".");
  }
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0');
  return sign + digits.insert(whole, ".");
}

// The fewest digits that tell a number of a type narrower than float from its neighbours.
std::string narrow_text(DType dtype, float value) {
  if (!std::isfinite(value)) return float_text(value);
  for (int precision = 1; precision < 9; ++precision) {
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                   std::chars_format::scientific, precision - 1);
    float rounded = 0, back = 0;
    std::from_chars(buffer, end.ptr, rounded);
    uint16_t stored = 0;
    store_numbers(dtype, &stored, 0, 1, &rounded);
    load_numbers(dtype, &stored, 0, 1, 1, &back);
    if (back == value) return float_text(rounded);
  }
  return float_text(value);
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
      else if constexpr (std::is_same_v<C, double>)
        texts[i] = float_text(value);
      else
        texts[i] = from == DType::kFloat ? float_text(value) : narrow_text(from, value);
    }
  });
}

}  // namespace sardonyx::ops
