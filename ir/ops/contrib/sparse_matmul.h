// The product of a sparse matrix and a dense one.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

struct SparseMatMulAttrs {
  float alpha = 1;
  bool transA = false, transB = false;
  static auto fields() {
    using A = SparseMatMulAttrs;
    return std::tuple{field("alpha", &A::alpha), field("transA", &A::transA),
                      field("transB", &A::transB)};
  }
};

void infer_sparse_matmul(InferContext& c);
void sparse_matmul(const EvalCall& call);

}  // namespace sardonyx::ops
