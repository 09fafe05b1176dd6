// MoE and QMoE in other ops, which is how they are differentiated: all experts answer all tokens,
// and shares of 0 stand for those that were not chosen.
#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/moe/mixture_of_experts.h"
#include "ir/ops/quantization/blockwise_decomposition.h"

#include <cmath>

namespace sardonyx::ops {
namespace {

class MixtureOfAll {
 public:
  MixtureOfAll(Emitter& e, const BodyCall& c, const MoEAttrs& attrs,
               std::span<const ExpertLayerSlots> slots, const QMoEAttrs* quantized)
      : e_(e),
        c_(c),
        attrs_(attrs),
        slots_(slots),
        quantized_(quantized),
        gate_(gate_of(attrs, c.has(slots[kFc3].weights))) {
    const Val &x = c.inputs[kMixtureInput], &fc2 = c.inputs[slots[kFc2].weights];
    const auto last = static_cast<int64_t>(input_rank(e, x, "input")) - 1;
    hidden_ = dim_of(e, x, last);
    experts_ = dim_of(e, fc2, 0);
    const int64_t packed = quantized ? quantized->values_per_byte() : 1;
    // Files from before the layout was settled swap the dims: all elements are counted.
    const Val columns = call_folded(e, "Mul", {dim_of(e, fc2, 1), dim_of(e, fc2, 2)});
    const Val values = call_folded(e, "Mul", {columns, e.int64s({packed})});
    inner_ = call_folded(e, "Div", {values, hidden_});
  }

  Val all() const {
    const Term x{&e_, c_.inputs[kMixtureInput]};
    const Val rows = in_shape(x, {e_.int64s({-1}), hidden_});
    const Term answers = layer(kFc2, gated(unsqueeze(e_, rows, {0})));
    const Term by_expert{&e_, unsqueeze(e_, transpose(e_, shares(), {1, 0}), {2})};
    const Val sum =
        e_.call("ReduceSum", {answers * by_expert, e_.int64s({0})}, {{"keepdims", int64_t{0}}});
    return reshaped(e_, sum, sizes_of(x, 0));
  }

 private:
  Val in_shape(const Val& x, std::initializer_list<Val> dims) const {
    return e_.call("Reshape", {x, joined_lists(e_, dims)});
  }
  Val twice(const Val& size) const { return call_folded(e_, "Mul", {size, e_.int64s({2})}); }
  bool is_fused() const {
    return gate_ == ExpertGate::kInterleaved || gate_ == ExpertGate::kHalves;
  }
  Val inputs_of(size_t which) const { return which == kFc2 ? inner_ : hidden_; }
  Val outputs_of(size_t which) const {
    if (which == kFc2) return hidden_;
    return which == kFc1 && is_fused() ? twice(inner_) : inner_;
  }

  // [tokens, experts]
  Val shares() const {
    const Term logits{&e_, c_.inputs[kMixtureRouter]};
    const Vals top = e_.call_many("TopK", Vals{logits, e_.int64s({attrs_.k})}, {}, 2);
    const Term softmax = apply("Softmax", logits, {{"axis", int64_t{-1}}});
    Term chosen{&e_, {}};
    if (attrs_.use_sparse_mixer) {
      chosen = sparse_mixer_shares(logits, top);
    } else {
      const Val& from = c_.has(kRouterWeights) ? c_.inputs[kRouterWeights] : softmax.val;
      chosen = {&e_, e_.call("GatherElements", {from, top[1]}, {{"axis", int64_t{1}}})};
      if (attrs_.normalize_routing_weights)
        chosen = chosen / Term{&e_, e_.call("ReduceSum", {chosen, e_.int64s({1})})};
    }
    return e_.call("ScatterElements", {zeros_like(logits), top[1], chosen}, {{"axis", int64_t{1}}});
  }

  Term sparse_mixer_shares(const Term& logits, const Vals& top) const {
    const auto column = [&](const Val& of, int64_t at) {
      return slice(e_, of, e_.int64s({at}), e_.int64s({at + 1}), 1);
    };
    Vals out;
    for (int64_t j = 0; j < 2; ++j) {
      const Term highest{&e_, column(top[0], j)};
      const Term reach = 0.02 * apply("Max", apply("Abs", logits), highest);
      Term parts = where(highest - logits > reach, 0, apply("Exp", logits - highest));
      if (j > 0) {
        const Term place{&e_, count_up(e_, experts_)};
        parts = where(equal(place, Term{&e_, column(top[1], 0)}), 0, parts);
      }
      out.push_back(1 / Term{&e_, e_.call("ReduceSum", {parts, e_.int64s({1})})});
    }
    return {&e_, e_.call_many("Concat", out, {{"axis", int64_t{1}}}, 1)[0]};
  }

