// Layers that torch programs have beside the commonest: values worked out by hand or by other
// functions, names of parameters, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/tensors_for_test.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::nn {
namespace {

using Floats = std::vector<float>;

TEST(TorchLayers, ActivationsAreTheirFunctions) {
  const Tensor x = of({-2, -0.25, 0, 0.75, 3, 1}, {1, 2, 3, 1});
  EXPECT_TRUE(equal(Softmin(1)(x), softmin(x, 1)));
  EXPECT_TRUE(equal(Softmax2d()(x), softmax(x, 1)));
  EXPECT_TRUE(equal(Softsign()(x), softsign(x)));
  EXPECT_TRUE(equal(Softshrink(0.5)(x), softshrink(x, 0.5)));
  EXPECT_TRUE(equal(Hardshrink(0.5)(x), hardshrink(x, 0.5)));
  EXPECT_TRUE(equal(Tanhshrink()(x), tanhshrink(x)));
  EXPECT_TRUE(equal(Threshold(0.5, 20)(x), threshold(x, 0.5, 20)));
  EXPECT_TRUE(equal(LogSigmoid()(x), logsigmoid(x)));
  EXPECT_TRUE(equal(CELU(1.5)(x), celu(x, 1.5)));
  EXPECT_TRUE(allclose(Softplus(2)(x), log1p(exp(x * 2)) / 2, {.atol = 1e-6}));
}

TEST(TorchLayers, BagsOfEmbeddings) {
  const auto bag = [](const char* mode) {
    EmbeddingBag made(3, 2, {.mode = mode});
    made.weight.assign(of({1, 2, 3, 0, 5, 4}, {3, 2}));
    return made;
  };
  const Tensor rows = ints({0, 1, 2, 2}, {2, 2});
  EXPECT_EQ(bag("sum")(rows).to_vector<float>(), (Floats{4, 2, 10, 8}));
  EXPECT_EQ(bag("mean")(rows).to_vector<float>(), (Floats{2, 1, 5, 4}));
  EXPECT_EQ(bag("max")(rows).to_vector<float>(), (Floats{3, 2, 5, 4}));
  // Of the bags {0, 1, 2}, {} and {2}.
  const Tensor flat = ints({0, 1, 2, 2}), offsets = ints({0, 3, 3});
  EXPECT_EQ(bag("sum")(flat, offsets).to_vector<float>(), (Floats{9, 6, 0, 0, 5, 4}));
  EXPECT_EQ(bag("mean")(flat, offsets).to_vector<float>(), (Floats{3, 2, 0, 0, 5, 4}));
  EXPECT_EQ(bag("max")(flat, offsets).to_vector<float>(), (Floats{5, 4, 0, 0, 5, 4}));
  const EmbeddingBag trained = bag("sum");
  trained(flat, offsets).sum().backward();
  EXPECT_EQ(trained.weight.grad().to_vector<float>(), (Floats{1, 1, 1, 1, 2, 2}));
  expect_refusals(
      {{"EmbeddingBag: expected mode sum, mean or max, got all", [&] { bag("all"); }},
       {"torch_layers_test.cpp:", [&] { bag("sum")(flat); }},
       {"expected indices [N, L], or [n] with offsets, got int64[4]", [&] { bag("sum")(flat); }}});
}

TEST(TorchLayers, EmbeddingsOfRowsAtHand) {
  const Tensor rows = of({1, 2, 3, 4}, {2, 2});
  const Embedding frozen = Embedding::from_pretrained(rows);
  EXPECT_TRUE(equal(frozen(ints({1})), of({3, 4}, {1, 2})));
  EXPECT_FALSE(frozen.weight.requires_grad());
  const Embedding padded = Embedding::from_pretrained(rows, false, {.padding_idx = 0});
  EXPECT_TRUE(equal(padded.weight, rows));
  padded.eval();  // the padding is not trained in evaluation mode either
  padded(ints({0, 1, 0})).sum().backward();
  EXPECT_EQ(padded.weight.grad().to_vector<float>(), (Floats{0, 0, 1, 1}));
}

TEST(TorchLayers, ListsOfParameters) {
  ParameterList list({of({1}), of({2, 3})});
  list.append(of({4}));
  const ParameterDict dict({{"b", of({1})}, {"a", of({2})}});
  struct Both : Layer<Both> {
    ParameterList list;
    ParameterDict dict;
    Both(const ParameterList& some, const ParameterDict& named)
        : list(add("list", some)), dict(add("dict", named)) {}
    Tensor forward(const Tensor& x) const { return x * list[0] + dict["a"]; }
  };
  const Both both(list, dict);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : both.named_parameters())
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"list.0", "list.1", "list.2", "dict.a", "dict.b"}));
  EXPECT_EQ(both(of({5})).item<float>(), 7);
  expect_refusals({{"ParameterList: no parameter 3; it has 3", [&] { list[3]; }},
                   {"ParameterDict: no parameter 'c'; it has a, b", [&] { dict["c"]; }}});
}

