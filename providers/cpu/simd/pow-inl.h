// Powers of floats, computed in double and rounded once. Included once for each target, inside the
// scheme of hwy/foreach_target.h.
#if defined(SARDONYX_POW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_POW_INL
#undef SARDONYX_POW_INL
#else
#define SARDONYX_POW_INL
#endif

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using PowerDoubles = hn::ScalableTag<double>;
using PowerFloats = hn::Rebind<float, PowerDoubles>;  // as many as fit a vector as doubles

// The largest exponent that is a chain of products.
constexpr float kMostFactors = 64;

// |x|^y as exp(y log|x|), the sign by whether y is odd, NaN where x < 0 and y is no whole number.
// The exponent is off by 2^-43 at most, so one result in some hundred thousand is not the nearest
// float. `is_known`: lanes that this holds for; x = 0, what is not finite and what may overflow
// are left to C's pow.
HWY_INLINE hn::Vec<PowerDoubles> power(hn::Vec<PowerDoubles> x, hn::Vec<PowerDoubles> y,
                                       hn::Mask<PowerDoubles>& is_known) {
  const PowerDoubles d;
  constexpr double kMostExponent = 88.7, kLeastExponent = -110;  // of e, within float's range
  const auto zero = hn::Zero(d), infinity = hn::Set(d, HUGE_VAL);
  const auto size = hn::Abs(x);
  const auto is_plain =
      hn::And(hn::And(hn::Gt(size, zero), hn::Lt(size, infinity)), hn::Lt(hn::Abs(y), infinity));
  const auto exponent = hn::Mul(y, hn::Log(d, hn::IfThenElse(is_plain, size, hn::Set(d, 1))));
  is_known = hn::And(is_plain, hn::Lt(exponent, hn::Set(d, kMostExponent)));
  const auto bounded =
      hn::Max(hn::IfThenElse(is_known, exponent, zero), hn::Set(d, kLeastExponent));
  const auto result = hn::Exp(d, bounded);
  const auto is_negative = hn::Lt(x, zero);
  if (HWY_LIKELY(hn::AllFalse(d, is_negative))) return result;
  const auto half = hn::Mul(hn::IfThenElse(is_plain, y, zero), hn::Set(d, 0.5));
  const auto is_even = hn::Eq(hn::Floor(half), half);
  const auto is_whole = hn::Eq(hn::Floor(hn::Add(half, half)), hn::Add(half, half));
  const auto with_sign = hn::IfThenElse(is_even, result, hn::Neg(result));
  const auto of_negative = hn::IfThenElse(is_whole, with_sign, hn::Set(d, NAN));
  return hn::IfThenElse(is_negative, of_negative, result);
}

// pow(x, y) of a vector of floats.
HWY_INLINE hn::Vec<PowerFloats> power_of_floats(hn::Vec<PowerFloats> x, hn::Vec<PowerFloats> y) {
  const PowerDoubles d;
  const PowerFloats f;
  hn::Mask<PowerDoubles> is_known;
  const auto result = hn::DemoteTo(f, power(hn::PromoteTo(d, x), hn::PromoteTo(d, y), is_known));
  if (HWY_LIKELY(hn::AllTrue(d, is_known))) return result;
  HWY_ALIGN float base[hn::MaxLanes(f)];
  HWY_ALIGN float exponent[hn::MaxLanes(f)];
  HWY_ALIGN float results[hn::MaxLanes(f)];
  HWY_ALIGN double known[hn::MaxLanes(d)];
  hn::Store(x, f, base);
  hn::Store(y, f, exponent);
  hn::Store(result, f, results);
  hn::Store(hn::IfThenElseZero(is_known, hn::Set(d, 1)), d, known);
  for (size_t i = 0; i < hn::Lanes(f); ++i) {
    if (known[i] == 0) results[i] = std::pow(base[i], exponent[i]);
  }
  return hn::Load(f, results);
}

// x^count, or 1 / x^count, by squares and products. A product in double that overflows or vanishes
// does so as a float, too.
HWY_INLINE hn::Vec<PowerFloats> product_of_factors(hn::Vec<PowerFloats> x, int count,
                                                   bool is_inverse) {
  const PowerDoubles d;
  auto square = hn::PromoteTo(d, x), result = hn::Set(d, 1);
  for (; count > 0; count >>= 1) {
    if (count & 1) result = hn::Mul(result, square);
    square = hn::Mul(square, square);
  }
  if (is_inverse) result = hn::Div(hn::Set(d, 1), result);
  return hn::DemoteTo(PowerFloats(), result);
}

// f of pairs of vectors of half a register's floats.
template <typename F>
HWY_INLINE void map_half_pairs(const float* a, bool a_steps, const float* b, bool b_steps,
                               float* out, size_t count, const F& f) {
  const PowerFloats d;
  const size_t lanes = hn::Lanes(d);
  const auto first = hn::Set(d, *a), second = hn::Set(d, *b);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(f(a_steps ? hn::LoadU(d, a + i) : first, b_steps ? hn::LoadU(d, b + i) : second), d,
               out + i);
  }
  if (i == count) return;
  HWY_ALIGN float left[hn::MaxLanes(d)] = {};
  HWY_ALIGN float right[hn::MaxLanes(d)] = {};
  for (size_t k = 0; k < count - i; ++k) {
    left[k] = a[a_steps ? i + k : 0];
    right[k] = b[b_steps ? i + k : 0];
  }
  hn::Store(f(hn::Load(d, left), hn::Load(d, right)), d, left);
  std::copy_n(left, count - i, out + i);
}

// pow of a row: an exponent for all elements may be a chain of products.
HWY_INLINE void pow_row(const float* a, bool a_steps, const float* b, bool b_steps, float* out,
                        size_t count) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR  // no vectors of doubles are faster there
  for (size_t i = 0; i < count; ++i)
    out[i] = std::pow(a[a_steps ? i : 0], b[b_steps ? i : 0]);
#else
  if (count == 0) return;
  const float exponent = *b;
  if (!b_steps && std::abs(exponent) <= kMostFactors && exponent == std::trunc(exponent)) {
    const int factors = std::abs(static_cast<int>(exponent));
    return map_half_pairs(a, a_steps, b, false, out, count, [&](auto x, auto) HWY_ATTR {
      return product_of_factors(x, factors, exponent < 0);
    });
  }
  map_half_pairs(a, a_steps, b, b_steps, out, count,
                 [](auto x, auto y) HWY_ATTR { return power_of_floats(x, y); });
#endif
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
