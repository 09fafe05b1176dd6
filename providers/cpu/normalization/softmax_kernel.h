// Softmax and LogSoftmax of float32 rows, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// out[i] = exp(in[i] - largest) / the sum of these. `count` > 0; `out` may be `in`. A NaN or a
// positive infinity in the row, or negative ones alone, make it all NaN.
void softmax_row(const float* in, float* out, size_t count);
// out[i] = in[i] - largest - log(the sum of exp(in - largest)); otherwise the same.
void log_softmax_row(const float* in, float* out, size_t count);
// largest + log(the sum of exp(in - largest)); infinite where the largest is, NaN where one is in
// the row. `count` > 0.
float log_sum_exp_row(const float* in, size_t count);

// softmax_row() and log_softmax_row() on `rows` contiguous rows of `length` <= kLongestShortRow
// elements, several rows at a time. The result of a row does not depend on the others.
constexpr size_t kLongestShortRow = 64;
void softmax_short_rows(const float* in, float* out, size_t rows, size_t length);
void log_softmax_short_rows(const float* in, float* out, size_t rows, size_t length);

}  // namespace sardonyx::cpu
