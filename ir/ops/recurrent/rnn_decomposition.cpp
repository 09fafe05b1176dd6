#include "ir/ops/recurrent/rnn_decomposition.h"

#include "ir/autodiff/autodiff.h"
#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/control_flow/control.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/gradient/subgraph_builder.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

Val transposed(Emitter& e, const Val& x, const Ints& order) {
  return e.call("Transpose", {x}, {{"perm", order}});
}

// Entry `index` along `axis`, which is dropped.
Val entry(Emitter& e, const Val& x, size_t index, int64_t axis) {
  return e.call("Gather", {x, e.scalar(DType::kInt64, static_cast<double>(index))},
                {{"axis", axis}});
}

Vals split(Emitter& e, const Val& x, size_t parts) {
  if (parts == 1) return {x};
  return e.call_many("Split", std::vector{x},
                     {{"axis", int64_t{-1}}, {"num_outputs", static_cast<int64_t>(parts)}}, parts);
}

// The weights of one direction within a step; empty where an optional input is missing.
struct StepWeights {
  Val recurrent;    // [hidden, gates * hidden]
  Val hidden_bias;  // of a GRU's last gate, where it is added before the reset
  Vals peepholes;   // [hidden] for i, o, f
};

// Emits one step of a cell, on a batch.
struct CellEmitter {
  Emitter& e;
  const RecurrentSpec& spec;
  size_t direction;
  StepWeights weights;

  Term activate(size_t function, Term x) const {
    if (spec.clip) x = apply("Clip", x, x.number(-double{*spec.clip}), x.number(*spec.clip));
    return {&e, ops::apply(e, spec.activations[direction * spec.functions() + function], x)};
  }
  Term product(const Val& h, const Val& matrix) const {
    return {&e, e.call("MatMul", {h, matrix})};
  }

  // `x`: the products of the step's input with all gates' weights, and their biases.
  Vals step(const Val& x, const Vals& state) const {
    switch (spec.cell) {
      case RecurrentSpec::Cell::kRnn:
        return {activate(0, Term{&e, x} + product(state[0], weights.recurrent))};
      case RecurrentSpec::Cell::kGru:
        return {gru(x, {&e, state[0]})};
      default:
        return lstm(x, {&e, state[0]}, {&e, state[1]});
    }
  }

  Val gru(const Val& x, const Term& h) const {
    const Vals from_x = split(e, x, 3), matrices = split(e, weights.recurrent, 3);
    const Term update = activate(0, Term{&e, from_x[0]} + product(h, matrices[0]));
    const Term reset = activate(0, Term{&e, from_x[1]} + product(h, matrices[1]));
    Term hidden{&e, from_x[2]};
    if (spec.linear_before_reset) {
      Term linear = product(h, matrices[2]);
      if (weights.hidden_bias) linear = linear + Term{&e, weights.hidden_bias};
      hidden = hidden + reset * linear;
    } else {
      hidden = hidden + product(reset * h, matrices[2]);
    }
    return (1 - update) * activate(1, hidden) + update * h;
  }

  Vals lstm(const Val& x, const Term& h, const Term& c) const {
    const Vals sums = split(e, Term{&e, x} + product(h, weights.recurrent), 4);
    const auto gate = [&](size_t index, const Term& seen) {
      Term sum{&e, sums[index]};
      if (!weights.peepholes.empty()) sum = sum + Term{&e, weights.peepholes[index]} * seen;
      return activate(0, sum);
    };
    const Term input = gate(0, c);
    const Term forget = spec.input_forget ? 1 - input : gate(2, c);
    const Term next = forget * c + input * activate(1, {&e, sums[3]});
    return {gate(1, next) * activate(2, next), next};
  }
};

// A call's inputs with the time in front, and its sizes.
struct SequenceInputs {
  const BodyCall& call;
  RecurrentSpec spec;
  Val x;              // [sequence, batch, width]
  Val batch, hidden;  // lists of one
  Val inside;         // [sequence, batch, 1]: is the step within the sequence's length?
  size_t states() const { return spec.cell == RecurrentSpec::Cell::kLstm ? 2 : 1; }
};

