// The micro-kernels of recurrent cells in float32. Weights are packed by hidden unit, so that all
// gates of a unit are in registers at once and no gate is written to memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// A panel holds `lanes` hidden units: [depth][gates][lanes], rows of zeros for the units past the
// end.
size_t recurrent_lanes();
constexpr size_t kMaxGates = 4;

// out[row][gate][lane] = bias[gate][lane] + sum over k of in[row][k] * panel[k][gate][lane], for
// `rows` rows. Rows of `in` are `in_stride` apart, of `out` `out_stride`.
void gate_products(size_t gates, const float* in, size_t in_stride, size_t rows, size_t depth,
                   const float* panel, const float* bias, float* out, size_t out_stride);

// The activation of a gate; as ops::ActivationKind.
enum class CellFunctionKind : uint8_t {
  kSigmoid,
  kTanh,
  kRelu,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};
struct CellFunction {
  CellFunctionKind kind;
  float alpha = 0, beta = 0;
};
struct CellFunctions {
  CellFunction gate{CellFunctionKind::kSigmoid};
  CellFunction candidate{CellFunctionKind::kTanh};
  CellFunction output{CellFunctionKind::kTanh};  // of an LSTM's cell state
  float clip = HUGE_VALF;   // clips the input of each activation to [-clip, clip]
  bool is_coupled = false;  // of an LSTM: the forget gate is 1 - the input gate
};

// The input's contribution to the gates, biases included. Row r of a step is at index
// places[r] + shift; without places at index r.
struct InputPart {
  const float* first;  // [places][gates][lanes], places `stride` apart
  size_t stride;
  const int64_t* places = nullptr;
  int64_t shift = 0;
  const float* of(size_t row) const {
    const int64_t place = places ? places[row] + shift : static_cast<int64_t>(row);
    return first + place * static_cast<int64_t>(stride);
  }
};

// One step of `rows` sequences for one panel. `h` is the previous state; the new state is written
// to `h_out` and `c` at this panel's units. Rows of all three are `h_stride` apart.
struct CellStep {
  InputPart x;
  const float* h;
  float* h_out;
  float* c;  // LSTM only
  size_t h_stride;
  size_t rows, depth;
  const float* panel;
  size_t unit;  // the panel's first
  CellFunctions functions = {};
  const float* peepholes = nullptr;  // [i, o, f][lanes] of an LSTM; null: none
};
// A step of RNN, which has one gate; its activation is the candidate's.
void rnn_step(const CellStep& step);
// Gates i, o, f, c (ONNX's order).
void lstm_step(const CellStep& step);
// Gates z, r, h with linear_before_reset; `hidden_bias` [lanes] is the recurrent bias of gate h.
void gru_step_linear(const CellStep& step, const float* hidden_bias);
// GRU without linear_before_reset takes two passes: z and r (z is kept, r * h is written), then h,
// whose contribution of the input is behind those of z and r.
void gru_step_gates(const CellStep& step, float* z, float* reset_h);
void gru_step_candidate(const CellStep& step, const float* z, const float* reset_h);

}  // namespace sardonyx::cpu
