#include "ir/core/dtype_convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ir/core/bools.h"
#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

constexpr double kTwo63 = 0x1p63;

int64_t int64_from(double value) {
  return value >= -kTwo63 && value < kTwo63 ? static_cast<int64_t>(value)
                                            : std::numeric_limits<int64_t>::min();
}

int32_t int32_from(double value) {
  return value > -2147483649.0 && value < 2147483648.0 ? static_cast<int32_t>(value)
                                                       : std::numeric_limits<int32_t>::min();
}

// long double has 64 bits of mantissa here, so it holds every double, int64 and uint64.
float odd_float(long double value) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  auto nearest = static_cast<float>(value);
  if (std::isnan(nearest) || static_cast<long double>(nearest) == value) return nearest;
  if (std::fabs(static_cast<long double>(nearest)) > std::fabs(value)) {
    nearest = std::nextafter(nearest, 0.0f);
  }
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) | 1u);
}

template <typename T>
constexpr bool is_small_float_v =
    !std::is_arithmetic_v<T> && !std::is_same_v<T, Float16> && !std::is_same_v<T, BFloat16>;

// Converts a computing type to a stored one.
template <typename To, typename From>
To narrow(From value, const ConvertOptions& options) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To>) {
    if constexpr (std::is_floating_point_v<From>)
      return integer_from<To>(value);
    else
      return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, Float16> && std::is_same_v<From, double>) {
    return Float16::from_bits(double_to_half(value));
  } else {
    float single = 0;
    if constexpr (std::is_same_v<From, float>)
      single = value;
    else
      single = round_to_odd(value);
    if constexpr (std::is_same_v<To, Float8E8M0>) {
      return Float8E8M0::from_bits(float_to_e8m0(single, options.e8m0_rounding, options.overflow));
    } else if constexpr (is_small_float_v<To>) {
      return To(single, options.overflow);
    } else {
      return To(single);
    }
  }
}

// Converts a stored type to a computing one.
template <typename To, typename From>
To widen(From value) {
  if constexpr (std::is_arithmetic_v<From>) {
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
      return integer_from<To>(value);
    } else {
      return static_cast<To>(value);
    }
  } else if constexpr (std::is_integral_v<To>) {
    return integer_from<To>(static_cast<float>(value));
  } else {
    return static_cast<float>(value);
  }
}

template <typename... Ts, typename Body>
bool among(DType dtype, Body& body) {
  return ((dtype == dtype_of<Ts>() ? (body.template operator()<Ts>(), true) : false) || ...);
}

// Calls `body` with the type that an element of `dtype` has in a kernel's views.
template <typename Body>
void dispatch_stored(DType dtype, Body&& body) {
  if (among<float, double, Float16, BFloat16, bool, int64_t, int32_t, int16_t, int8_t, uint64_t,
            uint32_t, uint16_t, uint8_t, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ,
            Float8E8M0>(dtype, body)) {
    return;
  }
  if (dtype == DType::kInt4 || dtype == DType::kInt2)
    body.template operator()<int8_t>();
  else if (dtype == DType::kUInt4 || dtype == DType::kUInt2)
    body.template operator()<uint8_t>();
  else if (dtype == DType::kFloat4E2M1)
    body.template operator()<Float4E2M1>();
  else
    fail(ErrorCode::kUnsupported, "elements of type ", dtype, " are not real numbers");
}

// Bytes that hold packed integers, cut to `bits` and sign-extended where the type is signed.
void wrap_packed(DType dtype, uint8_t* bytes, int64_t count) {
  const int unused = 8 - bits_of(dtype);
  const bool is_signed = is_signed_integer(dtype);
  for (int64_t i = 0; i < count; ++i) {
    const auto high = static_cast<uint8_t>(bytes[i] << unused);
    bytes[i] = is_signed ? static_cast<uint8_t>(static_cast<int8_t>(high) >> unused)
                         : static_cast<uint8_t>(high >> unused);
  }
}

}  // namespace

float round_to_odd(double value) {
  return odd_float(value);
}
float round_to_odd(int64_t value) {
  return odd_float(static_cast<long double>(value));
}
float round_to_odd(uint64_t value) {
  return odd_float(static_cast<long double>(value));
}

template <typename To>
To integer_from(double value) {
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (value >= kTwo63 && value < 2 * kTwo63) return static_cast<uint64_t>(value);
    return static_cast<uint64_t>(int64_from(value));
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t>) {
    return static_cast<To>(int64_from(value));
  } else {
    return static_cast<To>(int32_from(value));
  }
}
template int8_t integer_from<int8_t>(double);
template int16_t integer_from<int16_t>(double);
template int32_t integer_from<int32_t>(double);
template int64_t integer_from<int64_t>(double);
template uint8_t integer_from<uint8_t>(double);
template uint16_t integer_from<uint16_t>(double);
template uint32_t integer_from<uint32_t>(double);
template uint64_t integer_from<uint64_t>(double);

namespace {

template <typename C>
void load_bools(const void* raw, int64_t offset, int64_t step, int64_t count, C* to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<C>(bool_at(raw, offset + i * step));
}

}  // namespace

template <typename C>
void load_numbers(DType from, const void* raw, int64_t offset, int64_t step, int64_t count, C* to) {
  if (from == DType::kBool) return load_bools(raw, offset, step, count, to);
  dispatch_stored(from, [&]<typename T>() {
    const T* source = static_cast<const T*>(raw) + offset;
    if (step == 0) {
      std::fill_n(to, count, widen<C>(*source));
    } else {
      for (int64_t i = 0; i < count; ++i)
        to[i] = widen<C>(source[i * step]);
    }
  });
}

template <typename C>
void store_numbers(DType to, void* raw, int64_t offset, int64_t count, const C* from,
                   const ConvertOptions& options) {
  dispatch_stored(to, [&]<typename T>() {
    T* target = static_cast<T*>(raw) + offset;
    for (int64_t i = 0; i < count; ++i)
      target[i] = narrow<T>(from[i], options);
  });
  if (is_packed(to) && is_integer(to)) {
    wrap_packed(to, static_cast<uint8_t*>(raw) + offset, count);
  }
}

template void load_numbers(DType, const void*, int64_t, int64_t, int64_t, float*);
template void load_numbers(DType, const void*, int64_t, int64_t, int64_t, double*);
template void load_numbers(DType, const void*, int64_t, int64_t, int64_t, int64_t*);
template void load_numbers(DType, const void*, int64_t, int64_t, int64_t, uint64_t*);
template void store_numbers(DType, void*, int64_t, int64_t, const float*, const ConvertOptions&);
template void store_numbers(DType, void*, int64_t, int64_t, const double*, const ConvertOptions&);
template void store_numbers(DType, void*, int64_t, int64_t, const int64_t*, const ConvertOptions&);
template void store_numbers(DType, void*, int64_t, int64_t, const uint64_t*, const ConvertOptions&);

void convert_numbers(DType from, const void* source, DType to, void* target, int64_t count,
                     const ConvertOptions& options) {
  constexpr int64_t kPiece = 1024;
  dispatch_domain(from, [&]<typename C>() {
    C piece[kPiece];
    for (int64_t begin = 0; begin < count; begin += kPiece) {
      check_interrupted();
      const int64_t length = std::min(kPiece, count - begin);
      load_numbers(from, source, begin, 1, length, piece);
      store_numbers(to, target, begin, length, piece, options);
    }
  });
}

}  // namespace sardonyx
