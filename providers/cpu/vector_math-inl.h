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

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V set(float value) {
  return hn::Set(D(), value);
}

// A NaN stays one: neither comparison holds for it.
HWY_INLINE V clip(V x, V low, V high) {
  x = hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::IfThenElse(hn::Gt(x, high), high, x);
}

HWY_INLINE V exp_of(V x) {
  // Beyond these bounds float's exp is 0 and infinity.
  const V result = hn::Exp(D(), clip(x, set(-104), set(89)));
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

HWY_INLINE V expm1_of(V x) {
  const V result = hn::Expm1(D(), clip(x, set(-104), set(89)));
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

HWY_INLINE V log_of(V x) {
  const V infinity = set(HUGE_VALF);
  V result = hn::Log(D(), x);
  result = hn::IfThenElse(hn::Eq(x, set(0)), hn::Neg(infinity), result);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  return hn::IfThenElse(hn::Ge(x, set(0)), result, set(NAN));
}

HWY_INLINE V tanh_of(V x) {
  const V result = hn::Tanh(D(), clip(x, set(-20), set(20)));  // +-1 from about 9 on
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

HWY_INLINE V sigmoid(V x) {
  return hn::Div(set(1), hn::Add(set(1), exp_of(hn::Neg(x))));
}

// f where all of x lies within Highway's range for sine and cosine, else the scalar function.
template <typename F>
HWY_INLINE V within_turns(V x, const F& f, float (*scalar)(float)) {
  const D d;
  if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(x), set(39000))))) return f(x);
  HWY_ALIGN float values[hn::MaxLanes(d)];
  hn::Store(x, d, values);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    values[i] = scalar(values[i]);
  return hn::Load(d, values);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
