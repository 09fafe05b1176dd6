#include "models/bert.h"

#include "eager/create.h"
#include "eager/functional/functional.h"

namespace sardonyx::models {

BertEncoder::BertEncoder(const BertShape& shape)
    : words(add("words", nn::Embedding(shape.vocabulary, shape.width))),
      places(add("places", nn::Embedding(shape.positions, shape.width))),
      norm(add("norm", nn::LayerNorm(shape.width, {.eps = 1e-12}))) {
  for (int64_t i = 0; i < shape.layers; ++i)
    blocks.append(TransformerBlock(shape.width, shape.heads, {.norm_first = false, .eps = 1e-12}));
}

Tensor BertEncoder::forward(const Tensor& ids, const Tensor& mask) const {
  // 0 where a token counts, a large negative number where it is padding; [batch, 1, 1, length].
  const Tensor hidden = ((1 - mask.to(DType::kFloat)) * -1e4).unsqueeze(1).unsqueeze(1);
  Tensor x = norm(words(ids) + places(eager::arange(ids.size(1))));
  for (const TransformerBlock& block : blocks)
    x = block(x, hidden);
  return x;
}

}  // namespace sardonyx::models
