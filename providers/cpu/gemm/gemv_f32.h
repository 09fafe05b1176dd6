// Products of a few rows with a large matrix of float32, or of bfloat16 that is widened as it is
// read. The matrix is read once and as it lies, so that they take as long as memory takes to give
// it.
#pragma once

#include <cstddef>

#include "ir/core/small_float.h"

namespace sardonyx::cpu {

// Weight: float or BFloat16.
template <typename Weight>
struct ThinProduct {
  const float* a;  // [rows, depth], rows `a_step` apart
  size_t a_step;
  const Weight* b;  // rows `b_step` apart
  size_t b_step;
  float* out;  // [rows, columns], rows `out_step` apart
  size_t out_step;
  size_t rows, depth, columns;
  size_t all_columns = 0;  // where these are a share of more columns: how many there are
};

// out = a b, with b [depth, columns]. Each element is summed in an order that does not depend on
// which columns are asked for together, nor on how many rows there are.
void multiply_thin(const ThinProduct<float>& product);
void multiply_thin(const ThinProduct<BFloat16>& product);
// out = a transpose(b), with b [columns, depth]. The order does not depend on which columns are
// asked for together, either, but on all_columns and the number of rows.
void multiply_thin_transposed(const ThinProduct<float>& product);
void multiply_thin_transposed(const ThinProduct<BFloat16>& product);

// out[i] = alpha * out[i] + beta * addend[i] for i < count; addend[0] for all where it does not
// step.
void scale_and_add(float* out, size_t count, float alpha, const float* addend, bool addend_steps,
                   float beta);

}  // namespace sardonyx::cpu
