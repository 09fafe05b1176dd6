#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

constexpr const char* kOp = "com.microsoft::SparseToDenseMatMul";

// [[0, 2, 0], [3, 0, 4]], by linear indices or pairs.
template <typename T>
Datum two_by_three(bool is_linear) {
  const Tensor values = Tensor::vector<T>({2, 3, 4});
  return SparseTensor{values,
                      is_linear ? Tensor::vector<int64_t>({1, 3, 5})
                                : Tensor::of<int64_t>({0, 1, 1, 0, 1, 2}, {3, 2}),
                      {2, 3}};
}

TEST(SparseToDenseMatMul, MultipliesAsADenseMatrixDoes) {
  const Datum b = floats({1, 2, 3, 4, 5, 6}, {3, 2}),
              transposed = floats({1, 3, 5, 2, 4, 6}, {2, 3});
  for (const bool is_linear : {true, false}) {
    const Datum a = two_by_three<float>(is_linear);
    const auto y = run_op(kOp, {a, b});
    EXPECT_EQ(y[0].tensor().shape(), (Shape{2, 2}));
    expect_near(y[0], {6, 8, 23, 30}, 0);
    expect_near(run_op(kOp, {a, transposed}, {{"transB", int64_t{1}}})[0], {6, 8, 23, 30}, 0);
  }
  // [[0, 3], [2, 0], [0, 4]] * [[1, 2], [3, 4]] / 2
  expect_near(run_op(kOp, {two_by_three<float>(false), floats({1, 2, 3, 4}, {2, 2})},
                     {{"transA", int64_t{1}}, {"alpha", 0.5f}})[0],
              {4.5, 6, 1, 2, 6, 8}, 0);
  const Datum integers = Tensor::of<int64_t>({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(elements<int64_t>(run_op(kOp, {two_by_three<int64_t>(true), integers})[0]),
            (std::vector<int64_t>{6, 8, 23, 30}));
}

TEST(SparseToDenseMatMul, RefusesWhatDoesNotFit) {
  const Datum a = two_by_three<float>(true), b = floats({1, 2, 3}, {3, 1});
  EXPECT_NE(error_of(kOp, {b, b}).find("expected a sparse tensor"), std::string::npos);
  EXPECT_NE(error_of(kOp, {a, floats({1, 2}, {2, 1})}).find("inner dims"), std::string::npos);
  const Datum outside =
      SparseTensor{Tensor::vector<float>({1}), Tensor::of<int64_t>({0, 3}, {1, 2}), {2, 3}};
  EXPECT_NE(error_of(kOp, {outside, b}).find("[0, 3]"), std::string::npos);
  const Datum before =
      SparseTensor{Tensor::vector<float>({1}), Tensor::vector<int64_t>({-1}), {2, 3}};
  EXPECT_NE(error_of(kOp, {before, b}).find("outside"), std::string::npos);
  const Datum integers = Tensor::of<int64_t>({1, 2, 3}, {3, 1});
  EXPECT_NE(error_of(kOp, {two_by_three<int64_t>(true), integers}, {{"alpha", 0.5f}}).find("alpha"),
            std::string::npos);
}

}  // namespace
}  // namespace sardonyx
