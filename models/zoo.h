// Classic architectures with seeded weights, for demonstrations, tests and benchmarks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/graph.h"

namespace sardonyx::models {

// 1x28x28 digits; LeCun et al., "Gradient-based learning applied to document recognition", 1998.
Model lenet(uint64_t seed);
// 3x224x224 images; He et al., arXiv:1512.03385.
Model resnet18(uint64_t seed);
Model resnet50(uint64_t seed);
// 3x224x224 images; Sandler et al., arXiv:1801.04381.
Model mobilenet_v2(uint64_t seed);
// Token ids to hidden states [batch, length, width]; Devlin et al., arXiv:1810.04805.
struct BertShape {
  int64_t layers = 12, width = 768, heads = 12, vocabulary = 30522, positions = 512;
};
Model bert_encoder(uint64_t seed, const BertShape& shape = {});
// One step of a decoder that keeps keys and values: ids [batch, length] and the past
// [batch, heads, past, width / heads] of each layer to logits and the present; Radford et al.,
// "Language models are unsupervised multitask learners", 2019.
struct GptShape {
  int64_t layers = 12, width = 768, heads = 12, vocabulary = 50257, positions = 1024;
};
Model gpt2_step(uint64_t seed, const GptShape& shape = {});

struct ZooEntry {
  std::string_view name, description;
  Model (*build)(uint64_t seed);
};
std::span<const ZooEntry> zoo();

}  // namespace sardonyx::models
