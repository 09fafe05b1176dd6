#include "eager/dispatch/part_views.h"

#include <gtest/gtest.h>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"

namespace sardonyx::eager {
namespace {

bool shares_memory(const Tensor& part, const Tensor& whole) {
  return part.data().buffer() == whole.data().buffer();
}

TEST(PartViews, PartsInOnePieceAreNotCopied) {
  const Tensor x = arange(24, {.dtype = DType::kInt64}).reshape({4, 6});
  const std::vector<Tensor> rows = split(x, {1, 3}, 0);
  EXPECT_TRUE(shares_memory(rows[1], x));
  EXPECT_EQ(rows[1].to_vector<int64_t>().front(), 6);
  EXPECT_EQ(rows[1].to_vector<int64_t>().size(), 18u);
  const Tensor middle = x.slice(0, {Dim(1), Dim(3)});
  EXPECT_TRUE(shares_memory(middle, x));
  const Tensor inside = middle.slice(0, {Dim(1), Dim(2)}).slice(1, {Dim(2), Dim(5)});
  EXPECT_TRUE(shares_memory(inside, x));
  EXPECT_EQ(inside.to_vector<int64_t>(), (std::vector<int64_t>{14, 15, 16}));
}

TEST(PartViews, OtherPartsAreCopied) {
  const Tensor x = arange(24, {.dtype = DType::kInt64}).reshape({4, 6});
  const Tensor columns = x.slice(1, {Dim(1), Dim(3)});
  EXPECT_FALSE(shares_memory(columns, x));
  EXPECT_EQ(columns.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 7, 8, 13, 14, 19, 20}));
  const Tensor apart = x.slice(0, {Dim(0), Dim(4), 2});
  EXPECT_FALSE(shares_memory(apart, x));
  EXPECT_EQ(apart.to_vector<int64_t>()[6], 12);
  EXPECT_EQ(flip(x, {0}).to_vector<int64_t>()[0], 18);
}

TEST(PartViews, AnAssignmentLeavesThemAsTheyWere) {
  Tensor x = arange(4, {.dtype = DType::kFloat});
  const Tensor part = x.slice(0, {Dim(1), Dim(3)});
  x.assign(x * 10);
  EXPECT_EQ(part.to_vector<float>(), (std::vector<float>{1, 2}));
}

// Steps of any sign: each element of the gradient goes back to where its own came from.
TEST(PartViews, GradientsOfSteps) {
  for (const int64_t step : {1, 2, 3, -1, -2, -5}) {
    const Tensor x = arange(22, {.dtype = DType::kDouble}).reshape({2, 11}).set_requires_grad();
    const Tensor ends =
        step > 0 ? x.slice(1, {Dim(1), Dim(10), step}) : x.slice(1, {Dim(9), Dim(0), step});
    const Tensor weights =
        arange(ends.numel(), {.dtype = DType::kDouble}).reshape(ends.shape()) + 1;
    (ends * weights).sum().backward();
    std::vector<double> expected(22, 0);
    const std::vector<double> taken = ends.to_vector<double>();
    for (size_t i = 0; i < taken.size(); ++i)
      expected[static_cast<size_t>(taken[i])] = static_cast<double>(i) + 1;
    EXPECT_EQ(x.grad().to_vector<double>(), expected) << step;
  }
}

}  // namespace
}  // namespace sardonyx::eager
