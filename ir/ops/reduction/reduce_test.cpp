#include "ir/ops/reduction/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/reference_evaluator.h"

namespace sardonyx::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor run(const std::string& op, const std::vector<Tensor>& inputs, const AttrMap& attrs = {},
           size_t output = 0) {
  const OpDef& row = op_named(op);
  const std::vector<Datum> data(inputs.begin(), inputs.end());
  return evaluate(row, Attrs::parse(*row.attrs, attrs), data, output + 1)[output].tensor();
}

TEST(Reduce, ExtremesOfWhatIsSpecial) {
  const Tensor nan = Tensor::vector<float>({1, kNan, 2});
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceLogSumExp"}) {
    EXPECT_TRUE(std::isnan(run(op, {nan}).values<float>()[0])) << op;
  }
  const std::pair<const char*, float> empty[] = {
      {"ReduceMax", -kInf}, {"ReduceMin", kInf},     {"ReduceSum", 0},
      {"ReduceProd", 1},    {"ReduceLogSum", -kInf}, {"ReduceLogSumExp", -kInf},
      {"ReduceL1", 0},      {"ReduceSumSquare", 0},  {"ReduceL2", 0},
  };
  for (const auto& [op, expected] : empty) {
    EXPECT_EQ(run(op, {Tensor::vector<float>({})}).values<float>()[0], expected) << op;
  }
  EXPECT_EQ(run("ReduceMax", {Tensor::vector<int32_t>({})}).values<int32_t>()[0],
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(run("ReduceMean", {Tensor::vector<int32_t>({})}).values<int32_t>()[0], 0);
  const Tensor large = Tensor::vector<float>({1000, 1000});
  EXPECT_FLOAT_EQ(run("ReduceLogSumExp", {large}).values<float>()[0], 1000 + std::log(2.f));
  const Tensor infinite = Tensor::vector<float>({-kInf, kInf, 3});
  EXPECT_EQ(run("ReduceLogSumExp", {infinite}).values<float>()[0], kInf);
}

TEST(Reduce, IntegersWrapAndMeansAreCut) {
  const Tensor large = Tensor::vector<int32_t>({2147483647, 1});
  EXPECT_EQ(run("ReduceSum", {large}).values<int32_t>()[0], -2147483647 - 1);
  EXPECT_EQ(run("ReduceMean", {Tensor::vector<int32_t>({-3, -4})}).values<int32_t>()[0], -3);
  const Tensor least = Tensor::vector<int64_t>({std::numeric_limits<int64_t>::min()});
  EXPECT_EQ(run("ReduceL1", {least}).values<int64_t>()[0], least.values<int64_t>()[0]);
}

TEST(Order, NanAndTies) {
  const Tensor x = Tensor::vector<float>({2, kNan, 3, 3, kNan, 1});
  const AttrMap last{{"select_last_index", int64_t{1}}};
  EXPECT_EQ(run("ArgMax", {x}).values<int64_t>()[0], 1);
  EXPECT_EQ(run("ArgMin", {x}, last).values<int64_t>()[0], 4);
  const Tensor k = Tensor::vector<int64_t>({4});
  EXPECT_EQ(run("TopK", {x, k}, {}, 1), Tensor::vector<int64_t>({1, 4, 2, 3}));
  EXPECT_EQ(run("TopK", {x, k}, {{"largest", int64_t{0}}}, 1),
            Tensor::vector<int64_t>({5, 0, 2, 3}));
  EXPECT_EQ(run("TopK", {x, Tensor::vector<int64_t>({2})}, {{"largest", int64_t{0}}}, 1),
            Tensor::vector<int64_t>({5, 0}));
  EXPECT_EQ(run("Hardmax", {x}), Tensor::vector<float>({0, 1, 0, 0, 0, 0}));
  const Tensor rows = Tensor::of<float>({2, kNan, 3, 3, kNan, 1}, {3, 2});
  EXPECT_EQ(run("Hardmax", {rows}, {{"axis", int64_t{0}}}),
            Tensor::of<float>({0, 1, 0, 0, 1, 0}, {3, 2}));
  for (const int64_t bad : {-1, 7}) {
    EXPECT_THROW(run("TopK", {x, Tensor::vector<int64_t>({bad})}), Error);
  }
}

// What shape arithmetic needs: the product of dims is known as a dim.
TEST(Reduce, CarriesElements) {
  const Dims elements{Dim::symbol("n"), 3, 4};
  const InferInput input{Type::tensor(DType::kInt64, Dims{3}), nullptr, &elements};
  const auto infer_one = [&](const char* op, const AttrMap& attrs) {
    const OpDef& row = op_named(op);
    return infer(row, Attrs::parse(*row.attrs, attrs), std::vector{input}, 1, 1,
                 [] { return Dim::symbol("?"); })[0];
  };
  EXPECT_EQ(infer_one("ReduceProd", {{"keepdims", int64_t{0}}}).dims,
            (Dims{Dim::symbol("n") * Dim(12)}));
  EXPECT_EQ(infer_one("ReduceSum", {}).dims, (Dims{Dim::symbol("n") + Dim(7)}));
  EXPECT_EQ(infer_one("ReduceMean", {}).dims, std::nullopt);
}

// Matrices of a batch begin at row 0 each. `columns` times the size of an element is what a row has
// in bytes, which decides how it is copied.
template <typename T>
void expect_sides_are_kept(int64_t rows, int64_t columns) {
  constexpr int64_t kMatrices = 3;
  std::vector<T> values(static_cast<size_t>(kMatrices * rows * columns));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(i % 100 + 1);
  const Tensor x = Tensor::of(values, {kMatrices, rows, columns});
  for (const int64_t upper : {0, 1}) {
    for (const int64_t k : {-9, -3, -1, 0, 2, 4, 9}) {
      const Tensor y = run("Trilu", {x, Tensor::scalar(k)}, {{"upper", upper}});
      for (size_t i = 0; i < values.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const int64_t diagonal = at % columns - at / columns % rows;
        const bool is_kept = upper != 0 ? diagonal >= k : diagonal <= k;
        ASSERT_EQ(y.values<T>()[i], is_kept ? values[i] : 0) << i << " for " << k;
      }
    }
  }
}

TEST(Trilu, KeepsOneSideOfADiagonal) {
  for (const int64_t columns : {4, 37, 128, 129}) {
    expect_sides_are_kept<float>(3, columns);
    expect_sides_are_kept<int8_t>(3, columns);
    expect_sides_are_kept<int64_t>(140, columns);
  }
}

}  // namespace
}  // namespace sardonyx::ops
