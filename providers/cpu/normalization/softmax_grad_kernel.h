// The gradient of Softmax on rows of float32, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// out[i] = y[i] * (d[i] - the sum of d * y). `out` may be `d` or `y`.
void softmax_grad_row(const float* d, const float* y, float* out, size_t count);

}  // namespace sardonyx::cpu
