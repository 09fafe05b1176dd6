// A BERT-like encoder; Devlin et al., arXiv:1810.04805.
#pragma once

#include "models/transformer.h"

namespace sardonyx::models {

struct BertShape {
  int64_t layers = 12, width = 768, heads = 12, vocabulary = 30522, positions = 512;
};

// Token ids [batch, length] and a mask of the same shape (1 where a token counts, 0 for padding) to
// hidden states [batch, length, width].
struct BertEncoder : nn::Layer<BertEncoder> {
  explicit BertEncoder(const BertShape& shape = {});
  nn::Embedding words, places;
  nn::LayerNorm norm;
  nn::ModuleList<TransformerBlock> blocks = add("blocks", nn::ModuleList<TransformerBlock>());

  Tensor forward(const Tensor& ids, const Tensor& mask) const;
};

}  // namespace sardonyx::models
