// What the transformer models share: self-attention over [batch, length, width], and the block of
// attention and feed-forward with the norms before or after.
#pragma once

#include "eager/nn/container.h"
#include "eager/nn/linear.h"
#include "eager/nn/normalization.h"

namespace sardonyx::models {

namespace nn = eager::nn;
using eager::Tensor;

// Keys and values of earlier positions, [batch, heads, past, width / heads]; undefined for none.
struct KeyValue {
  Tensor key, value;
};
// What a step of generation gives: its output, and the keys and values up to and with it.
struct Attended {
  Tensor output;
  KeyValue present;
  std::vector<Tensor> tensors() const { return {output, present.key, present.value}; }
};

// Multi-head attention; Vaswani et al., "Attention is all you need", arXiv:1706.03762. `mask` is
// added to the scores [batch, heads, length, past + length]; undefined: everything is seen.
struct SelfAttention : nn::Layer<SelfAttention> {
  SelfAttention(int64_t width, int64_t heads);
  nn::Linear query, key, value, output;

  Tensor forward(const Tensor& x, const Tensor& mask = {}) const;
  Attended forward(const Tensor& x, const Tensor& mask, const KeyValue& past) const;

 private:
  Tensor split_heads(const Tensor& x) const;
  int64_t width_, heads_;
};

struct BlockOptions {
  bool norm_first = true;  // before attention and feed-forward, or after their residuals
  bool tanh_gelu = false;  // the approximation that GPT-2 was trained with
  int64_t expansion = 4;   // of the feed-forward layer
  double eps = 1e-5;       // of the norms
};
struct TransformerBlock : nn::Layer<TransformerBlock> {
  TransformerBlock(int64_t width, int64_t heads, BlockOptions options = {});
  SelfAttention attention;
  nn::LayerNorm norm1, norm2;
  nn::Linear up, down;

  Tensor forward(const Tensor& x, const Tensor& mask = {}) const;
  Attended forward(const Tensor& x, const Tensor& mask, const KeyValue& past) const;

 private:
  Tensor feed_forward(const Tensor& x) const;
  BlockOptions options_;
};

}  // namespace sardonyx::models
