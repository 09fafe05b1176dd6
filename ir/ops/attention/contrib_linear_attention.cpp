#include "ir/ops/attention/contrib_linear_attention.h"

#include "ir/ops/attention/attention.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kGatedTypes{DType::kFloat, DType::kFloat16, DType::kBFloat16};

// Both tensors must have one shape, as far as that is known.
void require_same_shape(Emitter& e, const Val& a, const Val& b, std::string_view what) {
  const std::optional<Shape> first = e.type(a).known_shape(), second = e.type(b).known_shape();
  if (!first || !second || *first == *second) return;
  fail(ErrorCode::kInvalidModel, what, ": expected the same shape, got ", e.type(a), " and ",
       e.type(b));
}

// --- LinearAttention ---

struct ContribLinearAttentionAttrs : LinearAttentionAttrs {
  int64_t state_window = 0;
  static auto fields() {
    return std::tuple_cat(
        LinearAttentionAttrs::fields(),
        std::tuple{field("state_window", &ContribLinearAttentionAttrs::state_window)});
  }
};

enum ContribLinearInput : size_t { kQueryIn, kKeyIn, kValueIn, kPastIn, kDecayIn, kBetaIn };

// x [batch, length, heads * size] with each head, of size `size` (int64 [1]), as often as makes
// `wanted` of them.
Val repeated_heads(Emitter& e, const Val& x, const Val& size, int64_t wanted) {
  const Val start = joined_lists(e, {dim_of(e, x, 0), dim_of(e, x, 1)});
  const Val heads = call_folded(e, "Div", {dim_of(e, x, 2), size});
  const Val times = call_folded(e, "Div", {e.int64s({wanted}), heads});
  const Val apart = e.call("Reshape", {x, joined_lists(e, {start, heads, e.int64s({1}), size})});
  const Val all = e.call("Expand", {apart, joined_lists(e, {start, heads, times, size})});
  const Val width = call_folded(e, "Mul", {size, e.int64s({wanted})});
  return e.call("Reshape", {all, joined_lists(e, {start, width})});
}

void expect_divisor(int64_t many, int64_t few, std::string_view what) {
  if (few >= 1 && many % few == 0) return;
  fail(ErrorCode::kInvalidModel, what, ": expected a divisor of kv_num_heads (", many, "), got ",
       few);
}

// Operands in which query and key have as many heads as ONNX's operator wants: there are layers
// whose values have more heads than both, which share their queries and keys.
Vals with_whole_heads(Emitter& e, const BodyCall& c, LinearAttentionAttrs& attrs) {
  Vals in(c.inputs.begin(), c.inputs.end());
  if (attrs.q_num_heads < 1 || attrs.kv_num_heads < 1) return in;  // ONNX's operator refuses them
  const Dims query = dims_of(e, in[kQueryIn], "query"), key = dims_of(e, in[kKeyIn], "key");
  if (query.size() != 3 || key.size() != 3) return in;  // and these
  const bool is_known = query[2].is_known() && key[2].is_known();
  if (is_known && query[2].value() < attrs.q_num_heads) return in;
  const Val size =
      call_folded(e, "Div", {dim_of(e, in[kQueryIn], 2), e.int64s({attrs.q_num_heads})});
  const int64_t heads =
      is_known ? key[2].value() / (query[2].value() / attrs.q_num_heads) : int64_t{0};
  if (is_known) expect_divisor(attrs.kv_num_heads, heads, "input key: the number of its heads");
  if (heads != attrs.kv_num_heads)
    in[kKeyIn] = repeated_heads(e, in[kKeyIn], size, attrs.kv_num_heads);
  if (attrs.q_num_heads >= attrs.kv_num_heads) return in;
  expect_divisor(attrs.kv_num_heads, attrs.q_num_heads, "attribute q_num_heads");
  in[kQueryIn] = repeated_heads(e, in[kQueryIn], size, attrs.kv_num_heads);
  attrs.q_num_heads = attrs.kv_num_heads;
  return in;
}

