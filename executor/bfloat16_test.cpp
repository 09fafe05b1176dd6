// Precision::kBFloat16: near to float32, and really computed in bfloat16.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "executor/session.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

using testing::HasSubstr;

class BFloat16Test : public testing::Test {
 protected:
  BFloat16Test() : emitter_(*model_.graph) {}

  Tensor random(const Shape& shape, float scale) {
    Tensor tensor = Tensor::allocate(DType::kFloat, shape);
    std::normal_distribution<float> normal(0, scale);
    for (float& element : tensor.mutable_values<float>())
      element = normal(engine_);
    return tensor;
  }
  Val weights(const Shape& shape, float scale) { return emitter_.constant(random(shape, scale)); }
  Val input(const Shape& shape) {
    return GraphEmitter::wrap(
        model_.graph->add_input("x", Type::tensor(DType::kFloat, to_dims(shape))));
  }
  void output(const Val& value) { model_.graph->add_output(GraphEmitter::unwrap(value)); }
  Model copy() const {
    Model model = model_;
    model.graph = clone(*model_.graph);
    return model;
  }

  // Runs in both precisions; the largest difference over the largest magnitude.
  double error(const Tensor& x) {
    const Session wide(copy());
    SessionOptions options;
    options.precision = Precision::kBFloat16;
    const Session narrow(copy(), options);
    const std::vector<Datum> given{Datum(x)};
    plan_ = narrow.plan_text(given);
    const Tensor expected = wide.run(given)[0].tensor(), got = narrow.run(given)[0].tensor();
    EXPECT_EQ(got.dtype(), DType::kFloat);
    double worst = 0, largest = 0;
    for (size_t i = 0; i < expected.values<float>().size(); ++i) {
      const double wanted = expected.values<float>()[i];
      worst = std::max(worst, std::fabs(got.values<float>()[i] - wanted));
      largest = std::max(largest, std::fabs(wanted));
    }
    return worst / largest;
  }

  Model model_;
  GraphEmitter emitter_;
  std::mt19937 engine_{7};
  std::string plan_;
};

TEST_F(BFloat16Test, ConvolutionsStayNarrowBetween) {
  if (!computes_bfloat16()) GTEST_SKIP() << "this CPU has no bfloat16 instructions";
  GraphEmitter& e = emitter_;
  const AttrMap pads{{"pads", std::vector<int64_t>{1, 1, 1, 1}}};
  const Val x = input({2, 3, 20, 20});
  const Val first = e.call(
      "Relu", {e.call("Conv", {x, weights({32, 3, 3, 3}, 0.2f), weights({32}, 0.1f)}, pads)});
  const Val second = e.call("Conv", {first, weights({32, 32, 3, 3}, 0.06f)}, pads);
  const Val sum = e.call("Relu", {e.call("Add", {second, first})});
  const Val pooled = e.call(
      "MaxPool", {sum},
      {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  const Val up = e.call("ConvTranspose", {pooled, weights({32, 16, 2, 2}, 0.1f)},
                        {{"strides", std::vector<int64_t>{2, 2}}});
  const Val joined = e.call("Concat", {up, sum}, {{"axis", int64_t{1}}});
  const Val deep = e.call(
      "HardSwish", {e.call("Conv", {joined, weights({64, 3, 3, 3}, 0.2f)},
                           {{"group", int64_t{16}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}})});
  output(
      e.call("Softmax", {e.call("Gemm", {e.call("Flatten", {e.call("GlobalAveragePool", {deep})}),
                                         weights({64, 10}, 0.3f)})}));
  EXPECT_LT(error(random({2, 3, 20, 20}, 1)), 1e-2);
  EXPECT_GT(error(random({2, 3, 20, 20}, 1)), 1e-7) << "nothing was rounded to bfloat16";
  EXPECT_THAT(plan_, Not(HasSubstr("reference"))) << plan_;
  EXPECT_THAT(plan_, HasSubstr("bfloat16")) << plan_;
}

// Twice the rate of float32 is less than Winograd's algorithm saves; tiles (AMX) give far more.
TEST_F(BFloat16Test, WinogradStaysWideWhereItIsFaster) {
  if (!computes_bfloat16()) GTEST_SKIP() << "this CPU has no bfloat16 instructions";
  GraphEmitter& e = emitter_;
  const Val x = input({1, 64, 28, 28});
  const Val first = e.call("Relu", {e.call("Conv", {x, weights({64, 64, 1, 1}, 0.1f)})});
  const Val second = e.call("Conv", {first, weights({64, 64, 3, 3}, 0.04f)},
                            {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  output(e.call("Conv", {second, weights({32, 64, 1, 1}, 0.1f)}));
  EXPECT_LT(error(random({1, 64, 28, 28}, 1)), 1e-2);
  EXPECT_EQ(plan_.find("winograd") == std::string::npos, computes_bfloat16_by_tiles()) << plan_;
  EXPECT_THAT(plan_, HasSubstr("bfloat16")) << plan_;
}

TEST_F(BFloat16Test, TransformersKeepTheirResidualsWide) {
  if (!computes_bfloat16()) GTEST_SKIP() << "this CPU has no bfloat16 instructions";
  GraphEmitter& e = emitter_;
  const Val x = input({2, 24, 64});
  const Val norm = e.call("LayerNormalization", {x, weights({64}, 1), weights({64}, 1)});
  const Val q = e.call("MatMul", {norm, weights({64, 64}, 0.03f)}),
            k = e.call("MatMul", {norm, weights({64, 64}, 0.03f)});
  const Val scores = e.call(
      "Softmax",
      {e.call("MatMul", {q, e.call("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 2, 1}}})})});
  const Val mixed = e.call("Add", {x, e.call("MatMul", {scores, norm})});
  const Val wide = e.call(
      "Gelu",
      {e.call("Add", {e.call("MatMul", {mixed, weights({64, 256}, 0.1f)}), weights({256}, 0.1f)})});
  output(e.call("Add", {mixed, e.call("MatMul", {wide, weights({256, 64}, 0.05f)})}));
  EXPECT_LT(error(random({2, 24, 64}, 1)), 1e-2);
  EXPECT_GT(error(random({2, 24, 64}, 1)), 1e-7) << "nothing was rounded to bfloat16";
  EXPECT_THAT(plan_, Not(HasSubstr("reference"))) << plan_;
  EXPECT_THAT(plan_, HasSubstr("bfloat16")) << plan_;
}

TEST_F(BFloat16Test, IsRefusedWhereTheCpuHasNone) {
  if (computes_bfloat16()) GTEST_SKIP() << "this CPU has bfloat16 instructions";
  output(emitter_.call("Relu", {input({1})}));
  SessionOptions options;
  options.precision = Precision::kBFloat16;
  EXPECT_THROW(Session(copy(), options), Error);
}

}  // namespace
}  // namespace sardonyx
