#include "providers/cpu/elementwise/elementwise_generic_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/elementwise/elementwise_generic_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- Pairs

// Integers are computed as unsigned numbers, whose overflow is defined.
template <typename T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

template <PairOp op, typename T>
HWY_INLINE T join(T a, T b) {
  using W = Wrapping<T>;
  const auto x = static_cast<W>(a), y = static_cast<W>(b);
  if constexpr (op == PairOp::kAdd) return static_cast<T>(x + y);
  if constexpr (op == PairOp::kSub) return static_cast<T>(x - y);
  if constexpr (op == PairOp::kMul) {
    if constexpr (sizeof(T) < sizeof(int))  // narrow factors would become signed ones
      return static_cast<T>(static_cast<uint32_t>(x) * y);
    else
      return static_cast<T>(x * y);
  }
  if constexpr (op == PairOp::kDiv) {
    if constexpr (std::is_same_v<T, int32_t>)  // exact, and the lowest by -1 wraps to itself
      return static_cast<int32_t>(
          static_cast<int64_t>(static_cast<double>(a) / (b == 0 ? 1.0 : b)));
    else if constexpr (std::is_integral_v<T>)
      return b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)) ? static_cast<T>(W{0} - x)
                                                                        : static_cast<T>(a / b);
    else
      return a / b;
  }
  // A NaN on either side is the result.
  if constexpr (op == PairOp::kMax) return a >= b || a != a ? a : b;
  if constexpr (op == PairOp::kMin) return a <= b || a != a ? a : b;
  if constexpr (std::is_integral_v<T>) {
    constexpr auto kBits = static_cast<T>(8 * sizeof(T));
    if constexpr (op == PairOp::kAnd) return static_cast<T>(x & y);
    if constexpr (op == PairOp::kOr) return static_cast<T>(x | y);
    if constexpr (op == PairOp::kXor) return static_cast<T>(x ^ y);
    const auto by = static_cast<T>(b % kBits);
    if constexpr (op == PairOp::kShiftLeft) return b < kBits ? static_cast<T>(x << by) : T{0};
    if constexpr (op == PairOp::kShiftRight) return b < kBits ? static_cast<T>(x >> by) : T{0};
  }
}

template <PairOp op, typename T>
void number_pair_row(const void* left, bool a_steps, const void* right, bool b_steps, void* result,
                     size_t count) {
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  T* out = static_cast<T*>(result);
  if (a_steps && b_steps) {
    for (size_t i = 0; i < count; ++i)
      out[i] = join<op>(a[i], b[i]);
  } else if (a_steps) {
    const T y = *b;
    for (size_t i = 0; i < count; ++i)
      out[i] = join<op>(a[i], y);
  } else {
    const T x = *a;
    for (size_t i = 0; i < count; ++i)
      out[i] = join<op>(x, b_steps ? b[i] : *b);
  }
}

using Doubles = hn::ScalableTag<double>;
using Halves = hn::Rebind<int32_t, Doubles>;

// Quotients of doubles are exact once they are cut. The lowest number by -1 wraps to itself; a
// divisor of 0 counts as 1.
HWY_INLINE hn::Vec<Halves> quotient(hn::Vec<Doubles> a, hn::Vec<Doubles> b) {
  const Doubles d;
  const auto divisor = hn::IfThenElse(hn::Eq(b, hn::Zero(d)), hn::Set(d, 1), b);
  const auto exact = hn::Div(a, divisor);
  const auto beyond = hn::Eq(exact, hn::Set(d, 0x1p31));
  return hn::DemoteTo(Halves(), hn::IfThenElse(beyond, hn::Set(d, -0x1p31), exact));
}

void divide_int32_row(const void* left, bool a_steps, const void* right, bool b_steps, void* result,
                      size_t count) {
  const auto* a = static_cast<const int32_t*>(left);
  const auto* b = static_cast<const int32_t*>(right);
  auto* out = static_cast<int32_t*>(result);
  if (count == 0) return;
  const Doubles d;
  const Halves h;
  const size_t lanes = hn::Lanes(d);
  const auto first = hn::Set(d, *a), second = hn::Set(d, *b);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = a_steps ? hn::PromoteTo(d, hn::LoadU(h, a + i)) : first;
    const auto y = b_steps ? hn::PromoteTo(d, hn::LoadU(h, b + i)) : second;
    hn::StoreU(quotient(x, y), h, out + i);
  }
  number_pair_row<PairOp::kDiv, int32_t>(a_steps ? a + i : a, a_steps, b_steps ? b + i : b, b_steps,
                                         out + i, count - i);
}

template <typename T>
NumberPairRow integer_pair(PairOp op) {
  switch (op) {
    case PairOp::kAdd:
      return number_pair_row<PairOp::kAdd, T>;
    case PairOp::kSub:
      return number_pair_row<PairOp::kSub, T>;
    case PairOp::kMul:
      return number_pair_row<PairOp::kMul, T>;
    case PairOp::kAnd:
      return number_pair_row<PairOp::kAnd, T>;
    case PairOp::kOr:
      return number_pair_row<PairOp::kOr, T>;
    case PairOp::kXor:
      return number_pair_row<PairOp::kXor, T>;
    default:
      return nullptr;
  }
}

