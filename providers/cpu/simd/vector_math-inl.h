// Vector functions that are right for every float: Highway's own hold on a range each, and lose
// NaN. Included once for each target, inside the scheme of hwy/foreach_target.h.
#if defined(SARDONYX_VECTOR_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_VECTOR_MATH_INL
#undef SARDONYX_VECTOR_MATH_INL
#else
#define SARDONYX_VECTOR_MATH_INL
#endif

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <cmath>

#include "providers/cpu/simd/clamp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V set(float value) {
  return hn::Set(D(), value);
}

// x * 2^n for whole n in [-151, 129].
HWY_INLINE V times_power_of_two(V x, V n) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return V{_mm512_scalef_ps(x.raw, n.raw)};
#else
  // Scales in two steps, since 2^n alone may not be a normal number.
  const hn::RebindToSigned<D> integers;
  const auto power = hn::ConvertTo(integers, n);
  const auto half = hn::ShiftRight<1>(power);
  const auto bits = [&](auto exponent) HWY_ATTR {
    return hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(integers, 127))));
  };
  return hn::Mul(hn::Mul(x, bits(half)), bits(hn::Sub(power, half)));
#endif
}

// x = n * log(2) + r with |r| <= log(2) / 2; returns r.
HWY_INLINE V reduced_for_exp(V x, V& n) {
  n = hn::Round(hn::Mul(x, set(1.44269504088896341f)));
  const V r = hn::NegMulAdd(n, set(0.693359375f), x);  // log(2) in two parts, the first one short
  return hn::NegMulAdd(n, set(-2.12194440e-4f), r);
}

// (exp(r) - 1 - r) / r^2, a polynomial.
HWY_INLINE V exp_tail(V r) {
  V p = set(1.9875691500e-4f);
  p = hn::MulAdd(p, r, set(1.3981999507e-3f));
  p = hn::MulAdd(p, r, set(8.3334519073e-3f));
  p = hn::MulAdd(p, r, set(4.1665795894e-2f));
  p = hn::MulAdd(p, r, set(1.6666665459e-1f));
  return hn::MulAdd(p, r, set(5.0000001201e-1f));
}

// 2^n * exp(r) for x in [-104, 89], off by little more than 1 unit in the last place.
HWY_INLINE V exp_within_bounds(V x) {
  V n;
  const V r = reduced_for_exp(x, n);
  return times_power_of_two(hn::Add(hn::MulAdd(hn::Mul(r, r), exp_tail(r), r), set(1)), n);
}

// exp(x), clipped to [-104, 89]: beyond these bounds exp is 0 or infinity in float.
HWY_INLINE V exp_of(V x) {
  return exp_within_bounds(clipped(x, set(-104), set(89)));
}

// exp_of(x) bit for bit where x <= 0 or is NaN; unspecified for other x.
HWY_INLINE V exp_of_at_most_zero(V x) {
  return exp_within_bounds(at_least(x, set(-104)));
}

HWY_INLINE V expm1_of(V x) {
  const V result = hn::Expm1(D(), clipped(x, set(-104), set(89)));
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

HWY_INLINE V log_of(V x) {
  const V infinity = set(HUGE_VALF);
  V result = hn::Log(D(), x);
  result = hn::IfThenElse(hn::Eq(x, set(0)), hn::Neg(infinity), result);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  return hn::IfThenElse(hn::Ge(x, set(0)), result, set(NAN));
}

// tanh by a rational minimax approximation, odd over even. Within 6 units in the last place.
HWY_INLINE V tanh_of(V x) {
  const V bounded = clipped(x, set(-9), set(9));  // beyond, float's tanh is +-1
  const V s = hn::Mul(bounded, bounded);
  V p = set(-2.76076847742355e-16f);
  p = hn::MulAdd(p, s, set(2.00018790482477e-13f));
  p = hn::MulAdd(p, s, set(-8.60467152213735e-11f));
  p = hn::MulAdd(p, s, set(5.12229709037114e-08f));
  p = hn::MulAdd(p, s, set(1.48572235717979e-05f));
  p = hn::MulAdd(p, s, set(6.37261928875436e-04f));
  p = hn::MulAdd(p, s, set(4.89352455891786e-03f));
  V q = set(1.19825839466702e-06f);
  q = hn::MulAdd(q, s, set(1.18534705686654e-04f));
  q = hn::MulAdd(q, s, set(2.26843463243900e-03f));
  q = hn::MulAdd(q, s, set(4.89352518554385e-03f));
  const V result = hn::Div(hn::Mul(bounded, p), q);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), set(0.0004f)), x, result);
}

HWY_INLINE V one_and_exp(V x) {
  return hn::Add(set(1), exp_of(x));
}

HWY_INLINE V sigmoid(V x) {
  return hn::Div(set(1), one_and_exp(hn::Neg(x)));
}

// f of the elements that are within Highway's range for sine and cosine, the scalar function of
// the others: what an element becomes does not depend on its neighbours.
template <typename F>
HWY_INLINE V within_turns(V x, const F& f, float (*scalar)(float)) {
  const D d;
  constexpr float kRange = 39000;
  const auto is_within = hn::Lt(hn::Abs(x), set(kRange));
  const V result = f(hn::IfThenElseZero(is_within, x));
  if (HWY_LIKELY(hn::AllTrue(d, is_within))) return result;
  HWY_ALIGN float values[hn::MaxLanes(d)];
  HWY_ALIGN float results[hn::MaxLanes(d)];
  hn::Store(x, d, values);
  hn::Store(result, d, results);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(std::abs(values[i]) < kRange)) results[i] = scalar(values[i]);
  }
  return hn::Load(d, results);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
