// The rest of a division of floats. Included once for each target, inside the scheme of
// hwy/foreach_target.h.
#if defined(SARDONYX_FMOD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_FMOD_INL
#undef SARDONYX_FMOD_INL
#else
#define SARDONYX_FMOD_INL
#endif

#include <hwy/highway.h>

#include <cmath>

#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Bit for bit C's fmod. A quotient below 2^22 is off by less than 1/4, so cut off it is right or 1
// too large; the rest is a multiple of both operands' last places and less than y in size: a fused
// multiply-add gives it exactly. Other quotients, and what is not finite, are left to C.
HWY_INLINE V fmod_of(V x, V y) {
  const D d;
  const V dividend = hn::Abs(x), divisor = hn::Abs(y);
#if HWY_NATIVE_FMA
  const V quotient = hn::Trunc(hn::Div(dividend, divisor));
  const auto is_exact = hn::And(hn::Lt(quotient, set(0x1p22f)), hn::Lt(divisor, set(HUGE_VALF)));
  const V rest = hn::NegMulAdd(quotient, divisor, dividend);
  const V positive = hn::IfThenElse(hn::Lt(rest, set(0)), hn::Add(rest, divisor), rest);
  const V result = hn::Or(hn::Abs(positive), hn::And(x, hn::SignBit(d)));
  if (HWY_LIKELY(hn::AllTrue(d, is_exact))) return result;
#else
  const auto is_exact = hn::Lt(dividend, divisor);  // the dividend is the rest
  const V result = x;
#endif
  HWY_ALIGN float dividends[hn::MaxLanes(d)];
  HWY_ALIGN float divisors[hn::MaxLanes(d)];
  HWY_ALIGN float results[hn::MaxLanes(d)];
  HWY_ALIGN float known[hn::MaxLanes(d)];
  hn::Store(x, d, dividends);
  hn::Store(y, d, divisors);
  hn::Store(result, d, results);
  hn::Store(hn::IfThenElseZero(is_exact, set(1)), d, known);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (known[i] == 0) results[i] = std::fmod(dividends[i], divisors[i]);
  }
  return hn::Load(d, results);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
