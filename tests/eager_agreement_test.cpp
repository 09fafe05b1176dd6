// One network in every form: called eagerly, compiled, imported again and run eagerly, exported and
// loaded by the executor. Without rewriting passes all give the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/export/onnx_module.h"
#include "eager/trace/compile.h"
#include "executor/session.h"
#include "ir/value_compare.h"
#include "models/zoo.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"

namespace sardonyx {
namespace {

constexpr models::BertShape kSmallBert{2, 32, 4, 100, 64};
constexpr models::GptShape kSmallGpt{2, 32, 4, 100, 64};

struct Case {
  const char* name;
  models::Network (*network)(uint64_t seed);
};
const Case kCases[] = {
    {"lenet", models::lenet},
    {"mlp", models::mlp},
    {"mobilenet_v2", models::mobilenet_v2},
    {"resnet18", models::resnet18},
    {"resnet50", models::resnet50},
    {"vit_tiny", models::vit_tiny},
    {"unet", models::unet},
    {"lstm_tagger", models::lstm_tagger},
    {"bert", [](uint64_t seed) { return models::bert_encoder(seed, kSmallBert); }},
    {"gpt2", [](uint64_t seed) { return models::gpt2_step(seed, kSmallGpt); }},
};

using Results = std::vector<Datum>;

Results data_of(const std::vector<eager::Tensor>& tensors) {
  Results data;
  for (const eager::Tensor& tensor : tensors)
    data.push_back(tensor.datum());
  return data;
}

// Every bit; a NaN is like any other number.
void expect_same(const Results& got, const Results& expected, const char* form) {
  ASSERT_EQ(got.size(), expected.size()) << form;
  for (size_t i = 0; i < got.size(); ++i) {
    const Comparison difference = compare(got[i], expected[i], {.rtol = 0, .atol = 0});
    EXPECT_TRUE(got[i].tensor() == expected[i].tensor())
        << form << ", output " << i << ": " << difference.reason;
  }
}

void expect_close(const Results& got, const Results& expected, const char* form) {
  ASSERT_EQ(got.size(), expected.size()) << form;
  for (size_t i = 0; i < got.size(); ++i) {
    const Comparison difference =
        compare(got[i], expected[i], {.rtol = 0, .atol = 0, .relative_to_max = 1e-5});
    EXPECT_TRUE(difference) << form << ", output " << i << ": " << difference.reason;
  }
}

class Agreement : public testing::TestWithParam<Case> {};

TEST_P(Agreement, EveryFormOfANetworkGivesTheSame) {
  const models::Network network = GetParam().network(3);
  const eager::NoGrad no_grad;
  const std::vector<eager::Tensor>& examples = network.examples;
  const Results inputs = data_of(examples);
  const Results expected = data_of(network.run(examples));

  expect_same(data_of(eager::compile(network.run, {.optimization_level = 0})(examples)), expected,
              "compiled");
  const std::string bytes = model_bytes(network.model());
  const auto load = [&] { return load_model(std::as_bytes(std::span(bytes))); };
  const eager::OnnxModule module(load());
  expect_same(data_of(module(examples)), expected, "imported");
  expect_same(Session(load(), {.optimization_level = 0}).run(std::span<const Datum>(inputs)),
              expected, "exported");
  expect_same(
      Session(module.model(), {.optimization_level = 0}).run(std::span<const Datum>(inputs)),
      expected, "saved again");
  expect_close(Session(load()).run(std::span<const Datum>(inputs)), expected, "optimised");
  expect_close(data_of(eager::compile(network.run)(examples)), expected, "compiled, optimised");
}

INSTANTIATE_TEST_SUITE_P(, Agreement, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sardonyx
