// Bounds of sums that become results, for kernels compiled for each CPU.
// Included by foreach_target files, so the guard is per target.
#if defined(SARDONYX_CLAMP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_CLAMP_INL
#undef SARDONYX_CLAMP_INL
#else
#define SARDONYX_CLAMP_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {

// max(v, low), which keeps NaN.
template <class V>
HWY_INLINE V at_least(V v, V low) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(low, v);  // the instructions give a NaN that comes second
#else
  return hn::IfThenElse(hn::Lt(v, low), low, v);
#endif
}

// `v` clamped to [low, high], which keeps NaN.
template <class V>
HWY_INLINE V clipped(V v, V low, V high) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Min(high, at_least(v, low));
#else
  v = at_least(v, low);
  return hn::IfThenElse(hn::Gt(v, high), high, v);
#endif
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