SequenceInputs sequence_of(Emitter& e, const BodyCall& call) {
  for (const size_t input : {kX, kW, kR})
    rank_of(e, call.inputs[input], call.op.name);
  SequenceInputs s{call, recurrent_spec(call.op, call.raw_attrs), call.inputs[kX], {}, {}, {}};
  if (s.spec.batch_first) s.x = transposed(e, s.x, {1, 0, 2});
  s.batch = dims_of(e, s.x, 1, 2);
  s.hidden = dims_of(e, call.inputs[kR], 2, 3);
  if (!call.has(kSequenceLens)) return s;
  const Val length = call_folded(e, "Squeeze", {dims_of(e, s.x, 0, 1)});
  const Val times =
      e.call("Range", {e.scalar(DType::kInt64, 0), length, e.scalar(DType::kInt64, 1)});
  const Val lengths =
      e.call("Cast", {call.inputs[kSequenceLens]}, {{"to", static_cast<int64_t>(DType::kInt64)}});
  s.inside = e.call("Less", {e.call("Unsqueeze", {times, e.int64s({1, 2})}),
                             e.call("Unsqueeze", {lengths, e.int64s({0, 2})})});
  return s;
}

// X W^T with both biases, [sequence, batch, gates * hidden]. The recurrent bias of a GRU's last
// gate stays out where the reset comes between.
Val projected(Emitter& e, const SequenceInputs& s, size_t direction, StepWeights& weights) {
  const BodyCall& call = s.call;
  const Val w = entry(e, call.inputs[kW], direction, 0);
  Val x = e.call("MatMul", {s.x, transposed(e, w, {1, 0})});
  if (!call.has(kBiases)) return x;
  const Vals biases = split(e, entry(e, call.inputs[kBiases], direction, 0), 2);
  x = e.call("Add", {x, biases[0]});
  if (s.spec.cell != RecurrentSpec::Cell::kGru || !s.spec.linear_before_reset)
    return e.call("Add", {x, biases[1]});
  Vals parts = split(e, biases[1], 3);
  weights.hidden_bias = parts[2];
  parts[2] = full_like(e, parts[2], 0);
  return e.call("Add", {x, e.call_many("Concat", parts, {{"axis", int64_t{0}}}, 1)[0]});
}

// The graph of one step: the states and slices of the projection and of `inside` go in; the states
// and the step's output come out. `captured` has the weights that are present, as outside.
GraphPtr step_graph(Emitter& outer, const SequenceInputs& s, size_t direction,
                    const StepWeights& weights, const Val& x, Vals& captured) {
  SubgraphBuilder body;
  RecordingEmitter& e = body.emitter();
  const DType dtype = outer.type(x).dtype;
  const auto slice_of = [&](const Val& whole) {
    Type type = outer.type(whole);
    type.shape->erase(type.shape->begin());
    return body.add_input(type);
  };
  const auto capture = [&](const Val& value) {
    if (!value) return Val();
    captured.push_back(value);
    return body.add_capture(outer.type(value));
  };
  const Dims state{(*outer.type(x).shape)[1], (*outer.type(s.call.inputs[kR]).shape)[2]};
  Vals states;
  for (size_t i = 0; i < s.states(); ++i)
    states.push_back(body.add_input(Type::tensor(dtype, state)));
  const Val slice = slice_of(x);
  const Val inside = s.inside ? slice_of(s.inside) : Val();
  StepWeights inner{capture(weights.recurrent), capture(weights.hidden_bias), {}};
  for (const Val& peephole : weights.peepholes)
    inner.peepholes.push_back(capture(peephole));
  Vals next = CellEmitter{e, s.spec, direction, inner}.step(slice, states);
  Val y = next[0];
  if (inside) {
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = e.call("Where", {inside, next[i], states[i]});
    y = e.call("Where", {inside, y, e.scalar(dtype, 0)});
  }
  for (const Val& value : next)
    body.add_output(value);
  body.add_output(y);
  return body.graph();
}

