// RNN, GRU and LSTM in other ops, which is how they are differentiated.
#pragma once

#include "ir/op.h"
#include "ir/ops/recurrent.h"

namespace sardonyx::ops {

// What the op of a call gives, by one Scan for each direction over the products of X and W.
Vals recurrent_in_steps(Emitter& e, const BodyCall& call);
// An activation function of a cell.
Val apply(Emitter& e, const Activation& activation, const Val& x);

Vals recurrent_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
