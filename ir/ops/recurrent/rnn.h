// RNN, GRU and LSTM: attributes, and what they resolve to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx::ops {

// Attributes that RNN, GRU and LSTM share.
struct RecurrentAttrs {
  std::optional<std::vector<float>> activation_alpha;
  std::optional<std::vector<float>> activation_beta;
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t layout = 0;
  static auto common_fields() {
    return std::tuple{field("activation_alpha", &RecurrentAttrs::activation_alpha),
                      field("activation_beta", &RecurrentAttrs::activation_beta),
                      field("clip", &RecurrentAttrs::clip),
                      field("direction", &RecurrentAttrs::direction),
                      field("hidden_size", &RecurrentAttrs::hidden_size),
                      field("layout", &RecurrentAttrs::layout)};
  }
};

struct RnnAttrs : RecurrentAttrs {
  std::vector<std::string> activations = {"Tanh", "Tanh"};
  static auto fields() {
    return std::tuple_cat(common_fields(),
                          std::tuple{field("activations", &RnnAttrs::activations)});
  }
};

struct GruAttrs : RecurrentAttrs {
  std::optional<std::vector<std::string>> activations;
  bool linear_before_reset = false;
  static auto fields() {
    return std::tuple_cat(common_fields(),
                          std::tuple{field("activations", &GruAttrs::activations),
                                     field("linear_before_reset", &GruAttrs::linear_before_reset)});
  }
};

struct LstmAttrs : RecurrentAttrs {
  std::optional<std::vector<std::string>> activations;
  bool input_forget = false;
  static auto fields() {
    return std::tuple_cat(common_fields(),
                          std::tuple{field("activations", &LstmAttrs::activations),
                                     field("input_forget", &LstmAttrs::input_forget)});
  }
};

// Attributes of com.microsoft::DynamicQuantizeLSTM.
struct QuantizedLstmAttrs {
  std::optional<std::vector<float>> activation_alpha, activation_beta;
  std::optional<std::vector<std::string>> activations;
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  bool input_forget = false;
  static auto fields() {
    using A = QuantizedLstmAttrs;
    return std::tuple{field("activation_alpha", &A::activation_alpha),
                      field("activation_beta", &A::activation_beta),
                      field("activations", &A::activations),
                      field("clip", &A::clip),
                      field("direction", &A::direction),
                      field("hidden_size", &A::hidden_size),
                      field("input_forget", &A::input_forget)};
  }
};

enum class ActivationKind {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,           // alpha * x + beta
  kLeakyRelu,        // x >= 0 ? x : alpha * x
  kThresholdedRelu,  // x >= alpha ? x : 0
  kScaledTanh,       // alpha * tanh(beta * x)
  kHardSigmoid,      // min(max(alpha * x + beta, 0), 1)
  kElu,              // x >= 0 ? x : alpha * (exp(x) - 1)
  kSoftsign,
  kSoftplus,
};

struct Activation {
  ActivationKind kind;
  float alpha = 0, beta = 0;
  double operator()(double x) const;
};

// The attributes of any of the three, checked and with defaults put in.
struct RecurrentSpec {
  enum class Cell { kRnn, kGru, kLstm };
  Cell cell;
  std::vector<bool> reversed;           // one for each direction
  std::vector<Activation> activations;  // of the first direction, then of the second
  std::optional<float> clip;            // bounds what goes into every activation
  bool batch_first = false;             // layout 1
  bool linear_before_reset = false;     // GRU
  bool input_forget = false;            // LSTM: the forget gate is 1 - the input gate
  size_t directions() const { return reversed.size(); }
  size_t gates() const { return cell == Cell::kRnn ? 1 : cell == Cell::kGru ? 3 : 4; }
  size_t functions() const { return cell == Cell::kRnn ? 1 : cell == Cell::kGru ? 2 : 3; }
};

// Throws kInvalidModel where an attribute is not what the op allows.
RecurrentSpec recurrent_spec(const OpDef& op, const Attrs& attrs);

// Numbers of the inputs; GRU and RNN end at kInitialH. The gates' order in W, R and B is
// RNN [i], GRU [z, r, h], LSTM [i, o, f, c]; that of the peepholes P is [i, o, f].
enum RecurrentInput { kX, kW, kR, kBiases, kSequenceLens, kInitialH, kInitialC, kP };

// The reference kernel of all three.
void run_recurrent(const KernelCall& call);

}  // namespace sardonyx::ops
