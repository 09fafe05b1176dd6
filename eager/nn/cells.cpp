#include "eager/nn/cells.h"

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/init.h"
#include "eager/nn/module_state.h"
#include "eager/placed.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {
template <typename Self>
RecurrentCell<Self>::RecurrentCell(int64_t in, int64_t hidden, int64_t gates, CellOptions options,
                                   Loc loc) try
    : in_(in), hidden_(hidden), gates_(gates) {
  if (in <= 0 || hidden <= 0) {
    fail(ErrorCode::kInvalidArgument, this->type_name(), ": expected positive sizes, got ", in,
         " -> ", hidden);
  }
  this->describe(text(in, " -> ", hidden));
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const int64_t rows = gates * hidden;
  const auto add_one = [&](const char* name, const Dims& shape) {
    return this->parameter(name, init::uniform_tensor(shape, bound));
  };
  weight_ih = add_one("weight_ih", {rows, in});
  weight_hh = add_one("weight_hh", {rows, hidden});
  if (!options.bias) return;
  bias_ih = add_one("bias_ih", {rows});
  bias_hh = add_one("bias_hh", {rows});
} catch (const Error& error) {
  throw placed(error, loc);
}

template <typename Self>
Tensor RecurrentCell<Self>::state_or_zeros(const Tensor& state, const Tensor& x,
                                           const char* name) const {
  const Loc& loc = this->caller();
  detail::require_registered(*this, {{"weight_ih", weight_ih},
                                     {"weight_hh", weight_hh},
                                     {"bias_ih", bias_ih},
                                     {"bias_hh", bias_hh}});
  require_defined(x, this->type_name(), "x", loc);
  if (x.rank() != 2) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", this->type_name(), ": expected x [N, ",
         in_, "], got ", x.type());
  }
  if (!state.defined()) return zeros({x.size(0, loc), hidden_}, {.dtype = x.dtype()}, loc);
  const bool fits =
      state.rank() == 2 && eager::detail::sizes_agree(state.size(1, loc), hidden_, loc);
  if (!fits) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", this->type_name(), ": expected ", name,
         " [N, ", hidden_, "], got ", state.type());
  }
  return state;
}

template <typename Self>
std::vector<Tensor> RecurrentCell<Self>::product(const Tensor& x, const Tensor& weight,
                                                 const Tensor& bias) const {
  const Loc& loc = this->caller();
  const Tensor rows = linear(x, weight, bias, loc);
  if (gates_ == 1) return {rows};
  return split(rows, std::vector<int64_t>(static_cast<size_t>(gates_), hidden_), 1, loc);
}
template <typename Self>
std::vector<Tensor> RecurrentCell<Self>::of_input(const Tensor& x) const {
  return product(x, weight_ih, bias_ih);
}
template <typename Self>
std::vector<Tensor> RecurrentCell<Self>::of_hidden(const Tensor& hidden) const {
  return product(hidden, weight_hh, bias_hh);
}

template class RecurrentCell<RNNCell>;
template class RecurrentCell<GRUCell>;
template class RecurrentCell<LSTMCell>;

Tensor RNNCell::forward(const Tensor& x, const Tensor& hidden) const {
  const Loc loc = caller();
  const Tensor before = state_or_zeros(hidden, x, "hidden");
  const Tensor sum = eager::add({of_input(x)[0], loc}, of_hidden(before)[0]);
  return nonlinearity_ == Nonlinearity::kTanh ? tanh(sum, loc) : relu(sum, loc);
}

// Gates r, z, n: h' = (1 - z) n + z h with n = tanh(W_n x + r (U_n h)).
Tensor GRUCell::forward(const Tensor& x, const Tensor& hidden) const {
  const Loc loc = caller();
  const Tensor before = state_or_zeros(hidden, x, "hidden");
  const std::vector<Tensor> w = of_input(x), u = of_hidden(before);
  const Tensor reset = sigmoid(eager::add({w[0], loc}, u[0]), loc);
  const Tensor update = sigmoid(eager::add({w[1], loc}, u[1]), loc);
  const Tensor fresh = tanh(eager::add({w[2], loc}, mul({reset, loc}, u[2])), loc);
  return eager::add({fresh, loc}, mul({update, loc}, sub({before, loc}, fresh)));
}

// Gates i, f, g, o.
LSTMState LSTMCell::forward(const Tensor& x, const LSTMState& state) const {
  const Loc loc = caller();
  const Tensor hidden = state_or_zeros(state.hidden, x, "hidden");
  const Tensor cell = state_or_zeros(state.cell, x, "cell");
  const std::vector<Tensor> w = of_input(x), u = of_hidden(hidden);
  const auto gate = [&](size_t i) { return eager::add({w[i], loc}, u[i]); };
  const Tensor kept = mul({sigmoid(gate(1), loc), loc}, cell);
  const Tensor added = mul({sigmoid(gate(0), loc), loc}, tanh(gate(2), loc));
  const Tensor next = eager::add({kept, loc}, added);
  return {mul({sigmoid(gate(3), loc), loc}, tanh(next, loc)), next};
}

}  // namespace sardonyx::eager::nn