// The sequence is cut before each of the last `window` positions, so that the state after every
// one is the result of a call.
Vals windowed_linear_attention(Emitter& e, const Vals& in, const LinearAttentionAttrs& attrs,
                               int64_t window) {
  const Val length = dim_of(e, in[kQueryIn], 1), zero = e.int64s({0});
  Val past = in.size() > kPastIn && in[kPastIn]
                 ? e.call("Gather",
                          {in[kPastIn], e.scalar(DType::kInt64, static_cast<double>(window - 1))})
                 : Val();
  Vals states, outputs;
  Val begin = zero;
  for (int64_t slot = 0; slot < window; ++slot) {
    const Val end = call_folded(
        e, "Max", {call_folded(e, "Sub", {length, e.int64s({window - 1 - slot})}), zero});
    Vals part = in;
    for (const size_t input : {kQueryIn, kKeyIn, kValueIn, kDecayIn, kBetaIn}) {
      if (input < part.size() && part[input]) part[input] = slice(e, part[input], begin, end, 1);
    }
    if (past) {
      part.resize(std::max<size_t>(part.size(), kPastIn + 1));
      part[kPastIn] = past;
    }
    const Vals out = e.emit(op_named("LinearAttention"), part, Attrs(attrs), 2);
    outputs.push_back(out[0]);
    states.push_back(past = out[1]);
    begin = end;
  }
  return {e.call_many("Concat", outputs, {{"axis", int64_t{1}}}, 1)[0],
          state_window_of(e, states, length)};
}

Vals contrib_linear_attention(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ContribLinearAttentionAttrs>();
  check_state_window(attrs.state_window);
  LinearAttentionAttrs onnx = attrs;
  const Vals in = with_whole_heads(e, c, onnx);
  if (attrs.state_window > 0) return windowed_linear_attention(e, in, onnx, attrs.state_window);
  return e.emit(op_named("LinearAttention"), in, Attrs(onnx), 2);
}

// --- what stands around it ---

// decay = decay_scale * log(1 + exp(a + dt_bias)) and beta = sigmoid(b), in float32.
Vals linear_attention_gate(Emitter& e, const BodyCall& c) {
  const Val &a = c.inputs[0], &bias = c.inputs[1], &scale = c.inputs[2];
  const Val* b = c.has(3) ? &c.inputs[3] : nullptr;
  if (c.output_count > 1 && !b)
    fail(ErrorCode::kInvalidModel, "input b: expected one, since the output beta is asked for");
  if (b) require_same_shape(e, a, *b, "inputs a and b");
  const Dims dims = dims_of(e, a, "a");
  if (dims.empty()) fail(ErrorCode::kInvalidModel, "input a: expected at least one dim");
  for (const auto& [name, list] : {std::pair{"dt_bias", &bias}, {"decay_scale", &scale}}) {
    const Dims got = dims_of(e, *list, name);
    const bool fits =
        got.size() == 1 && (!got[0].is_known() || !dims.back().is_known() || got[0] == dims.back());
    if (!fits) {
      fail(ErrorCode::kInvalidModel, "input ", name, ": expected one element for each head, the ",
           "last dim of a (", dims.back(), "), got ", e.type(*list));
    }
  }
  const DType dtype = e.type(a).dtype;
  const Val biased = e.call("Add", {cast_to(e, a, DType::kFloat), bias});
  Vals out{cast_to(e, e.call("Mul", {scale, e.call("Softplus", {biased})}), dtype)};
  if (c.output_count > 1)
    out.push_back(cast_to(e, e.call("Sigmoid", {cast_to(e, *b, DType::kFloat)}), dtype));
  return out;
}

struct GatedRMSNormAttrs {
  std::string activation = "silu";
  float epsilon = 1e-5f;
  static auto fields() {
    return std::tuple{field("activation", &GatedRMSNormAttrs::activation),
                      field("epsilon", &GatedRMSNormAttrs::epsilon)};
  }
};

