#include "models/zoo.h"

namespace sardonyx::models {

std::span<const ZooEntry> zoo() {
  static constexpr ZooEntry kEntries[] = {
      {"lenet", "digits, 28x28", lenet},
      {"resnet18", "images, 224x224", resnet18},
      {"resnet50", "images, 224x224", resnet50},
      {"mobilenet_v2", "images, 224x224", mobilenet_v2},
      {"bert_encoder", "12 layers, 768 wide", [](uint64_t seed) { return bert_encoder(seed); }},
      {"gpt2_step", "12 layers, 768 wide, with a key-value cache",
       [](uint64_t seed) { return gpt2_step(seed); }},
  };
  return kEntries;
}

}  // namespace sardonyx::models
