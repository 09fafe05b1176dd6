#include "models/zoo.h"

#include "eager/create.h"
#include "eager/trace/control_flow.h"
#include "ir/graph.h"
#include "models/lenet.h"
#include "models/lstm_tagger.h"
#include "models/mlp.h"
#include "models/mobilenet_v2.h"
#include "models/resnet.h"
#include "models/unet.h"
#include "models/vit.h"

namespace sardonyx::models {
namespace {

using Tensors = std::vector<Tensor>;

// A module of one image argument; sizes but the batch are fixed unless `axes` names them.
template <typename M>
Network of_images(const std::string& name, const M& module, const Shape& example,
                  std::map<int64_t, std::string> axes = {{0, "batch"}}) {
  module.eval();
  Network net{module,
              [module](const Tensors& in) -> Tensors { return {module(in[0])}; },
              {eager::rand(to_dims(example))},
              {.input_names = {"image"},
               .output_names = {"logits"},
               .dynamic_axes = {{"image", std::move(axes)}},
               .graph_name = name,
               .names = module.named_parameters()}};
  for (const auto& buffer : module.named_buffers())
    net.options.names.push_back(buffer);
  return net;
}

}  // namespace

Model Network::model() const {
  return eager::traced_model(run, examples, options);
}

Network lenet(uint64_t seed) {
  eager::manual_seed(seed);
  return of_images("lenet", LeNet(), {1, 1, 28, 28});
}
Network mlp(uint64_t seed) {
  eager::manual_seed(seed);
  return of_images("mlp", Mlp({784, 512, 256, 10}), {1, 1, 28, 28});
}
Network classifier(uint64_t seed) {
  eager::manual_seed(seed);
  return of_images("classifier", Mlp({784, 128, 10}), {1, 1, 28, 28});
}
Network branches(uint64_t seed) {
  eager::manual_seed(seed);
  const nn::Linear bright(16, 4), dark(16, 4);
  const nn::Sequential both(bright, dark);
  return {both,
          [bright, dark](const Tensors& in) -> Tensors {
            return {eager::cond(
                in[0].mean() > 0.5, [&] { return bright(in[0]); }, [&] { return dark(in[0]); })};
          },
          {eager::rand({2, 16})},
          {.input_names = {"x"},
           .output_names = {"y"},
           .dynamic_axes = {{"x", {{0, "batch"}}}},
           .graph_name = "branches",
           .names = both.named_parameters()}};
}
Network resnet18(uint64_t seed) {
  eager::manual_seed(seed);
  return of_images("resnet18", models::resnet18(), {1, 3, 224, 224});
}
Network resnet50(uint64_t seed) {
  eager::manual_seed(seed);
  return of_images("resnet50", models::resnet50(), {1, 3, 224, 224});
}
Network mobilenet_v2(uint64_t seed) {
  eager::manual_seed(seed);
  return of_images("mobilenet_v2", MobileNetV2(), {1, 3, 224, 224});
}
Network vit_tiny(uint64_t seed) {
  eager::manual_seed(seed);
  return of_images("vit_tiny", VisionTransformer(), {1, 3, 224, 224});
}
Network unet(uint64_t seed) {
  eager::manual_seed(seed);
  return of_images("unet", UNet(3, 2), {1, 3, 64, 64});
}

Network lstm_tagger(uint64_t seed) {
  eager::manual_seed(seed);
  const LstmTagger tagger(1000, 12);
  tagger.eval();
  return {tagger,
          [tagger](const Tensors& in) -> Tensors { return {tagger(in[0])}; },
          {eager::randint(0, 1000, {2, 9})},
          {.input_names = {"ids"},
           .output_names = {"scores"},
           .dynamic_axes = {{"ids", {{0, "batch"}, {1, "length"}}}},
           .graph_name = "lstm_tagger",
           .names = tagger.named_parameters()}};
}

Network bert_encoder(uint64_t seed, const BertShape& shape) {
  eager::manual_seed(seed);
  const BertEncoder bert(shape);
  bert.eval();
  const std::map<int64_t, std::string> axes{{0, "batch"}, {1, "length"}};
  return {bert,
          [bert](const Tensors& in) -> Tensors { return {bert(in[0], in[1])}; },
          {eager::randint(0, shape.vocabulary, {2, 8}), eager::randint(0, 2, {2, 8})},
          {.input_names = {"input_ids", "attention_mask"},
           .output_names = {"hidden"},
           .dynamic_axes = {{"input_ids", axes}, {"attention_mask", axes}},
           .graph_name = "bert_encoder",
           .names = bert.named_parameters()}};
}

Network gpt2_step(uint64_t seed, const GptShape& shape) {
  eager::manual_seed(seed);
  const Gpt2 gpt(shape);
  gpt.eval();
  const auto run = [gpt](const Tensors& in) -> Tensors {
    std::vector<KeyValue> past;
    for (size_t i = 1; i + 1 < in.size(); i += 2)
      past.push_back({in[i], in[i + 1]});
    const Gpt2::Step step = gpt(in[0], past);
    Tensors results{step.logits};
    for (const KeyValue& present : step.present)
      results.insert(results.end(), {present.key, present.value});
    return results;
  };
  Network net{gpt,
              run,
              {eager::randint(0, shape.vocabulary, {1, 2})},
              {.input_names = {"input_ids"},
               .output_names = {"logits"},
               .dynamic_axes = {{"input_ids", {{0, "batch"}, {1, "length"}}}},
               .graph_name = "gpt2_step",
               .names = gpt.named_parameters()}};
  for (int64_t i = 0; i < shape.layers; ++i) {
    for (const char* kind : {"key", "value"}) {
      const std::string name = text("past_", kind, ".", i);
      net.examples.push_back(eager::randn({1, shape.heads, 3, shape.width / shape.heads}));
      net.options.input_names.push_back(name);
      net.options.output_names.push_back(text("present_", kind, ".", i));
      net.options.dynamic_axes[name] = {{0, "batch"}, {2, "past"}};
    }
  }
  return net;
}

std::span<const ZooEntry> zoo() {
  static constexpr ZooEntry kEntries[] = {
      {"mlp", "digits, 784-512-256-10", mlp},
      {"classifier", "digits, 784-128-10", classifier},
      {"branches", "one of two layers, by the mean of the input", branches},
      {"lenet", "digits, 28x28", lenet},
      {"resnet18", "images, 224x224", resnet18},
      {"resnet50", "images, 224x224", resnet50},
      {"mobilenet_v2", "images, 224x224", mobilenet_v2},
      {"vit_tiny", "images, 224x224; 12 layers, 192 wide", vit_tiny},
      {"unet", "images to masks, four levels", unet},
      {"lstm_tagger", "sentences, bidirectional", lstm_tagger},
      {"bert_encoder", "12 layers, 768 wide", [](uint64_t seed) { return bert_encoder(seed); }},
      {"gpt2_step", "12 layers, 768 wide, with a key-value cache",
       [](uint64_t seed) { return gpt2_step(seed); }},
  };
  return kEntries;
}

}  // namespace sardonyx::models
