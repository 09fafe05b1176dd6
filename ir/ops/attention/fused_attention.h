// sardonyx::FusedAttention: attention that files write in simpler ops, on operands as they are
// stored.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "ir/emitter/emitter.h"
#include "ir/op_def.h"

namespace sardonyx::ops {

// Y = Transpose(softmax(mask(scale * Q K^T)) V, out_perm). Scores are [batch, heads, queries,
// keys]; `mask` adds `added`, and puts `fill` where `kept` is false. Both repeat to the scores.
//
// Each head of K and V is repeated as often as k_repeats and v_repeats say, in a row.
//
// Axes [batch, heads, length, size] of an operand are the stored axes that its perm lists, 0 to 3
// where it is empty. An operand of rank 5 has one more, of which the element `index` is taken: so
// one tensor may hold several operands.
struct FusedAttentionAttrs {
  float scale = 1;
  float fill = 0;
  bool fills_last = false;  // after `added` is added, else before
  bool zeroes_nan = false;  // weights that are NaN, those of a masked row, become 0
  std::vector<int64_t> q_perm, k_perm, v_perm, out_perm;
  int64_t q_index = 0, k_index = 0, v_index = 0;
  int64_t k_repeats = 1, v_repeats = 1;
  static auto fields() {
    using A = FusedAttentionAttrs;
    return std::tuple{field("scale", &A::scale),           field("fill", &A::fill),
                      field("fills_last", &A::fills_last), field("zeroes_nan", &A::zeroes_nan),
                      field("q_perm", &A::q_perm),         field("k_perm", &A::k_perm),
                      field("v_perm", &A::v_perm),         field("out_perm", &A::out_perm),
                      field("q_index", &A::q_index),       field("k_index", &A::k_index),
                      field("v_index", &A::v_index),       field("k_repeats", &A::k_repeats),
                      field("v_repeats", &A::v_repeats)};
  }
};

enum FusedAttentionInput { kFusedQuery, kFusedKey, kFusedValue, kFusedAdded, kFusedKept };

// The layout of an operand: where its axes are stored.
struct StoredHeads {
  std::array<size_t, 4> axes;   // of batch, heads, length and size
  std::optional<size_t> fixed;  // the axis of which one element is taken
  int64_t index = 0;
};
// How operand 0, 1 or 2, which has `rank` dims, is stored. Throws kInvalidModel for a rank, or
// attributes, that describe no layout.
StoredHeads stored_heads(const FusedAttentionAttrs& attrs, size_t operand, size_t rank);

Vals fused_attention_body(Emitter& e, const BodyCall& c);
std::vector<Sample> fused_attention_samples();

}  // namespace sardonyx::ops
