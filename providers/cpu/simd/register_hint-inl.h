// Included once for each target, inside the scheme of hwy/foreach_target.h.
#if defined(SARDONYX_REGISTER_HINT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_REGISTER_HINT_INL
#undef SARDONYX_REGISTER_HINT_INL
#else
#define SARDONYX_REGISTER_HINT_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {

// The number of vector registers that kernels are designed for.
constexpr size_t kRegisters = HWY_TARGET <= HWY_AVX3 ? 32 : 16;

// `v`, in a register from here on: gcc makes a load a part of each instruction that uses it, and
// where there are several, the loads take longer than the work.
template <class V>
HWY_INLINE V in_register(V v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  asm("" : "+v"(v.raw));
#endif
  return v;
}

// Calls visit with `count`, of 1 to kMax, as a constant: loops over it are unrolled, and what they
// sum up stays in registers.
template <size_t kMax, typename Visit>
HWY_INLINE void with_constant(size_t count, const Visit& visit) {
  if constexpr (kMax > 0) {
    if (count == kMax) return visit(std::integral_constant<size_t, kMax>());
    with_constant<kMax - 1>(count, visit);
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
