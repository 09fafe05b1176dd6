// ONNX's activations as oneDNN's elementwise operations.
#pragma once

#include "ir/ops/fused.h"
#include "providers/onednn/shim.h"

namespace sardonyx::onednn {

// What to do to a primitive's result for this activation; nothing for none. It must be known.
PostOps post_ops_of(const ops::FusedActivation& activation);

}  // namespace sardonyx::onednn
