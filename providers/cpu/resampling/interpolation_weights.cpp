#include "providers/cpu/resampling/interpolation_weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/resampling/interpolation_weights.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using Indices = hn::RebindToSigned<D>;
using V = hn::Vec<D>;

// The formulas are those of GridSample's reference (ir/ops/resampling/grid_sample.cpp), which says
// why.
class AxisSampler {
 public:
  explicit HWY_INLINE AxisSampler(const SampledAxis& axis)
      : axis_(axis),
        low_(axis.align_corners ? 0.0f : -0.5f),
        high_(static_cast<float>(axis.size) - (axis.align_corners ? 1.0f : 0.5f)) {}

  HWY_INLINE V coordinate(V normal) const {
    const V one = hn::Set(d_, 1), half = hn::Set(d_, 0.5f);
    const V length = hn::Set(d_, static_cast<float>(axis_.size));
    const V moved = hn::Add(normal, one);
    const V at = axis_.align_corners ? hn::Mul(hn::Mul(moved, half), hn::Sub(length, one))
                                     : hn::Mul(hn::Sub(hn::Mul(moved, length), one), half);
    return hn::IfThenElse(hn::IsFinite(at), at, hn::Set(d_, -1));
  }
  HWY_INLINE V padded(V at) const {
    const bool is_border = axis_.padding == SamplePadding::kBorder;
    if (axis_.padding == SamplePadding::kZeros) return at;
    if (is_border && axis_.mode == SampleMode::kCubic) return at;
    const auto is_inside = hn::And(hn::Ge(at, hn::Set(d_, low_)), hn::Le(at, hn::Set(d_, high_)));
    return hn::IfThenElse(is_inside, at, is_border ? clamped(at) : reflected(at));
  }
  // The elements at integral coordinates. A comparison with NaN is false, so only coordinates
  // inside the image are converted to integers.
  HWY_INLINE hn::Vec<Indices> elements(V at) const {
    const auto is_inside =
        hn::And(hn::Ge(at, hn::Zero(d_)), hn::Lt(at, hn::Set(d_, static_cast<float>(axis_.size))));
    if (axis_.padding == SamplePadding::kZeros) {
      const auto index = hn::ConvertTo(Indices(), hn::IfThenElseZero(is_inside, at));
      return hn::IfThenElse(hn::RebindMask(Indices(), is_inside), index, hn::Set(Indices(), -1));
    }
    V moved = at;
    if (axis_.padding == SamplePadding::kReflection) {
      const V rounded = hn::Floor(hn::Add(reflected(at), hn::Set(d_, 0.5f)));
      moved = hn::IfThenElse(is_inside, at, rounded);
    }
    return hn::ConvertTo(Indices(), clamped(moved));
  }

 private:
  HWY_INLINE V clamped(V at) const {
    const V last = hn::Set(d_, static_cast<float>(axis_.size - 1));
    return hn::IfThenElseZero(hn::Gt(at, hn::Zero(d_)), hn::Min(at, last));
  }
  HWY_INLINE V reflected(V at) const {
    const V low = hn::Set(d_, low_), high = hn::Set(d_, high_), range = hn::Sub(high, low);
    if (!(high_ > low_)) return low;
    const V distance = hn::Abs(hn::Sub(at, low)), folds = hn::Floor(hn::Div(distance, range));
    const V rest = hn::Sub(distance, hn::Mul(folds, range));
    const V even = hn::Mul(hn::Floor(hn::Mul(folds, hn::Set(d_, 0.5f))), hn::Set(d_, 2));
    return hn::IfThenElse(hn::Eq(folds, even), hn::Add(low, rest), hn::Sub(high, rest));
  }

  D d_;
  const SampledAxis& axis_;
  float low_, high_;
};

