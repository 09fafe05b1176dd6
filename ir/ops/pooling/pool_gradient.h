// Gradients of the pools.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals average_pool_grad(Emitter& e, const GradCall& call);
Vals max_pool_grad(Emitter& e, const GradCall& call);
Vals lp_pool_grad(Emitter& e, const GradCall& call);
Vals global_average_pool_grad(Emitter& e, const GradCall& call);
Vals global_max_pool_grad(Emitter& e, const GradCall& call);
Vals global_lp_pool_grad(Emitter& e, const GradCall& call);
Vals max_unpool_grad(Emitter& e, const GradCall& call);
// Rows of our own domain: MaxPoolGrad, AveragePoolGrad.
std::span<const OpDef> pool_gradient_ops();

}  // namespace sardonyx::ops
