// MatMulBnb4: products with weights of 4 bits in a table's steps, as bitsandbytes makes them.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

struct MatMulBnb4Attrs {
  int64_t K = 0, N = 0, block_size = 0;
  int64_t quant_type = 0;  // 0: FP4, 1: NF4
  int64_t training_mode = 0, transB = 1;
  static auto fields() {
    using A = MatMulBnb4Attrs;
    return std::tuple{required("K", &A::K),
                      required("N", &A::N),
                      required("block_size", &A::block_size),
                      required("quant_type", &A::quant_type),
                      field("training_mode", &A::training_mode),
                      field("transB", &A::transB)};
  }
};

void infer_matmul_bnb4(InferContext& c);
Vals matmul_bnb4(Emitter& e, const BodyCall& c);
std::vector<Sample> matmul_bnb4_samples();

}  // namespace sardonyx::ops
