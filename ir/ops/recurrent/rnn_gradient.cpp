// RnnGrad, GruGrad and LstmGrad: all gradients of a recurrent op in one call, which a kernel
// computes faster than steps that are differentiated one by one.
#include "ir/autodiff/autodiff.h"
#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/op_families.h"
#include "ir/ops/recurrent/rnn_decomposition.h"

namespace sardonyx::ops {
namespace {

bool has_cell(const RecurrentGradInputs& at) {
  return at.initial_c != RecurrentGradInputs::kNone;
}

// Makes `known` and dim `axis` of an input one, where the input's shape is known.
void bind_dim(InferContext& c, size_t input, size_t axis, Dim& known, std::string_view what) {
  if (const Dims* shape = c.shape(input))
    known = c.merged(known, (*shape)[axis], text(what, " in ", c.input_label(input)));
}

void expect_shape(InferContext& c, size_t input, const Dims& shape) {
  if (!c.has(input)) return;
  c.require_rank(input, shape.size());
  const Dims* own = c.shape(input);
  for (size_t i = 0; own && i < shape.size(); ++i)
    c.merged((*own)[i], shape[i], text("dim ", i, " of ", c.input_label(input)));
}

void infer_recurrent_grad(InferContext& c) {
  const OpDef& op = op_of_gradient(c.op());
  const RecurrentSpec spec = recurrent_spec(op, c.raw_attrs());
  const RecurrentGradInputs at = gradient_inputs(op);
  for (const size_t input : {at.x, at.w, at.r})
    c.require_rank(input, 3);
  Dim sequence = c.unknown(), batch = c.unknown(), width = c.unknown(), hidden = c.unknown();
  bind_dim(c, at.x, spec.batch_first ? 1 : 0, sequence, "sequence length");
  bind_dim(c, at.x, spec.batch_first ? 0 : 1, batch, "batch size");
  bind_dim(c, at.x, 2, width, "input size");
  bind_dim(c, at.r, 2, hidden, "hidden size");
  const Dim directions = static_cast<int64_t>(spec.directions());
  const Dim rows = hidden * static_cast<int64_t>(spec.gates());
  const Dims state =
      spec.batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  expect_shape(c, at.w, {directions, rows, width});
  expect_shape(c, at.r, {directions, rows, hidden});
  expect_shape(c, at.b, {directions, rows * 2});
  expect_shape(c, at.initial_h, state);
  expect_shape(c, at.lengths, {batch});
  expect_shape(c, at.d_y,
               spec.batch_first ? Dims{batch, sequence, directions, hidden}
                                : Dims{sequence, directions, batch, hidden});
  expect_shape(c, at.d_h, state);
  if (has_cell(at)) {
    expect_shape(c, at.initial_c, state);
    expect_shape(c, at.peepholes, {directions, hidden * 3});
    expect_shape(c, at.d_c, state);
    c.require(c.has(at.peepholes) || c.output_count() <= at.peepholes_output,
              "a gradient of peepholes is asked for where there are none");
  }
  const size_t given[] = {at.x, at.w, at.r, at.b, at.initial_h, at.initial_c, at.peepholes};
  for (size_t i = 0; i < c.output_count(); ++i)
    c.set(i, c.type(given[i]));
}

// The op in steps, differentiated.
Vals recurrent_grad_body(Emitter& e, const BodyCall& c) {
  const OpDef& op = op_of_gradient(c.op);
  const RecurrentGradInputs at = gradient_inputs(op);
  const auto given = [&](size_t input) {
    return input < c.inputs.size() ? c.inputs[input] : Val();
  };
  Vals inputs{given(at.x), given(at.w),       given(at.r),
              given(at.b), given(at.lengths), given(at.initial_h)};
  Vals d_outputs{given(at.d_y), given(at.d_h)};
  std::vector<bool> needed{true, true, true, true, false, true};
  if (has_cell(at)) {
    inputs.insert(inputs.end(), {given(at.initial_c), given(at.peepholes)});
    needed.insert(needed.end(), {true, bool(inputs.back())});
    d_outputs.push_back(given(at.d_c));
  }
  const Vals outputs(d_outputs.size());
  const GradCall call{op, c.raw_attrs, inputs, outputs, d_outputs, needed};
  const Vals found = autodiff_body(e, call, recurrent_decomposition);
  Vals gradients;
  for (const size_t input : {kX, kW, kR, kBiases, kInitialH, kInitialC, kP}) {
    if (gradients.size() == c.output_count) break;
    gradients.push_back(found[input] ? found[input] : full_like(e, inputs[input], 0));
  }
  return gradients;
}

std::vector<Sample> gradient_samples(int64_t gates, bool has_cell, const AttrMap& variant) {
  constexpr int64_t kSequence = 3, kBatch = 2, kWidth = 2, kHidden = 3;
  std::vector<Sample> samples;
  for (const int64_t directions : {1, 2}) {
    const Shape state{directions, kBatch, kHidden};
    const bool has_lengths = directions == 2;
    Sample sample;
    sample.inputs = {{.shape = {kSequence, kBatch, kWidth}},
                     {.shape = {directions, gates * kHidden, kWidth}, .low = -1, .high = 1},
                     {.shape = {directions, gates * kHidden, kHidden}, .low = -1, .high = 1},
                     {.shape = {directions, gates * kHidden * 2}, .low = -1, .high = 1},
                     {.shape = state}};
    if (has_cell) sample.inputs.push_back({.shape = state});
    if (has_lengths)
      sample.inputs.push_back({.shape = {kBatch}, .value = Tensor::vector<int32_t>({3, 1})});
    else
      sample.inputs.push_back({.omitted = true});
    if (has_cell) sample.inputs.push_back({.omitted = true});
    sample.inputs.push_back({.shape = {kSequence, directions, kBatch, kHidden}});
    sample.inputs.push_back({.shape = state});
    if (has_cell) sample.inputs.push_back({.shape = state});
    sample.attrs = variant;
    if (directions == 2) sample.attrs.emplace("direction", std::string("bidirectional"));
    sample.outputs = has_cell ? 6 : 5;
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::vector<Sample> rnn_gradient_samples() {
  return gradient_samples(1, false, {});
}
std::vector<Sample> gru_gradient_samples() {
  return gradient_samples(3, false, {{"linear_before_reset", int64_t{1}}});
}
std::vector<Sample> lstm_gradient_samples() {
  return gradient_samples(4, true, {});
}

OpDef gradient_row(std::string_view name, std::string_view signature, const AttrSchema* attrs,
                   std::vector<Sample> (*samples)()) {
  return {.name = name,
          .domain = "sardonyx",
          .since = 1,
          .signature = signature,
          .types = {{"T", kFloats}, {"T1", DType::kInt32}},
          .attrs = attrs,
          .infer = infer_recurrent_grad,
          .body = recurrent_grad_body,
          .samples = samples};
}

constexpr std::string_view kPlainSignature =
    "(X: T, W: T, R: T, B: T, initial_h: T, sequence_lens?: T1, dY?: T, dY_h?: T)"
    " -> (dX: T, dW: T, dR: T, dB: T, d_initial_h: T)";

Val zeros(Emitter& e, const Val& like, const Val& dims) {
  return e.call("Expand", {e.scalar_like(like, 0), dims});
}

}  // namespace

const OpDef& op_of_gradient(const OpDef& gradient) {
  return op_named(gradient.name == "RnnGrad" ? "RNN" : gradient.name == "GruGrad" ? "GRU" : "LSTM");
}

RecurrentGradInputs gradient_inputs(const OpDef& op) {
  RecurrentGradInputs at;
  if (op.name != "LSTM") {
    at.lengths = 5, at.d_y = 6, at.d_h = 7;
    return at;
  }
  at.initial_c = 5, at.lengths = 6, at.peepholes = 7, at.d_y = 8, at.d_h = 9, at.d_c = 10;
  return at;
}

// Omitted inputs are zeros.
Vals recurrent_grad(Emitter& e, const GradCall& call) {
  const RecurrentSpec spec = recurrent_spec(call.op, call.raw_attrs);
  const RecurrentGradInputs at = gradient_inputs(call.op);
  const auto given = [&](size_t input) { return call.has(input) ? call.inputs[input] : Val(); };
  const Val &x = call.inputs[kX], &w = call.inputs[kW], &r = call.inputs[kR];
  for (const Val& input : {x, w, r})
    rank_of(e, input, call.op.name);
  const Val directions = dims_of(e, w, 0, 1), hidden = dims_of(e, r, 2, 3);
  const Val batch = spec.batch_first ? dims_of(e, x, 0, 1) : dims_of(e, x, 1, 2);
  const auto state = [&](size_t input) {
    if (call.has(input)) return call.inputs[input];
    return zeros(e, x,
                 spec.batch_first ? joined_lists(e, {batch, directions, hidden})
                                  : joined_lists(e, {directions, batch, hidden}));
  };
  Vals inputs{x, w, r, given(kBiases), state(kInitialH)};
  if (!inputs[at.b]) {
    const Val rows = call_folded(e, "Mul", {dims_of(e, w, 1, 2), e.int64s({2})});
    inputs[at.b] = zeros(e, x, joined_lists(e, {directions, rows}));
  }
  if (has_cell(at)) inputs.push_back(state(kInitialC));
  inputs.push_back(given(kSequenceLens));
  if (has_cell(at)) inputs.push_back(given(kP));
  for (size_t output = 0; output < (has_cell(at) ? 3u : 2u); ++output)
    inputs.push_back(call.has_d(output) ? call.d_outputs[output] : Val());
  const size_t outputs = at.peepholes_output - (has_cell(at) ? 0 : 1) + (call.has(kP) ? 1 : 0);
  const std::string_view name = call.op.name == "RNN"   ? "sardonyx::RnnGrad"
                                : call.op.name == "GRU" ? "sardonyx::GruGrad"
                                                        : "sardonyx::LstmGrad";
  const Vals found = e.emit(op_named(name), inputs, call.raw_attrs, outputs);
  Vals gradients(call.inputs.size());
  const size_t order[] = {kX, kW, kR, kBiases, kInitialH, kInitialC, kP};
  for (size_t i = 0; i < found.size(); ++i) {
    if (call.has(order[i]) && call.wants(order[i])) gradients[order[i]] = found[i];
  }
  return gradients;
}

std::span<const OpDef> recurrent_gradient_ops() {
  static const OpDef kOps[] = {
      gradient_row("RnnGrad", kPlainSignature, attr_schema<RnnAttrs>(), rnn_gradient_samples)
          .documented(
              "The gradients of RNN's inputs from those of its outputs, back through time."),
      gradient_row("GruGrad", kPlainSignature, attr_schema<GruAttrs>(), gru_gradient_samples)
          .documented(
              "The gradients of GRU's inputs from those of its outputs, back through time."),
      gradient_row("LstmGrad",
                   "(X: T, W: T, R: T, B: T, initial_h: T, initial_c: T, sequence_lens?: T1, "
                   "P?: T, dY?: T, dY_h?: T, dY_c?: T)"
                   " -> (dX: T, dW: T, dR: T, dB: T, d_initial_h: T, d_initial_c: T, dP?: T)",
                   attr_schema<LstmAttrs>(), lstm_gradient_samples)
          .documented(
              "The gradients of LSTM's inputs from those of its outputs, back through time."),
  };
  return kOps;
}

}  // namespace sardonyx::ops
