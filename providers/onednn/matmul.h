// Shared by the matrix product kernels.
#pragma once

#include <optional>

#include "providers/onednn/post_op_sum.h"

namespace sardonyx::onednn {

// dst = post_ops(alpha * a b + bias + residual); `a` and `b` are the layouts of two inputs.
struct MatMulSpec {
  Desc a, b, dst;  // of one rank, at least 2; batch dims of 1 are repeated
  size_t a_input = 0, b_input = 1;
  float alpha = 1;
  // A tensor that is added: one row, or with dims that oneDNN can broadcast.
  struct Addend {
    size_t input;
    Desc desc;  // of the rank of dst; row-major
    float scale = 1;
  };
  std::optional<Addend> bias;
  std::optional<size_t> residual;  // an input of the dims of dst
  PostOps activation;
};

// Dims of MatMul's operands and result at one rank. A batch of matrices times a single matrix
// becomes one tall matrix.
struct MatMulDims {
  Extents a, b, dst;
};
MatMulDims matmul_dims(const Shape& a, const Shape& b, bool transA = false, bool transB = false);

Prepared prepare_product(const KernelRequest& request, const MatMulSpec& product);

}  // namespace sardonyx::onednn
