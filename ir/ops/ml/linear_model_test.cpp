#include <cmath>
#include <limits>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

TEST(LinearClassifier, ManyClasses) {
  const Datum x = Tensor::of<int64_t>({1, 2, -1, 0}, {2, 2});
  AttrMap attrs{{"coefficients", Floats{1, 0, 0, 1, 1, 1}},
                {"intercepts", Floats{0, 0.5f, -1}},
                {"classlabels_strings", Strings{"a", "b", "c"}}};
  auto out = run_op("ai.onnx.ml::LinearClassifier", {x}, attrs, 2);
  EXPECT_EQ(elements<std::string>(out[0]), (Strings{"b", "b"}));
  expect_near(out[1], {1, 2.5, 2, -1, 0.5, -2}, 1e-6);
  attrs["post_transform"] = std::string("LOGISTIC");
  out = run_op("ai.onnx.ml::LinearClassifier", {x}, attrs, 2);
  EXPECT_NEAR(out[1].tensor().values<float>()[0], 1 / (1 + std::exp(-1.0)), 1e-6);
}

TEST(LinearClassifier, OneScoreForTwoClasses) {
  const Datum x = Tensor::of<float>({1, -1}, {2, 1});
  const AttrMap attrs{{"coefficients", Floats{0.25f}},
                      {"intercepts", Floats{0.125f}},
                      {"classlabels_ints", Ints{7, 9}}};
  const auto out = run_op("ai.onnx.ml::LinearClassifier", {x}, attrs, 2);
  EXPECT_EQ(elements<int64_t>(out[0]), (Ints{9, 7}));
  expect_near(out[1], {0.625, 0.375, 1.125, -0.125}, 1e-6);
}

// Scores 0.49 and -0.09 of the second class.
TEST(LinearClassifier, OneRowOfCoefficientsForTwoLabels) {
  const Datum x = Tensor::of<float>({0.5f, 0.6f, -0.9f, 0.2f}, {2, 2});
  AttrMap attrs{{"coefficients", Floats{0.3f, 0.4f}},
                {"intercepts", Floats{0.1f}},
                {"classlabels_ints", Ints{4, 5}}};
  const std::vector<double> plain{0.51, 0.49, 1.09, -0.09};
  const std::vector<std::pair<std::string, std::vector<double>>> cases{
      {"NONE", plain},
      {"SOFTMAX", plain},
      {"SOFTMAX_ZERO", plain},
      {"LOGISTIC", {0.379894, 0.620106, 0.522485, 0.477515}}};
  for (const auto& [transform, wanted] : cases) {
    attrs["post_transform"] = transform;
    const auto out = run_op("ai.onnx.ml::LinearClassifier", {x}, attrs, 2);
    EXPECT_EQ(elements<int64_t>(out[0]), (Ints{5, 4}));
    expect_near(out[1], wanted, 1e-6);
  }
}

TEST(LinearRegressor, TargetsAndErrors) {
  const Datum x = Tensor::vector<float>({1, 2});
  AttrMap attrs{{"coefficients", Floats{1, 2, 3, 4}},
                {"intercepts", Floats{0.5f, -0.5f}},
                {"targets", int64_t{2}}};
  const auto out = run_op("ai.onnx.ml::LinearRegressor", {x}, attrs);
  EXPECT_EQ(out[0].tensor().shape(), (Shape{1, 2}));
  expect_near(out[0], {5.5, 10.5}, 1e-6);
  attrs["coefficients"] = Floats{1, 2, 3};
  EXPECT_NE(error_of("ai.onnx.ml::LinearRegressor", {x}, attrs).find("2 rows of 2"),
            std::string::npos);
  attrs["targets"] = int64_t{0};
  EXPECT_NE(error_of("ai.onnx.ml::LinearRegressor", {x}, attrs).find("targets"), std::string::npos);
}

