#include "ir/ops/gemm/matmul.h"

#include <gtest/gtest.h>

#include "ir/reference_evaluator.h"

namespace sardonyx::ops {
namespace {

Tensor run(const std::string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs = {}) {
  const OpDef& row = op_named(op);
  const std::vector<Datum> data(inputs.begin(), inputs.end());
  return evaluate(row, Attrs::parse(*row.attrs, attrs), data, 1)[0].tensor();
}

TEST(MatMul, ShapesFollowNumpy) {
  struct Case {
    Shape a, b, out;
  };
  const Case cases[] = {
      {{3}, {3}, {}},
      {{3}, {3, 4}, {4}},
      {{2, 3}, {3}, {2}},
      {{3}, {5, 3, 4}, {5, 4}},
      {{5, 2, 3}, {3}, {5, 2}},
      {{2, 3}, {3, 4}, {2, 4}},
      {{5, 1, 2, 3}, {4, 3, 2}, {5, 4, 2, 2}},
      {{2, 0}, {0, 3}, {2, 3}},
  };
  for (const Case& c : cases) {
    const Tensor out =
        run("MatMul", {Tensor::zeros(DType::kFloat, c.a), Tensor::zeros(DType::kFloat, c.b)});
    EXPECT_EQ(out.shape(), c.out) << to_text(c.a) << " x " << to_text(c.b);
  }
  for (const auto& [a, b] :
       {std::pair<Shape, Shape>{{}, {3}}, {{2, 3}, {2, 3}}, {{2, 2, 3}, {3, 3, 2}}}) {
    EXPECT_THROW(run("MatMul", {Tensor::zeros(DType::kFloat, a), Tensor::zeros(DType::kFloat, b)}),
                 Error);
  }
}

TEST(MatMul, RoundsOnceAndWraps) {
  // In float16 every sum but the last would lose its ones: 2048 + 1 = 2048.
  std::vector<Float16> ones(8, Float16(1)), factors(8, Float16(1));
  ones[0] = Float16(2048);
  const Tensor dot = run("MatMul", {Tensor::vector(ones), Tensor::vector(factors)});
  EXPECT_EQ(static_cast<float>(dot.values<Float16>()[0]), 2056);
  const Tensor large = Tensor::vector<int32_t>({65536, 3});
  EXPECT_EQ(run("MatMul", {large, large}).values<int32_t>()[0], 9);
}

TEST(Gemm, IntegerFactors) {
  const Tensor a = Tensor::of<int32_t>({1, 2}, {1, 2}), b = Tensor::of<int32_t>({3, 4}, {2, 1});
  const Tensor c = Tensor::scalar<int32_t>(5);
  const auto value = [&](float alpha, float beta) {
    return run("Gemm", {a, b, c}, {{"alpha", alpha}, {"beta", beta}}).values<int32_t>()[0];
  };
  EXPECT_EQ(value(1, 1), 16);
  EXPECT_EQ(value(-2, 3), -7);
  EXPECT_EQ(value(0.5f, 0), 5);  // 11 / 2, cut
  EXPECT_EQ(value(0, 0.5f), 2);
}

TEST(QLinearMatMul, RoundsToEvenAndSaturates) {
  const Tensor one = Tensor::scalar<float>(1), half = Tensor::scalar<float>(0.5f);
  const Tensor a = Tensor::of<uint8_t>({11, 13, 15, 250}, {4, 1}),
               b = Tensor::of<int8_t>({1}, {1, 1});
  const Tensor out =
      run("QLinearMatMul", {a, half, Tensor::scalar<uint8_t>(10), b, one, Tensor::scalar<int8_t>(0),
                            one, Tensor::scalar<int8_t>(20)});
  EXPECT_EQ(out, Tensor::of<int8_t>({20, 22, 22, 127}, {4, 1}));  // 0.5, 1.5, 2.5, 120
}

TEST(Det, SignsAndSingularMatrices) {
  EXPECT_EQ(run("Det", {Tensor::of<double>({0, 2, 3, 0}, {2, 2})}).values<double>()[0], -6);
  EXPECT_EQ(run("Det", {Tensor::of<float>({1, 2, 2, 4}, {2, 2})}).values<float>()[0], 0);
  EXPECT_EQ(run("Det", {Tensor::zeros(DType::kFloat, {0, 0})}).values<float>()[0], 1);
}

}  // namespace
}  // namespace sardonyx::ops
