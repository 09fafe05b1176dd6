#include "eager/nn/module.h"

#include <gtest/gtest.h>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn/activation.h"
#include "eager/nn/container.h"
#include "eager/nn/linear.h"
#include "eager/nn/normalization.h"
#include "eager/nn/recurrent.h"
#include "ir/core/tensor.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::nn {
namespace {

struct Block : Layer<Block> {
  explicit Block(int64_t size) : fc(add("fc", Linear(size, size))) {}
  Linear fc;
  Tensor forward(const Tensor& x) const { return relu(fc(x)) + x; }
};

struct Net : Layer<Net> {
  Linear stem = add("stem", Linear(4, 3));
  ModuleList<Block> blocks = add("blocks", ModuleList<Block>(2, [](size_t) { return Block(3); }));
  BatchNorm1d norm = add("norm", BatchNorm1d(3));
  Tensor scale = parameter("scale", ones({3}));
  Tensor forward(const Tensor& x) const {
    Tensor value = stem(x);
    for (const Block& block : blocks)
      value = block(value);
    return norm(value) * scale;
  }
};

struct TwoInputs : Layer<TwoInputs> {
  Linear left = add("left", Linear(2, 2)), right = add("right", Linear(2, 2));
  std::pair<Tensor, Tensor> forward(const Tensor& a, const Tensor& b, int times) const {
    return {left(a) * times, right(b)};
  }
};

std::vector<std::string> names_of(const NamedTensors& list) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : list)
    names.push_back(name);
  return names;
}

TEST(Module, NamesAreTorchs) {
  const Net net;
  EXPECT_EQ(names_of(net.named_parameters()),
            (std::vector<std::string>{"scale", "stem.weight", "stem.bias", "blocks.0.fc.weight",
                                      "blocks.0.fc.bias", "blocks.1.fc.weight", "blocks.1.fc.bias",
                                      "norm.weight", "norm.bias"}));
  EXPECT_EQ(names_of(net.named_buffers()),
            (std::vector<std::string>{"norm.running_mean", "norm.running_var",
                                      "norm.num_batches_tracked"}));
  EXPECT_EQ(net.parameter_count(), 15 + 3 + 24 + 6);
  EXPECT_EQ(net.state_dict().size(), 12u);
}

TEST(Module, CopiesShareAndStatesAreSnapshots) {
  const Net net;
  const Net copy = net;
  const StateDict before = net.state_dict();
  net.scale.assign(full({3}, 2));
  EXPECT_TRUE(copy.scale.is_same(net.scale));
  EXPECT_EQ(before.at("scale").to_vector<float>(), (std::vector<float>{1, 1, 1}));
  const Net other;
  other.load_state_dict(net.state_dict());
  const Tensor x = randn({5, 4});
  net.eval();
  other.eval();
  EXPECT_FALSE(copy.norm.is_training());
  EXPECT_EQ(net(x).to_vector<float>(), other(x).to_vector<float>());
}

TEST(Module, LoadNamesEveryProblemAndChangesNothing) {
  const Net net;
  StateDict state = net.state_dict();
  state.erase("stem.bias");
  state["extra"] = ones({1});
  state["scale"] = ones({4});
  state["norm.bias"] = full({3}, 9);
  try {
    net.load_state_dict(state);
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const char* part : {"missing stem.bias", "unexpected extra", "scale: expected shape [3]"})
      EXPECT_NE(message.find(part), message.npos) << message;
  }
  EXPECT_EQ(net.norm.bias.to_vector<float>(), (std::vector<float>{0, 0, 0}));
  state["scale"] = full({3}, 5, {.dtype = DType::kDouble});
  net.load_state_dict(state, false);
  EXPECT_EQ(net.scale.to_vector<float>(), (std::vector<float>{5, 5, 5}));
}

TEST(Module, HooksSeeAndReplace) {
  const Net net;
  net.eval();
  const Tensor x = ones({2, 4});
  std::vector<std::string> seen;
  const RemovableHandle handle = net.stem.register_forward_hook(
      [&](const Module& module, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
        seen.push_back(module.type_name());
        EXPECT_TRUE(inputs[0].is_same(x));
        outputs[0] = outputs[0] * 0;
      });
  EXPECT_EQ(net.stem(x).to_vector<float>(), (std::vector<float>(6, 0)));
  (void)net(x);
  handle.remove();
  (void)net(x);
  EXPECT_EQ(seen, (std::vector<std::string>{"Linear", "Linear"}));
}

TEST(Module, HooksBeforeACallReplaceItsInputs) {
  const Linear layer(2, 1, {.bias = false});
  const Sequential net(layer, ReLU());
  layer.weight.assign(ones({1, 2}));
  const RemovableHandle doubles =
      layer.register_forward_pre_hook([](const Module& module, std::vector<Tensor>& inputs) {
        EXPECT_EQ(module.type_name(), "Linear");
        inputs[0] = inputs[0] * 2;
      });
  layer.register_forward_pre_hook(
      [](const Module&, std::vector<Tensor>& inputs) { inputs[0] = inputs[0] + 1; });
  EXPECT_EQ(net(ones({1, 2})).item<float>(), 6);
  doubles.remove();
  EXPECT_EQ(net(ones({1, 2})).item<float>(), 4);
  const LSTM lstm(2, 2);
  const Tensor x = ones({3, 1, 2}), plain = lstm(x * 0).output;
  lstm.register_forward_pre_hook([](const Module&, std::vector<Tensor>& inputs) {
    EXPECT_EQ(inputs.size(), 3u);  // x, and the states that were left out
    inputs[0] = inputs[0] * 0;
  });
  EXPECT_EQ(lstm(x).output.to_vector<float>(), plain.to_vector<float>());
}

