// Expected values are torch 1.13's.
#include "eager/nn/parameters/reparametrize.h"

#include <gtest/gtest.h>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim.h"
#include "eager/trace/compile.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::nn {
namespace {

using Numbers = std::vector<double>;

Linear known_linear(bool bias = true) {
  Linear layer(3, 2, {.bias = bias});
  layer.to(DType::kDouble);
  layer.weight.assign(tensor({{1.0, 2.0, 2.0}, {-2.0, 1.0, 0.5}}));
  if (bias) layer.bias.assign(tensor({0.1, 0.2}));
  return layer;
}
Tensor known_input() {
  return tensor({{1.0, -1.0, 2.0}, {0.5, 0.0, 1.0}});
}

void expect_values(const Tensor& found, const Numbers& expected, const char* what) {
  const Numbers values = found.to(DType::kDouble).to_vector<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-12) << what << " " << i;
}

std::string names_of(const Module& module) {
  std::string names;
  for (const auto& [name, tensor] : module.state_dict())
    names += name + " ";
  return names;
}

TEST(WeightNorm, AsTorch) {
  const Linear plain = known_linear();
  const auto layer = weight_norm(plain);
  EXPECT_EQ(names_of(layer), "bias weight_g weight_v ");
  EXPECT_EQ(layer.weight_g.shape(), (Dims{2, 1}));
  expect_values(layer.weight_g, {3, 2.29128784747792}, "g");
  square(layer(known_input())).sum().backward();
  expect_values(layer.weight_g.grad(), {10.5333333333333, 3.27326835353989}, "d g");
  expect_values(layer.weight_v.grad(),
                {5.28888888888889, -13.2222222222222, 10.5777777777778, -1.04285714285714,
                 2.17142857142857, -8.51428571428571},
                "d v");
  layer.weight_g.assign(layer.weight_g.detach() * 2);
  const Numbers doubled{6.1, -3.8, 5.1, -0.8};
  expect_values(layer(known_input()), doubled, "y");
  // The layer itself, and as a part of others.
  const Linear removed = layer.remove();
  EXPECT_TRUE(removed.is_same(plain));
  expect_values(removed(known_input()), doubled, "removed");
  expect_values(Sequential(layer, ReLU())(known_input()), {6.1, 0, 5.1, 0}, "in Sequential");
}

TEST(WeightNorm, AlongOtherAxes) {
  Conv1d conv(2, 2, 2);
  conv.weight.assign((arange(8) - 2).to(DType::kFloat).reshape({2, 2, 2}));
  const auto by_input = weight_norm(conv, {.dim = 1});
  EXPECT_EQ(by_input.weight_g.shape(), (Dims{1, 2, 1}));
  const std::vector<float> norms = by_input.weight_g.to_vector<float>();
  EXPECT_NEAR(norms[0], 4.24264068711928, 1e-6);
  EXPECT_NEAR(norms[1], 6.48074069840786, 1e-6);
  const auto whole = weight_norm(conv, {.dim = std::nullopt});
  EXPECT_EQ(whole.weight_g.rank(), 0u);
  const Tensor x = ones({1, 2, 3});
  EXPECT_NEAR((whole(x) - conv(x)).sum().item<double>(), 0, 1e-4);
}

TEST(WeightNorm, KeepsWhatIsFrozen) {
  Linear plain = known_linear();
  plain.bias.set_requires_grad(false);
  EXPECT_FALSE(weight_norm(plain).get_parameter("bias").requires_grad());
}

TEST(SpectralNorm, AsTorch) {
  const auto layer = spectral_norm(known_linear(false));
  EXPECT_EQ(names_of(layer), "weight_orig weight_u weight_v ");
  layer.get_buffer("weight_u").assign(tensor({0.6, 0.8}));
  layer.get_buffer("weight_v").assign(tensor({1.0, 0.0, 0.0}));
  const Tensor y = layer(known_input());
  const Numbers expected{1.05199874823974, -0.701332498826494, 0.876665623533118,
                         -0.175333124706624};
  expect_values(y, expected, "y");
  square(y).sum().backward();
  expect_values(layer.weight_orig.grad(),
                {1.52884477403826, -1.70505454482344, 1.31663300695192, -0.178929921616818,
                 -0.256974249154132, -1.70577458474946},
                "gradient");
  expect_values(layer.get_buffer("weight_u"), {0.790723707613913, 0.612173192991417}, "u");
  layer.eval();
  expect_values(layer(known_input()), expected, "in evaluation mode");
  expect_values(layer.get_buffer("weight_u"), {0.790723707613913, 0.612173192991417}, "u kept");
  expect_values(layer.remove()(known_input()), expected, "removed");
}