template <typename T>
NumberPairRow ordered_pair(PairOp op) {
  switch (op) {
    case PairOp::kDiv:
      if constexpr (std::is_same_v<T, int32_t>) return divide_int32_row;
      return number_pair_row<PairOp::kDiv, T>;
    case PairOp::kMax:
      return number_pair_row<PairOp::kMax, T>;
    case PairOp::kMin:
      return number_pair_row<PairOp::kMin, T>;
    default:
      return nullptr;
  }
}

template <typename T>
NumberPairRow shift_pair(PairOp op) {
  return op == PairOp::kShiftLeft ? number_pair_row<PairOp::kShiftLeft, T>
                                  : number_pair_row<PairOp::kShiftRight, T>;
}

NumberPairRow double_pair(PairOp op) {
  switch (op) {
    case PairOp::kAdd:
      return number_pair_row<PairOp::kAdd, double>;
    case PairOp::kSub:
      return number_pair_row<PairOp::kSub, double>;
    case PairOp::kMul:
      return number_pair_row<PairOp::kMul, double>;
    default:
      return ordered_pair<double>(op);
  }
}

// Integers are two's complement: ops on bits alone have one kernel for signed and unsigned types.
NumberPairRow NumberPairRowOf(PairOp op, DType dtype) {
  if (dtype == DType::kDouble) return double_pair(op);
  const bool is_shift = op == PairOp::kShiftLeft || op == PairOp::kShiftRight;
  const bool is_ordered = op == PairOp::kDiv || op == PairOp::kMax || op == PairOp::kMin;
  switch (dtype) {
    case DType::kInt32:
      return is_ordered ? ordered_pair<int32_t>(op) : integer_pair<uint32_t>(op);
    case DType::kInt64:
      return is_ordered ? ordered_pair<int64_t>(op) : integer_pair<uint64_t>(op);
    case DType::kUInt8:
      return is_ordered ? ordered_pair<uint8_t>(op)
             : is_shift ? shift_pair<uint8_t>(op)
                        : integer_pair<uint8_t>(op);
    case DType::kInt8:
      return is_ordered ? ordered_pair<int8_t>(op) : integer_pair<uint8_t>(op);
    case DType::kUInt32:
      return is_ordered ? nullptr
             : is_shift ? shift_pair<uint32_t>(op)
                        : integer_pair<uint32_t>(op);
    case DType::kUInt64:
      return is_ordered ? nullptr
             : is_shift ? shift_pair<uint64_t>(op)
                        : integer_pair<uint64_t>(op);
    default:
      return nullptr;
  }
}

// ---- One operand

template <NumberOp op, typename T>
void number_row(const void* input, void* output, size_t count) {
  const T* in = static_cast<const T*>(input);
  if constexpr (op == NumberOp::kIsNan || op == NumberOp::kIsInfinite) {
    auto* out = static_cast<uint8_t*>(output);
    for (size_t i = 0; i < count; ++i) {
      const T size = std::abs(in[i]);
      out[i] = op == NumberOp::kIsNan ? size != size : size == std::numeric_limits<T>::infinity();
    }
  } else {
    T* out = static_cast<T*>(output);
    for (size_t i = 0; i < count; ++i) {
      const T x = in[i];
      if constexpr (op == NumberOp::kBitNot) out[i] = static_cast<T>(~x);
      if constexpr (op == NumberOp::kSign) out[i] = static_cast<T>((x > 0) - (x < 0));
      if constexpr (op == NumberOp::kNeg) out[i] = join<PairOp::kSub>(T{0}, x);
      if constexpr (op == NumberOp::kAbs) out[i] = x < 0 ? join<PairOp::kSub>(T{0}, x) : x;
    }
  }
}

template <typename T>
NumberRow signed_number(NumberOp op) {
  switch (op) {
    case NumberOp::kAbs:
      return number_row<NumberOp::kAbs, T>;
    case NumberOp::kNeg:
      return number_row<NumberOp::kNeg, T>;
    case NumberOp::kSign:
      return number_row<NumberOp::kSign, T>;
    case NumberOp::kBitNot:
      return number_row<NumberOp::kBitNot, T>;
    default:
      return nullptr;
  }
}

template <typename T>
NumberRow float_test(NumberOp op) {
  if (op == NumberOp::kIsNan) return number_row<NumberOp::kIsNan, T>;
  return op == NumberOp::kIsInfinite ? number_row<NumberOp::kIsInfinite, T> : nullptr;
}

NumberRow NumberRowOf(NumberOp op, DType dtype) {
  switch (dtype) {
    case DType::kInt32:
      return signed_number<int32_t>(op);
    case DType::kInt64:
      return signed_number<int64_t>(op);
    case DType::kInt8:
      return signed_number<int8_t>(op);
    case DType::kUInt8:
      return op == NumberOp::kBitNot ? number_row<NumberOp::kBitNot, uint8_t> : nullptr;
    case DType::kUInt32:
      return op == NumberOp::kBitNot ? number_row<NumberOp::kBitNot, uint32_t> : nullptr;
    case DType::kFloat:
      return float_test<float>(op);
    case DType::kDouble:
      return float_test<double>(op);
    default:
      return nullptr;
  }
}

