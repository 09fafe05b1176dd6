// Gradients of the normalizations. Those with statistics are computed in float (double for double),
// whatever the type of the elements.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals batch_normalization_grad(Emitter& e, const GradCall& call);
Vals instance_normalization_grad(Emitter& e, const GradCall& call);
Vals group_normalization_grad(Emitter& e, const GradCall& call);
Vals mean_variance_normalization_grad(Emitter& e, const GradCall& call);
Vals lrn_grad(Emitter& e, const GradCall& call);
Vals layer_normalization_grad(Emitter& e, const GradCall& call);
Vals rms_normalization_grad(Emitter& e, const GradCall& call);
Vals lp_normalization_grad(Emitter& e, const GradCall& call);
Vals dropout_grad(Emitter& e, const GradCall& call);
// Rows of our own domain: BatchNormalizationGrad (with the statistics of the batch),
// GroupNormalizationGrad (of InstanceNormalization too) and LayerNormalizationGrad (of
// RMSNormalization too).
std::span<const OpDef> normalization_gradient_ops();

}  // namespace sardonyx::ops
