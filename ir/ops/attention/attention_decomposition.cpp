#include "ir/ops/attention/attention_decomposition.h"

#include <limits>

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/attention/attention.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

Val reshaped(Emitter& e, const Val& x, std::initializer_list<Val> dims) {
  return e.call("Reshape", {x, joined_lists(e, dims)}, {{"allowzero", int64_t{1}}});
}

Val transposed(Emitter& e, const Val& x, const Ints& order) {
  return e.call("Transpose", {x}, {{"perm", order}});
}

Val quotient(Emitter& e, const Val& a, const Val& b) {
  return call_folded(e, "Div", {a, b});
}

// A list of one as a scalar.
Val scalar_of(Emitter& e, const Val& list) {
  return call_folded(e, "Squeeze", {list});
}

// [batch, length, heads * size] as [batch, heads, length, size]; what has rank 4 is so already.
Val with_heads(Emitter& e, const Val& x, std::optional<int64_t> heads) {
  if (e.type(x).rank() == 4) return x;
  const Val count = e.int64s({*heads});
  const Val split =
      reshaped(e, x, {dims_of(e, x, 0, 2), count, quotient(e, dims_of(e, x, 2, 3), count)});
  return transposed(e, split, {0, 2, 1, 3});
}

// [batch, heads, length, size] as [batch, length, heads * size].
Val without_heads(Emitter& e, const Val& x) {
  const Val width = call_folded(e, "Mul", {dims_of(e, x, 1, 2), dims_of(e, x, 3, 4)});
  return reshaped(e, transposed(e, x, {0, 2, 1, 3}),
                  {dims_of(e, x, 0, 1), dims_of(e, x, 2, 3), width});
}

class AttentionOps {
 public:
  AttentionOps(Emitter& e, const BodyCall& call)
      : e_(e), call_(call), attrs_(call.attrs<AttentionAttrs>()) {
    const size_t rank = rank_of(e, call.inputs[kQuery], call.op.name);
    packed_ = rank == 3;
    query_ = with_heads(e, call.inputs[kQuery], attrs_.q_num_heads);
    key_ = joined(with_heads(e, call.inputs[kKey], attrs_.kv_num_heads), kPastKey);
    value_ = joined(with_heads(e, call.inputs[kValue], attrs_.kv_num_heads), kPastValue);
    dtype_ = e.type(query_).dtype;
    q_length_ = dims_of(e, query_, 2, 3);
    total_ = dims_of(e, key_, 2, 3);
    groups_ = quotient(e, dims_of(e, query_, 1, 2), dims_of(e, key_, 1, 2));
  }

  Vals all() {
    Val shown;
    const auto show = [&](ScoresShown stage, const Val& scores) {
      if (attrs_.qk_matmul_output_mode == static_cast<int64_t>(stage)) shown = scores;
    };
    Val scores = raw_scores();
    show(ScoresShown::kRaw, scores);
    if (attrs_.softcap > 0) {
      const Term term{&e_, scores};
      scores = apply("Tanh", term / attrs_.softcap) * attrs_.softcap;
    }
    show(ScoresShown::kCapped, scores);
    scores = masked(scores);
    show(ScoresShown::kMasked, scores);
    const Val weights = probabilities(scores);
    show(ScoresShown::kSoftmax, weights);
    const Val values = cast({&e_, value_}, dtype_);
    const Val y = by_group(weights, values);
    return {packed_ ? without_heads(e_, y) : y, key_, value_, shown};
  }

 private:
  Val joined(const Val& fresh, size_t past) const {
    if (!call_.has(past)) return fresh;
    return e_.call("Concat", {call_.inputs[past], fresh}, {{"axis", int64_t{2}}});
  }

