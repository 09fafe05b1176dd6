// Vectors of which only the first lanes are in memory.
// Included once for each target, inside the scheme of hwy/foreach_target.h.
#if defined(SARDONYX_PARTIAL_VECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_PARTIAL_VECTOR_INL
#undef SARDONYX_PARTIAL_VECTOR_INL
#else
#define SARDONYX_PARTIAL_VECTOR_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The first `count` elements of a vector; the others are not touched.
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const hn::TFromD<D>* from, size_t count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN hn::TFromD<D> values[hn::MaxLanes(D())] = {};
  for (size_t i = 0; i < count; ++i)
    values[i] = from[i];
  return hn::Load(d, values);
#endif
}

template <class D>
HWY_INLINE void store_part(hn::Vec<D> v, D d, hn::TFromD<D>* to, size_t count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN hn::TFromD<D> values[hn::MaxLanes(D())];
  hn::Store(v, d, values);
  for (size_t i = 0; i < count; ++i)
    to[i] = values[i];
#endif
}

// A mask for the first `count` >= 1 elements, to be used on many vectors.
template <class D>
class PartialVector {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  HWY_INLINE PartialVector(D d, size_t count) : count_(count), mask_(hn::FirstN(d, count)) {}
  HWY_INLINE V load(const T* from) const {
#if HWY_TARGET <= HWY_AVX2
    return hn::MaskedLoad(mask_, D(), from);
#else
    return load_part(D(), from, count_);
#endif
  }
  HWY_INLINE void store(V v, T* to) const {
#if HWY_TARGET <= HWY_AVX2
    hn::BlendedStore(v, mask_, D(), to);
#else
    store_part(v, D(), to, count_);
#endif
  }
  // `v` in the first `count` lanes, `others` in the rest.
  HWY_INLINE V with(V v, V others) const {
    return hn::IfThenElse(mask_, v, others);
  }

 private:
  size_t count_;
  hn::Mask<D> mask_;
};

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
