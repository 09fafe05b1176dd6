#include "ir/ops/attention/fused_attention.h"

#include <algorithm>

#include "ir/core/error.h"

namespace sardonyx::ops {
namespace {

using AxisOrder = std::vector<int64_t>;

// [batch, heads, length, size] of an operand.
Val heads_in_front(Emitter& e, const BodyCall& c, size_t operand) {
  const Type type = e.type(c.inputs[operand]);
  if (!type.has_rank()) {
    fail(ErrorCode::kUnsupported, "FusedAttention: the rank of operand ", operand,
         " must be known");
  }
  const StoredHeads heads = stored_heads(c.attrs<FusedAttentionAttrs>(), operand, type.rank());
  Val x = c.inputs[operand];
  if (heads.fixed) {
    const Val index = e.constant(Tensor::scalar(heads.index));
    x = e.call("Gather", {x, index}, {{"axis", static_cast<int64_t>(*heads.fixed)}});
  }
  AxisOrder perm;
  for (const size_t axis : heads.axes)
    perm.push_back(static_cast<int64_t>(axis - (heads.fixed && *heads.fixed < axis ? 1 : 0)));
  return std::ranges::is_sorted(perm) ? x : e.call("Transpose", {x}, {{"perm", perm}});
}

// [batch, heads, length, size] with each head `times` times in a row.
Val repeated_heads(Emitter& e, const Val& x, int64_t times) {
  if (times < 1) {
    fail(ErrorCode::kInvalidModel, "FusedAttention: expected heads to be repeated at least once, ",
         "got ", times);
  }
  if (times == 1) return x;
  const Val shape = e.call("Shape", {x});
  const auto dims = [&](int64_t first, int64_t last) {
    return e.call("Slice", {shape, e.int64s({first}), e.int64s({last})});
  };
  const Val heads = e.call("Mul", {dims(1, 2), e.int64s({times})});
  const Val all = e.call("Concat", {dims(0, 1), heads, dims(2, 4)}, {{"axis", int64_t{0}}});
  const Val apart = e.call("Unsqueeze", {x, e.int64s({2})});
  return e.call("Reshape", {e.call("Expand", {apart, e.int64s({1, 1, times, 1, 1})}), all});
}

Val masked_scores(Emitter& e, const BodyCall& c, Val scores) {
  const auto& attrs = c.attrs<FusedAttentionAttrs>();
  const auto fill = [&] {
    if (!c.has(kFusedKept)) return;
    scores = e.call("Where", {c.inputs[kFusedKept], scores, e.scalar_like(scores, attrs.fill)});
  };
  if (!attrs.fills_last) fill();
  if (c.has(kFusedAdded)) scores = e.call("Add", {scores, c.inputs[kFusedAdded]});
  if (attrs.fills_last) fill();
  return scores;
}

}  // namespace

StoredHeads stored_heads(const FusedAttentionAttrs& attrs, size_t operand, size_t rank) {
  const AxisOrder* perms[] = {&attrs.q_perm, &attrs.k_perm, &attrs.v_perm};
  const int64_t indices[] = {attrs.q_index, attrs.k_index, attrs.v_index};
  AxisOrder perm = *perms[operand];
  if (perm.empty()) perm = {0, 1, 2, 3};
  const bool fits =
      (rank == 4 || rank == 5) && perm.size() == 4 && std::ranges::all_of(perm, [&](int64_t axis) {
        return axis >= 0 && axis < static_cast<int64_t>(rank) &&
               std::ranges::count(perm, axis) == 1;
      });
  if (!fits) {
    fail(ErrorCode::kInvalidModel, "FusedAttention: operand ", operand, ": expected rank 4 or 5 ",
         "and a perm of 4 different axes, got rank ", rank);
  }
  StoredHeads heads{};
  std::ranges::transform(perm, heads.axes.begin(),
                         [](int64_t axis) { return static_cast<size_t>(axis); });
  if (rank == 5) {
    heads.fixed = 10;
    for (const size_t axis : heads.axes)
      *heads.fixed -= axis;
    heads.index = indices[operand];
  }
  return heads;
}

Vals fused_attention_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<FusedAttentionAttrs>();
  const Val q = heads_in_front(e, c, kFusedQuery);
  const Val k = repeated_heads(e, heads_in_front(e, c, kFusedKey), attrs.k_repeats);
  const Val transposed = e.call("Transpose", {k}, {{"perm", AxisOrder{0, 1, 3, 2}}});
  Val scores = e.call("MatMul", {q, transposed});
  if (attrs.scale != 1) scores = e.call("Mul", {scores, e.scalar_like(scores, attrs.scale)});
  Val weights = e.call("Softmax", {masked_scores(e, c, scores)}, {{"axis", int64_t{-1}}});
  if (attrs.zeroes_nan) {
    weights = e.call("Where", {e.call("IsNaN", {weights}), e.scalar_like(weights, 0), weights});
  }
  const Val v = repeated_heads(e, heads_in_front(e, c, kFusedValue), attrs.v_repeats);
  const Val y = e.call("MatMul", {weights, v});
  return {attrs.out_perm.empty() ? y : e.call("Transpose", {y}, {{"perm", attrs.out_perm}})};
}

std::vector<Sample> fused_attention_samples() {
  const AxisOrder packed{0, 2, 1, 3};
  const SampleInput kept{
      .shape = {2, 1, 1, 3},
      .value = Tensor::of<bool>({true, false, true, true, true, false}, {2, 1, 1, 3})};
  const SampleInput none{.omitted = true};
  return {
      {{{{2, 3, 4, 5}}, {{2, 3, 6, 5}}, {{2, 3, 6, 2}}}, {{"scale", 0.5f}}},
      {{{{2, 4, 3, 8}}, {{2, 5, 3, 8}}, {{2, 5, 3, 8}}, {{2, 1, 4, 5}}},
       {{"q_perm", packed}, {"k_perm", packed}, {"v_perm", packed}, {"out_perm", packed}}},
      {{{{2, 4, 3, 1, 6}}, {{2, 4, 3, 1, 6}}, {{2, 4, 3, 1, 6}}},
       {{"q_perm", AxisOrder{0, 3, 1, 4}},
        {"k_perm", AxisOrder{0, 3, 1, 4}},
        {"v_perm", AxisOrder{0, 3, 1, 4}},
        {"k_index", int64_t{1}},
        {"v_index", int64_t{2}}}},
      {{{{2, 2, 1, 4}}, {{2, 2, 4, 3}}, {{1, 2, 3, 4}}, {{3}}, kept},
       {{"k_perm", AxisOrder{0, 1, 3, 2}}, {"fill", -10000.f}, {"fills_last", int64_t{1}}}},
      {{{{2, 2, 9, 4}}, {{2, 2, 3, 4}}, {{2, 2, 3, 4}}, none, kept}, {{"fill", -1.f}}},
      {{{{2, 6, 5, 4}}, {{2, 2, 3, 4}}, {{2, 3, 3, 4}}, {{2, 6, 1, 3}}},
       {{"k_repeats", int64_t{3}}, {"v_repeats", int64_t{2}}}},
      {{{{2, 1, 6, 4}}, {{2, 3, 2, 4}}, {{2, 3, 2, 4}}, {{2, 6, 1, 3}}, kept},
       {{"q_perm", packed},
        {"k_perm", packed},
        {"v_perm", packed},
        {"out_perm", packed},
        {"k_repeats", int64_t{3}},
        {"v_repeats", int64_t{3}}}},
  };
}

}  // namespace sardonyx::ops