  // [batch, q_heads, m, k] times [batch, kv_heads, k, n], where heads of a group share one.
  Val by_group(const Val& left, const Val& right) const {
    const auto groups = known_list(e_, groups_);
    if (groups && (*groups)[0] == 1) return e_.call("MatMul", {left, right});
    const Val parts =
        reshaped(e_, left, {dims_of(e_, right, 0, 2), groups_, dims_of(e_, left, 2, 4)});
    const Val product = e_.call("MatMul", {parts, e_.call("Unsqueeze", {right, e_.int64s({2})})});
    return reshaped(e_, product,
                    {dims_of(e_, left, 0, 2), dims_of(e_, left, 2, 3), dims_of(e_, right, 3, 4)});
  }

  Val raw_scores() const {
    const Val keys = transposed(e_, key_, {0, 1, 3, 2});
    const Term scores{&e_, by_group(query_, keys)};
    if (attrs_.scale) return scores * *attrs_.scale;
    const Val size = call_folded(e_, "Cast", {scalar_of(e_, dims_of(e_, query_, 3, 4))},
                                 {{"to", static_cast<int64_t>(dtype_)}});
    return scores / Term{&e_, call_folded(e_, "Sqrt", {size})};
  }

  Val lowest() const { return e_.scalar(dtype_, -std::numeric_limits<double>::infinity()); }
  Val kept_where(const Val& allowed, const Val& scores) const {
    return e_.call("Where", {allowed, scores, lowest()});
  }
  // 0, 1, ... up to a length that is a list of one.
  Val count_to(const Val& length) const {
    return e_.call(
        "Range", {e_.scalar(DType::kInt64, 0), scalar_of(e_, length), e_.scalar(DType::kInt64, 1)});
  }

  // The mask up to the last key: what it does not reach is masked out.
  Val whole_mask() const {
    const Val& mask = call_.inputs[kMask];
    const auto rank = static_cast<int64_t>(rank_of(e_, mask, call_.op.name));
    const Val missing = call_folded(e_, "Sub", {total_, dims_of(e_, mask, rank - 1, rank)});
    const auto known = known_list(e_, missing);
    if (known && (*known)[0] == 0) return mask;
    const bool is_bool = e_.type(mask).dtype == DType::kBool;
    const Val given = is_bool ? mask : Val(cast({&e_, mask}, dtype_));
    return e_.call("Pad", {given, joined_lists(e_, {e_.int64s({0}), missing}),
                           is_bool ? e_.scalar(DType::kBool, 0) : lowest(), e_.int64s({-1})});
  }

  Val masked(Val scores) const {
    if (call_.has(kMask)) {
      const Val mask = whole_mask();
      scores = e_.type(mask).dtype == DType::kBool
                   ? kept_where(mask, scores)
                   : e_.call("Add", {scores, cast({&e_, mask}, dtype_)});
    }
    const bool has_lengths = call_.has(kNonpadLengths);
    if (!has_lengths && !attrs_.is_causal) return scores;
    const Val keys = count_to(total_);
    Val lengths;
    if (has_lengths) {
      lengths = e_.call("Unsqueeze", {call_.inputs[kNonpadLengths], e_.int64s({1, 2, 3})});
      scores = kept_where(e_.call("Less", {keys, lengths}), scores);
    }
    if (!attrs_.is_causal) return scores;
    // Query i of this call stands behind the cached keys, wherever these are kept.
    Val before = call_folded(e_, "Sub", {total_, new_length()});
    if (!call_.has(kPastKey) && has_lengths) before = e_.call("Sub", {lengths, q_length_});
    const Val queries = e_.call("Unsqueeze", {count_to(q_length_), e_.int64s({1})});
    const Val last = e_.call("Add", {queries, before});
    return kept_where(e_.call("LessOrEqual", {keys, last}), scores);
  }

  Val new_length() const {
    const int64_t axis = packed_ ? 1 : 2;
    return dims_of(e_, call_.inputs[kKey], axis, axis + 1);
  }

  Val probabilities(const Val& scores) const {
    // `softmax_precision` is the least precision.
    const DType asked = attrs_.softmax_precision.value_or(dtype_);
    const DType precision = bits_of(asked) > bits_of(dtype_) ? asked : dtype_;
    const Term wide = cast({&e_, scores}, precision);
    return cast(apply("Softmax", wide, AttrMap{{"axis", int64_t{-1}}}), dtype_);
  }