void PlaceOnAxis(const SampledAxis& axis, float* coordinates) {
  const D d;
  const AxisSampler placed(axis);
  for (size_t i = 0; i < kPointsPerTile; i += hn::Lanes(d)) {
    V at = placed.coordinate(hn::LoadU(d, coordinates + i));
    if (axis.mode == SampleMode::kNearest) at = hn::Round(at);
    hn::StoreU(placed.padded(at), d, coordinates + i);
  }
}

// The weights of cubic convolution with a = -0.75 at distance x: of a neighbour nearer than 1, and
// of one between 1 and 2.
HWY_INLINE V near_weight(V x) {
  const D d;
  const V inner = hn::MulSub(hn::Set(d, 1.25f), x, hn::Set(d, 2.25f));
  return hn::MulAdd(hn::Mul(inner, x), x, hn::Set(d, 1));
}
HWY_INLINE V far_weight(V x) {
  const D d;
  const V inner = hn::MulAdd(hn::Set(d, -0.75f), x, hn::Set(d, 3.75f));
  return hn::MulAdd(hn::MulSub(inner, x, hn::Set(d, 6)), x, hn::Set(d, 3));
}

HWY_INLINE V neighbour_weight(SampleMode mode, size_t neighbour, V ratio) {
  const D d;
  if (mode == SampleMode::kNearest) return hn::Set(d, 1);
  const V rest = hn::Sub(hn::Set(d, 1), ratio);
  if (mode == SampleMode::kLinear) return neighbour == 0 ? rest : ratio;
  if (neighbour == 0) return far_weight(hn::Add(ratio, hn::Set(d, 1)));
  if (neighbour == 3) return far_weight(hn::Add(rest, hn::Set(d, 1)));
  return near_weight(neighbour == 1 ? ratio : rest);
}

void AddAxis(const SampledAxis& axis, const float* coordinates, const PointList& before,
             PointList& after) {
  const D d;
  const Indices indices;
  const AxisSampler placed(axis);
  const size_t neighbours = axis.neighbours();
  const auto length = hn::Set(indices, static_cast<int32_t>(axis.size));
  for (size_t i = 0; i < kPointsPerTile; i += hn::Lanes(d)) {
    const V at = hn::LoadU(d, coordinates + i), base = hn::Floor(at), ratio = hn::Sub(at, base);
    const V first = axis.mode == SampleMode::kCubic ? hn::Sub(base, hn::Set(d, 1)) : base;
    for (size_t k = 0; k < neighbours; ++k) {
      const auto element = placed.elements(hn::Add(first, hn::Set(d, static_cast<float>(k))));
      const V weight = neighbour_weight(axis.mode, k, ratio);
      for (size_t part = 0; part < before.parts; ++part) {
        const auto line = hn::Load(indices, before.at + part * kPointsPerTile + i);
        const auto is_zero = hn::Lt(hn::Or(line, element), hn::Zero(indices));
        const auto place = hn::Add(hn::Mul(line, length), element);
        const V share = hn::Mul(hn::Load(d, before.weights + part * kPointsPerTile + i), weight);
        const size_t to = (part * neighbours + k) * kPointsPerTile + i;
        hn::Store(hn::IfThenElse(is_zero, hn::Set(indices, -1), place), indices, after.at + to);
        // A part that is a zero gets weight 0: at coordinates that are not finite the weight is
        // NaN.
        hn::Store(hn::IfThenZeroElse(hn::RebindMask(d, is_zero), share), d, after.weights + to);
      }
    }
  }
  after.parts = before.parts * neighbours;
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(PlaceOnAxis);
HWY_EXPORT(AddAxis);

void PointList::start() {
  parts = 1;
  std::fill_n(at, kPointsPerTile, 0);
  std::fill_n(weights, kPointsPerTile, 1.0f);
}

void place_on_axis(const SampledAxis& axis, float* coordinates) {
  HWY_DYNAMIC_DISPATCH(PlaceOnAxis)(axis, coordinates);
}

void add_axis(const SampledAxis& axis, const float* coordinates, const PointList& before,
              PointList& after) {
  HWY_DYNAMIC_DISPATCH(AddAxis)(axis, coordinates, before, after);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
