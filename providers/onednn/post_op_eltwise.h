// ONNX's activations as oneDNN's elementwise operations.
#pragma once

#include <optional>

#include "ir/ops/conv/fused_ops.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {

// The post-ops that apply this activation to a primitive's result, empty for none; nullopt where
// oneDNN has no such eltwise algorithm.
std::optional<PostOps> find_post_ops(const ops::FusedActivation& activation);
// find_post_ops() where the activation is known to have them.
PostOps post_ops_of(const ops::FusedActivation& activation);
// Whether the activation is slower inside a primitive than as a pass of its own.
bool is_slow_post_op(const ops::FusedActivation& activation);

// Steps that do `chain` to elements that have the layout of `data`: the first from one place to
// another, the later ones in place. False where oneDNN has no such operation.
bool add_eltwise(SequenceBuilder& builder, const PostOps& chain, const Desc& data,
                 SequenceBuilder::Place from, SequenceBuilder::Place to);

}  // namespace sardonyx::onednn