TEST(Module, HooksBeforeACallThatTakesMoreThanTensors) {
  const TwoInputs module;
  const Tensor x = ones({1, 2});
  size_t seen = 0;
  module.register_forward_pre_hook(
      [&](const Module&, std::vector<Tensor>& inputs) { seen = inputs.size(); });
  (void)module(x, x, 3);
  EXPECT_EQ(seen, 2u);
  module.register_forward_pre_hook(
      [](const Module&, std::vector<Tensor>& inputs) { inputs[0] = inputs[0] * 2; });
  expect_refusal(ErrorCode::kInvalidArgument, "replaced an input", [&] { (void)module(x, x, 3); });
  const ReLU relu;
  relu.register_forward_pre_hook(
      [](const Module&, std::vector<Tensor>& inputs) { inputs.clear(); });
  expect_refusal(ErrorCode::kInvalidArgument, "a hook before ReLU left 0 inputs of 1",
                 [&] { (void)relu(x); });
}

TEST(Module, ErrorsNamePathAndCaller) {
  const Net net;
  try {
    net(ones({2, 4}));
    (void)net.blocks[1](ones({2, 7}));
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("blocks.1.fc"), message.npos) << message;
    EXPECT_NE(message.find("module_test.cpp:"), message.npos) << message;
  }
}

TEST(Module, AnySignature) {
  const TwoInputs module;
  const auto [a, b] = module(ones({1, 2}), ones({1, 2}), 3);
  EXPECT_EQ(a.shape(), (Dims{1, 2}));
  size_t outputs_seen = 0;
  module.register_forward_hook(
      [&](const Module&, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
        EXPECT_EQ(inputs.size(), 2u);
        outputs_seen = outputs.size();
      });
  (void)module(ones({1, 2}), ones({1, 2}), 3);
  EXPECT_EQ(outputs_seen, 2u);
}

TEST(Module, SequentialListsAndDicts) {
  Sequential net(
      Linear(4, 8), ReLU(), [](const Tensor& x) { return x * 2; }, Linear(8, 2));
  EXPECT_EQ(net(ones({3, 4})).shape(), (Dims{3, 2}));
  EXPECT_EQ(names_of(net.named_parameters()),
            (std::vector<std::string>{"0.weight", "0.bias", "3.weight", "3.bias"}));
  EXPECT_THROW(net[4], Error);
  const Sequential named({{"hidden", Linear(4, 8)}, {"act", Tanh()}});
  EXPECT_EQ(names_of(named.named_parameters()),
            (std::vector<std::string>{"hidden.weight", "hidden.bias"}));
  const ModuleDict<Linear> heads{{"b", Linear(2, 1)}, {"a", Linear(2, 3)}};
  EXPECT_EQ(heads["a"](ones({1, 2})).shape(), (Dims{1, 3}));
  EXPECT_THROW(heads["c"], Error);
}

TEST(Module, SharedParametersCountOnce) {
  struct Tied : Layer<Tied> {
    Embedding words = add("words", Embedding(5, 3));
    Tensor out = parameter("out", words.weight);
  };
  const Tied tied;
  EXPECT_EQ(tied.parameters().size(), 1u);
  EXPECT_EQ(tied.state_dict().size(), 2u);
}

TEST(Module, ToChangesAllHandles) {
  const Net net;
  const Net copy = net;
  net.to(DType::kDouble);
  EXPECT_EQ(copy.stem.weight.dtype(), DType::kDouble);
  EXPECT_EQ(copy.norm.num_batches_tracked.dtype(), DType::kInt64);
  EXPECT_EQ(copy(ones({2, 4}, {.dtype = DType::kDouble})).dtype(), DType::kDouble);
}

TEST(Module, WhatIsRemovedIsForgotten) {
  Net net;
  EXPECT_EQ(names_of(net.named_state("net.")).front(), "net.scale");  // in order of registration
  EXPECT_EQ(names_of(net.named_state()).back(), "norm.num_batches_tracked");
  for (const char* name : {"scale", "stem", "blocks", "nothing"})
    net.remove(name);
  net.norm.remove("running_mean");
  EXPECT_EQ(names_of(net.named_state()),
            (std::vector<std::string>{"norm.weight", "norm.bias", "norm.running_var",
                                      "norm.num_batches_tracked"}));
  net.parameter("stem", ones({1}));  // the name is free
}

TEST(Module, SummaryShowsShapesAndCounts) {
  const Net net;
  const std::string text = net.summary(ones({2, 4}));
  for (const char* part : {"Linear (4 -> 3)", "blocks.1.fc", "[2, 3]", "48 parameters"})
    EXPECT_NE(text.find(part), text.npos) << text;
  EXPECT_TRUE(net.is_training());
  EXPECT_TRUE(net.norm.is_training());
}

TEST(Module, ReplaceKeepsTheName) {
  Net net;
  net.stem = net.replace("stem", Linear(6, 3));
  EXPECT_EQ(net(ones({2, 6})).shape(), (Dims{2, 3}));
  EXPECT_EQ(net.state_dict().at("stem.weight").shape(), (Dims{3, 6}));
}

}  // namespace
}  // namespace sardonyx::eager::nn
