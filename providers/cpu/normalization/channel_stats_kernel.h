// Sums and affine maps over float32 elements of channels, vectorised for the CPU that runs it. All
// take rows in which element i belongs to lane i % kLanes: with channels in blocks of 16 a lane is
// a channel; of one channel alone, all lanes belong to it.
#pragma once

#include <array>
#include <cstdint>

namespace sardonyx::cpu {

constexpr int64_t kLanes = 16;
using Lanes = std::array<float, kLanes>;
using LaneSums = std::array<double, kLanes>;

inline Lanes all_lanes(float value) {
  Lanes lanes;
  lanes.fill(value);
  return lanes;
}

// sums += x. All sums are single precision within short pieces, double between them.
void add_elements(const float* x, int64_t count, LaneSums& sums);
// squares += (x - mean)^2
void add_squares(const float* x, int64_t count, const Lanes& mean, LaneSums& squares);
// The sums for the gradient of a normalization, in one pass: as add_squares(), and also gradients
// += d and products += d * (x - mean).
void add_products(const float* d, const float* x, int64_t count, const Lanes& mean,
                  LaneSums& squares, LaneSums& gradients, LaneSums& products);
// out = (x - mean) * slope + shift; `out` may be `x`.
void map_affine(const float* x, int64_t count, const Lanes& mean, const Lanes& slope,
                const Lanes& shift, float* out);
// out = (d - shift - (x - mean) * pull) * slope; `out` may be `d` or `x`.
void map_gradient(const float* d, const float* x, int64_t count, const Lanes& mean,
                  const Lanes& slope, const Lanes& shift, const Lanes& pull, float* out);
// out = y > 0 ? d : 0; `out` may be `d` or `y`.
void map_relu_gradient(const float* d, const float* y, int64_t count, float* out);

}  // namespace sardonyx::cpu