// ---- Casts

struct BFloat16Bits {
  uint16_t bits;
};
// A bool as a byte, of which any value but 0 is true.
struct BoolByte {
  uint8_t byte;
};

// Truncated; what To cannot hold becomes the lowest int32 (or int64), cut to the width.
template <typename To, typename From>
HWY_INLINE To cut(From x) {
  using Wide = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
  constexpr From kLowest = static_cast<From>(std::numeric_limits<Wide>::min());
  const From held = x >= kLowest && x < -kLowest ? x : kLowest;
  return static_cast<To>(static_cast<Wide>(held));
}

template <typename From, typename To>
void number_cast_row(const void* input, void* output, size_t count) {
  const From* in = static_cast<const From*>(input);
  To* out = static_cast<To*>(output);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<From, BoolByte>) {
      out[i] = static_cast<To>(in[i].byte != 0);
    } else if constexpr (std::is_same_v<To, bool>) {
      out[i] = in[i] != From(0);
    } else if constexpr (std::is_same_v<To, BFloat16Bits>) {
      const auto raw = std::bit_cast<uint32_t>(in[i]);
      const uint32_t rounded = raw + 0x7fffu + (raw >> 16 & 1);
      const bool is_nan = (raw & 0x7fffffffu) > 0x7f800000u;
      out[i].bits = static_cast<uint16_t>((is_nan ? raw | 0x400000u : rounded) >> 16);
    } else if constexpr (std::is_same_v<From, BFloat16Bits>) {
      out[i] = std::bit_cast<float>(static_cast<uint32_t>(in[i].bits) << 16);
    } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
      out[i] = cut<To>(in[i]);
    } else {
      out[i] = static_cast<To>(in[i]);
    }
  }
}

template <typename From>
NumberRow real_cast(DType to) {
  switch (to) {
    case DType::kBool:
      return number_cast_row<From, bool>;
    case DType::kInt8:
      return number_cast_row<From, int8_t>;
    case DType::kUInt8:
      return number_cast_row<From, uint8_t>;
    case DType::kInt32:
      return number_cast_row<From, int32_t>;
    case DType::kInt64:
      return number_cast_row<From, int64_t>;
    default:
      return nullptr;
  }
}

// Casts from an integer type, converted as C++ does.
template <typename From>
NumberRow integer_cast(DType to) {
  switch (to) {
    case DType::kFloat:
      return number_cast_row<From, float>;
    case DType::kInt32:
      return number_cast_row<From, int32_t>;
    case DType::kInt64:
      return number_cast_row<From, int64_t>;
    case DType::kBool:
      return number_cast_row<From, bool>;
    default:
      return nullptr;
  }
}

NumberRow NumberCastRowOf(DType from, DType to) {
  if (from == DType::kFloat) {
    if (to == DType::kDouble) return number_cast_row<float, double>;
    if (to == DType::kBFloat16) return number_cast_row<float, BFloat16Bits>;
    return real_cast<float>(to);
  }
  if (from == DType::kDouble)
    return to == DType::kFloat ? number_cast_row<double, float> : real_cast<double>(to);
  switch (from) {
    case DType::kBFloat16:
      return to == DType::kFloat ? number_cast_row<BFloat16Bits, float> : nullptr;
    case DType::kBool:
      return integer_cast<BoolByte>(to);
    case DType::kUInt8:
      return integer_cast<uint8_t>(to);
    case DType::kInt8:
      return integer_cast<int8_t>(to);
    case DType::kInt32:
      return integer_cast<int32_t>(to);
    case DType::kInt64:
      return integer_cast<int64_t>(to);
    default:
      return nullptr;
  }
}

// ---- Zeros

template <typename T>
bool any_zero(const void* values, size_t count) {
  const T* in = static_cast<const T*>(values);
  unsigned zeros = 0;
  for (size_t i = 0; i < count; ++i)
    zeros |= in[i] == 0;
  return zeros != 0;
}

bool HasZero(DType dtype, const void* values, size_t count) {
  const int bits = bits_of(dtype);
  if (bits == 64) return any_zero<uint64_t>(values, count);
  return bits == 32 ? any_zero<uint32_t>(values, count) : any_zero<uint8_t>(values, count);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(NumberPairRowOf);
HWY_EXPORT(NumberRowOf);
HWY_EXPORT(NumberCastRowOf);
HWY_EXPORT(HasZero);

NumberPairRow number_pair_row_of(PairOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(NumberPairRowOf)(op, dtype);
}
NumberRow number_row_of(NumberOp op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(NumberRowOf)(op, dtype);
}
NumberRow number_cast_row_of(DType from, DType to) {
  return HWY_DYNAMIC_DISPATCH(NumberCastRowOf)(from, to);
}
bool has_zero(DType dtype, const void* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(HasZero)(dtype, values, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
