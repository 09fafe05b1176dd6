// ONNX's activations as oneDNN's elementwise operations.
#pragma once

#include "ir/ops/fused.h"
#include "providers/onednn/program.h"

namespace sardonyx::onednn {

// What to do to a primitive's result for this activation; nothing for none. It must be known.
PostOps post_ops_of(const ops::FusedActivation& activation);

// Steps that do `chain` to elements that lie as `data` does: the first from one place to another,
// the later ones in place. False where oneDNN has no such operation.
bool add_eltwise(ProgramBuilder& builder, const PostOps& chain, const Desc& data,
                 ProgramBuilder::Place from, ProgramBuilder::Place to);

}  // namespace sardonyx::onednn
