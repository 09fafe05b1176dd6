// The gradient of an op by way of other ops.
#pragma once

#include "ir/op_def.h"

namespace sardonyx {

// The gradients of what `body` emits for this call, recorded and differentiated: of a row with a
// body, or of one whose meaning is easier to differentiate in other ops.
Vals autodiff_body(Emitter& e, const GradCall& call, Vals (*body)(Emitter&, const BodyCall&));

}  // namespace sardonyx