TEST(SpectralNorm, RowsOfTransposedConvolutionsAreOutputs) {
  ConvTranspose1d conv(2, 3, 1, {.bias = false});
  conv.to(DType::kDouble);
  conv.weight.assign((arange(6) - 1).to(DType::kDouble).reshape({2, 3, 1}));
  const auto layer = spectral_norm(conv);
  EXPECT_EQ(layer.get_buffer("weight_u").shape(), (Dims{3}));
  for (int i = 0; i < 40; ++i)
    layer(zeros({1, 2, 1}, {.dtype = DType::kDouble}));
  expect_values(layer.weight(),
                {-0.185225385031509, 0, 0.185225385031509, 0.370450770063018, 0.555676155094527,
                 0.740901540126036},
                "weight");
}

// Both in one net, in a compiled step: as eager.
TEST(Reparametrized, TrainsCompiled) {
  const auto losses = [](bool compiles) {
    manual_seed(5);
    const auto a = weight_norm(Linear(4, 8));
    const auto b = spectral_norm(Linear(8, 1));
    const Sequential net(a, Tanh(), b);
    const Tensor x = randn({16, 4}), y = randn({16, 1});
    optim::SGD optimizer(net.parameters(), {.lr = 0.1});
    const TensorFunction step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      optimizer.zero_grad();
      const Tensor loss = mse_loss(net(in[0]), in[1]);
      loss.backward();
      optimizer.step();
      optimizer.zero_grad();
      return {loss};
    };
    const auto compiled = compile(step);
    Numbers found;
    for (int i = 0; i < 8; ++i)
      found.push_back((compiles ? compiled({x, y}) : step({x, y}))[0].item<double>());
    return found;
  };
  const Numbers eager = losses(false), compiled = losses(true);
  EXPECT_LT(eager.back(), eager.front());
  for (size_t i = 0; i < eager.size(); ++i)
    EXPECT_NEAR(compiled[i], eager[i], 1e-5) << i;
}

struct Pair : Layer<Pair> {
  Linear one = add("one", Linear(2, 2));
  Tensor weight = one.weight;
  Tensor forward(const Tensor& x) const { return one(x); }
};

TEST(ReparametrizedRefusals, Arguments) {
  expect_refusals({
      {"Linear: expected a dim within [-2, 2) of weight float[3, 2], got 2",
       [] { weight_norm(Linear(2, 3), {.dim = 2}); }},
      {"Linear has no tensor 'bias' with axes that could be normalised",
       [] {
         weight_norm(Linear(2, 3, {.bias = false}), {.weight = &Linear::bias, .name = "bias"});
       }},
      {"Pair has no tensor 'weight'", [] { weight_norm(Pair()); }},
      {"expected a layer without layers of its own, got Pair",
       [] { weight_norm(Pair(), {.name = "one.weight"}); }},
      {"spectral_norm: expected at least 1 power iteration, got 0",
       [] { spectral_norm(Linear(2, 3), {.n_power_iterations = 0}); }},
  });
}

