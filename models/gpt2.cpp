#include "models/gpt2.h"

#include "eager/create.h"
#include "eager/functional/functional.h"

namespace sardonyx::models {

Gpt2::Gpt2(const GptShape& shape)
    : words(add("words", nn::Embedding(shape.vocabulary, shape.width))),
      places(add("places", nn::Embedding(shape.positions, shape.width))),
      norm(add("norm", nn::LayerNorm(shape.width))),
      head(add("head", nn::Linear(shape.width, shape.vocabulary, {.bias = false}))) {
  for (int64_t i = 0; i < shape.layers; ++i)
    blocks.append(TransformerBlock(shape.width, shape.heads, {.tanh_gelu = true}));
}

Tensor Gpt2::forward(const Tensor& ids) const {
  return forward(ids, std::vector<KeyValue>()).logits;
}

Gpt2::Step Gpt2::forward(const Tensor& ids, const std::vector<KeyValue>& past) const {
  if (!past.empty() && past.size() != blocks.size()) {
    fail(ErrorCode::kInvalidArgument, "past: expected keys and values of ", blocks.size(),
         " blocks, got ", past.size());
  }
  const Dim begin = past.empty() ? Dim(0) : past[0].key.size(2);
  const Dim total = begin + ids.size(1);
  const Tensor positions = eager::arange(begin, total);
  // Row i (position past + i) hides the columns after it.
  const Tensor hides = eager::arange(total) > positions.unsqueeze(1);
  const Tensor mask = where(hides, Tensor::scalar(-1e9f), Tensor::scalar(0.f));
  Tensor x = words(ids) + places(positions);
  Step step;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Attended attended = blocks[i](x, mask, past.empty() ? KeyValue() : past[i]);
    x = attended.output;
    step.present.push_back(attended.present);
  }
  step.logits = head(norm(x));
  return step;
}

}  // namespace sardonyx::models