// The states after the last step, then every step's output [sequence, batch, hidden].
Vals run_direction(Emitter& e, const SequenceInputs& s, size_t direction) {
  const BodyCall& call = s.call;
  StepWeights weights;
  const Val x = projected(e, s, direction, weights);
  weights.recurrent = transposed(e, entry(e, call.inputs[kR], direction, 0), {1, 0});
  if (call.has(kP)) weights.peepholes = split(e, entry(e, call.inputs[kP], direction, 0), 3);
  Vals inputs;
  for (size_t i = 0; i < s.states(); ++i) {
    const size_t initial = i == 0 ? kInitialH : kInitialC;
    if (call.has(initial)) {
      inputs.push_back(entry(e, call.inputs[initial], direction, s.spec.batch_first ? 1 : 0));
    } else {
      inputs.push_back(
          e.call("Expand", {e.scalar_like(x, 0), joined_lists(e, {s.batch, s.hidden})}));
    }
  }
  inputs.push_back(x);
  if (s.inside) inputs.push_back(s.inside);
  const int64_t slices = s.inside ? 2 : 1;
  Vals captured;
  ScanAttrs attrs{.body = step_graph(e, s, direction, weights, x, captured),
                  .num_scan_inputs = slices};
  if (s.spec.reversed[direction]) {
    attrs.scan_input_directions = Ints(static_cast<size_t>(slices), 1);
    attrs.scan_output_directions = Ints{1};
  }
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  return e.emit(op_named("Scan"), inputs, Attrs(attrs), s.states() + 1, captured.size());
}

// Joins one value of each direction along a new axis.
Val stacked(Emitter& e, const Vals& parts, int64_t axis) {
  Vals expanded;
  for (const Val& part : parts)
    expanded.push_back(e.call("Unsqueeze", {part, e.int64s({axis})}));
  return expanded.size() == 1 ? expanded[0]
                              : e.call_many("Concat", expanded, {{"axis", axis}}, 1)[0];
}

}  // namespace

Val apply(Emitter& e, const Activation& activation, const Val& x) {
  const Term term{&e, x};
  const float alpha = activation.alpha, beta = activation.beta;
  switch (activation.kind) {
    case ActivationKind::kRelu:
      return e.call("Relu", {x});
    case ActivationKind::kTanh:
      return e.call("Tanh", {x});
    case ActivationKind::kSigmoid:
      return e.call("Sigmoid", {x});
    case ActivationKind::kAffine:
      return term * alpha + beta;
    case ActivationKind::kLeakyRelu:
      return e.call("LeakyRelu", {x}, {{"alpha", alpha}});
    case ActivationKind::kThresholdedRelu:
      return where(term < alpha, 0, term);
    case ActivationKind::kScaledTanh:
      return apply("Tanh", term * beta) * alpha;
    case ActivationKind::kHardSigmoid:
      return e.call("HardSigmoid", {x}, {{"alpha", alpha}, {"beta", beta}});
    case ActivationKind::kElu:
      return e.call("Elu", {x}, {{"alpha", alpha}});
    case ActivationKind::kSoftsign:
      return e.call("Softsign", {x});
    case ActivationKind::kSoftplus:
      return e.call("Softplus", {x});
  }
  return x;
}

Vals recurrent_decomposition(Emitter& e, const BodyCall& call) {
  const SequenceInputs s = sequence_of(e, call);
  std::vector<Vals> results(s.states() + 1);  // by output of the scan, then by direction
  for (size_t direction = 0; direction < s.spec.directions(); ++direction) {
    const Vals found = run_direction(e, s, direction);
    for (size_t i = 0; i < found.size(); ++i)
      results[i].push_back(found[i]);
  }
  Vals outputs;
  const Val y = stacked(e, results.back(), 1);  // [sequence, directions, batch, hidden]
  outputs.push_back(s.spec.batch_first ? transposed(e, y, {2, 0, 1, 3}) : y);
  for (size_t i = 0; i < s.states(); ++i)
    outputs.push_back(stacked(e, results[i], s.spec.batch_first ? 1 : 0));
  return outputs;
}

}  // namespace sardonyx::ops
