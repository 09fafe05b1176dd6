// Recurrent layers on ONNX's RNN, GRU and LSTM. Parameters have torch's names, shapes and gate
// order: weight_ih_l0 [gates*hidden, in], weight_hh_l0, bias_ih_l0, bias_hh_l0, then _l1 ... and
// ..._reverse; all U(-1/sqrt(hidden), 1/sqrt(hidden)).
#pragma once

#include "eager/nn/cells.h"
#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

struct RecurrentOptions {
  int64_t layers = 1;
  bool bias = true;
  bool batch_first = false;  // x [batch, time, in] rather than [time, batch, in]
  double dropout = 0;        // of the outputs of all layers but the last, in training mode
  bool bidirectional = false;
};

// `output` [time, batch, directions*hidden] (batch first where asked for); `hidden` and (LSTM's)
// `cell` [layers*directions, batch, hidden]: the last states.
struct RecurrentResult {
  Tensor output, hidden, cell;
  std::vector<Tensor> tensors() const;
};

// States start as zeros where none are given. Lengths of the sequences (int32 [batch]): outputs
// beyond them are zeros.
struct RecurrentInputs {
  Tensor hidden = {}, cell = {}, lengths = {};
};

// The base of the layers below: `layers` layers, the second on the outputs of the first, each in
// one direction or in both.
class Recurrent : public Layer<Recurrent> {
 public:
  // x [time, batch, in], or batch first. Throws kInvalidArgument where shapes of x, states or
  // lengths do not fit.
  RecurrentResult operator()(const Tensor& x, const RecurrentInputs& inputs = {},
                             Loc loc = Loc::current()) const;
  RecurrentResult forward(const Tensor& x, const RecurrentInputs& inputs) const;

 protected:
  enum class Kind { kTanh, kRelu, kGru, kLstm };
  Recurrent(std::string type_name, Kind kind, int64_t in, int64_t hidden,
            const RecurrentOptions& options, Loc loc);

 private:
  struct DirectionWeights {
    Tensor input, hidden, input_bias, hidden_bias;
  };
  struct Packed {
    Tensor input, hidden, bias;
  };
  Packed pack(size_t layer, const Loc& loc) const;
  Tensor state_of(const Tensor& all, size_t layer, const char* name, const Loc& loc) const;
  std::vector<Tensor> run_layer(size_t layer, const Tensor& x, const RecurrentInputs& inputs,
                                const Loc& loc) const;

  Kind kind_;
  int64_t in_, hidden_;
  RecurrentOptions options_;
  std::vector<std::vector<DirectionWeights>> layers_;
};

// h' = tanh (or relu) of W_ih x + b_ih + W_hh h + b_hh.
class RNN : public Recurrent {
 public:
  using Nonlinearity = nn::Nonlinearity;
  RNN(int64_t in, int64_t hidden, RecurrentOptions options = {},
      Nonlinearity nonlinearity = Nonlinearity::kTanh, Loc loc = Loc::current())
      : Recurrent("RNN", nonlinearity == Nonlinearity::kTanh ? Kind::kTanh : Kind::kRelu, in,
                  hidden, options, loc) {}
};
// Gates in the order reset, update, new; the reset applies after the product with W_hh, as in
// torch.
class GRU : public Recurrent {
 public:
  GRU(int64_t in, int64_t hidden, RecurrentOptions options = {}, Loc loc = Loc::current())
      : Recurrent("GRU", Kind::kGru, in, hidden, options, loc) {}
};
// Gates in the order input, forget, cell, output, as in torch; ONNX's order is made for the op.
class LSTM : public Recurrent {
 public:
  LSTM(int64_t in, int64_t hidden, RecurrentOptions options = {}, Loc loc = Loc::current())
      : Recurrent("LSTM", Kind::kLstm, in, hidden, options, loc) {}
};

}  // namespace sardonyx::eager::nn
