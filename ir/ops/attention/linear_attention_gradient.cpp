#include "ir/ops/attention/linear_attention_gradient.h"

#include <array>

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/attention/attention.h"
#include "ir/ops/control_flow/control.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/gradient/subgraph_builder.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

struct LinearGradientInput {
  enum : size_t { kQuery, kKey, kValue, kPastState, kDecay, kBeta };
};

// [batch, length, parts * size] as [length, batch, parts..., size].
Val by_position(Emitter& e, const Val& x, const Ints& parts) {
  int64_t count = 1;
  for (const int64_t part : parts)
    count *= part;
  const Val size = call_folded(e, "Div", {dims_of(e, x, 2, 3), e.int64s({count})});
  const Val shape = joined_lists(e, {dims_of(e, x, 0, 2), e.int64s(parts), size});
  Ints order{1, 0};
  for (size_t i = 0; i <= parts.size(); ++i)
    order.push_back(static_cast<int64_t>(2 + i));
  const Val split = e.call("Reshape", {x, shape}, {{"allowzero", int64_t{1}}});
  return e.call("Transpose", {split}, {{"perm", order}});
}

Term transposed_matrix(const Term& x) {
  return {x.e, x.e->call("Transpose", {x}, {{"perm", Ints{0, 1, 3, 2}}})};
}

// The inputs of each step, in this order where present. Sizes of one position:
struct Slices {
  Val query;  // [batch, heads, group, keys]
  Val key;    // [batch, heads, 1, keys]
  Val value;  // [batch, heads, 1, values]
  Val decay;  // [batch, heads, keys or 1, 1], as factors
  Val beta;   // [batch, heads or 1, 1, 1]
  std::array<Val*, 5> all() { return {&query, &key, &value, &decay, &beta}; }
};

Slices slices_of(Emitter& e, const BodyCall& call, DType wide) {
  const auto& attrs = call.attrs<LinearAttentionAttrs>();
  const int64_t heads = attrs.kv_num_heads, group = attrs.q_num_heads / heads;
  const auto input = [&](size_t index) { return cast({&e, call.inputs[index]}, wide); };
  const auto column = [&](const Val& x) { return e.call("Unsqueeze", {x, e.int64s({-1})}); };
  Slices slices{by_position(e, input(LinearGradientInput::kQuery), {heads, group}),
                by_position(e, input(LinearGradientInput::kKey), {heads, 1}),
                by_position(e, input(LinearGradientInput::kValue), {heads, 1}),
                {},
                {}};
  if (call.has(LinearGradientInput::kDecay))
    slices.decay =
        e.call("Exp", {column(by_position(e, input(LinearGradientInput::kDecay), {heads}))});
  if (call.has(LinearGradientInput::kBeta))
    slices.beta = column(column(by_position(e, input(LinearGradientInput::kBeta), {})));
  return slices;
}

// The step of one position: takes the state, gives the next one and what the queries read of it.
GraphPtr step_graph(Emitter& outer, const Val& state, Slices slices) {
  SubgraphBuilder body;
  RecordingEmitter& e = body.emitter();
  Term s{&e, body.add_input(outer.type(state))};
  for (Val* slice : slices.all()) {
    if (!*slice) continue;
    Type type = outer.type(*slice);
    type.shape->erase(type.shape->begin());
    *slice = body.add_input(type);
  }
  const auto product = [&](const Term& a, const Term& b) { return apply("MatMul", a, b); };
  const Term key{&e, slices.key};
  Term value{&e, slices.value};
  if (slices.decay) s = s * Term{&e, slices.decay};
  if (slices.beta) value = Term{&e, slices.beta} * (value - product(key, s));
  s = s + product(transposed_matrix(key), value);
  body.add_output(s);
  body.add_output(product({&e, slices.query}, s));
  return body.graph();
}

Val initial_state(Emitter& e, const BodyCall& call, const Slices& slices, DType wide) {
  if (call.has(LinearGradientInput::kPastState))
    return cast({&e, call.inputs[LinearGradientInput::kPastState]}, wide);
  const Val shape = joined_lists(e, {dims_of(e, slices.key, 1, 3), dims_of(e, slices.key, 4, 5),
                                     dims_of(e, slices.value, 4, 5)});
  return e.call("Expand", {e.scalar(wide, 0), shape});
}

Term scaled(Emitter& e, const Val& read, const Val& keys, float scale, DType wide) {
  if (scale != 0) return Term{&e, read} * scale;
  const Val size = call_folded(e, "Cast", {call_folded(e, "Squeeze", {keys})},
                               {{"to", static_cast<int64_t>(wide)}});
  return Term{&e, read} / Term{&e, call_folded(e, "Sqrt", {size})};
}

}  // namespace

Vals linear_attention_decomposition(Emitter& e, const BodyCall& call) {
  const auto& attrs = call.attrs<LinearAttentionAttrs>();
  const DType dtype = e.type(call.inputs[LinearGradientInput::kQuery]).dtype;
  constexpr DType kWide = DType::kFloat;  // the op takes no double
  Slices slices = slices_of(e, call, kWide);
  const Val state = initial_state(e, call, slices, kWide);
  Vals inputs{state};
  for (const Val* slice : slices.all()) {
    if (*slice) inputs.push_back(*slice);
  }
  const ScanAttrs scan{.body = step_graph(e, state, slices),
                       .num_scan_inputs = static_cast<int64_t>(inputs.size()) - 1};
  const Vals found = e.emit(op_named("Scan"), inputs, Attrs(scan), 2);
  const Term read = scaled(e, found[1], dims_of(e, slices.key, 4, 5), attrs.scale, kWide);
  const Val rows = e.call("Transpose", {read}, {{"perm", Ints{1, 0, 2, 3, 4}}});
  const Val width =
      call_folded(e, "Mul", {e.int64s({attrs.q_num_heads}), dims_of(e, slices.value, 4, 5)});
  const Val shape =
      joined_lists(e, {dims_of(e, call.inputs[LinearGradientInput::kQuery], 0, 2), width});
  const Val output = e.call("Reshape", {rows, shape}, {{"allowzero", int64_t{1}}});
  const DType state_type = call.has(LinearGradientInput::kPastState)
                               ? e.type(call.inputs[LinearGradientInput::kPastState]).dtype
                               : dtype;
  return {cast({&e, output}, dtype), cast({&e, found[0]}, state_type)};
}

Vals linear_attention_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, linear_attention_decomposition);
}

}  // namespace sardonyx::ops
