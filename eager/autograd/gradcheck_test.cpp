#include "eager/autograd/gradcheck.h"

#include <gtest/gtest.h>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

// A square whose rule gives `slope` times x.
std::function<Tensors(const Tensors&)> squares_with(double slope) {
  return [slope](const Tensors& in) {
    const CustomFunction rule{
        .forward = [](const Tensors& x) { return Tensors{square(x[0])}; },
        .backward = [slope](const Tensors& x, const Tensors&,
                            const Tensors& d) { return Tensors{d[0] * x[0] * slope}; }};
    return apply(rule, {in[0]});
  };
}

TEST(Gradcheck, FindsTheElementWhoseRuleIsWrong) {
  const Tensor x = tensor({1.0, 0.0, -2.0}).set_requires_grad(true);
  EXPECT_TRUE(gradcheck(squares_with(2), {x}));
  EXPECT_FALSE(gradcheck(squares_with(3), {x}, {.throws = false}));
  expect_refusal(ErrorCode::kInvalidArgument,
                 "gradcheck: the gradient of element 0 of result 0 by element 0 of input 0",
                 [&] { static_cast<void>(gradcheck(squares_with(3), {x})); });
  EXPECT_FALSE(x.grad().defined());
}

TEST(Gradcheck, OfSeveralInputsAndResults) {
  const Tensor x = tensor({1.0, 3.0}).set_requires_grad(true), fixed = tensor({2.0, 5.0});
  const Tensor y = tensor({0.5, -1.0}).set_requires_grad(true);
  const auto function = [](const Tensors& in) {
    return Tensors{in[0] * in[1] * in[2], argmax(in[0]), in[2].sum(), in[1]};
  };
  EXPECT_TRUE(gradcheck(function, {x, fixed, y}));
}

TEST(Gradcheck, Refusals) {
  const auto same = [](const Tensors& in) { return in; };
  expect_refusal(ErrorCode::kInvalidArgument, "gradcheck: input 0: expected float64", [&] {
    static_cast<void>(gradcheck(same, {zeros({2}, {.requires_grad = true})}));
  });
  expect_refusal(ErrorCode::kInvalidArgument, "expected an input that requires gradients",
                 [&] { static_cast<void>(gradcheck(same, {tensor({1.0})})); });
}

}  // namespace
}  // namespace sardonyx::eager
