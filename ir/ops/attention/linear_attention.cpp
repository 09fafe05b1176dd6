// Attention in other forms: LinearAttention keeps a state instead of keys; FlexAttention has its
// scores and probabilities changed by subgraphs.
#include <cmath>
#include <vector>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/graph.h"
#include "ir/ops/attention/attention.h"
#include "ir/ops/attention/linear_attention_gradient.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {
namespace {

// ---- LinearAttention

struct LinearInput {
  enum : size_t { kQuery, kKey, kValue, kPastState, kDecay, kBeta };
};

struct UpdateRule {
  bool gated;  // the state decays
  bool delta;  // only what the state does not yet say is written
};

UpdateRule update_rule(const LinearAttentionAttrs& attrs) {
  const std::string& rule = attrs.update_rule;
  return {rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"};
}

void check_linear(const InferContext& c, const LinearAttentionAttrs& attrs) {
  const std::string& name = attrs.update_rule;
  const UpdateRule rule = update_rule(attrs);
  c.require(rule.gated || rule.delta || name == "linear",
            "attribute update_rule: expected linear, gated, delta or gated_delta, got ", name);
  c.require(attrs.kv_num_heads > 0 && attrs.q_num_heads > 0 &&
                attrs.q_num_heads % attrs.kv_num_heads == 0,
            "q_num_heads must be a positive multiple of kv_num_heads, got ", attrs.q_num_heads,
            " and ", attrs.kv_num_heads);
  c.require(c.has(LinearInput::kDecay) == rule.gated, "update_rule ", name,
            rule.gated ? " needs the input decay" : " takes no input decay");
  c.require(c.has(LinearInput::kBeta) == rule.delta, "update_rule ", name,
            rule.delta ? " needs the input beta" : " takes no input beta");
}

// The size of each head in the last dim of an input.
Dim head_size(InferContext& c, size_t input, int64_t heads) {
  const Dims* shape = c.shape(input);
  if (!shape) return c.unknown();
  if (shape->back().is_known() && shape->back().value() % heads != 0) {
    c.fail_input(input, "last dim is no multiple of the number of heads, ", heads);
  }
  return floor_div(shape->back(), heads);
}

void infer_linear(InferContext& c) {
  const LinearAttentionAttrs& attrs = c.attrs<LinearAttentionAttrs>();
  check_linear(c, attrs);
  Dim batch = c.unknown(), length = c.unknown();
  for (const size_t input : {LinearInput::kQuery, LinearInput::kKey, LinearInput::kValue,
                             LinearInput::kDecay, LinearInput::kBeta}) {
    c.require_rank(input, 3);
    const Dims* shape = c.shape(input);
    if (!shape) continue;
    batch = c.merged(batch, (*shape)[0], text("batch size of ", c.input_label(input)));
    length = c.merged(length, (*shape)[1], text("length of ", c.input_label(input)));
  }
  const Dim key_size =
      c.merged(head_size(c, LinearInput::kQuery, attrs.q_num_heads),
               head_size(c, LinearInput::kKey, attrs.kv_num_heads), "head sizes of query and key");
  const Dim value_size = head_size(c, LinearInput::kValue, attrs.kv_num_heads);
  const auto may_be = [&](size_t input, const Dim& a, const Dim& b) {
    const Dims* shape = c.shape(input);
    if (!shape || !shape->back().is_known()) return;
    for (const Dim& wanted : {a, b}) {
      if (!wanted.is_known() || wanted == shape->back()) return;
    }
    c.fail_input(input, "last dim must be ", a, " or ", b);
  };
  may_be(LinearInput::kDecay, attrs.kv_num_heads, key_size * Dim(attrs.kv_num_heads));
  may_be(LinearInput::kBeta, attrs.kv_num_heads, 1);
  const Dims state{batch, attrs.kv_num_heads, key_size, value_size};
  c.require_rank(LinearInput::kPastState, 4);
  if (const Dims* past = c.shape(LinearInput::kPastState)) {
    for (size_t i = 0; i < 4; ++i)
      c.merged((*past)[i], state[i], "shape of past_state");
  }
  c.set(0, c.dtype(LinearInput::kQuery), Dims{batch, length, value_size * Dim(attrs.q_num_heads)});
  c.set(1,
        c.has(LinearInput::kPastState) ? c.dtype(LinearInput::kPastState)
                                       : c.dtype(LinearInput::kQuery),
        state);
}

using Reals = std::pmr::vector<double>;

Reals reals_of(const KernelCall& call, size_t input) {
  Reals values(scratch());
  if (!call.has(input)) return values;
  const TensorView& view = call.inputs[input];
  resize_in_pieces(values, static_cast<size_t>(view.count()));
  dispatch_floats(view.dtype, [&]<typename T>() {
    const T* from = view.data<T>();
    in_pieces(view.count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        values[static_cast<size_t>(i)] = static_cast<double>(from[i]);
    });
  });
  return values;
}

void write_reals(const TensorView& out, const Reals& values) {
  dispatch_floats(out.dtype, [&]<typename T>() {
    T* to = out.data<T>();
    in_pieces(static_cast<int64_t>(values.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = narrowed<T>(values[static_cast<size_t>(i)]);
    });
  });
}

// The state of one head, [keys, values], and what one step does to it.
struct LinearHead {
  double* state;
  size_t keys, values;

