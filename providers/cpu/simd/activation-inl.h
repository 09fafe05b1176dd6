// Activations that several files have.
// Included once for each target, inside the scheme of hwy/foreach_target.h.
#if defined(SARDONYX_ACTIVATION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_ACTIVATION_INL
#undef SARDONYX_ACTIVATION_INL
#else
#define SARDONYX_ACTIVATION_INL
#endif

#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// log(1 + exp(x)) without overflow.
HWY_INLINE V softplus(V x) {
  const D d;
  const V magnitude = hn::Abs(x);
  return hn::Add(hn::IfThenElse(hn::Lt(x, set(0)), set(0), x),
                 hn::Log1p(d, exp_of(hn::Neg(magnitude))));
}

HWY_INLINE V elu(V x, V alpha) {
  return hn::IfThenElse(hn::Lt(x, set(0)), hn::Mul(alpha, expm1_of(x)), x);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
