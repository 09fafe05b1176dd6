// Gradients of what is smooth in quantization: by the scales of DequantizeLinear, and of the scale
// that DynamicQuantizeLinear finds. Rounded numbers do not change with small changes of their
// inputs.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals dequantize_linear_grad(Emitter& e, const GradCall& call);
Vals dynamic_quantize_linear_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
