// What a session tells of how kernels were chosen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/session.h"

namespace sardonyx {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A model of one op whose other inputs are constants.
Model model_of(std::string_view op, const Tensor& x, const std::vector<Tensor>& constants) {
  Model model;
  GraphEmitter e(*model.graph);
  Vals inputs{
      GraphEmitter::wrap(model.graph->add_input("x", Type::tensor(x.dtype(), to_dims(x.shape()))))};
  for (const Tensor& constant : constants)
    inputs.push_back(e.constant(constant));
  model.graph->add_output(GraphEmitter::unwrap(e.call_many(op, inputs, {}, 1)[0]));
  return model;
}

SessionOptions keeping() {
  SessionOptions options;
  options.keep_kernel_attempts = true;
  return options;
}

std::vector<std::string> names_of(const std::vector<KernelAttempt>& attempts) {
  std::vector<std::string> names;
  for (const KernelAttempt& each : attempts)
    names.push_back(each.name);
  return names;
}

// The last one was taken, and all before it said why not.
void expect_decided(const NodeKernel& kernel) {
  ASSERT_FALSE(kernel.attempts.empty()) << kernel.op;
  for (const KernelAttempt& each : kernel.attempts) {
    const bool is_last = &each == &kernel.attempts.back();
    EXPECT_EQ(each.implementation, is_last ? kernel.implementation : "") << each.name;
    EXPECT_EQ(each.refusal.empty(), is_last) << each.name;
  }
}

const Tensor kImage = Tensor::zeros(DType::kFloat, {1, 3, 9, 9});
const Tensor kWindows = Tensor::zeros(DType::kFloat, {5, 3, 3, 3});

TEST(KernelAttempts, ToldInOrderWithReasons) {
  const Session session(model_of("Conv", kImage, {kWindows}), keeping());
  const std::vector<NodeKernel> kernels = session.kernels(std::vector<Datum>{kImage});
  const auto conv = std::ranges::find(kernels, "Conv", &NodeKernel::op);
  ASSERT_NE(conv, kernels.end());
  expect_decided(*conv);
  // Kernels that the convolution's entry asks itself are told as well.
  EXPECT_THAT(names_of(conv->attempts.back().inner), Contains("conv_nchw"));
}

TEST(KernelAttempts, NothingIsKeptUnasked) {
  const Session session(model_of("Conv", kImage, {kWindows}));
  for (const NodeKernel& kernel : session.kernels(std::vector<Datum>{kImage}))
    EXPECT_THAT(kernel.attempts, IsEmpty()) << kernel.op;
}

TEST(KernelAttempts, ReferenceIsTheLastOne) {
  SessionOptions options = keeping();
  options.providers = {"cpu"};
  const Tensor x = Tensor::zeros(DType::kDouble, {2, 3});
  const Session session(model_of("Tanh", x, {}), options);
  const std::vector<NodeKernel> kernels = session.kernels(std::vector<Datum>{x});
  ASSERT_EQ(kernels.size(), 1u);
  expect_decided(kernels[0]);
  EXPECT_EQ(kernels[0].implementation, "reference");
  EXPECT_THAT(names_of(kernels[0].attempts),
              ElementsAre("cpu/elementwise_f32", "float32", "reference"));
  EXPECT_EQ(kernels[0].attempts[0].refusal, "only float is computed here");
}

TEST(KernelAttempts, BodiesRunWhereAllRefuse) {
  const Tensor x = Tensor::zeros(DType::kDouble, {2, 3});
  const Session session(model_of("sardonyx::ReluGrad", x, {x}), keeping());
  const std::vector<NodeKernel> kernels = session.kernels(std::vector<Datum>{x});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].implementation, "body");
  ASSERT_FALSE(kernels[0].attempts.empty());
  for (const KernelAttempt& each : kernels[0].attempts)
    EXPECT_FALSE(each.refusal.empty()) << each.name;
  EXPECT_EQ(kernels[0].attempts.back().name, "reference");
}

TEST(KernelAttempts, InFloat32ToldWithin) {
  SessionOptions options = keeping();
  options.optimization_level = 0;
  const Tensor x = Tensor::zeros(DType::kFloat16, {2, 3});
  const Session session(model_of("Tanh", x, {}), options);
  const std::vector<NodeKernel> kernels = session.kernels(std::vector<Datum>{x});
  ASSERT_EQ(kernels.size(), 1u);
  expect_decided(kernels[0]);
  const KernelAttempt& taken = kernels[0].attempts.back();
  EXPECT_EQ(taken.name, "float32");
  ASSERT_FALSE(taken.inner.empty());
  EXPECT_FALSE(taken.inner.back().implementation.empty());
}

TEST(KernelAttempts, LoggedForDebugging) {
  std::string lines;
  SessionOptions options;
  options.log_level = LogLevel::kDebug;
  options.log = [&](LogLevel, std::string_view line) { lines += std::string(line) + "\n"; };
  const Session session(model_of("Conv", kImage, {kWindows}), options);
  session.prepare(std::vector<Datum>{kImage});
  EXPECT_THAT(lines, HasSubstr(" refused: "));
  EXPECT_THAT(lines, HasSubstr("onednn/convolution taken: "));
}

}  // namespace
}  // namespace sardonyx
