// Function ops written in other ops, after the specification's function bodies: how files of opsets
// before the op came hold them. Each of these rows has a reference as well.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals hard_swish_body(Emitter& e, const BodyCall& call);
Vals mish_body(Emitter& e, const BodyCall& call);
Vals layer_normalization_body(Emitter& e, const BodyCall& call);
Vals rms_normalization_body(Emitter& e, const BodyCall& call);
Vals group_normalization_body(Emitter& e, const BodyCall& call);
Vals batch_normalization_body(Emitter& e, const BodyCall& call);
// Of rows whose attributes stand in their family's file.
Val gelu_written_out(Emitter& e, const Val& x, bool by_tanh);
Val swish_written_out(Emitter& e, const Val& x, float alpha);

}  // namespace sardonyx::ops
