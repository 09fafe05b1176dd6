// The points at which RoiAlign samples an image along one axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ir/ops/pooling/pool.h"

namespace sardonyx::ops {

// A sample along one axis: two neighbours and the weight of each.
struct AxisSample {
  int64_t low, high;
  double low_weight, high_weight;
};

// One axis of a region, which `bins` bins share; `C` is the type that coordinates are computed in.
template <typename C>
struct RoiAxis {
  C first = 0, bin = 0;  // where the first bin begins; its length
  int64_t size = 0;      // of the image
  double samples = 0;    // of each bin, inside the image or not

  RoiAxis(C begin, C end, const RoiAlignAttrs& attrs, int64_t bins, int64_t image_size)
      : size(image_size) {
    const bool is_half_pixel = attrs.coordinate_transformation_mode == "half_pixel";
    const C scale = static_cast<C>(attrs.spatial_scale), shift = is_half_pixel ? C(0.5) : C(0);
    first = begin * scale - shift;
    C length = end * scale - shift - first;
    if (!is_half_pixel) length = std::max(length, C(1));
    bin = length / static_cast<C>(bins);
    samples = attrs.sampling_ratio > 0 ? static_cast<double>(attrs.sampling_ratio) : std::ceil(bin);
    if (!(samples >= 1) || !std::isfinite(samples)) samples = 0;
  }

  // Calls visit(sample) for those of a bin that are inside the image, in the image's order.
  template <typename Visit>
  void for_each_sample(int64_t index, const Visit& visit) const;
};

template <typename C>
template <typename Visit>
void RoiAxis<C>::for_each_sample(int64_t index, const Visit& visit) const {
  if (samples == 0 || size == 0) return;
  const auto count = static_cast<C>(samples);
  const C begin = first + static_cast<C>(index) * bin;
  // Only samples in [-1, size] count, so the search skips those that are far before and beyond.
  const auto step = static_cast<double>(bin / count), reach = static_cast<double>(size) + 2;
  double from = 0, to = samples;
  if (step != 0) {
    const double to_low = (-2 - static_cast<double>(begin)) / step;
    const double to_high = (reach - static_cast<double>(begin)) / step;
    from = std::max(from, std::floor(std::min(to_low, to_high)));
    to = std::min(to, std::ceil(std::max(to_low, to_high)) + 1);
  }
  constexpr double kFar = 1LL << 31;  // further off than coordinates are precise
  if (!(from < kFar)) return;
  for (double next = from; next < to; ++next) {
    const double i = bin < 0 ? from + (to - 1 - next) : next;
    C at = begin + (static_cast<C>(i) + C(0.5)) * bin / count;
    if (!(at >= -1 && at <= static_cast<C>(size))) continue;
    at = std::max(at, C(0));
    const int64_t low = std::min(static_cast<int64_t>(at), size - 1);
    const bool is_last = low == size - 1;
    const double weight = is_last ? 0 : static_cast<double>(at - static_cast<C>(low));
    visit(AxisSample{low, is_last ? low : low + 1, 1 - weight, weight});
  }
}

// The image that a region is in; throws kInvalidArgument where there is none. `input` names the
// input that says so.
int64_t checked_batch(std::string_view op, std::string_view input, double index, int64_t batch);

}  // namespace sardonyx::ops