  Emitter& e_;
  const BodyCall& call_;
  const AttentionAttrs& attrs_;
  bool packed_ = false;
  DType dtype_;
  Val query_, key_, value_;
  Val q_length_, total_, groups_;  // lists of one
};

// Elements [begin, end) of the last axis, every `step`th; `end` is a list of one.
Val part_of_last(Emitter& e, const Val& x, int64_t begin, const Val& end, int64_t step) {
  return e.call("Slice", {x, e.int64s({begin}), end, e.int64s({-1}), e.int64s({step})});
}

// [batch, length, size / 2] of a cache, seen as [batch, 1, length, size / 2].
Val cache_of(Emitter& e, const BodyCall& call, size_t input) {
  const Val& cache = call.inputs[input];
  const Val rows = call.has(3) ? e.call("Gather", {cache, call.inputs[3]}) : cache;
  return e.call("Unsqueeze", {rows, e.int64s({1})});
}

}  // namespace

Vals attention_decomposition(Emitter& e, const BodyCall& call) {
  return AttentionOps(e, call).all();
}

Val rotary_heads(Emitter& e, const Val& x, const Val& cosines, const Val& sines,
                 const Val& rotary_size, bool interleaved) {
  const Val half = quotient(e, rotary_size, e.int64s({2}));
  const Val rotated = part_of_last(e, x, 0, rotary_size, 1);
  Vals pair;
  if (interleaved) {
    pair = {part_of_last(e, rotated, 0, rotary_size, 2),
            part_of_last(e, rotated, 1, rotary_size, 2)};
  } else {
    pair = {part_of_last(e, rotated, 0, half, 1),
            e.call("Slice", {rotated, half, rotary_size, e.int64s({-1})})};
  }
  const Term real{&e, pair[0]}, imaginary{&e, pair[1]};
  const Term cosine{&e, cosines}, sine{&e, sines};
  Vals parts{cosine * real - sine * imaginary, sine * real + cosine * imaginary};
  Val y;
  if (interleaved) {
    for (Val& part : parts)
      part = e.call("Unsqueeze", {part, e.int64s({-1})});
    const Val pairs = e.call_many("Concat", parts, {{"axis", int64_t{-1}}}, 1)[0];
    y = reshaped(e, pairs, {dims_of(e, x, 0, 3), rotary_size});
  } else {
    y = e.call_many("Concat", parts, {{"axis", int64_t{-1}}}, 1)[0];
  }
  const Val size = dims_of(e, x, 3, 4);
  const auto known = known_list(e, rotary_size), whole = known_list(e, size);
  if (rotary_size == size || (known && known == whole)) return y;
  const Val rest = e.call("Slice", {x, rotary_size, size, e.int64s({-1})});
  return e.call("Concat", {y, rest}, {{"axis", int64_t{-1}}});
}

Vals rotary_decomposition(Emitter& e, const BodyCall& call) {
  const auto& attrs = call.attrs<RotaryEmbeddingAttrs>();
  const size_t rank = rank_of(e, call.inputs[0], call.op.name);
  const Val x = with_heads(e, call.inputs[0], attrs.num_heads);
  const Val y =
      rotary_heads(e, x, cache_of(e, call, 1), cache_of(e, call, 2),
                   attrs.rotary_embedding_dim == 0 ? dims_of(e, x, 3, 4)
                                                   : e.int64s({attrs.rotary_embedding_dim}),
                   attrs.interleaved);
  return {rank == 3 ? without_heads(e, y) : y};
}

Vals attention_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, attention_decomposition);
}

// A rotation's gradient is the rotation back.
Vals rotary_grad(Emitter& e, const GradCall& call) {
  if (call.wants(1) || call.wants(2)) return autodiff_body(e, call, rotary_decomposition);
  Vals inputs(call.inputs.begin(), call.inputs.end());
  inputs[0] = call.d_outputs[0];
  inputs[2] = e.call("Neg", {inputs[2]});
  return e.emit(call.op, inputs, call.raw_attrs, 1);
}

}  // namespace sardonyx::ops
