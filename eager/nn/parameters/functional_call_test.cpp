#include "eager/nn/parameters/functional_call.h"

#include <gtest/gtest.h>

#include "eager/autograd/autograd.h"
#include "eager/autograd/jacobian.h"
#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::nn {
namespace {

using Numbers = std::vector<double>;

Numbers numbers_of(const Tensor& x) {
  return x.to(DType::kDouble).to_vector<double>();
}

TEST(FunctionalCall, GradientsFlowToWhatIsGiven) {
  const Linear layer(2, 2);
  const Numbers before = numbers_of(layer.weight);
  const Tensor x = tensor({{1.f, 2.f}});
  const Tensor weight = tensor({{1.f, 2.f}, {3.f, 4.f}}).set_requires_grad();
  const Tensor y = functional_call(layer, {{"weight", weight * 2}}, x);
  EXPECT_EQ(numbers_of(y - layer.bias), (Numbers{10, 22}));
  y.sum().backward();
  EXPECT_EQ(numbers_of(weight.grad()), (Numbers{2, 4, 2, 4}));
  EXPECT_FALSE(layer.weight.grad().defined());
  EXPECT_EQ(numbers_of(layer.bias.grad()), (Numbers{1, 1}));
  EXPECT_EQ(numbers_of(layer.weight), before);
}

struct Tied : Layer<Tied> {
  Linear in = add("in", Linear(3, 3, {.bias = false}));
  Linear out = add("out", Linear(3, 3, {.bias = false}));
  Tied() { out.weight = out.replace_parameter("weight", in.weight); }
  Tensor forward(const Tensor& x) const {
    // Its value and whether it is trained are those of what is given, too.
    sum = in.weight.detach().sum().item<float>();
    is_trained = in.weight.requires_grad();
    return out(in(x));
  }
  mutable float sum = 0;
  mutable bool is_trained = true;
};

TEST(FunctionalCall, ByPathAndTied) {
  const Tied net;
  const Tensor x = randn({2, 3}), weight = eye(3) * 2;
  for (const char* path : {"in.weight", "out.weight"}) {
    const Tensor y = functional_call(net, {{path, weight}}, x);
    EXPECT_TRUE(equal(y, x * 4)) << path;
    EXPECT_EQ(net.sum, 6) << path;
    EXPECT_FALSE(net.is_trained);
  }
  (void)net(x);
  EXPECT_TRUE(net.is_trained);
}

TEST(FunctionalCall, AssignsToTheBuffersThatAreGiven) {
  const BatchNorm1d norm(1, {.momentum = 1.0});
  const Tensor mean = tensor({5.f}), x = tensor({{1.f}, {3.f}});
  (void)functional_call(norm, {{"running_mean", mean}}, x);
  EXPECT_EQ(numbers_of(mean), Numbers{2});
  EXPECT_EQ(numbers_of(norm.running_mean), Numbers{0});
  EXPECT_EQ(numbers_of(norm.running_var), Numbers{2});  // was not given
}

// One inner step of gradient descent, and the gradient through it (MAML).
TEST(FunctionalCall, SecondDerivativesThroughAStep) {
  Linear layer(1, 1, {.bias = false});
  layer.to(DType::kDouble);
  layer.weight.assign(tensor({{0.5}}));
  const Tensor x = tensor({{2.0}}), inner_target = tensor({{3.0}}), outer_target = tensor({{1.0}});
  const auto loss_of = [](const Tensor& y, const Tensor& t) { return square(y - t).sum(); };
  const auto outer_loss = [&](const Tensor& at) {
    const Tensor inner =
        loss_of(functional_call(layer, {{"weight", at}}, at.detach() * 0 + x), inner_target);
    const Tensor slope = grad({inner}, {at}, {.create_graph = true})[0];
    return loss_of(functional_call(layer, {{"weight", at - 0.1 * slope}}, x), outer_target);
  };
  const Tensor at = tensor({{0.5}}).set_requires_grad();
  outer_loss(at).backward();
  // w' = w - 0.4 (2w - 3) = 0.2 w + 1.2; d (2w' - 1)^2 / dw = 4 (2w' - 1) * 0.2
  EXPECT_NEAR(at.grad().item<double>(), 4 * (2 * 1.3 - 1) * 0.2, 1e-12);
  EXPECT_FALSE(layer.weight.grad().defined());
}

TEST(FunctionalCall, InTracesUnderAutocastAndForEachOfManyModels) {
  const Linear layer(3, 2);
  const Tensor x = randn({4, 3}), weights = randn({5, 2, 3});
  const Tensor bias = zeros({2});
  const auto of = [&](const Tensor& weight) {
    return functional_call(layer, {{"weight", weight}, {"bias", bias}}, x);
  };
  const Tensor expected = matmul(x, weights.select(0, 1).t());
  EXPECT_TRUE(allclose(of(weights.select(0, 1)), expected));
  EXPECT_TRUE(allclose(compile(of)(weights.select(0, 1)), expected));
  EXPECT_TRUE(allclose(vmap(TensorMap(of))(weights).select(0, 1), expected));
  const Autocast autocast;
  EXPECT_EQ(of(weights.select(0, 1)).dtype(), DType::kBFloat16);
}

// Each stands in for the other.
TEST(FunctionalCall, TakesWhatIsGivenAsItIs) {
  const Linear one(1, 1), two(1, 1);
  one.weight.assign(tensor({{2.f}}));
  two.weight.assign(tensor({{3.f}}));
  const Sequential both(one, two);
  both.get_parameter("0.bias").assign(zeros({1}));
  both.get_parameter("1.bias").assign(tensor({1.f}));
  const Tensor x = tensor({{1.f}});
  EXPECT_EQ(both(x).item<float>(), 7);  // 1 * 2 * 3 + 1
  const Tensor swapped = functional_call(
      both, {{"0.bias", both.get_parameter("1.bias")}, {"1.bias", both.get_parameter("0.bias")}},
      x);
  EXPECT_EQ(swapped.item<float>(), 9);  // (1 * 2 + 1) * 3
}

// What was recorded before keeps its tensors.
TEST(FunctionalCall, LeavesOtherGradientsAlone) {
  const Linear layer(2, 1, {.bias = false});
  layer.weight.assign(tensor({{2.f, 3.f}}));
  const Tensor x = tensor({{1.f, 1.f}}).set_requires_grad();
  const Tensor y = layer(x);
  const UseTensors scope(layer, {{"weight", zeros({1, 2})}});
  y.sum().backward();
  EXPECT_EQ(numbers_of(x.grad()), (Numbers{2, 3}));
}

TEST(FunctionalCall, Refusals) {
  const Linear layer(2, 1);
  const Tensor x = ones({1, 2});
  expect_refusals({
      {"functional_call: Linear has no parameter or buffer 'wieght'",
       [&] {
         functional_call(layer, {{"wieght", ones({1, 2})}}, x);
       }},
      {"functional_call: weight: expected a tensor of the shape of float[1, 2], got float[2, 1]",
       [&] {
         functional_call(layer, {{"weight", ones({2, 1})}}, x);
       }},
      {"functional_call: bias: expected a tensor of the shape of float[1], got an undefined tensor",
       [&] {
         functional_call(layer, {{"bias", Tensor()}}, x);
       }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::nn