  void decay(const double* gate, size_t gates) const {  // one gate, or one for each key
    for (size_t i = 0; i < keys; ++i) {
      const double factor = std::exp(gate[gates == 1 ? 0 : i]);
      for (size_t j = 0; j < values; ++j)
        state[i * values + j] *= factor;
    }
  }
  // out = vector * state
  void read(const double* vector, double* out) const {
    std::fill(out, out + values, 0.0);
    for (size_t i = 0; i < keys; ++i) {
      for (size_t j = 0; j < values; ++j)
        out[j] += vector[i] * state[i * values + j];
    }
  }
  void write(const double* key, const double* value) const {
    for (size_t i = 0; i < keys; ++i) {
      for (size_t j = 0; j < values; ++j)
        state[i * values + j] += key[i] * value[j];
    }
  }
};

void run_linear(const KernelCall& call) {
  const LinearAttentionAttrs& attrs = call.attrs<LinearAttentionAttrs>();
  const UpdateRule rule = update_rule(attrs);
  const auto dim = [&](size_t input, size_t axis) {
    return static_cast<size_t>(call.inputs[input].shape[axis]);
  };
  const auto q_heads = static_cast<size_t>(attrs.q_num_heads);
  const auto heads = static_cast<size_t>(attrs.kv_num_heads);
  const size_t batch = dim(LinearInput::kQuery, 0), length = dim(LinearInput::kQuery, 1),
               group = q_heads / heads;
  const size_t keys = dim(LinearInput::kKey, 2) / heads,
               values = dim(LinearInput::kValue, 2) / heads;
  const double scale = attrs.scale != 0 ? attrs.scale : 1 / std::sqrt(static_cast<double>(keys));
  const Reals q = reals_of(call, LinearInput::kQuery), k = reals_of(call, LinearInput::kKey),
              v = reals_of(call, LinearInput::kValue);
  const Reals decay = reals_of(call, LinearInput::kDecay),
              beta = reals_of(call, LinearInput::kBeta);
  const size_t gates = rule.gated ? dim(LinearInput::kDecay, 2) / heads : 0;
  const size_t betas = rule.delta ? dim(LinearInput::kBeta, 2) : 0;
  Reals state = reals_of(call, LinearInput::kPastState);
  resize_in_pieces(state, batch * heads * keys * values);  // zeros where there is no past
  Reals out(scratch()), fresh(values, scratch());
  resize_in_pieces(out, batch * length * q_heads * values);
  for (size_t t = 0; t < batch * length; ++t) {  // each [batch, position], positions in order
    check_interrupted();
    for (size_t h = 0; h < heads; ++h) {
      const LinearHead head{state.data() + (t / length * heads + h) * keys * values, keys, values};
      const double* key = k.data() + (t * heads + h) * keys;
      const double* value = v.data() + (t * heads + h) * values;
      if (rule.gated) head.decay(decay.data() + (t * heads + h) * gates, gates);
      if (rule.delta) {
        head.read(key, fresh.data());
        const double strength = beta[t * betas + (betas == 1 ? 0 : h)];
        for (size_t j = 0; j < values; ++j)
          fresh[j] = strength * (value[j] - fresh[j]);
        value = fresh.data();
      }
      head.write(key, value);
      for (size_t member = h * group; member < (h + 1) * group; ++member) {
        double* to = out.data() + (t * q_heads + member) * values;
        head.read(q.data() + (t * q_heads + member) * keys, to);
        for (size_t j = 0; j < values; ++j)
          to[j] *= scale;
      }
    }
  }
  if (call.wants(0)) write_reals(call.outputs[0], out);
  if (call.wants(1)) write_reals(call.outputs[1], state);
}

// ---- FlexAttention

void infer_flex(InferContext& c) {
  const FlexAttentionAttrs& attrs = c.attrs<FlexAttentionAttrs>();
  c.require(!attrs.softmax_precision || kFloats.has(*attrs.softmax_precision),
            "attribute softmax_precision: expected float, float16, bfloat16 or double");
  for (const auto& [name, graph] :
       {std::pair{"score_mod", attrs.score_mod}, std::pair{"prob_mod", attrs.prob_mod}}) {
    c.require(
        !graph || (*graph && (*graph)->inputs().size() == 1 && (*graph)->outputs().size() == 1),
        "attribute ", name, ": expected a graph of one input and one output");
  }
  for (const size_t input : {LinearInput::kQuery, LinearInput::kKey, LinearInput::kValue})
    c.require_rank(input, 4);
  const Dims q = c.shape(0) ? *c.shape(0) : unknown_dims(c, 4);
  const Dims k = c.shape(1) ? *c.shape(1) : unknown_dims(c, 4);
  const Dims v = c.shape(2) ? *c.shape(2) : unknown_dims(c, 4);
  const Dim batch =
      c.merged(c.merged(q[0], k[0], "batch sizes of Q and K"), v[0], "batch sizes of Q and V");
  c.merged(k[1], v[1], "heads of K and V");
  c.merged(k[2], v[2], "lengths of K and V");
  c.merged(q[3], k[3], "head sizes of Q and K");
  if (q[1].is_known() && k[1].is_known()) {
    c.require(k[1].value() != 0 && q[1].value() % k[1].value() == 0, "the heads of Q, ", q[1],
              ", are no multiple of those of K and V, ", k[1]);
  }
  c.set(0, c.dtype(0), Dims{batch, q[1], q[2], v[3]});
}

Val cast_to(Emitter& e, const Val& x, DType to) {
  if (e.type(x).dtype == to) return x;
  return e.call("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

// Dim `axis` of x, as a vector of one element.
Val dim_of(Emitter& e, const Val& x, int64_t axis) {
  return e.call("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}

// The head of K and V for each head of Q; empty where they are the same.
Val shared_heads(Emitter& e, const Val& q, const Val& k) {
  constexpr int64_t kMaxListed = 1 << 16;
  const Type q_type = e.type(q), k_type = e.type(k);
  if (q_type.shape && k_type.shape) {
    const Dim &many = (*q_type.shape)[1], &few = (*k_type.shape)[1];
    if (many == few) return {};
    if (many.is_known() && few.is_known() && many.value() <= kMaxListed) {
      std::vector<int64_t> heads;
      for (int64_t h = 0; h < many.value(); ++h)
        heads.push_back(h / (many.value() / few.value()));
      return e.int64s(heads);
    }
  }
  const Val many = dim_of(e, q, 1), axis = e.int64s({0});
  const Val group = e.call("Div", {many, dim_of(e, k, 1)});
  const Val all = e.call("Range", {e.scalar(DType::kInt64, 0), e.call("Squeeze", {many, axis}),
                                   e.scalar(DType::kInt64, 1)});
  return e.call("Div", {all, group});
}

Val default_scale(Emitter& e, const Val& q) {
  const Type type = e.type(q);
  if (type.shape && type.shape->back().is_known()) {
    return e.scalar_like(q, 1 / std::sqrt(static_cast<double>(type.shape->back().value())));
  }
  return e.call("Reciprocal", {e.call("Sqrt", {cast_to(e, dim_of(e, q, 3), type.dtype)})});
}

// Products are taken in the wider of the inputs' type and float; softmax and what the subgraphs see
// have softmax_precision, or that same type.
Vals flex_body(Emitter& e, const BodyCall& call) {
  const FlexAttentionAttrs& attrs = call.attrs<FlexAttentionAttrs>();
  const std::span<const Val> captures = call.inputs.subspan(3);
  const DType dtype = e.type(call.inputs[0]).dtype;
  const DType wide = dtype == DType::kDouble ? dtype : DType::kFloat;
  const DType precision = attrs.softmax_precision.value_or(wide);
  Val q = cast_to(e, call.inputs[0], wide), k = cast_to(e, call.inputs[1], wide);
  Val v = cast_to(e, call.inputs[2], precision);
  if (const Val heads = shared_heads(e, q, k)) {
    k = e.call("Gather", {k, heads}, {{"axis", int64_t{1}}});
    v = e.call("Gather", {v, heads}, {{"axis", int64_t{1}}});
  }
  q = e.call("Mul", {q, attrs.scale ? e.scalar_like(q, *attrs.scale) : default_scale(e, q)});
  k = e.call("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  Val scores = cast_to(e, e.call("MatMul", {q, k}), precision);
  const auto modify = [&](const std::optional<GraphPtr>& graph, const Val& x) {
    return graph ? replay(**graph, e, std::vector{x}, captures).at(0) : x;
  };
  scores = modify(attrs.score_mod, scores);
  const Val probabilities =
      modify(attrs.prob_mod, e.call("Softmax", {scores}, {{"axis", int64_t{-1}}}));
  return {cast_to(e, e.call("MatMul", {probabilities, v}), dtype)};
}

// ---- Rows

std::vector<Sample> linear_samples() {
  const SampleInput q{.shape = {2, 3, 16}}, k{.shape = {2, 3, 8}}, v{.shape = {2, 3, 6}};
  const SampleInput state{.shape = {2, 2, 4, 3}}, none{.omitted = true};
  const SampleInput decay{.shape = {2, 3, 2}, .low = -1, .high = 0};
  const SampleInput decay_by_key{.shape = {2, 3, 8}, .low = -1, .high = 0};
  const SampleInput beta{.shape = {2, 3, 2}, .low = 0, .high = 1};
  const SampleInput one_beta{.shape = {2, 3, 1}, .low = 0, .high = 1};
  const auto attrs = [](std::string rule) {
    return AttrMap{{"q_num_heads", int64_t{4}},
                   {"kv_num_heads", int64_t{2}},
                   {"update_rule", std::move(rule)}};
  };
  return {
      {.inputs = {q, k, v}, .attrs = attrs("linear"), .outputs = 2},
      {.inputs = {q, k, v, state, decay}, .attrs = attrs("gated"), .outputs = 2},
      {.inputs = {q, k, v, none, none, one_beta}, .attrs = attrs("delta"), .outputs = 2},
      {.inputs = {q, k, v, state, decay_by_key, beta}, .attrs = attrs("gated_delta"), .outputs = 2},
  };
}

std::vector<Sample> flex_samples() {
  return {
      {.inputs = {{.shape = {2, 2, 3, 4}}, {.shape = {2, 2, 5, 4}}, {.shape = {2, 2, 5, 6}}}},
      {.inputs = {{.shape = {2, 4, 3, 4}}, {.shape = {2, 2, 5, 4}}, {.shape = {2, 2, 5, 6}}},
       .attrs = {{"scale", 0.5f}, {"softmax_precision", int64_t{11}}}},
  };
}

}  // namespace

std::span<const OpDef> linear_attention_ops() {
  constexpr DTypeSet kTypes{DType::kFloat, DType::kFloat16, DType::kBFloat16};
  static const OpDef kOps[] = {
      {.name = "LinearAttention",
       .doc = "Attention whose state, keys times values, is carried along the sequence in place of "
              "all scores.",
       .since = 27,
       .signature = "(query: T, key: T, value: T, past_state?: S, decay?: T, beta?: T) -> "
                    "(output: T, present_state: S)",
       .types = {{"T", kTypes}, {"S", kTypes}},
       .attrs = attr_schema<LinearAttentionAttrs>(),
       .infer = infer_linear,
       .reference = run_linear,
       .grad = linear_attention_grad,
       .samples = linear_samples},
      {.name = "FlexAttention",
       .doc = "Attention of [batch, heads, length, size] whose scores a function of theirs may "
              "change.",
       .domain = "ai.onnx.preview",
       .since = 1,
       .signature = "(Q: T1, K: T1, V: T1) -> (Y: T1)",
       .types = {{"T1", kFloats}},
       .attrs = attr_schema<FlexAttentionAttrs>(),
       .infer = infer_flex,
       .body = flex_body,
       .samples = flex_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
