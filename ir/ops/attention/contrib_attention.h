// Helpers that the attention ops of com.microsoft share.
#pragma once

#include <optional>
#include <string_view>

#include "ir/ops/contrib/contrib_body.h"

namespace sardonyx::ops {

struct ContribAttentionAttrs {
  bool do_rotary = false;
  float mask_filter_value = -10000;
  int64_t num_heads = 0;
  bool past_present_share_buffer = false;
  std::vector<int64_t> qkv_hidden_sizes;
  int64_t rotary_embedding_dim = 0;
  std::optional<float> scale;
  bool unidirectional = false;
  static auto fields() {
    using A = ContribAttentionAttrs;
    return std::tuple{field("do_rotary", &A::do_rotary),
                      field("mask_filter_value", &A::mask_filter_value),
                      required("num_heads", &A::num_heads),
                      field("past_present_share_buffer", &A::past_present_share_buffer),
                      field("qkv_hidden_sizes", &A::qkv_hidden_sizes),
                      field("rotary_embedding_dim", &A::rotary_embedding_dim),
                      field("scale", &A::scale),
                      field("unidirectional", &A::unidirectional)};
  }
};

// The sizes of one attention, each an int64 of shape [1].
struct AttentionSizes {
  Val batch, length, past, total;
};

// A mask of com.microsoft's ops (values above 0 keep a key) as what is added to the scores: 0 or
// `filter`, of a shape that broadcasts to [batch, heads, length, total]. By its shape it is [batch]
// (number of keys), [2 * batch] (ends, then starts), [batch, total], [batch, length, total] or
// [batch, 1, longest, longest]. Empty where it is a dummy of one column.
Val mask_bias(Emitter& e, const Val& mask, std::string_view name, const AttentionSizes& sizes,
              DType dtype, float filter);

// The sum of both where both are there.
Val add_present(Emitter& e, const Val& a, const Val& b);

// The operands of attention beside the projections; each may be empty.
struct AttentionOperands {
  Val mask, past, bias;  // past: (2, batch, heads, past length, head size)
  // int32 of one element: how much of the past is in use where it has capacity for more words, into
  // which the new ones are written (past_present_share_buffer).
  Val past_length;
};

// Attention on projected q, k, v [batch, length, hidden] as com.microsoft::Attention has it. Gives
// the output and, with `outputs` > 1, the present state.
Vals attend(Emitter& e, const ContribAttentionAttrs& attrs, Vals qkv,
            const AttentionOperands& operands, size_t outputs);

// Refuses what attend() cannot do.
void check_attention(const ContribAttentionAttrs& attrs);

// MRotaryEmbedding.
const OpDef& multimodal_rotary_row();

// [.., 3 * hidden] or what qkv_hidden_sizes says, as three.
Vals split_projection(Emitter& e, const ContribAttentionAttrs& attrs, const Val& projected);

}  // namespace sardonyx::ops
