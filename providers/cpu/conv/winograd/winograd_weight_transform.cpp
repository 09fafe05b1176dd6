#include "providers/cpu/conv/winograd/winograd_weight_transform.h"

#include "ir/core/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/winograd/winograd_weight_transform.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kWindowLanes>;
using V = hn::Vec<D>;

constexpr size_t kSide = 3;  // the kernel is 3x3

// The weight transform for tiles of 2: three values become four.
struct ForTwo {
  static constexpr size_t kAlpha = 4;
  template <class Store>
  static HWY_INLINE void apply(V a, V b, V c, const Store& store) {
    const V half = hn::Set(D(), 0.5f);
    const V ends = hn::Mul(hn::Add(a, c), half), middle = hn::Mul(b, half);
    store(0, a);
    store(1, hn::Add(ends, middle));
    store(2, hn::Sub(ends, middle));
    store(3, c);
  }
};

// The weight transform for tiles of 4: three values become six. The rows of G are those of the
// Lagrange basis: for a point p the coefficients 1, p, p^2, over the product of its distances to
// the others.
struct ForFour {
  static constexpr size_t kAlpha = 6;
  static constexpr double kNear = 0.625, kFar = 1.5;
  static constexpr double kGap = kFar * kFar - kNear * kNear;
  static constexpr double kNearScale = -1 / (2 * kNear * kNear * kGap);
  static constexpr double kFarScale = 1 / (2 * kFar * kFar * kGap);

  template <class Store>
  static HWY_INLINE void apply(V a, V b, V c, const Store& store) {
    const auto scaled = [](V v, double factor) HWY_ATTR {
      return hn::Mul(v, hn::Set(D(), static_cast<float>(factor)));
    };
    const auto plus_scaled = [](V sum, V v, double factor) HWY_ATTR {
      return hn::MulAdd(v, hn::Set(D(), static_cast<float>(factor)), sum);
    };
    const V near_even = plus_scaled(scaled(a, kNearScale), c, kNearScale * kNear * kNear);
    const V near_odd = scaled(b, kNearScale * kNear);
    const V far_even = plus_scaled(scaled(a, kFarScale), c, kFarScale * kFar * kFar);
    const V far_odd = scaled(b, kFarScale * kFar);
    store(0, scaled(a, 1 / (kNear * kNear * kFar * kFar)));
    store(1, hn::Add(near_even, near_odd));
    store(2, hn::Sub(near_even, near_odd));
    store(3, hn::Add(far_even, far_odd));
    store(4, hn::Sub(far_even, far_odd));
    store(5, c);
  }
};

// Transforms the columns of a 3x3 kernel, then the rows of that result. Elements of the output are
// `step` floats apart.
template <class Transform>
HWY_INLINE void transform_window(const float* taps, size_t step, float* out) {
  constexpr size_t kAlpha = Transform::kAlpha;
  const D d;
  V tall[kAlpha][kSide];
  for (size_t x = 0; x < kSide; ++x) {
    const auto tap = [&](size_t y)
                         HWY_ATTR { return hn::Load(d, taps + (y * kSide + x) * kWindowLanes); };
    Transform::apply(tap(0), tap(1), tap(2), [&](size_t u, V v) HWY_ATTR { tall[u][x] = v; });
  }
  for (size_t u = 0; u < kAlpha; ++u) {
    Transform::apply(tall[u][0], tall[u][1], tall[u][2], [&](size_t v, V value) HWY_ATTR {
      hn::Store(value, d, out + (u * kAlpha + v) * step);
    });
  }
}

template <class Transform>
void transform_all(const float* taps, size_t groups, float* out) {
  for (size_t group = 0; group < groups; ++group) {
    for (size_t lane = 0; lane < kWindowLanes; lane += hn::Lanes(D())) {
      transform_window<Transform>(taps + group * kWindowTaps * kWindowLanes + lane,
                                  groups * kWindowLanes, out + group * kWindowLanes + lane);
    }
  }
}

void TransformWindows(size_t alpha, const float* taps, size_t groups, float* out) {
  if (alpha == ForTwo::kAlpha)
    transform_all<ForTwo>(taps, groups, out);
  else
    transform_all<ForFour>(taps, groups, out);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(TransformWindows);

void transform_windows(size_t alpha, const float* taps, size_t groups, float* out) {
  SARDONYX_CHECK(alpha == 4 || alpha == 6);
  HWY_DYNAMIC_DISPATCH(TransformWindows)(alpha, taps, groups, out);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
