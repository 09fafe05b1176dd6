// Matrix products: attributes, and how the operands of MatMul are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "ir/core/strides.h"
#include "ir/op_def.h"

namespace sardonyx::ops {

struct GemmAttrs {
  float alpha = 1;
  float beta = 1;
  bool transA = false;
  bool transB = false;
  static auto fields() {
    return std::tuple{field("alpha", &GemmAttrs::alpha), field("beta", &GemmAttrs::beta),
                      field("transA", &GemmAttrs::transA), field("transB", &GemmAttrs::transB)};
  }
};

// The shape of MatMul's output (numpy.matmul: 1-D operands gain a dim that the output loses, the
// dims before the last two broadcast). nullopt where a rank is not known; fails where the operands
// do not fit. The operands are inputs `a` and `b`.
std::optional<Dims> matmul_dims(InferContext& c, size_t a, size_t b);

// Whether the shape is one row of `columns` elements, perhaps behind dims of 1. A scalar is none,
// as it has no dim for them.
inline bool is_row(const Shape& shape, int64_t columns) {
  return !shape.empty() && shape.back() == columns && element_count(shape) == columns;
}

// A batch of products [m, k] x [k, n]. Matrices of each operand are row-major and contiguous.
struct MatMulGeometry {
  int64_t m = 1, k = 1, n = 1;
  Shape batch;                   // dims before the matrices, broadcast
  Strides a_strides, b_strides;  // one for each batch dim, in matrices; 0 where repeated
  int64_t batches() const { return element_count(batch); }
};
// The shapes must fit: matmul_dims has seen them.
MatMulGeometry matmul_geometry(std::span<const int64_t> a, std::span<const int64_t> b);

}  // namespace sardonyx::ops
