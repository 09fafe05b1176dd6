// Attention of several heads (Vaswani et al., "Attention is all you need", 2017).
#pragma once

#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

struct AttentionOptions {
  double dropout = 0;
  bool bias = true;
  bool batch_first = false;  // [batch, length, embed] rather than [length, batch, embed]
  // Widths of keys and values, where they are not the embedding's.
  std::optional<int64_t> key_size = {}, value_size = {};
};
// Masks: bools, true where attention is not allowed (as in torch), or floats to be added to the
// scores.
struct AttentionMasks {
  Tensor attention = {};    // [queries, keys], or [batch * heads, queries, keys]
  Tensor key_padding = {};  // [batch, keys]
  bool is_causal = false;   // no query sees later keys
};
struct AttentionResult {
  Tensor output, weights;  // weights: mean over the heads [batch, queries, keys], where asked for
  std::vector<Tensor> tensors() const { return {output, weights}; }
};

// Parameters: in_proj_weight [3*embed, embed] (q, k, v; q_proj_weight, k_proj_weight, v_proj_weight
// where widths differ), in_proj_bias, out_proj.weight, out_proj.bias.
class MultiheadAttention : public Layer<MultiheadAttention> {
 public:
  // Throws kInvalidArgument where `embed` is no multiple of `heads`.
  MultiheadAttention(int64_t embed, int64_t heads, AttentionOptions options = {},
                     Loc loc = Loc::current());
  // query [length, batch, embed], key and value [length, batch, width] (batch first where asked
  // for); the result has query's shape.
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                    const AttentionMasks& masks = {}, Loc loc = Loc::current()) const;
  // The same, and the weights that each query gives to the keys.
  AttentionResult with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                               const AttentionMasks& masks = {}, Loc loc = Loc::current()) const;
  AttentionResult forward(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionMasks& masks, bool wants_weights) const;

 private:
  struct Projected {
    Tensor query, key, value;
  };
  Projected project(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Tensor split_heads(const Tensor& x) const;
  Tensor mask_of(const AttentionMasks& masks, const Tensor& scores) const;

  int64_t embed_, heads_;
  AttentionOptions options_;
  Tensor joint_, query_, key_, value_, bias_, out_weight_, out_bias_;
};

// softmax(query key^T / sqrt(width) + mask) value, over the last two axes. The mask: bools, true
// where attention *is* allowed, or floats to be added (as in torch's function of this name).
struct DotProductOptions {
  Tensor mask = {};
  double dropout = 0;
  bool is_causal = false;
  std::optional<double> scale = {};
};
// query [..., L, E], key [..., S, E], value [..., S, V]: [..., L, V]. `dropout` applies in any
// mode.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const DotProductOptions& options = {},
                                    Loc loc = Loc::current());

}  // namespace sardonyx::eager::nn