TEST(SvmRegressor, Kernels) {
  const Datum x = Tensor::of<float>({1, 2}, {1, 2});
  AttrMap attrs{{"support_vectors", Floats{1, 0, 0, -1}},
                {"coefficients", Floats{2, -1}},
                {"n_supports", int64_t{2}},
                {"kernel_params", Floats{0.5f, 1, 2}},
                {"rho", Floats{0.25f}}};
  // Products with the support vectors: 1, -2; squared distances: 4, 10.
  const std::vector<std::pair<std::string, double>> cases{
      {"LINEAR", 2 * 1 + 2 + 0.25},
      {"POLY", 2 * 2.25 - 0 + 0.25},
      {"RBF", 2 * std::exp(-2.0) - std::exp(-5.0) + 0.25},
      {"SIGMOID", 2 * std::tanh(1.5) - std::tanh(0.0) + 0.25}};
  for (const auto& [kernel, wanted] : cases) {
    attrs["kernel_type"] = kernel;
    expect_near(run_op("ai.onnx.ml::SVMRegressor", {x}, attrs)[0], {wanted}, 1e-6);
  }
  attrs["one_class"] = int64_t{1};
  expect_near(run_op("ai.onnx.ml::SVMRegressor", {x}, attrs)[0], {1}, 0);
  attrs["n_supports"] = int64_t{3};
  EXPECT_NE(error_of("ai.onnx.ml::SVMRegressor", {x}, attrs).find("support_vectors"),
            std::string::npos);
}

TEST(SvmClassifier, PairsOfClasses) {
  const Datum x = Tensor::of<float>({1, 2}, {1, 2});
  AttrMap attrs{{"support_vectors", Floats{1, 0, 0, 1, 1, 1}},
                {"vectors_per_class", Ints{1, 1, 1}},
                {"coefficients", Floats{1, 2, 3, 4, 5, 6}},
                {"rho", Floats{-10, 0, 1}},
                {"classlabels_ints", Ints{5, 6, 7}}};
  // Kernel values 1, 2, 3. Pair (0,1): c[0][0]*1 + c[0][1]*2 = 5; (0,2): c[1][0]*1 + c[0][2]*3 =
  // 13; (1,2): c[1][1]*2 + c[1][2]*3 = 28.
  auto out = run_op("ai.onnx.ml::SVMClassifier", {x}, attrs, 2);
  expect_near(out[1], {-5, 13, 29}, 1e-5);
  EXPECT_EQ(elements<int64_t>(out[0]), (Ints{6}));  // one vote for 0, two for 1
  attrs["prob_a"] = Floats{-1, -1, -1};
  attrs["prob_b"] = Floats{0, 0, 0};
  out = run_op("ai.onnx.ml::SVMClassifier", {x}, attrs, 2);
  const auto p = out[1].tensor().to_doubles();
  EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-5);
  EXPECT_GT(p[1], p[0]);
  attrs["rho"] = Floats{0, 0};
  EXPECT_NE(error_of("ai.onnx.ml::SVMClassifier", {x}, attrs, 2).find("rho"), std::string::npos);
  attrs["vectors_per_class"] = Ints{1, -1, 3};
  EXPECT_NE(error_of("ai.onnx.ml::SVMClassifier", {x}, attrs, 2).find("vectors_per_class"),
            std::string::npos);
}

