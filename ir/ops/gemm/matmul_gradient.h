// Gradient rules of the matrix products.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals matmul_gradient(Emitter& e, const GradCall& c);
Vals gemm_gradient(Emitter& e, const GradCall& c);
Vals det_gradient(Emitter& e, const GradCall& c);

}  // namespace sardonyx::ops
