// GEMV for a few rows: products with a large matrix of float32, or of bfloat16 that is widened
// while it is loaded. The matrix is read once and needs no packing, so the time is bound by memory
// bandwidth.
#pragma once

#include <cstddef>

#include "ir/core/small_float.h"

namespace sardonyx::cpu {

// Weight: float or BFloat16.
template <typename Weight>
struct GemvArgs {
  const float* a;  // [rows, depth], rows `a_step` apart
  size_t a_step;
  const Weight* b;  // rows `b_step` apart
  size_t b_step;
  float* out;  // [rows, columns], rows `out_step` apart
  size_t out_step;
  size_t rows, depth, columns;
  size_t all_columns = 0;  // of the whole product, where `columns` is one thread's share
};

// out = a b, with b [depth, columns]. The order of summation of an element depends neither on the
// share of columns nor on the number of rows.
void gemv(const GemvArgs<float>& product);
void gemv(const GemvArgs<BFloat16>& product);
// out = a transpose(b), with b [columns, depth]. The order of summation does not depend on the
// share of columns, but on all_columns and the number of rows.
void gemv_transposed(const GemvArgs<float>& product);
void gemv_transposed(const GemvArgs<BFloat16>& product);

// out[i] = alpha * out[i] + beta * addend[i] for i < count; addend[0] for all where it does not
// step.
void scale_and_add(float* out, size_t count, float alpha, const float* addend, bool addend_steps,
                   float beta);

}  // namespace sardonyx::cpu