TEST(SvmClassifier, TwoClassesAndLinearModels) {
  const Datum x = Tensor::of<float>({1, 2}, {1, 2});
  AttrMap attrs{{"support_vectors", Floats{1, 0, 0, 1}},
                {"vectors_per_class", Ints{1, 1}},
                {"coefficients", Floats{1, -2}},
                {"rho", Floats{0.5f}},
                {"classlabels_strings", Strings{"no", "yes"}}};
  auto out = run_op("ai.onnx.ml::SVMClassifier", {x}, attrs, 2);
  EXPECT_EQ(elements<std::string>(out[0]), (Strings{"yes"}));  // 1 - 4 + 0.5 < 0
  expect_near(out[1], {2.5, -2.5}, 1e-6);  // the margin of the first class is -2.5
  attrs["post_transform"] = std::string("LOGISTIC");
  const double second = 1 / (1 + std::exp(2.5));
  expect_near(run_op("ai.onnx.ml::SVMClassifier", {x}, attrs, 2)[1], {1 - second, second}, 1e-6);
  attrs["post_transform"] = std::string("SOFTMAX");
  expect_near(run_op("ai.onnx.ml::SVMClassifier", {x}, attrs, 2)[1], {3.5, -2.5}, 1e-6);
  out = run_op("ai.onnx.ml::SVMClassifier", {x},
               {{"coefficients", Floats{1, 0, 0, -1, 1, 1}},
                {"rho", Floats{0.5f}},
                {"classlabels_ints", Ints{1, 2, 3}}},
               2);
  EXPECT_EQ(elements<int64_t>(out[0]), (Ints{3}));
  expect_near(out[1], {1.5, -1.5, 3.5}, 1e-6);
}

TEST(Scaler, OffsetThenScale) {
  const Datum x = Tensor::of<int32_t>({1, 2, 3, 4}, {2, 2});
  expect_near(
      run_op("ai.onnx.ml::Scaler", {x}, {{"offset", Floats{1, -1}}, {"scale", Floats{0.5f, 2}}})[0],
      {0, 6, 1, 10}, 1e-6);
  EXPECT_NE(error_of("ai.onnx.ml::Scaler", {x}, {{"scale", Floats{1, 2, 3}}}).find("scale"),
            std::string::npos);
}

TEST(Normalizer, RowsAlone) {
  const Datum x = Tensor::of<float>({-3, 4, 0, 0}, {2, 2});
  const std::vector<std::pair<std::string, std::vector<double>>> cases{
      {"MAX", {-0.75, 1, 0, 0}}, {"L1", {-3.0 / 7, 4.0 / 7, 0, 0}}, {"L2", {-0.6, 0.8, 0, 0}}};
  for (const auto& [norm, wanted] : cases) {
    expect_near(run_op("ai.onnx.ml::Normalizer", {x}, {{"norm", norm}})[0], wanted, 1e-6);
  }
}

TEST(Imputer, ReplacesValuesAndNans) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_near(run_op("ai.onnx.ml::Imputer", {Tensor::of<float>({nan, 1, 2, nan}, {2, 2})},
                     {{"imputed_value_floats", Floats{7, 8}}, {"replaced_value_float", nan}})[0],
              {7, 1, 2, 8}, 0);
  expect_near(run_op("ai.onnx.ml::Imputer", {Tensor::of<int64_t>({0, 1, 5, 0}, {2, 2})},
                     {{"imputed_value_int64s", Ints{3}}, {"replaced_value_int64", int64_t{5}}})[0],
              {0, 1, 3, 0}, 0);
  std::vector<double> many(21), wanted;  // rows of 7: longer than vectors, with a rest
  for (size_t i = 0; i < many.size(); ++i) {
    many[i] = i % 4 == 0 ? -1 : static_cast<double>(i);
    wanted.push_back(i % 4 == 0 ? static_cast<double>(i % 7 + 50) : many[i]);
  }
  const AttrMap by_feature{{"imputed_value_floats", Floats{50, 51, 52, 53, 54, 55, 56}},
                           {"replaced_value_float", -1.0f}};
  expect_near(run_op("ai.onnx.ml::Imputer", {Tensor::of(many, {3, 7})}, by_feature)[0], wanted, 0);
  EXPECT_NE(error_of("ai.onnx.ml::Imputer", {Tensor::vector<float>({1, 2, 3})},
                     {{"imputed_value_floats", Floats{1, 2}}}),
            "");
}

TEST(Binarizer, GreaterThanThreshold) {
  expect_near(run_op("ai.onnx.ml::Binarizer", {Tensor::vector<double>({0.5, 0.75, -1})},
                     {{"threshold", 0.5f}})[0],
              {0, 1, 0}, 0);
}

}  // namespace
}  // namespace sardonyx
