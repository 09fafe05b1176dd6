// The merging of the elements of a window (reduction), and the output of the results. Included once
// for each target, inside the scheme of hwy/foreach_target.h.
#if defined(SARDONYX_POOL_REDUCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_POOL_REDUCE_INL
#undef SARDONYX_POOL_REDUCE_INL
#else
#define SARDONYX_POOL_REDUCE_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "providers/cpu/pooling/pool_nchw_kernel.h"
#include "providers/cpu/simd/partial_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kMaxLaneTaps = 8;

// For each tap, the shuffle indices that bring the elements of a line to the lanes of their
// windows. The line has `in` elements, fewer than a vector; lane `in` holds the neutral element.
template <class D>
struct LaneTaps {
  using T = hn::TFromD<D>;
  using Index = hwy::MakeSigned<T>;
  using Indices = decltype(hn::SetTableIndices(D(), static_cast<const Index*>(nullptr)));

  HWY_INLINE LaneTaps(const Window1d& w) {
    HWY_ALIGN Index from[hn::MaxLanes(D())];
    for (size_t k = 0; k < w.kernel; ++k) {
      for (size_t i = 0; i < hn::Lanes(D()); ++i) {
        const size_t at = i * w.stride + k * w.dilation - w.before;  // may wrap
        from[i] = static_cast<Index>(i < w.outputs && at < w.in ? at : w.in);
      }
      indices[k] = hn::SetTableIndices(D(), from);
    }
  }

  Indices indices[kMaxLaneTaps];
};

// Starts from a number, so a NaN never gets in.
template <class D>
struct Max {
  using V = hn::Vec<D>;
  static constexpr bool kMaxima = true;
  HWY_INLINE V first() const {
    return hn::Set(D(), -std::numeric_limits<hn::TFromD<D>>::infinity());
  }
  HWY_INLINE V operator()(V best, V x) const {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    return hn::Max(x, best);  // the second where either is NaN
#else
    return hn::IfThenElse(hn::Gt(x, best), x, best);
#endif
  }
  HWY_INLINE hn::TFromD<D> of_lanes(V v) const {
    return hn::GetLane(hn::MaxOfLanes(D(), v));
  }
};
template <class D>
struct Sum {
  using V = hn::Vec<D>;
  static constexpr bool kMaxima = false;
  HWY_INLINE V first() const { return hn::Zero(D()); }
  HWY_INLINE V operator()(V sum, V x) const { return hn::Add(sum, x); }
  HWY_INLINE hn::TFromD<D> of_lanes(V v) const { return hn::GetLane(hn::SumOfLanes(D(), v)); }
};

// The transform of an element before it is merged: none.
struct Itself {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x) const {
    return x;
  }
};
// 0 for a number, -inf for NaN: the maximum over a window is 0 unless all of it is NaN.
struct IsNumber {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x) const {
    return hn::IfThenElseZero(hn::IsNaN(x), Max<D>().first());
  }
};
struct Power {
  int64_t power;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    hn::Vec<D> square = hn::Abs(x), result = hn::Set(d, 1);
    for (int64_t left = power; left > 0; left >>= 1) {
      if (left & 1) result = hn::Mul(result, square);
      square = hn::Mul(square, square);
    }
    return result;
  }
};

// Writes merged windows to a row of outputs: sums times their scales, maxima unchanged. Tracks the
// least maximum.
template <class D, bool kMaxima>
class Outputs {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  HWY_INLINE Outputs(const T* column_scales, bool takes_root)
      : column_scales_(column_scales), takes_root_(takes_root) {}
  HWY_INLINE void start_row(T* out, T scale) {
    out_ = out;
    if constexpr (!kMaxima) row_scale_ = hn::Set(D(), scale);
  }

  HWY_INLINE void whole(V v, size_t i) {
    if constexpr (kMaxima)
      least_ = hn::Min(least_, v);
    else
      v = scaled(v, hn::LoadU(D(), column_scales_ + i));
    hn::StoreU(v, D(), out_ + i);
  }
  HWY_INLINE void part(V v, size_t i, const PartialVector<D>& part) {
    if constexpr (kMaxima)
      least_ = part.with(hn::Min(least_, v), least_);
    else
      v = scaled(v, part.load(column_scales_ + i));
    part.store(v, out_ + i);
  }
  HWY_INLINE bool has_least() const {
    return kMaxima && !hn::AllFalse(D(), hn::Eq(least_, Max<D>().first()));
  }

 private:
  HWY_INLINE V scaled(V v, V scales) const {
    const V result = hn::Mul(hn::Mul(v, row_scale_), scales);
    return takes_root_ ? hn::Sqrt(result) : result;
  }

  T* out_ = nullptr;
  const T* column_scales_;
  V row_scale_ = hn::Zero(D());
  bool takes_root_;
  V least_ = hn::Set(D(), std::numeric_limits<T>::infinity());
};

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
