// A function of vectors over a row of any length. Included once for each target, inside the scheme
// of hwy/foreach_target.h.
#if defined(SARDONYX_TRANSFORM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_TRANSFORM_INL
#undef SARDONYX_TRANSFORM_INL
#else
#define SARDONYX_TRANSFORM_INL
#endif

#include "providers/cpu/simd/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {

// Applies `f` to whole vectors, and to the rest through a padded copy.
template <typename F>
HWY_INLINE void map_row(const float* in, float* out, size_t count, const F& f) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(f(hn::LoadU(d, in + i)), d, out + i);
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  for (size_t k = 0; k < count - i; ++k)
    rest[k] = in[i + k];
  hn::Store(f(hn::Load(d, rest)), d, rest);
  for (size_t k = 0; k < count - i; ++k)
    out[i + k] = rest[k];
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
