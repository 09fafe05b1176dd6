#include "eager/size_arithmetic.h"

#include <gtest/gtest.h>

#include <sstream>

#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/tensor.h"
#include "ir/graph.h"

namespace sardonyx::eager {
namespace {

TEST(SizeArithmetic, DividesAsIntegersDo) {
  const Tensor x = zeros({7, 3});
  const int64_t heads = 2;
  static_assert(std::is_same_v<decltype(x.size(0) / heads), Dim>);
  EXPECT_EQ((x.size(0) / heads).value(), 3);
  EXPECT_EQ((x.size(0) % heads).value(), 1);
  EXPECT_EQ((14 / x.size(0)).value(), 2);
  EXPECT_EQ((x.size(0) % x.size(1)).value(), 1);
  EXPECT_EQ(zeros({4, 6}).view({2, 2, zeros({6}).size(0) / heads, heads}).shape(),
            (Dims{2, 2, 3, 2}));
}

TEST(SizeArithmetic, StaysSymbolicInATrace) {
  const auto halves = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0].reshape({2, in[0].size(0) / 2})};
  };
  const Model model = traced_model(halves, {zeros({6})},
                                   {.input_names = {"x"}, .dynamic_axes = {{"x", {{0, "n"}}}}});
  EXPECT_FALSE(model.graph->outputs()[0]->type.known_shape());
}

TEST(SizeArithmetic, SizesArePrinted) {
  std::ostringstream out;
  out << zeros({2, 3}).shape();
  EXPECT_EQ(out.str(), "[2, 3]");
}

}  // namespace
}  // namespace sardonyx::eager
