// A GPT-2-like decoder; Radford et al., "Language models are unsupervised multitask learners",
// 2019.
#pragma once

#include "models/transformer.h"

namespace sardonyx::models {

struct GptShape {
  int64_t layers = 12, width = 768, heads = 12, vocabulary = 50257, positions = 1024;
};

// Token ids [batch, length] to logits [batch, length, vocabulary]. Position i sees those up to i.
struct Gpt2 : nn::Layer<Gpt2> {
  explicit Gpt2(const GptShape& shape = {});
  nn::Embedding words, places;
  nn::ModuleList<TransformerBlock> blocks = add("blocks", nn::ModuleList<TransformerBlock>());
  nn::LayerNorm norm;
  nn::Linear head;

  Tensor forward(const Tensor& ids) const;
  // One step of generation: `past` holds keys and values of each block for the tokens before `ids`
  // (none where it is empty); the result has those with `ids`.
  struct Step {
    Tensor logits;
    std::vector<KeyValue> present;
  };
  Step forward(const Tensor& ids, const std::vector<KeyValue>& past) const;
};

}  // namespace sardonyx::models
