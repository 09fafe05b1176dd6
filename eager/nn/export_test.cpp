#include "eager/nn/export.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "executor/session.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::nn {
namespace {

struct Tagger : Layer<Tagger> {
  Embedding words = add("words", Embedding(11, 6, {.padding_idx = 0}));
  LSTM lstm = add("lstm", LSTM(6, 4, {.batch_first = true, .bidirectional = true}));
  TransformerEncoder encoder =
      add("encoder", TransformerEncoder(1, 8, 2, {.feedforward = 12, .batch_first = true}, true));
  Conv1d conv = add("conv", Conv1d(8, 8, 3, {.same = true}));
  BatchNorm1d norm = add("norm", BatchNorm1d(8));
  Linear tags = add("tags", Linear(8, 3));
  std::pair<Tensor, Tensor> forward(const Tensor& ids, const Tensor& weight) const {
    const Tensor x = encoder(lstm(words(ids)).output, {.is_causal = true});
    const Tensor y = norm(conv(x.transpose(1, 2))).transpose(1, 2);
    return {tags(y) * weight.unsqueeze(-1), y.mean({1})};
  }
};

TEST(ModuleExport, OfSeveralInputsWithOpenSizes) {
  const Tagger tagger;
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("sardonyx_tagger_" + std::to_string(::getpid()) + ".onnx");
  ExportOptions options;
  options.input_names = {"ids", "weight"};
  options.output_names = {"tags", "mean"};
  options.dynamic_axes = {{"ids", {{0, "batch"}, {1, "time"}}},
                          {"weight", {{0, "batch"}, {1, "time"}}}};
  export_onnx(tagger, {randint(0, 11, {2, 5}), ones({2, 5})}, path, options);
  EXPECT_TRUE(tagger.is_training());
  EXPECT_TRUE(tagger.norm.is_training());
  Session session(path);
  const Tensor ids = randint(0, 11, {3, 7}), weight = rand({3, 7});
  const auto outputs = session.run({{"ids", ids.data()}, {"weight", weight.data()}});
  const EvalMode mode(tagger);
  const auto [tags, mean] = tagger(ids, weight);
  const Tensor difference = abs(Tensor(outputs[0]) - tags.detach());
  EXPECT_LT(difference.amax().item<float>(), 1e-5f);
  std::filesystem::remove(path);
  EXPECT_THROW(export_onnx(tagger, {ids}, path, options), Error);
}

}  // namespace
}  // namespace sardonyx::eager::nn