TEST(FlatParameters, ThereAndBack) {
  const Linear net(3, 2);
  const Tensor flat = parameters_to_vector(net.parameters());
  EXPECT_EQ(flat.shape(), (Dims{8}));
  flat.sum().backward();
  EXPECT_EQ(net.bias.grad().to_vector<float>(), (std::vector<float>{1, 1}));
  vector_to_parameters(arange(8), net.parameters());
  EXPECT_EQ(net.weight.to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(net.bias.to_vector<float>(), (std::vector<float>{6, 7}));
  expect_refusals({
      {"vector_to_parameters: expected a vector of 8 elements, got float[7]",
       [&] { vector_to_parameters(ones({7}), net.parameters()); }},
      {"parameters_to_vector: expected parameters, got none", [] { parameters_to_vector({}); }},
  });
}

struct Nested : Layer<Nested> {
  ModuleList<Linear> blocks =
      add("blocks", ModuleList<Linear>(2, [](size_t) { return Linear(2, 2); }));
  Linear head = add("head", Linear(2, 2));
  Tensor scale = buffer("scale", ones({2}));
  Tensor forward(const Tensor& x) const { return head(blocks[0](x)) * scale; }
};

TEST(ModulePaths, FindAndReplace) {
  Nested net;
  EXPECT_TRUE(net.get_submodule("").is_same(net));
  EXPECT_TRUE(net.get_submodule("blocks.1").is_same(net.blocks[1]));
  EXPECT_TRUE(net.get_parameter("blocks.1.bias").is_same(net.blocks[1].bias));
  EXPECT_TRUE(net.get_buffer("scale").is_same(net.scale));
  net.head.weight = net.head.replace_parameter("weight", net.blocks[0].weight);
  EXPECT_EQ(net.parameters().size(), 5u);
  net.head.bias = net.head.replace_parameter("bias", Tensor());
  EXPECT_EQ(net.parameters().size(), 4u);
  net.scale = net.replace_buffer("scale", full({2}, 3));
  EXPECT_EQ(net(ones({1, 2})).shape(), (Dims{1, 2}));
  expect_refusals({
      {"ModuleList: no module '2'; it has 0, 1", [&] { net.get_submodule("blocks.2.x"); }},
      {"Linear: no parameter 'bias'; it has weight", [&] { net.get_parameter("head.bias"); }},
      {"Nested: no buffer 'shift'; it has scale", [&] { net.replace_buffer("shift", ones({2})); }},
  });
}

// What a layer computes with is what is trained and saved, or an error.
TEST(ModulePaths, MembersAreTheRegisteredTensors) {
  const Tensor x = randn({2, 3, 4, 4}), row = randn({2, 3});
  const auto check = [](const char* what, auto layer, const auto& call, auto member) {
    SCOPED_TRACE(what);
    call(layer);
    const Tensor own = layer.*member;
    layer.*member = own.detach().clone();
    EXPECT_THROW(call(layer), Error);
    layer.*member = Tensor();
    EXPECT_THROW(call(layer), Error);
    layer.*member = own;
    call(layer);
    layer.*member = layer.replace_parameter("weight", own.detach() * 2);
    call(layer);
    layer.*member = own;
    EXPECT_THROW(call(layer), Error);
  };
  const auto images = [&](const auto& layer) { layer(x); };
  const auto rows = [&](const auto& layer) { layer(row); };
  check("Linear", Linear(3, 2), rows, &Linear::weight);
  check(
      "Bilinear", Bilinear(3, 3, 2), [&](const Bilinear& b) { b(row, row); }, &Bilinear::weight);
  check(
      "Embedding", Embedding(3, 2), [](const Embedding& e) { e(tensor<int64_t>({1})); },
      &Embedding::weight);
  check("Conv2d", Conv2d(3, 2, 3), images, &Conv2d::weight);
  check("ConvTranspose2d", ConvTranspose2d(3, 2, 3), images, &ConvTranspose2d::weight);
  check("BatchNorm2d", BatchNorm2d(3), images, &BatchNorm2d::weight);
  check("InstanceNorm", InstanceNorm(3, {.affine = true}), images, &InstanceNorm::weight);
  check("LayerNorm", LayerNorm(3), rows, &LayerNorm::weight);
  check("GroupNorm", GroupNorm(3, 3), images, &GroupNorm::weight);
  check("RMSNorm", RMSNorm(3), rows, &RMSNorm::weight);
  check("PReLU", PReLU(3), rows, &PReLU::weight);
  const LSTM lstm(4, 2);
  LSTM(lstm).replace_parameter("weight_ih_l0", randn({8, 4}));
  EXPECT_THROW(lstm(x[0]), Error);
  expect_refusals(
      {{"Linear: bias is another tensor than the registered one, which is what is "
        "trained and saved; set both: layer.bias = layer.replace_parameter(\"bias\"",
        [&] {
          Linear layer(3, 2);
          layer.bias = zeros({2});
          layer(row);
        }}});
}

TEST(ModulePaths, NormsComputeWithReplacedScales) {
  const Tensor x = randn({4, 3});
  LayerNorm layer(3);
  const std::vector<float> plain = layer(x).to_vector<float>();
  layer.weight = layer.replace_parameter("weight", full({3}, 2));
  std::vector<float> twice = layer(x).to_vector<float>();
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_FLOAT_EQ(twice[i], 2 * plain[i]);
  layer.weight = layer.replace_parameter("weight", Tensor());
  EXPECT_EQ(layer(x).to_vector<float>(), plain);
  const LayerNorm other(3);
  const auto normed = weight_norm(other, {.dim = std::nullopt});
  normed.get_parameter("weight_g").assign(normed.get_parameter("weight_g").detach() * 2);
  twice = normed(x).to_vector<float>();
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_NEAR(twice[i], 2 * plain[i], 1e-5);
}

TEST(ModulePaths, PrefixesOfStates) {
  const Linear net(2, 2), other(2, 2);
  const StateDict state = net.state_dict("module.");
  EXPECT_TRUE(state.contains("module.weight"));
  other.load_state_dict(without_prefix(state, "module."));
  EXPECT_EQ(other.weight.to_vector<float>(), net.weight.to_vector<float>());
  EXPECT_EQ(without_prefix(net.state_dict(), "module.").size(), 2u);
  expect_refusals({{"without_prefix: the state has both 'a' and 'm.a'", [] {
                      without_prefix({{"a", ones({1})}, {"m.a", ones({1})}}, "m.");
                    }}});
}

}  // namespace
}  // namespace sardonyx::eager::nn
