// Weights of 3x3 windows as Winograd's algorithm multiplies with them.
#pragma once

#include "providers/onednn/shim.h"

namespace sardonyx::onednn {

// G w G^T of every window w (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// 2015) for tiles of 2x2 outputs (alpha 4) or 4x4 (alpha 6; with the points 0, +-5/8, +-3/2 and
// infinity that oneDNN's kernels are made for). Element [o][i][y][x] lies `strides` floats from
// `values`, at any address. Outputs and inputs beyond `dims` become zero.
void transform_weights(const void* values, const Extents& dims, const Extents& strides,
                       const WinogradForm& form, float* out, int threads);

}  // namespace sardonyx::onednn
