// The inner loops of recurrent cells on float32: products with weights packed by hidden unit, so
// that all gates of a unit meet in registers and no gate is ever written to memory.
#pragma once

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

// What goes over the sums of products of a cell.
enum class CellFunction : uint8_t { kSigmoid, kTanh, kRelu, kHardSigmoid };
struct CellFunctions {
  CellFunction gate = CellFunction::kSigmoid;
  CellFunction candidate = CellFunction::kTanh;
  CellFunction output = CellFunction::kTanh;  // of an LSTM's cell state
  float alpha = 0.2f, beta = 0.5f;            // of kHardSigmoid: alpha * x + beta within 0 to 1
};

// One step of `rows` sequences for one panel. `x` holds the input's part of the gates
// [gates][lanes] (biases included), rows `x_stride` apart; `h` is the previous state, rows
// `h_stride` apart; what is written goes to `h_out` and `c`, rows `h_stride` apart, at this panel's
// units.
struct CellStep {
  const float* x;
  size_t x_stride;
  const float* h;
  float* h_out;
  float* c;  // LSTM only
  size_t h_stride;
  size_t rows, depth;
  const float* panel;
  size_t unit;  // the panel's first
  CellFunctions functions = {};
};
// One gate alone, whose function is the candidate's.
void rnn_step(const CellStep& step);
// Gates i, o, f, c (ONNX's order).
void lstm_step(const CellStep& step);
// Gates z, r, h with linear_before_reset; `hidden_bias` [lanes] is the recurrent bias of gate h.
void gru_step_linear(const CellStep& step, const float* hidden_bias);
// Without it there are two passes: z and r (z is kept, r * h is written), then h.
void gru_step_gates(const CellStep& step, float* z, float* reset_h);
void gru_step_candidate(const CellStep& step, const float* x_candidate, const float* z,
                        const float* reset_h);

}  // namespace sardonyx::cpu