TEST(TorchLayers, SequencesAreWalkedAndJoined) {
  Sequential net(Linear(2, 3), ReLU());
  net.extend(Sequential(Linear(3, 1)));
  Tensor x = ones({1, 2});
  const Tensor expected = net(x);
  for (const AnyLayer& layer : net)
    x = layer(x);
  EXPECT_TRUE(equal(x, expected));
  EXPECT_EQ(net[-1].type_name(), "Linear");
  EXPECT_EQ(net.children().size(), 3u);
  EXPECT_EQ(net.modules().size(), 4u);
  expect_refusals({{"no module '-4'; it has 0, 1, 2", [&] { net[-4]; }}});
}

TEST(TorchLayers, ChannelsAreShuffledAndNormalised) {
  const Tensor x = counting({1, 4, 1});
  EXPECT_EQ(ChannelShuffle(2)(x).to_vector<float>(), (Floats{0, 2, 1, 3}));
  const Tensor y = LocalResponseNorm(3, {.alpha = 3, .beta = 1, .k = 1})(x);
  const Floats values = y.to_vector<float>();  // x / (1 + sum of three squares)
  const Floats expected{0, 1.0f / 6, 2.0f / 15, 3.0f / 14};
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-6) << i;
  expect_refusals({{"channels in 3 groups, got float[1, 4, 1]", [&] { ChannelShuffle(3)(x); }}});
}

TEST(TorchLayers, AlphaDropoutKeepsMeanAndVariance) {
  const UseGenerator draws{Generator(3)};
  const Tensor x = randn({20000});
  const Tensor y = AlphaDropout(0.3)(x);
  EXPECT_NEAR(y.mean().item<float>(), 0, 0.05);
  EXPECT_NEAR(y.std().item<float>(), 1, 0.05);
  const AlphaDropout evaluated(0.3);
  evaluated.eval();
  EXPECT_TRUE(equal(evaluated(x), x));
}

TEST(TorchLayers, ATransformerIsAnEncoderAndADecoder) {
  const Transformer net({.embed = 8, .heads = 2, .encoder_layers = 1, .decoder_layers = 1},
                        {.feedforward = 16, .batch_first = true});
  net.eval();
  EXPECT_TRUE(net.state_dict().contains("encoder.layers.0.self_attn.in_proj_weight"));
  EXPECT_TRUE(net.state_dict().contains("decoder.norm.weight"));
  const Tensor source = randn({2, 5, 8}), target = randn({2, 4, 8});
  const Tensor mask = Transformer::generate_square_subsequent_mask(4);
  EXPECT_EQ(mask[0].to_vector<float>(), (Floats{0, -INFINITY, -INFINITY, -INFINITY}));
  const TransformerMasks causal{.target = {.attention = mask}};
  // What comes later in the target does not reach what is before it.
  const Tensor changed = target.index_put({Slice{}, 3}, zeros({8}));
  const Tensor whole = net(source, target, causal), other = net(source, changed, causal);
  EXPECT_TRUE(allclose(whole.slice(1, {0, 3}), other.slice(1, {0, 3}), {.atol = 1e-5}));
  EXPECT_FALSE(allclose(whole, other, {.atol = 1e-3}));
  const auto compiled =
      compile([&](const Tensor& a, const Tensor& b) { return net(a, b, causal); });
  EXPECT_TRUE(allclose(compiled(source, target), whole, {.atol = 1e-5}));
}

}  // namespace
}  // namespace sardonyx::eager::nn
