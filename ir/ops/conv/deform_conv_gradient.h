// DeformConv and CausalConvWithState in other ops, which is how they are differentiated.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals deform_conv_decomposition(Emitter& e, const BodyCall& call);
Vals causal_conv_decomposition(Emitter& e, const BodyCall& call);

Vals deform_conv_grad(Emitter& e, const GradCall& call);
Vals causal_conv_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
