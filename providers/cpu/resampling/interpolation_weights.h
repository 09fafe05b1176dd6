// The elements and weights by which a point between pixels is interpolated, vectorised for the CPU
// that runs it.
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

  // Elements along this axis that one point is interpolated from.
  size_t neighbours() const {
    return mode == SampleMode::kCubic ? 4 : mode == SampleMode::kLinear ? 2 : 1;
  }
};

constexpr size_t kPointsPerTile = 64;
constexpr size_t kMaxParts = 16;

// The weighted parts of a tile of points. It starts with one part of weight 1 for each point, which
// every axis, outermost first, splits into its neighbours.
struct PointList {
  size_t parts = 1;
  alignas(64) int32_t at[kMaxParts * kPointsPerTile];  // [parts][kPointsPerTile], -1: a zero
  alignas(64) float weights[kMaxParts * kPointsPerTile];

  void start();
  PointParts of(size_t points) const { return {at, weights, parts, kPointsPerTile, points}; }
};

// Converts grid coordinates in [-1, 1] to element coordinates with the padding mode applied; values
// that are not finite count as just outside. Converts all kPointsPerTile. Bit for bit equal to the
// reference, so that the nearest element is the same.
void place_on_axis(const SampledAxis& axis, float* coordinates);

// The parts of `before` multiplied with the neighbours of coordinates along one more axis.
void add_axis(const SampledAxis& axis, const float* coordinates, const PointList& before,
              PointList& after);

}  // namespace sardonyx::cpu