// X / rms(X) * scale * activation(gate), group by group of as many elements as scale has; in
// float32.
Vals gated_rms_norm(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<GatedRMSNormAttrs>();
  const bool is_silu = attrs.activation == "silu" || attrs.activation == "swish";
  if (!is_silu && attrs.activation != "sigmoid") {
    fail(ErrorCode::kInvalidModel, "attribute activation: expected silu, swish or sigmoid, got '",
         attrs.activation, "'");
  }
  const Val &x = c.inputs[0], &scale = c.inputs[1], &gate = c.inputs[2];
  require_same_shape(e, x, gate, "inputs X and gate");
  const Dims dims = dims_of(e, x, "X"), group = dims_of(e, scale, "scale");
  const auto rank = static_cast<int64_t>(dims.size());
  if (group.size() != 1 || rank == 0 || group[0] == 0) {
    fail(ErrorCode::kInvalidModel, "input scale: expected a list that is not empty, and X of at ",
         "least one dim, got ", e.type(scale), " and ", e.type(x));
  }
  if (dims.back().is_known() && group[0].is_known() &&
      dims.back().value() % group[0].value() != 0) {
    fail(ErrorCode::kInvalidModel, "input X: expected a multiple of the length of scale, ",
         group[0], ", as its last dim, got ", e.type(x));
  }
  const Val size = dim_of(e, scale, 0);
  const Val groups = call_folded(e, "Div", {dim_of(e, x, rank - 1), size});
  const Val apart = joined_lists(e, {dims_of(e, x, int64_t{0}, rank - 1), groups, size});
  const auto grouped = [&](const Val& values) {
    return e.call("Reshape", {cast_to(e, values, DType::kFloat), apart});
  };
  const Val normed = e.call("RMSNormalization", {grouped(x), cast_to(e, scale, DType::kFloat)},
                            {{"axis", int64_t{-1}}, {"epsilon", attrs.epsilon}});
  const Val gates = grouped(gate), opened = e.call("Sigmoid", {gates});
  const Val y = e.call("Mul", {normed, is_silu ? e.call("Mul", {gates, opened}) : opened});
  const Val whole = e.call("Reshape", {y, dims_of(e, x, int64_t{0}, rank)});
  return {cast_to(e, whole, e.type(x).dtype)};
}

// X + Y * gate, the gate one for each row; the product is rounded before the sum.
Vals gated_add(Emitter& e, const BodyCall& c) {
  require_same_shape(e, c.inputs[0], c.inputs[1], "inputs X and Y");
  const std::optional<Shape> rows = e.type(c.inputs[0]).known_shape();
  const std::optional<Shape> gates = e.type(c.inputs[2]).known_shape();
  if (rows && gates) {
    Shape wanted = *rows;
    if (!wanted.empty()) wanted.back() = 1;
    if (*gates != wanted) {
      fail(ErrorCode::kInvalidModel, "input gate: expected shape ", to_text(wanted), ", got ",
           e.type(c.inputs[2]));
    }
  }
  return {e.call("Add", {c.inputs[0], e.call("Mul", {c.inputs[1], c.inputs[2]})})};
}

// --- samples ---

std::vector<Sample> contrib_linear_attention_samples() {
  const SampleInput none{.omitted = true}, value{.shape = {2, 3, 6}};
  const auto attrs = [](int64_t heads, int64_t kv_heads, const char* rule, int64_t window) {
    return AttrMap{{"q_num_heads", heads},
                   {"kv_num_heads", kv_heads},
                   {"update_rule", std::string(rule)},
                   {"state_window", window}};
  };
  return {{.inputs = {{.shape = {2, 3, 8}}, {.shape = {2, 3, 8}}, value},
           .attrs = attrs(2, 2, "linear", 0),
           .outputs = 2},
          {.inputs = {{.shape = {2, 3, 4}}, {.shape = {2, 3, 4}}, value},
           .attrs = attrs(1, 2, "linear", 4),
           .outputs = 2},
          {.inputs = {{.shape = {2, 3, 16}},
                      {.shape = {2, 3, 8}},
                      value,
                      {.shape = {2, 2, 2, 4, 3}},
                      {.shape = {2, 3, 2}, .low = -1, .high = 0},
                      {.shape = {2, 3, 2}, .low = 0, .high = 1}},
           .attrs = attrs(4, 2, "gated_delta", 2),
           .outputs = 2}};
}

