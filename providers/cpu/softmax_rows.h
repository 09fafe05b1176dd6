// Softmax and LogSoftmax of float32 rows, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// out[i] = exp(in[i] - largest) / the sum of these. `count` > 0; `out` may be `in`. A NaN or a
// positive infinity in the row, or negative ones alone, make it all NaN.
void softmax_row(const float* in, float* out, size_t count);
// out[i] = in[i] - largest - log(the sum of exp(in - largest)); otherwise the same.
void log_softmax_row(const float* in, float* out, size_t count);

}  // namespace sardonyx::cpu
