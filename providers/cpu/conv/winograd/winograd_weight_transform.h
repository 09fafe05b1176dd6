// The weights of 3x3 windows as Winograd's algorithm multiplies with them.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// Windows that are transformed in one pass: those of one input and this many outputs.
constexpr size_t kWindowLanes = 16;
constexpr size_t kWindowTaps = 9;

// G w G^T of every window w (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// 2015) for tiles of 2x2 outputs (`alpha` 4) or 4x4 (`alpha` 6; with the points 0, +-5/8, +-3/2 and
// infinity). Tap t of window l of group g is taps[(g * 9 + t) * 16 + l]; element e (of
// alpha * alpha) of the result is written to out[(e * groups + g) * 16 + l]. Both are aligned to 64
// bytes.
void transform_windows(size_t alpha, const float* taps, size_t groups, float* out);

}  // namespace sardonyx::cpu