  // [experts, outputs, inputs] in the type of the input.
  Term weights(size_t which) const {
    const Val& given = c_.inputs[slots_[which].weights];
    const Val inputs = inputs_of(which), outputs = outputs_of(which);
    if (!quantized_) return {&e_, in_shape(given, {experts_, outputs, inputs})};
    const DType dtype = e_.type(c_.inputs[kMixtureInput]).dtype;
    const int64_t bits = quantized_->expert_weight_bits;
    const Val one = e_.int64s({1}),
              size = quantized_->block_size > 0 ? e_.int64s({quantized_->block_size}) : inputs;
    const Val blocks = call_folded(e_, "Div", {inputs, size});
    const auto by_block = [&](const Val& x) {
      return in_shape(x, {experts_, outputs, blocks, one});
    };
    const Val bytes = in_shape(given, {experts_, outputs, e_.int64s({-1})});
    const Term values{
        &e_, in_shape(unpacked(e_, bytes, bits, dtype), {experts_, outputs, blocks, size})};
    Term shifted = values - std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (c_.has(slots_[which].zero_points)) {
      const Val& points = c_.inputs[slots_[which].zero_points];
      const bool is_blocked = input_rank(e_, points, "zero points") == 3;
      const Val kept = slice(e_, unpacked(e_, points, bits, dtype), e_.int64s({0}),
                             is_blocked ? blocks : outputs, -1);
      shifted = values - Term{&e_, by_block(kept)};
    }
    const Term scales{&e_, by_block(cast_to(e_, c_.inputs[slots_[which].scales], dtype))};
    return {&e_, in_shape(shifted * scales, {experts_, outputs, inputs})};
  }

  // [experts, tokens, outputs] of x [experts or 1, tokens, inputs].
  Term layer(size_t which, const Val& x) const {
    const Term y{&e_, e_.call("MatMul", {x, transpose(e_, weights(which), {0, 2, 1})})};
    if (!c_.has(slots_[which].bias)) return y;
    return y + Term{&e_, unsqueeze(e_, c_.inputs[slots_[which].bias], {1})};
  }

  Term activated(const Term& x) const {
    if (attrs_.activation_type == "relu") return apply("Relu", x);
    if (attrs_.activation_type == "silu") return x * apply("Sigmoid", x);
    if (attrs_.activation_type == "gelu")
      return apply("Gelu", x, {{"approximate", std::string("tanh")}});
    return x;
  }

  Term swiglu(Term gate, Term linear) const {
    const SwiGlu f = swiglu_of(attrs_);
    if (std::isfinite(f.limit)) {
      gate = apply("Min", gate, gate.number(f.limit));
      linear = apply("Max", apply("Min", linear, linear.number(f.limit)), linear.number(-f.limit));
    }
    return gate * apply("Sigmoid", double{f.alpha} * gate) * (linear + double{f.beta});
  }

  // [experts, tokens, inner]
  Val gated(const Val& x) const {
    const Term first = layer(kFc1, x);
    if (gate_ == ExpertGate::kNone) return activated(first);
    if (gate_ == ExpertGate::kSeparate) {
      const Term third = layer(kFc3, x);
      return attrs_.activation_type == "swiglu" ? swiglu(first, third) : activated(first) * third;
    }
    const bool is_pairs = gate_ == ExpertGate::kInterleaved;
    const Val rest = e_.int64s({-1}), two = e_.int64s({2});
    const Val apart = is_pairs ? in_shape(first, {experts_, rest, inner_, two})
                               : in_shape(first, {experts_, rest, two, inner_});
    Vals halves =
        e_.call_many("Split", Vals{apart},
                     {{"axis", int64_t{is_pairs ? 3 : 2}}, {"num_outputs", int64_t{2}}}, 2);
    for (Val& half : halves)
      half = in_shape(half, {experts_, rest, inner_});
    return swiglu({&e_, halves[0]}, {&e_, halves[1]});
  }

  Emitter& e_;
  const BodyCall& c_;
  const MoEAttrs& attrs_;
  std::span<const ExpertLayerSlots> slots_;
  const QMoEAttrs* quantized_;  // null for MoE
  ExpertGate gate_;
  Val hidden_, experts_, inner_;  // int64 [1]
};

Vals moe_of_all(Emitter& e, const BodyCall& c) {
  return {MixtureOfAll(e, c, c.attrs<MoEAttrs>(), kMoELayers, nullptr).all()};
}

Vals qmoe_of_all(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<QMoEAttrs>();
  return {MixtureOfAll(e, c, attrs, kQMoELayers, &attrs).all()};
}

}  // namespace

Vals moe_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, moe_of_all);
}

Vals qmoe_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, qmoe_of_all);
}

}  // namespace sardonyx::ops
