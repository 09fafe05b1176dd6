// RNN, GRU and LSTM in other ops, which is how they are differentiated.
#pragma once

#include "ir/op_def.h"
#include "ir/ops/recurrent/rnn.h"

namespace sardonyx::ops {

// The op of a call written as one Scan for each direction over the products of X and W.
Vals recurrent_decomposition(Emitter& e, const BodyCall& call);
// An activation function of a cell.
Val apply(Emitter& e, const Activation& activation, const Val& x);

Vals recurrent_grad(Emitter& e, const GradCall& call);

// The indices of the inputs of RnnGrad, GruGrad and LstmGrad; kNone where the op has none. Outputs
// are the gradients of X, W, R, B, initial_h, initial_c and P, in this order, of the op's own
// layout.
struct RecurrentGradInputs {
  static constexpr size_t kNone = SIZE_MAX;
  size_t x = 0, w = 1, r = 2, b = 3, initial_h = 4;
  size_t initial_c = kNone, lengths = kNone, peepholes = kNone;
  size_t d_y = kNone, d_h = kNone, d_c = kNone;  // of Y, Y_h and Y_c; zeros where omitted
  size_t peepholes_output = 6;
};
// `op` is RNN, GRU or LSTM.
RecurrentGradInputs gradient_inputs(const OpDef& op);
const OpDef& op_of_gradient(const OpDef& gradient);

std::span<const OpDef> recurrent_gradient_ops();

}  // namespace sardonyx::ops
