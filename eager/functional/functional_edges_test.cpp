// Functions under torch's names at their edges: gradients, NaN, odd arguments, types and refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/functional/tensors_for_test.h"
#include "eager/trace/compile.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;
const double kNoNumber = std::nan("");

#define ONE(expression) [](const Tensors& in) -> Tensors { return {expression}; }

TEST(TorchFunctionEdges, GradientsAtTheEdges) {
  const auto gradient = [](const TensorFunction& fn, const Tensor& at) {
    Tensor x = at.detach().set_requires_grad();
    fn({x})[0].sum().backward();
    return x.grad().to_vector<float>();
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(gradient(ONE(cdist(in[0], in[0])), of({1, 2}, {1, 2})), (Floats{0, 0}));
  EXPECT_EQ(gradient(ONE(log1p(in[0])), of({0, 1})), (Floats{1, 0.5}));
  EXPECT_EQ(gradient(ONE(xlogy(in[0], 0.0)), of({0})), (Floats{0}));
  EXPECT_EQ(gradient(ONE(atan2(in[0], of({0}))), of({2})), (Floats{0}));
  EXPECT_EQ(gradient(ONE(max(in[0], 0).first), of({3, 3})), (Floats{1, 0}));
  EXPECT_EQ(gradient(ONE(std(in[0])), of({2, 2, 2})), (Floats{0, 0, 0}));
  EXPECT_EQ(gradient(ONE(std_mean(in[0], 0).first), of({2, 2})), (Floats{0, 0}));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(gradient(ONE(pow(0.0, in[0])), of({-1, 0, 2})), (Floats{-infinity, 0, 0}));
}

// Of a NaN among the elements there is no middle one; its place is the first NaN's.
TEST(TorchFunctionEdges, OrderStatisticsOfNan) {
  const Tensor x = of({3, kNoNumber, 1, 2, 5, kNoNumber, 1, 4, 2}, {3, 3}),
               rows = of({1, 2, 3, 4}, {2, 2});
  EXPECT_TRUE(std::isnan(median(x).item<float>()));
  EXPECT_TRUE(std::isnan(quantile(x, 0.25).item<float>()));
  const auto [values, places] = median(x, 1);
  EXPECT_EQ(places.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(isnan(values).to_vector<bool>(), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(values[2].item<float>(), 2);
  EXPECT_EQ(isnan(quantile(x, 0.5, 0)).to_vector<bool>(), (std::vector<bool>{false, true, true}));
  const TensorFunction first = ONE(median(in[0], 0).first);
  EXPECT_EQ(compile(first)({rows})[0].to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(TorchFunctionEdges, RulesOfTorchForOddArguments) {
  const Tensor m = counting({2, 2});
  EXPECT_TRUE(equal(cat({zeros({0}), m}, 1), m));
  EXPECT_TRUE(equal(cat({m, zeros({0}), m}), cat({m, m})));
  for (const int64_t axis : {0, 1, -1})
    EXPECT_EQ(cat({zeros({0}), zeros({0})}, axis).shape(), (Dims{0}));
  EXPECT_EQ(neg(tensor<uint8_t>({0, 1, 200})).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 255, 56}));
  EXPECT_EQ((-tensor<uint64_t>({1})).item<uint64_t>(), std::numeric_limits<uint64_t>::max());
  const Tensor twos = eye(2) * 2;
  EXPECT_TRUE(allclose(twos.matrix_power(-3), eye(2) / 8));
  EXPECT_TRUE(allclose(matrix_power(twos, -1), eye(2) / 2));
}

// The types that torch.cat gives; a tensor without elements counts as well.
TEST(TorchFunctionEdges, JoinedTensorsArePromoted) {
  using enum DType;
  const struct {
    DType a, b, joined;
  } cases[] = {{kInt64, kFloat, kFloat},      {kInt32, kInt64, kInt64},     {kBool, kUInt8, kUInt8},
               {kFloat16, kBFloat16, kFloat}, {kFloat16, kDouble, kDouble}, {kUInt8, kInt8, kInt16},
               {kBFloat16, kInt64, kBFloat16}};
  for (const auto& [a, b, joined] : cases) {
    SCOPED_TRACE(text(a, " and ", b));
    const Tensor x = ones({2}).to(a), y = full({2}, 1).to(b);
    for (const Tensor& both : {cat({x, y}), cat({y, x}), stack({x, y}).flatten()}) {
      EXPECT_EQ(both.dtype(), joined);
      EXPECT_TRUE(equal(both.to(kFloat), ones({4})));
    }
    const Tensor nothing = zeros({0}, {.dtype = a}), matrix = ones({2, 3}, {.dtype = b});
    EXPECT_EQ(cat({nothing, matrix}, 1).dtype(), joined);
    EXPECT_EQ(compile([&](const Tensors& in) -> Tensors {
                return {cat({in[0], in[1]})};
              })({x, y})[0]
                  .dtype(),
              joined);
  }
  const Tensor single = ones({2}).set_requires_grad();
  const Tensor twice = ones({3}, {.dtype = kDouble}).set_requires_grad();
  (cat({single, twice}) * 2).sum().backward();
  EXPECT_EQ(single.grad().dtype(), kFloat);
  EXPECT_TRUE(equal(single.grad(), full({2}, 2)));
  EXPECT_TRUE(equal(twice.grad(), full({3}, 2, {.dtype = kDouble})));
}

TEST(TorchFunctionEdges, ReadValues) {
  EXPECT_TRUE(allclose(of({1, 2}), of({1.000001, 2})));
  EXPECT_FALSE(allclose(of({1, 2}), of({1.1, 2})));
  EXPECT_FALSE(allclose(of({1, 2}), of({1})));
  EXPECT_FALSE(allclose(of({kNoNumber}), of({kNoNumber})));
  EXPECT_TRUE(allclose(of({kNoNumber}), of({kNoNumber}), {.equal_nan = true}));
  EXPECT_TRUE(equal(of({1, 2}), ints({1, 2})));
  EXPECT_FALSE(equal(of({1, 2}), of({1, 2}, {2, 1})));
}

TEST(TorchFunctionEdges, Refusals) {
  const Tensor m = ones({2, 3}), v = ones({3});
  expect_refusals({
      {"mm: expected tensors of 2 and 2 axes, got float[2, 3] and float[3]", [&] { mm(m, v); }},
      {"ArgMax: the tensor (float[0]) has no elements along axis 0", [] { zeros({0}).argmax(); }},
      {"ArgMin: the tensor (float[2, 0]) has no elements along axis 1",
       [] {
         argmin(zeros({2, 0}), 1);
       }},
      {"matrix_power: expected matrices [..., n, n], got float[3]", [&] { matrix_power(v, -1); }},
      {"glu: expected an axis of even size, axis -1 of float[3] is not", [&] { glu(v); }},
      {"prelu: weight float[3] is by channels, but x has none", [&] { prelu(v, v); }},
      {"masked_fill: expected a mask of bools, got float[2, 3]; write mask != 0",
       [&] { masked_fill(m, m, 1); }},
      {"movedim: expected as many different axes",
       [&] {
         movedim(m, {0, 0}, {1, 0});
       }},
      {"unflatten: axis 1 of float[2, 3] can't be [2, -1]",
       [&] {
         unflatten(m, 1, {2, -1});
       }},
      {"roll: expected a shift for each axis, got 1 for 2",
       [&] {
         roll(m, {1}, {0, 1});
       }},
      {"narrow: expected a part of axis 1 of float[2, 3], got 3 elements from 1",
       [&] { narrow(m, 1, Dim(1), Dim(3)); }},
      {"bincount: expected elements of at least 0, got -1",
       [&] {
         bincount(ints({2, -1}));
       }},
      {"bincount: expected integers [n], got float[3]", [&] { bincount(v); }},
      {"multinomial: expected 4 weights above 0 in each row, a row has 3; with replacement",
       [&] { multinomial(v, 4); }},
      {"multinomial: expected finite weights of at least 0", [&] { multinomial(-v, 1); }},
      {"quantile: expected q within [0, 1], got 2", [&] { quantile(v, 2); }},
      {"tensordot: expected at most 1 axes to sum over, got 2", [&] { tensordot(m, v); }},
      {"norm: expected floating elements, got int64[2]",
       [&] {
         norm(ints({1, 2}), 2);
       }},
      {"BitwiseAnd: expected integers or bools, got float[3] and float[3]",
       [&] { bitwise_and(v, v); }},
      {"functional_edges_test.cpp", [&] { m.repeat({2}); }},
      {"functional_edges_test.cpp", [&] { m.add(ones({7})); }},
      {"functional_edges_test.cpp", [&] { m.index_select(5, ints({0})); }},
  });
}

// So large that threads share it, and of elements of every width.
TEST(TorchFunctionEdges, RollsLargeTensorsOfEveryWidth) {
  const Tensor places = remainder(arange(40) - 7, 40);
  for (const DType dtype : {DType::kInt8, DType::kFloat16, DType::kFloat, DType::kInt64}) {
    const Tensor x = remainder(arange(200000), 100).to(dtype).reshape({50, 40, 100});
    EXPECT_TRUE(equal(roll(x, {7}, {1}), index_select(x, 1, places))) << text(dtype);
    EXPECT_TRUE(equal(roll(roll(x, {123457}), {-123457}), x)) << text(dtype);
  }
}

}  // namespace
}  // namespace sardonyx::eager

#undef ONE
