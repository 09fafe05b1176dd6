#include "eager/optim/averaged.h"

#include <gtest/gtest.h>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "eager/trace/trace.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::optim {
namespace {

// The values 1, 2, 4, 8 of one parameter in a row, averaged.
TEST(AveragedModel, MeansAndMovingAverages) {
  struct Case {
    AverageOptions options;
    std::vector<double> means;
  };
  const std::vector<Case> cases{{{}, {1, 1.5, 7.0 / 3, 3.75}},
                                {{.decay = 0.75}, {1, 1.25, 1.9375, 3.453125}},
                                {{.decay = 0}, {1, 2, 4, 8}}};
  for (const Case& one : cases) {
    for (const bool compiles : {false, true}) {
      const nn::Linear net(1, 1, {.bias = false});
      const AveragedModel average(net, one.options);
      const TensorFunction step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
        net.weight.assign(net.weight.detach() * 0 + in[0].sum());
        average.update();
        return {in[0] * 1};
      };
      const auto compiled = compile(step);
      double value = 1;
      for (const double mean : one.means) {
        const Tensor now = full({1, 1}, value);
        compiles ? compiled({now}) : step({now});
        EXPECT_NEAR(average.state_dict().at("module.weight").item<double>(), mean, 1e-6);
        value *= 2;
      }
      EXPECT_EQ(average.count(), 4);
      {
        const UseAverages scope(average);
        EXPECT_NEAR(net.weight.item<double>(), one.means.back(), 1e-6);
      }
      EXPECT_EQ(net.weight.item<double>(), 8);
      const AveragedModel resumed(net, one.options);
      resumed.load_state_dict(average.state_dict());
      const nn::Linear other(1, 1, {.bias = false});
      resumed.copy_to(other);
      EXPECT_NEAR(other.weight.item<double>(), one.means.back(), 1e-6);
      EXPECT_EQ(resumed.count(), 4);
    }
  }
}

TEST(AveragedModel, SmallTypesAreAveragedInFloat32) {
  const nn::Linear net(1, 1, {.bias = false});
  net.to(DType::kBFloat16);
  const AveragedModel average(net, {.decay = 0.999});
  net.weight.assign(zeros({1, 1}, {.dtype = DType::kBFloat16}));
  average.update();
  net.weight.assign(ones({1, 1}, {.dtype = DType::kBFloat16}));
  for (int i = 0; i < 3; ++i)
    average.update();
  EXPECT_NEAR(average.state_dict().at("module.weight").item<double>(), 1 - 0.997002999, 1e-7);
  const UseAverages scope(average);
  EXPECT_EQ(net.weight.dtype(), DType::kBFloat16);
}

TEST(AveragedModel, Buffers) {
  for (const bool averaged : {false, true}) {
    const nn::BatchNorm1d net(1);
    const AveragedModel average(net, {.use_buffers = averaged});
    for (const double value : {2.0, 4.0}) {
      net.running_mean.assign(full({1}, value));
      average.update();
    }
    const nn::BatchNorm1d other(1);
    average.copy_to(other);
    EXPECT_EQ(other.running_mean.item<double>(), averaged ? 3 : 4);
    EXPECT_TRUE(average.state_dict().contains("module.num_batches_tracked"));
    average.load_state_dict(average.state_dict());
  }
}

TEST(UpdateBn, MeansOverAllBatches) {
  const nn::BatchNorm2d norm(2);
  const nn::Sequential net(norm, nn::ReLU());
  net.eval();
  norm.running_mean.assign(full({2}, 7));
  manual_seed(4);
  const Tensor a = randn({4, 2, 3, 3}), b = randn({4, 2, 3, 3}) * 2 + 1;
  update_bn(net, [&] {
    net(a);
    net(b);
  });
  const Tensor mean = (a.mean({0, 2, 3}) + b.mean({0, 2, 3})) / 2;
  const Tensor spread = (var(a, {0, 2, 3}) + var(b, {0, 2, 3})) / 2;
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(norm.running_mean[i].item<double>(), mean[i].item<double>(), 1e-6);
    EXPECT_NEAR(norm.running_var[i].item<double>(), spread[i].item<double>(), 1e-5);
  }
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 2);
  EXPECT_FALSE(norm.is_training());
  net(a);  // no hook is left, and nothing changes in evaluation mode
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 2);
}

TEST(AveragedModelRefusals, Arguments) {
  const nn::Linear net(1, 1);
  expect_refusals({
      {"AveragedModel: expected a decay within [0, 1], got 2",
       [&] { AveragedModel(net, {.decay = 2}); }},
      {"AveragedModel::copy_to Linear: weight: expected shape [2, 1]",
       [&] { AveragedModel(net).copy_to(nn::Linear(1, 2)); }},
      {"load_state_dict of AveragedModel: missing n_averaged",
       [&] { AveragedModel(net).load_state_dict({}); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::optim
