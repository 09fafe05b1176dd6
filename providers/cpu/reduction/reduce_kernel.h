// Reductions of float32 rows, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

enum class ReduceOp : uint8_t { kSum, kMean, kMax, kMin, kSumSquare, kL1, kL2, kProduct, kLogSum };

// The reduction of `count` > 0 elements. Sums are kept in several partial sums, so the error grows
// with count / 64.
float reduce_row(ReduceOp op, const float* in, size_t count);
// Reduces each of `rows` contiguous rows; vectors hold several short rows at once.
void reduce_rows(ReduceOp op, const float* in, size_t rows, size_t count, float* out);
// out[i] = the reduction over rows k of in[k * width + i].
void reduce_columns(ReduceOp op, const float* in, size_t rows, size_t width, float* out);

}  // namespace sardonyx::cpu
