// Classic architectures with seeded weights, ready to run, trace and export: for demonstrations,
// tests and benchmarks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "eager/export/export.h"
#include "eager/nn/module.h"
#include "models/bert.h"
#include "models/gpt2.h"

namespace sardonyx::models {

// A network in evaluation mode as a function of tensors, with arguments that fit it and how it is
// exported: names, and the axes whose size stays open.
struct Network {
  eager::nn::Module module;
  eager::TensorFunction run;
  std::vector<Tensor> examples;
  eager::ExportOptions options;

  // As a graph, traced.
  Model model() const;
};

Network lenet(uint64_t seed);       // 1x28x28 digits
Network mlp(uint64_t seed);         // 784-512-256-10
Network classifier(uint64_t seed);  // 784-128-10, the one of every introduction
Network branches(uint64_t seed);  // [batch, 16]: one of two linear layers, by whether mean(x) > 0.5
Network resnet18(uint64_t seed);  // 3x224x224 images, as the next four
Network resnet50(uint64_t seed);
Network mobilenet_v2(uint64_t seed);
Network vit_tiny(uint64_t seed);
Network unet(uint64_t seed);         // 3x64x64 images to masks
Network lstm_tagger(uint64_t seed);  // token ids [batch, length]
Network bert_encoder(uint64_t seed, const BertShape& shape = {});
// One step of generation with keys and values kept: ids [batch, length] and the past of each block.
Network gpt2_step(uint64_t seed, const GptShape& shape = {});

struct ZooEntry {
  std::string_view name, description;
  Network (*build)(uint64_t seed);
};
std::span<const ZooEntry> zoo();

}  // namespace sardonyx::models
