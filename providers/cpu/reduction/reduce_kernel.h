// Reductions of float32 rows, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

enum class Reduction : uint8_t { kSum, kMean, kMax, kMin, kSumSquare, kL1, kL2, kProduct, kLogSum };

// The reduction of `count` > 0 elements. Sums are kept in several partial sums, so the error grows
// with count / 64.
float reduce_row(Reduction op, const float* in, size_t count);
// The same of each of `rows` rows, one behind the other; short ones go together.
void reduce_rows(Reduction op, const float* in, size_t rows, size_t count, float* out);
// out[i] = the reduction over rows k of in[k * width + i].
void reduce_columns(Reduction op, const float* in, size_t rows, size_t width, float* out);

}  // namespace sardonyx::cpu
