// Which elements of an image points between them blend, and with what weights, vectorised for the
// CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "providers/cpu/resampling/interpolate_nhwc_kernel.h"

namespace sardonyx::cpu {

enum class SampleMode : uint8_t { kNearest, kLinear, kCubic };
enum class SamplePadding : uint8_t { kZeros, kBorder, kReflection };

// One axis of the image.
struct SampledAxis {
  int64_t size = 1;
  bool align_corners = false;
  SamplePadding padding = SamplePadding::kZeros;
  SampleMode mode = SampleMode::kLinear;

  // Elements that a point blends.
  size_t neighbours() const {
    return mode == SampleMode::kCubic ? 4 : mode == SampleMode::kLinear ? 2 : 1;
  }
};

constexpr size_t kPointsTogether = 64;
constexpr size_t kMaxParts = 16;

// Some points: from one part of weight 1 each, axis by axis, outermost first.
struct PointList {
  size_t parts = 1;
  alignas(64) int32_t at[kMaxParts * kPointsTogether];  // [parts][kPointsTogether], -1: a zero
  alignas(64) float weights[kMaxParts * kPointsTogether];

  void start();
  PointParts of(size_t points) const { return {at, weights, parts, kPointsTogether, points}; }
};

// Coordinates of a grid, from -1 to 1, become those of elements, moved to where the padding takes
// them; what is not finite counts as just outside. All kPointsTogether are read. To the last bit
// they are the reference's, so that the nearest element is.
void place_on_axis(const SampledAxis& axis, float* coordinates);

// The parts of `before` multiplied with the neighbours of coordinates along one more axis.
void add_axis(const SampledAxis& axis, const float* coordinates, const PointList& before,
              PointList& after);

}  // namespace sardonyx::cpu