std::vector<Sample> gate_samples() {
  const auto list = [](int64_t size) {
    return SampleInput{.shape = {size}, .dtype = DType::kFloat};
  };
  const SampleInput heads{.shape = {2, 3, 4}};
  return {{.inputs = {heads, list(4), list(4)}},
          {.inputs = {heads, list(4), list(4), heads}, .outputs = 2}};
}

std::vector<Sample> gated_rms_norm_samples() {
  const SampleInput packed{.shape = {2, 3, 8}}, flat{.shape = {5}};
  return {{.inputs = {packed, {.shape = {4}}, packed}},
          {.inputs = {flat, flat, flat},
           .attrs = {{"activation", std::string("sigmoid")}, {"epsilon", 0.25f}}}};
}

std::vector<Sample> gated_add_samples() {
  return {{.inputs = {{.shape = {2, 3, 4}}, {.shape = {2, 3, 4}}, {.shape = {2, 3, 1}}}}};
}

const OpDef kContribLinearAttentionOps[] = {
    {.name = "LinearAttention",
     .doc = "ONNX's LinearAttention, whose values may have more heads than query and key and whose "
            "state may be kept for some of the last positions.",
     .domain = kMicrosoft,
     .signature = "(query: T, key: T, value: T, past_state?: S, decay?: T, beta?: T) -> "
                  "(output: T, present_state: S)",
     .types = {{"T", kGatedTypes}, {"S", kGatedTypes}},
     .attrs = attr_schema<ContribLinearAttentionAttrs>(),
     .infer = infer_by_body,
     .body = contrib_linear_attention,
     .samples = contrib_linear_attention_samples},
    {.name = "LinearAttentionGate",
     .doc = "decay_scale * softplus(a + dt_bias) of a [..., heads] and the sigmoid of b, as "
            "LinearAttention takes them.",
     .domain = kMicrosoft,
     .signature = "(a: T, dt_bias: float, decay_scale: float, b?: T) -> (decay: T, beta?: T)",
     .types = {{"T", kGatedTypes}},
     .infer = infer_by_body,
     .body = linear_attention_gate,
     .samples = gate_samples},
    {.name = "GatedRMSNorm",
     .doc = "X [..., groups * C] divided by the root mean square of each group, times scale [C], "
            "times the activation of gate.",
     .domain = kMicrosoft,
     .signature = "(X: T, scale: T, gate: T) -> (Y: T)",
     .types = {{"T", kGatedTypes}},
     .attrs = attr_schema<GatedRMSNormAttrs>(),
     .infer = infer_by_body,
     .body = gated_rms_norm,
     .samples = gated_rms_norm_samples},
    {.name = "GatedAdd",
     .doc = "X + Y * gate of X and Y [..., C] and a gate [..., 1].",
     .domain = kMicrosoft,
     .signature = "(X: T, Y: T, gate: T) -> (output: T)",
     .types = {{"T", kGatedTypes}},
     .infer = infer_by_body,
     .body = gated_add,
     .samples = gated_add_samples},
};

}  // namespace

void check_state_window(int64_t window) {
  if (window >= 0 && window <= kMaxStateWindow) return;
  fail(ErrorCode::kInvalidModel, "attribute state_window: expected 0 to ", kMaxStateWindow,
       ", got ", window);
}

Val state_window_of(Emitter& e, const Vals& states, const Val& length) {
  const auto window = static_cast<int64_t>(states.size());
  Vals slots;
  for (int64_t slot = 0; slot < window; ++slot) {
    const Val& state = states[static_cast<size_t>(slot)];
    const Val has_position = e.call("GreaterOrEqual", {length, e.int64s({window - slot})});
    const Val kept = e.call("Where", {has_position, state, e.scalar_like(state, 0)});
    slots.push_back(unsqueeze(e, kept, {0}));
  }
  return e.call_many("Concat", slots, {{"axis", int64_t{0}}}, 1)[0];
}

std::span<const OpDef> contrib_linear_attention_ops() {
  return kContribLinearAttentionOps;
}

}  // namespace sardonyx::ops
