#include "ir/ops/recurrent/rnn.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/recurrent/rnn_decomposition.h"

namespace sardonyx::ops {
namespace {

struct ActivationName {
  std::string_view name;  // in lower case: files write it in several ways
  ActivationKind kind;
  std::optional<float> alpha, beta;  // default where the function takes one
};

// Defaults are those of the operators of the same names; Affine and ScaledTanh are neutral.
constexpr ActivationName kActivations[] = {
    {"relu", ActivationKind::kRelu, {}, {}},
    {"tanh", ActivationKind::kTanh, {}, {}},
    {"sigmoid", ActivationKind::kSigmoid, {}, {}},
    {"affine", ActivationKind::kAffine, 1.f, 0.f},
    {"leakyrelu", ActivationKind::kLeakyRelu, 0.01f, {}},
    {"thresholdedrelu", ActivationKind::kThresholdedRelu, 1.f, {}},
    {"scaledtanh", ActivationKind::kScaledTanh, 1.f, 1.f},
    {"hardsigmoid", ActivationKind::kHardSigmoid, 0.2f, 0.5f},
    {"elu", ActivationKind::kElu, 1.f, {}},
    {"softsign", ActivationKind::kSoftsign, {}, {}},
    {"softplus", ActivationKind::kSoftplus, {}, {}},
};

// The next of the given values, in the order of the functions that take one; then the default.
float next_value(const std::optional<std::vector<float>>& given, size_t& used, float otherwise) {
  return given && used < given->size() ? (*given)[used++] : otherwise;
}

std::vector<Activation> read_activations(const OpDef& op, const RecurrentAttrs& attrs,
                                         const std::vector<std::string>& names, size_t expected) {
  if (names.size() < expected) {
    fail(ErrorCode::kInvalidModel, op.name, ": attribute activations: expected ", expected,
         " names, got ", names.size());
  }
  std::vector<Activation> activations;
  size_t alphas = 0, betas = 0;
  for (size_t i = 0; i < expected; ++i) {
    std::string lower = names[i];
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto known =
        std::find_if(std::begin(kActivations), std::end(kActivations),
                     [&](const ActivationName& entry) { return entry.name == lower; });
    if (known == std::end(kActivations)) {
      fail(ErrorCode::kInvalidModel, op.name, ": attribute activations: there is no function \"",
           names[i], "\"");
    }
    Activation& activation = activations.emplace_back(Activation{known->kind});
    if (known->alpha) activation.alpha = next_value(attrs.activation_alpha, alphas, *known->alpha);
    if (known->beta) activation.beta = next_value(attrs.activation_beta, betas, *known->beta);
  }
  return activations;
}

std::vector<std::string> repeated(std::vector<std::string> names, size_t times) {
  const size_t once = names.size();
  for (size_t i = once; i < once * times; ++i)
    names.push_back(names[i - once]);
  return names;
}

}  // namespace

double Activation::operator()(double x) const {
  switch (kind) {
    case ActivationKind::kRelu:
      return x < 0 ? 0 : x;
    case ActivationKind::kTanh:
      return std::tanh(x);
    case ActivationKind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationKind::kAffine:
      return alpha * x + beta;
    case ActivationKind::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case ActivationKind::kThresholdedRelu:
      return x < alpha ? 0 : x;
    case ActivationKind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case ActivationKind::kHardSigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case ActivationKind::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case ActivationKind::kSoftsign:
      return x / (1 + std::fabs(x));
    case ActivationKind::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  return x;
}

RecurrentSpec recurrent_spec(const OpDef& op, const Attrs& attrs) {
  RecurrentSpec spec;
  const RecurrentAttrs* common = nullptr;
  std::optional<std::vector<std::string>> names;
  std::vector<std::string> otherwise;
  if (op.name == "RNN") {
    const RnnAttrs& own = attrs.as<RnnAttrs>();
    spec.cell = RecurrentSpec::Cell::kRnn;
    common = &own;
    names = own.activations;
    otherwise = {"Tanh"};
  } else if (op.name == "GRU") {
    const GruAttrs& own = attrs.as<GruAttrs>();
    spec.cell = RecurrentSpec::Cell::kGru;
    spec.linear_before_reset = own.linear_before_reset;
    common = &own;
    names = own.activations;
    otherwise = {"Sigmoid", "Tanh"};
  } else {
    const LstmAttrs& own = attrs.as<LstmAttrs>();
    spec.cell = RecurrentSpec::Cell::kLstm;
    spec.input_forget = own.input_forget;
    common = &own;
    names = own.activations;
    otherwise = {"Sigmoid", "Tanh", "Tanh"};
  }
  const std::string& direction = common->direction;
  if (direction == "forward")
    spec.reversed = {false};
  else if (direction == "reverse")
    spec.reversed = {true};
  else if (direction == "bidirectional")
    spec.reversed = {false, true};
  else
    fail(ErrorCode::kInvalidModel, op.name,
         ": attribute direction: expected forward, reverse or bidirectional, got ", direction);
  if (common->layout != 0 && common->layout != 1) {
    fail(ErrorCode::kInvalidModel, op.name, ": attribute layout: expected 0 or 1, got ",
         common->layout);
  }
  if (common->clip && !(*common->clip >= 0)) {
    fail(ErrorCode::kInvalidModel, op.name,
         ": attribute clip: expected a threshold of 0 or more, got ", *common->clip);
  }
  spec.clip = common->clip;
  spec.batch_first = common->layout == 1;
  if (!names || names->empty()) names = repeated(otherwise, spec.directions());
  spec.activations = read_activations(op, *common, *names, spec.functions() * spec.directions());
  return spec;
}

namespace {

// Makes `known` and dim `axis` of an input one, where the input's shape is known.
void bind(InferContext& c, size_t input, size_t axis, Dim& known, std::string_view what) {
  if (const Dims* shape = c.shape(input)) {
    known = c.merged(known, (*shape)[axis], text(what, " in ", c.input_label(input)));
  }
}

// An input of this shape, where given.
void expect(InferContext& c, size_t input, const Dims& shape) {
  c.require_rank(input, shape.size());
  const Dims* own = c.shape(input);
  for (size_t i = 0; own && i < shape.size(); ++i) {
    const bool differs = (*own)[i].is_known() && shape[i].is_known() && !((*own)[i] == shape[i]);
    if (differs) c.fail_input(input, "expected shape ", to_text(shape));
  }
}

void infer_recurrent(InferContext& c) {
  const RecurrentSpec spec = recurrent_spec(c.op(), c.raw_attrs());
  const auto directions = static_cast<int64_t>(spec.directions());
  const auto gates = static_cast<int64_t>(spec.gates());
  for (const size_t input : {kX, kW, kR})
    c.require_rank(input, 3);
  Dim sequence = c.unknown(), batch = c.unknown(), width = c.unknown(), hidden = c.unknown();
  if (const std::optional<AttrValue> given = c.raw_attrs().get("hidden_size")) {
    hidden = std::get<int64_t>(*given);
    c.require(hidden.value() > 0, "attribute hidden_size: expected a positive number, got ",
              hidden);
  }
  bind(c, kX, spec.batch_first ? 1 : 0, sequence, "sequence length");
  bind(c, kX, spec.batch_first ? 0 : 1, batch, "batch size");
  bind(c, kX, 2, width, "input size");
  bind(c, kR, 2, hidden, "hidden size");
  bind(c, kW, 2, width, "input size");
  const Dim rows = hidden * gates;
  expect(c, kW, {directions, rows, width});
  expect(c, kR, {directions, rows, hidden});
  expect(c, kBiases, {directions, rows * 2});
  expect(c, kSequenceLens, {batch});
  const Dims state =
      spec.batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  expect(c, kInitialH, state);
  expect(c, kInitialC, state);
  expect(c, kP, {directions, hidden * 3});
  c.set(0, c.dtype(kX),
        spec.batch_first ? Dims{batch, sequence, directions, hidden}
                         : Dims{sequence, directions, batch, hidden});
  for (size_t i = 1; i < c.output_count(); ++i)
    c.set(i, c.dtype(kX), state);
}

// ---- Rows

struct SampleSizes {
  int64_t sequence = 3, batch = 2, width = 2, hidden = 3;
};

// The samples of one of the three: `gates` rows of weights for each hidden unit; `states` is 2 with
// a cell state.
std::vector<Sample> recurrent_samples(int64_t gates, size_t states, const AttrMap& variant,
                                      const std::vector<std::string>& activations) {
  const SampleSizes s;
  const auto shape = [&](int64_t directions, bool batch_first, bool full) {
    std::vector<SampleInput> inputs{
        {.shape = batch_first ? Shape{s.batch, s.sequence, s.width}
                              : Shape{s.sequence, s.batch, s.width}},
        {.shape = {directions, gates * s.hidden, s.width}, .low = -1, .high = 1},
        {.shape = {directions, gates * s.hidden, s.hidden}, .low = -1, .high = 1}};
    if (!full) return inputs;
    const Shape state =
        batch_first ? Shape{s.batch, directions, s.hidden} : Shape{directions, s.batch, s.hidden};
    inputs.push_back({.shape = {directions, gates * 2 * s.hidden}, .low = -1, .high = 1});
    inputs.push_back({.shape = {s.batch}, .value = Tensor::vector<int32_t>({3, 1})});
    for (size_t i = 0; i < states; ++i)
      inputs.push_back({.shape = state});
    if (states == 2) inputs.push_back({.shape = {directions, 3 * s.hidden}});
    return inputs;
  };
  AttrMap both = variant;
  both.emplace("direction", std::string("bidirectional"));
  AttrMap reverse = variant;
  reverse.emplace("direction", std::string("reverse"));
  reverse.emplace("layout", int64_t{1});
  reverse.emplace("clip", 0.75f);
  reverse.emplace("activations", activations);
  reverse.emplace("activation_alpha", std::vector<float>{0.5f});
  reverse.emplace("hidden_size", s.hidden);
  return {
      {.inputs = shape(1, false, false), .outputs = 1 + states},
      {.inputs = shape(2, false, true), .attrs = both, .outputs = 1 + states},
      {.inputs = shape(1, true, true), .attrs = reverse, .outputs = 1 + states},
  };
}

std::vector<Sample> rnn_samples() {
  return recurrent_samples(1, 1, {}, {"LeakyRelu"});
}
std::vector<Sample> gru_samples() {
  return recurrent_samples(3, 1, {{"linear_before_reset", int64_t{1}}},
                           {"HardSigmoid", "Softsign"});
}
std::vector<Sample> lstm_samples() {
  return recurrent_samples(4, 2, {{"input_forget", int64_t{1}}}, {"Sigmoid", "Elu", "Softplus"});
}

OpDef recurrent_row(std::string_view name, std::string_view signature, const AttrSchema* attrs,
                    std::vector<Sample> (*samples)()) {
  return {.name = name,
          .since = 22,
          .signature = signature,
          .types = {{"T", kFloats}, {"T1", DType::kInt32}},
          .attrs = attrs,
          .infer = infer_recurrent,
          .reference = run_recurrent,
          .grad = recurrent_grad,
          .weight_inputs = 1u << 1 | 1u << 2,
          .samples = samples};
}

}  // namespace

std::span<const OpDef> recurrent_ops() {
  static const OpDef kOps[] = {
      recurrent_row("RNN",
                    "(X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T)"
                    " -> (Y?: T, Y_h?: T)",
                    attr_schema<RnnAttrs>(), rnn_samples)
          .documented("A recurrent layer over X [seq, batch, input]: Y [seq, directions, batch, "
                      "hidden] and the last state [directions, batch, hidden].")
          .with(kSmallInMixed),
      recurrent_row("GRU",
                    "(X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T)"
                    " -> (Y?: T, Y_h?: T)",
                    attr_schema<GruAttrs>(), gru_samples)
          .documented("A gated recurrent layer over X [seq, batch, input], gates in the order z, "
                      "r, h: Y [seq, directions, batch, hidden] and the last state.")
          .with(kSmallInMixed),
      recurrent_row("LSTM",
                    "(X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T, initial_c?: T, "
                    "P?: T) -> (Y?: T, Y_h?: T, Y_c?: T)",
                    attr_schema<LstmAttrs>(), lstm_samples)
          .documented("A long short-term memory over X [seq, batch, input], gates in the order i, "
                      "o, f, c: Y [seq, directions, batch, hidden] and the last state and cell.")
          .with(kSmallInMixed),
  };
  return kOps;
}

}  // namespace sardonyx::ops
