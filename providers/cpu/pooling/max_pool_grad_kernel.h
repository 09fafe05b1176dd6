// The gradient of MaxPool over pairs of rows and columns, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// One row of windows of 2 x 2 elements that are adjacent: `top` and `bottom` hold 2 * outputs
// positions of `lanes` elements (1, or a multiple of 16), as do d_top and d_bottom, which become
// the gradient of each element: that of the window where it is the greatest, zero elsewhere. The
// first of equal elements is the greatest; a NaN is so only where all that follow are NaN.
void max_pool_gradient_pairs(const float* top, const float* bottom, const float* d_y,
                             size_t outputs, size_t lanes, float* d_top, float* d_bottom);

}  // namespace sardonyx::cpu
