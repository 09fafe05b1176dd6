// Training steps under Autocast, compiled: near to float32, and computed in bfloat16 where the CPU
// has instructions for it.
#include <gmock/gmock.h>

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "ir/type.h"
#include "providers/providers.h"

namespace sardonyx::eager {
namespace {

using testing::HasSubstr;
using testing::Not;

struct CastStep {
  const char* name;
  bool is_smooth;  // without kinks and maxima, over which rounding moves gradients
  nn::Module module;
  std::function<Tensor(const Tensor&)> forward;
  Tensor x, y;  // y: classes
};

std::vector<CastStep> cast_steps() {
  manual_seed(3);
  std::vector<CastStep> steps;
  const auto add = [&](const char* name, bool is_smooth, const auto& module, const Tensor& x) {
    steps.push_back({name, is_smooth, module, [module](const Tensor& in) { return module(in); }, x,
                     randint(0, 5, {x.size(0)})});
  };
  add("layers", false,
      nn::Sequential(nn::Linear(48, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(),
                     nn::Linear(64, 5)),
      randn({16, 48}));
  add("smooth layers", true,
      nn::Sequential(nn::Linear(48, 64), nn::Tanh(), nn::Linear(64, 64), nn::Tanh(),
                     nn::Linear(64, 5)),
      randn({16, 48}));
  add("convolutions", false,
      nn::Sequential(nn::Conv2d(3, 32, 5, {.stride = 2, .padding = 2}), nn::ReLU(),
                     nn::MaxPool2d(2), nn::Conv2d(32, 32, 3, {.padding = 1}), nn::ReLU(),
                     nn::Flatten(), nn::Linear(32 * 4 * 4, 5)),
      randn({4, 3, 16, 16}));
  add("smooth convolutions", true,
      nn::Sequential(nn::Conv2d(3, 32, 5, {.stride = 2, .padding = 2}), nn::Tanh(),
                     nn::Conv2d(32, 32, 3, {.padding = 1}), nn::Tanh(), nn::Flatten(),
                     nn::Linear(32 * 8 * 8, 5)),
      randn({4, 3, 16, 16}));
  return steps;
}

// The largest difference over the largest magnitude.
double relative_error(const Tensor& got, const Tensor& wanted) {
  const std::vector<float> a = got.to_vector<float>(), b = wanted.to_vector<float>();
  EXPECT_EQ(a.size(), b.size());
  double worst = 0, largest = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - b[i]));
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  return worst / largest;
}

std::vector<Tensor> gradients_of(const CastStep& step, bool casts, bool compiles,
                                 std::string* plan = nullptr) {
  const TensorFunction fn = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    Tensor loss;
    {
      const Autocast autocast(DType::kBFloat16, casts);
      loss = nn::cross_entropy(step.forward(in[0]), in[1]);
    }
    loss.backward();
    return {loss};
  };
  step.module.zero_grad();
  const Compiled compiled = compile(fn);
  std::vector<Tensor> found = compiles ? compiled({step.x, step.y}) : fn({step.x, step.y});
  if (plan) *plan = compiled.plan_text();
  for (const Tensor& parameter : step.module.parameters())
    found.push_back(parameter.grad());
  return found;
}

TEST(AutocastCompiled, GradientsAreNearToFloat32) {
  for (const CastStep& step : cast_steps()) {
    SCOPED_TRACE(step.name);
    std::string plan;
    const std::vector<Tensor> wanted = gradients_of(step, false, false),
                              eager = gradients_of(step, true, false),
                              got = gradients_of(step, true, true, &plan);
    double rounded = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(got[i].dtype(), DType::kFloat) << i;
      // Rounding moves values over the kinks of ReLU and the maxima of windows, op by op as well.
      EXPECT_LT(relative_error(got[i], wanted[i]),
                std::max(3e-2, 1.5 * relative_error(eager[i], wanted[i])))
          << i;
      if (step.is_smooth) {
        EXPECT_LT(relative_error(got[i], eager[i]), 3e-2) << i;
      }
      rounded = std::max(rounded, relative_error(got[i], wanted[i]));
    }
    EXPECT_THAT(plan, Not(HasSubstr("in float32"))) << plan;
    EXPECT_THAT(plan, Not(HasSubstr("MaxPoolGrad: body"))) << plan;
    if (!computes_bfloat16()) continue;
    EXPECT_GT(rounded, 1e-6) << "nothing was rounded to bfloat16";
    EXPECT_THAT(plan, testing::ContainsRegex("(Gemm|MatMul) .*: [^;]*; bfloat16")) << plan;
  }
}

// A product outside of the guard keeps its digits; those within it are bfloat16 all the same.
TEST(AutocastCompiled, FloatProductsStayInFloat32) {
  const Tensor x = randn({16, 32}), y = randn({16, 32}), w = randn({32, 32}), v = randn({32, 32});
  const auto fn = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    Tensor narrow;
    {
      const Autocast autocast;
      narrow = matmul(in[0], w);
    }
    return {narrow, matmul(in[1], v), matmul(narrow.to(DType::kFloat), v)};
  };
  const Compiled compiled = compile(fn);
  const std::vector<Tensor> got = compiled({x, y}), wanted = fn({x, y});
  EXPECT_EQ(got[0].dtype(), DType::kBFloat16);
  EXPECT_LT(relative_error(got[0].to(DType::kFloat), wanted[0].to(DType::kFloat)), 1e-2);
  EXPECT_LT(relative_error(got[1], wanted[1]), 1e-6);
  EXPECT_LT(relative_error(got[2], wanted[2]), 3e-2);
  const testing::Matcher<std::string> is_narrow = testing::ContainsRegex("MatMul .*; bfloat16");
  EXPECT_EQ(testing::Value(compiled.plan_text(), is_narrow), computes_bfloat16())
      << compiled.plan_text();
}

}  // namespace
}  // namespace sardonyx::eager
