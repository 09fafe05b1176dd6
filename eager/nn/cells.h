// One step of a recurrent layer. Parameters have torch's names, shapes and gate order: weight_ih
// [gates*hidden, in], weight_hh [gates*hidden, hidden], bias_ih, bias_hh; all
// U(-1/sqrt(hidden), 1/sqrt(hidden)).
#pragma once

#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

// bias: whether bias_ih and bias_hh exist.
struct CellOptions {
  bool bias = true;
};

// The activation of plain recurrent layers and cells, as torch's `nonlinearity`.
enum class Nonlinearity { kTanh, kRelu };

// The base of the cells: the parameters, and both products of a step.
template <typename Self>
class RecurrentCell : public Layer<Self> {
 public:
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  RecurrentCell(int64_t in, int64_t hidden, int64_t gates, CellOptions options, Loc loc);
  // [N, hidden]: the state given, or zeros.
  Tensor state_or_zeros(const Tensor& state, const Tensor& x, const char* name) const;
  // weight_ih x + bias_ih and weight_hh h + bias_hh, by gates.
  std::vector<Tensor> of_input(const Tensor& x) const;
  std::vector<Tensor> of_hidden(const Tensor& hidden) const;

 private:
  std::vector<Tensor> product(const Tensor& x, const Tensor& weight, const Tensor& bias) const;
  int64_t in_, hidden_, gates_;
};

// x [N, in] and a state [N, hidden] (zeros where none is given) to the next state.
class RNNCell : public RecurrentCell<RNNCell> {
 public:
  using Nonlinearity = nn::Nonlinearity;
  RNNCell(int64_t in, int64_t hidden, CellOptions options = {},
          Nonlinearity nonlinearity = Nonlinearity::kTanh, Loc loc = Loc::current())
      : RecurrentCell(in, hidden, 1, options, loc), nonlinearity_(nonlinearity) {}
  Tensor forward(const Tensor& x, const Tensor& hidden = {}) const;

 private:
  Nonlinearity nonlinearity_;
};
// Gates in the order reset, update, new.
class GRUCell : public RecurrentCell<GRUCell> {
 public:
  GRUCell(int64_t in, int64_t hidden, CellOptions options = {}, Loc loc = Loc::current())
      : RecurrentCell(in, hidden, 3, options, loc) {}
  Tensor forward(const Tensor& x, const Tensor& hidden = {}) const;
};
struct LSTMState {
  Tensor hidden, cell;  // [N, hidden] each
  std::vector<Tensor> tensors() const { return {hidden, cell}; }
};
// Gates in the order input, forget, cell, output.
class LSTMCell : public RecurrentCell<LSTMCell> {
 public:
  LSTMCell(int64_t in, int64_t hidden, CellOptions options = {}, Loc loc = Loc::current())
      : RecurrentCell(in, hidden, 4, options, loc) {}
  LSTMState forward(const Tensor& x, const LSTMState& state = {}) const;
};

}  // namespace sardonyx::eager::nn
