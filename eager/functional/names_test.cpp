// The rarer functions and methods under torch's names: values at once, compiled and exported, and
// what a call by one axis or one size means.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/export/onnx_module.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "eager/functional/tensors_for_test.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kQuietNan = std::nan("");

struct NameCase {
  const char* name;
  TensorFunction fn;
  Tensors inputs;
  Numbers expected;
  Shape shape = {};  // checked where given
};
#define ONE(expression) [](const Tensors& in) -> Tensors { return {expression}; }

std::vector<NameCase> name_cases() {
  const Tensor m = of({1, 5, 2, 4, 3, 6}, {2, 3});
  return {
      {"sum(1)", ONE(in[0].sum(1)), {m}, {8, 13}, {2}},
      {"sum(-1, true)", ONE(sum(in[0], -1, true)), {m}, {8, 13}, {2, 1}},
      {"mean(0)", ONE(mean(in[0], 0)), {m}, {2.5, 4, 4}, {3}},
      {"squeeze(0)", ONE(squeeze(in[0].unsqueeze(0), 0)), {m}, {1, 5, 2, 4, 3, 6}, {2, 3}},
      {"permute", ONE(permute(in[0], {1, 0})), {m}, {1, 4, 5, 3, 2, 6}, {3, 2}},
      {"view(-1)", ONE(in[0].view(-1)), {m}, {1, 5, 2, 4, 3, 6}, {6}},
      {"T", ONE(in[0].T()), {m}, {1, 4, 5, 3, 2, 6}, {3, 2}},
      {"add scaled", ONE(in[0].add(in[0], 2)), {m}, {3, 15, 6, 12, 9, 18}},
      {"max of two", ONE(max(in[0], in[0].sub(in[0], 2))), {m}, {1, 5, 2, 4, 3, 6}},
      {"operators", ONE((in[0] % 2).to(DType::kInt64) | 4), {m}, {5, 5, 4, 4, 5, 4}},
      {"not", ONE(~(in[0] > 2) & (in[0] > 1)), {m}, {0, 0, 1, 0, 0, 0}},
      {"float_power", ONE(float_power(in[0], -1)), {ints({2, 4})}, {0.5, 0.25}},
      {"copysign", ONE(copysign(in[0], in[1])), {of({1, -2, 3}), of({-0.0, 2, -1})}, {-1, 2, -3}},
      {"signbit", ONE(signbit(in[0])), {of({-0.0, 0, -2, -kInfinity})}, {1, 0, 1, 1}},
      {"sinc", ONE(sinc(in[0])), {of({0, 0.5})}, {1, 2 / M_PI}},
      {"isposinf", ONE(isposinf(in[0])), {of({kInfinity, -kInfinity, 1, kQuietNan})}, {1, 0, 0, 0}},
      {"isneginf", ONE(isneginf(in[0])), {of({kInfinity, -kInfinity, 1, kQuietNan})}, {0, 1, 0, 0}},
      {"softplus of 2x", ONE(softplus(in[0], 2)), {of({0.5})}, {std::log1p(std::exp(1.0)) / 2}},
      {"cummax", ONE(cummax(in[0], 1).first), {m}, {1, 5, 5, 4, 4, 6}},
      {"cummax places",
       ONE(in[0].cummax(1).second),
       {of({2, 2, 1, 3}).reshape({1, 4})},
       {0, 1, 1, 3}},
      {"cummax of none", ONE(cummax(in[0], 0).first), {of({}, {0, 2})}, {}, {0, 2}},
      {"logcumsumexp of one", ONE(logcumsumexp(in[0], 1)), {of({1, 2}, {2, 1})}, {1, 2}, {2, 1}},
      {"cummax of NaN", ONE(cummax(in[0], 0).second), {of({1, kQuietNan, 3})}, {0, 1, 1}},
      {"cummin", ONE(cummin(in[0], -1).first), {ints({3, 1, 2})}, {3, 1, 1}},
      {"logcumsumexp",
       ONE(logcumsumexp(in[0], 0)),
       {of({1000, 1000, -kInfinity})},
       {1000, 1000 + std::log(2.0), 1000 + std::log(2.0)}},
      {"trapezoid", ONE(trapezoid(in[0], in[1])), {of({1, 2, 4}), of({0, 1, 3})}, {7.5}},
      {"cumulative_trapezoid", ONE(cumulative_trapezoid(in[0], 2)), {of({1, 2, 4})}, {3, 9}},
      {"cov", ONE(cov(in[0])), {of({0, 1, 2, 2, 1, 0}, {2, 3})}, {1, -1, -1, 1}, {2, 2}},
      {"corrcoef", ONE(corrcoef(in[0])), {of({0, 1, 2, 4, 2, 0}, {2, 3})}, {1, -1, -1, 1}},
      {"histc", ONE(histc(in[0], 4, 0, 4)), {of({0, 1, 1.5, 3.9, 4, 5, -1})}, {1, 2, 0, 2}},
      {"histc of what there is", ONE(histc(in[0], 2)), {of({1, 2, 3})}, {1, 2}},
      {"unique_consecutive",
       ONE(unique_consecutive(in[0]).values),
       {ints({1, 1, 2, 1})},
       {1, 2, 1}},
      {"its counts", ONE(unique_consecutive(in[0]).counts), {ints({1, 1, 2, 1})}, {2, 1, 1}},
      {"dstack", ONE(dstack({in[0], in[0]})), {of({1, 2})}, {1, 1, 2, 2}, {1, 2, 2}},
      {"column_stack", ONE(column_stack({in[0], in[0]})), {of({1, 2})}, {1, 1, 2, 2}, {2, 2}},
      {"hsplit", ONE(hsplit(in[0], 2)[1]), {m}, {2, 6}, {2, 1}},
      {"fliplr", ONE(fliplr(in[0])), {m}, {2, 5, 1, 6, 3, 4}},
      {"flipud", ONE(flipud(in[0])), {m}, {4, 3, 6, 1, 5, 2}},
      {"atleast_3d", ONE(atleast_3d(in[0])), {of({1, 2})}, {1, 2}, {1, 2, 1}},
      {"block_diag",
       ONE(block_diag({in[0], in[1]})),
       {of({1, 2}, {1, 2}), of({3}, {1, 1})},
       {1, 2, 0, 0, 0, 3},
       {2, 3}},
      {"cartesian_prod",
       ONE(cartesian_prod({in[0], in[1]})),
       {of({1, 2}), of({3, 4})},
       {1, 3, 1, 4, 2, 3, 2, 4},
       {4, 2}},
      {"where without values",
       ONE(where(in[0])[1]),
       {bools({true, false, false, true}, {2, 2})},
       {0, 1}},
      {"select_scatter",
       ONE(select_scatter(in[0], in[1], 1, -1)),
       {m, of({7, 8})},
       {1, 5, 7, 4, 3, 8}},
      {"slice_scatter",
       ONE(slice_scatter(in[0], in[1], 1, {0, 2})),
       {m, of({7, 8, 9, 0}, {2, 2})},
       {7, 8, 2, 9, 0, 6}},
      {"diagonal_scatter",
       ONE(diagonal_scatter(in[0], in[1], 1)),
       {m, of({7, 8})},
       {1, 7, 2, 4, 3, 8}},
      {"scatter a value",
       ONE(in[0].scatter(1, in[1], 9)),
       {m, ints({0, 2}, {2, 1})},
       {9, 5, 2, 4, 3, 9}},
      {"scatter_reduce",
       ONE(scatter_reduce(in[0], 0, in[1], in[2], "mean")),
       {of({1, 2}), ints({0, 0}), of({4, 7})},
       {4, 2}},
      {"without what stands there",
       ONE(scatter_reduce(in[0], 0, in[1], in[2], "amax", false)),
       {of({9, 2}), ints({0, 0}), of({4, 7})},
       {7, 2}},
      {"nanmedian", ONE(nanmedian(in[0])), {of({kQuietNan, 3, 1, 2, kQuietNan, 4})}, {2}},
      {"nanmedian along an axis",
       ONE(nanmedian(in[0], 1, true).first),
       {of({3, kQuietNan, 1, kQuietNan, kQuietNan, 5}, {2, 3})},
       {1, 5},
       {2, 1}},
      {"its places",
       ONE(in[0].nanmedian(0).second),
       {of({3, kQuietNan, kQuietNan, 1, kQuietNan, 5}, {3, 2})},
       {0, 1},
       {2}},
      {"nanmedian of integers", ONE(nanmedian(in[0], -1).first), {ints({4, 1, 3, 2})}, {2}},
      {"mode", ONE(mode(in[0], 1).first), {of({3, 1, 3, 1, 2, 9, 7, 8}, {2, 4})}, {1, 2}, {2}},
      {"its last place",
       ONE(in[0].mode(0, true).second),
       {of({5, 1, 5, 2, 4, 2}, {3, 2})},
       {1, 2},
       {1, 2}},
      {"mode of integers", ONE(mode(in[0]).first), {ints({7, 7, -1, -1, 7})}, {7}},
      {"mode of one number", ONE(mode(in[0]).first), {of({4}, {1}).squeeze()}, {4}},
      {"gcd",
       ONE(gcd(in[0], in[1])),
       {ints({12, -18, 0, 7, 0}), ints({18, 12, 5, 13, 0})},
       {6, 6, 5, 1, 0}},
      {"gcd with a number",
       ONE(in[0].gcd(10)),
       {ints({4, 5, 7, 20}, {2, 2})},
       {2, 5, 1, 10},
       {2, 2}},
      {"gcd of two shapes",
       ONE(gcd(in[0], in[1])),
       {ints({4, 9}, {2, 1}), ints({6, 8, 9})},
       {2, 4, 1, 3, 1, 9},
       {2, 3}},
      {"lcm",
       ONE(lcm(in[0], in[1])),
       {ints({4, -6, 0, 0, 1}), ints({6, 4, 5, 0, 9})},
       {12, 12, 0, 0, 9}},
      {"lcm of int32", ONE(in[0].lcm(in[0] + 1)), {tensor({2, 5, 8})}, {6, 30, 72}},
      {"inner", ONE(inner(in[0], in[1])), {m, of({1, 0, 1})}, {3, 10}, {2}},
      {"addmv",
       ONE(addmv(in[1], in[0], in[2], {.alpha = 2})),
       {m, of({1, 1}), of({1, 0, 1})},
       {7, 21}},
      {"vecdot", ONE(linalg::vecdot(in[0], in[0])), {m}, {30, 61}},
      {"solve_triangular",
       ONE(linalg::solve_triangular(in[0], in[1], {.upper = true})),
       {of({2, 1, 9, 4}, {2, 2}), of({4, 8}, {2, 1})},
       {1, 2}},
      {"unfold", ONE(unfold(in[0], 0, 3, 2)), {counting({7})}, {0, 1, 2, 2, 3, 4, 4, 5, 6}, {3, 3}},
      {"unfold of rows", ONE(unfold(in[0], -1, 2, 1)), {m}, {1, 5, 5, 2, 4, 3, 3, 6}, {2, 2, 2}},
      {"combinations", ONE(combinations(in[0])), {ints({1, 2, 3})}, {1, 2, 1, 3, 2, 3}, {3, 2}},
      {"combinations with replacement",
       ONE(combinations(in[0], 2, true)),
       {ints({1, 2, 3})},
       {1, 1, 1, 2, 1, 3, 2, 2, 2, 3, 3, 3}},
      {"combinations of three",
       ONE(combinations(in[0], 3)),
       {ints({1, 2, 3, 4})},
       {1, 2, 3, 1, 2, 4, 1, 3, 4, 2, 3, 4}},
      {"vander", ONE(vander(in[0])), {of({0, 2, 3})}, {0, 0, 1, 4, 2, 1, 9, 3, 1}, {3, 3}},
      {"vander increasing",
       ONE(vander(in[0], 2, true)),
       {ints({1, 2, 3})},
       {1, 1, 1, 2, 1, 3},
       {3, 2}},
      {"pdist",
       ONE(pdist(in[0])),
       {of({0, 0, 3, 4, 3, 4, 1, 1}, {4, 2})},
       {5, 5, std::sqrt(2), 0, std::sqrt(13), std::sqrt(13)},
       {6}},
      {"pdist by sums", ONE(pdist(in[0], 1)), {of({0, 0, 3, 4, 1, 1}, {3, 2})}, {7, 2, 5}},
      {"pdist by cubes", ONE(pdist(in[0], 3)), {of({0, 0, 3, 4}, {2, 2})}, {4.497941493988037}},
      {"renorm",
       ONE(renorm(in[0], 2, 0, 6)),
       {m},
       {1, 5, 2, 3.072885036468506, 2.30466365814209, 4.60932731628418},
       {2, 3}},
      {"renorm of columns", ONE(renorm(in[0], 1, 1, 6)), {m}, {1, 3.75, 1.5, 4, 2.25, 4.5}},
      {"msort", ONE(msort(in[0])), {m}, {1, 3, 2, 4, 5, 6}, {2, 3}},
      {"bitwise_left_shift",
       ONE(bitwise_left_shift(in[0], in[1])),
       {ints({-8, -3, 5, int64_t{1} << 40, 7}), ints({1, 2, 3, 4, 64})},
       {-16, -12, 40, 17592186044416, 0}},
      {"bitwise_right_shift",
       ONE(bitwise_right_shift(in[0], in[1])),
       {ints({-8, -3, 5, int64_t{1} << 40, -1, -7}), ints({1, 2, 3, 4, 62, 64})},
       {-4, -1, 0, 68719476736, -1, -1}},
      {"shifts of int32",
       ONE(bitwise_right_shift(in[0], 3)),
       {tensor({-128, 127, -3})},
       {-16, 15, -1}},
      {"fmax", ONE(fmax(in[0], in[1])), {of({1, kQuietNan, 3}), of({2, 3, kQuietNan})}, {2, 3, 3}},
      {"fmin", ONE(fmin(in[0], in[1])), {of({1, kQuietNan, 3}), of({2, 3, kQuietNan})}, {1, 3, 3}},
      {"fmax of integers", ONE(fmax(in[0], 3)), {ints({2, 4})}, {3, 4}},
      {"logaddexp2",
       ONE(logaddexp2(in[0], in[1])),
       {of({1, -2}), of({3, 1000})},
       {std::log2(10), 1000}},
      {"ldexp", ONE(ldexp(in[0], in[1])), {of({3, 1}), ints({2, -1})}, {12, 0.5}},
      {"softplus with a threshold",
       ONE(softplus(in[0], 2, 1.5)),
       {of({-1, 0.5, 2})},
       {0.06346400082111359, 0.65663081407547, 2}},
      {"xlogy", ONE(xlogy(in[0], in[1])), {of({0, 0, 2}), of({0, kInfinity, 1})}, {0, 0, 0}},
      {"xlog1py",
       ONE(xlog1py(in[0], in[1])),
       {of({0, 0, 2, 1.5}), of({-1, kInfinity, 3, -0.5})},
       {0, 0, 2.772588722239781, -1.03972077083984}},
      {"fftshift of all", ONE(fft::fftshift(in[0])), {of({0, 1, 2, 3})}, {2, 3, 0, 1}},
  };
}

void expect_numbers(const Tensor& got, const NameCase& one, const char* form) {
  const Numbers values = got.data().to_doubles();
  ASSERT_EQ(values.size(), one.expected.size()) << form << ": " << got;
  if (!one.shape.empty()) {
    EXPECT_EQ(got.data().shape(), one.shape) << form;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const double near = 2e-6 * std::max(1.0, std::abs(one.expected[i]));
    EXPECT_TRUE(values[i] == one.expected[i] || std::abs(values[i] - one.expected[i]) <= near)
        << form << ": " << got;
  }
}

TEST(TorchNames, ComputeAlikeInAllForms) {
  const TemporaryFolder folder;
  for (const NameCase& one : name_cases()) {
    SCOPED_TRACE(one.name);
    expect_numbers(one.fn(one.inputs)[0], one, "at once");
    expect_numbers(compile(one.fn)(one.inputs)[0], one, "compiled");
    if (std::string_view(one.name) == "solve_triangular") continue;  // ONNX has no form of it
    export_onnx(one.fn, one.inputs, folder.path() / "m.onnx", {.verify = false});
    expect_numbers(OnnxModule(folder.path() / "m.onnx")(one.inputs)[0], one, "exported");
  }
}

TEST(TorchNames, NumbersOfFractions) {
  EXPECT_EQ(arange(0, 1, 0.25).to_vector<float>(), (std::vector<float>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(arange(0.5, 3).to_vector<float>(), (std::vector<float>{0.5, 1.5, 2.5}));
  EXPECT_EQ(arange(2.5).to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(arange(3, 0, -1.5).to_vector<float>(), (std::vector<float>{3, 1.5}));
  EXPECT_EQ(arange(0, 3).dtype(), DType::kInt64);
  EXPECT_EQ(logspace(0, 2, 3).to_vector<float>(), (std::vector<float>{1, 10, 100}));
  EXPECT_EQ(zeros(3).data().shape(), (Shape{3}));
  EXPECT_EQ(randn(2).data().shape(), (Shape{2}));
  EXPECT_EQ(ints({1, 2}).new_zeros({2}).dtype(), DType::kInt64);
}

TEST(TorchNames, GradientsReachWhatWasChosen) {
  const auto gradient = [](const TensorFunction& fn, const Tensor& at) {
    Tensor x = at.detach().set_requires_grad();
    fn({x})[0].sum().backward();
    return x.grad().to_vector<float>();
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(gradient(ONE(cummax(in[0], 0).first), of({2, 1, 3})), (Floats{2, 0, 1}));
  EXPECT_EQ(gradient(ONE(sinc(in[0])), of({0})), (Floats{0}));
  EXPECT_EQ(gradient(ONE(nanmedian(in[0])), of({kQuietNan, 4, 1, 2})), (Floats{0, 0, 0, 1}));
  EXPECT_EQ(gradient(ONE(mode(in[0], 0).first), of({2, 1, 2, 3})), (Floats{0, 0, 1, 0}));
  const Floats sums = gradient(ONE(logcumsumexp(in[0], 0)), of({0, 0}));
  EXPECT_NEAR(sums[0], 1.5, 1e-6);
  EXPECT_NEAR(sums[1], 0.5, 1e-6);
  EXPECT_EQ(gradient(ONE(scatter_reduce(in[0], 0, ints({0}), of({4}), "mean")), of({2, 1})),
            (Floats{0.5, 1}));
}

// By torch.
TEST(TorchNames, GradientsOfDistancesAndNorms) {
  const auto expect_gradient = [](const TensorFunction& fn, const Tensor& at,
                                  const Numbers& expected) {
    Tensor x = at.detach().set_requires_grad();
    fn({x})[0].backward();
    const Numbers found = x.grad().data().to_doubles();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 2e-6) << i;
  };
  expect_gradient(
      ONE(pdist(in[0]).sum()), of({0, 0, 3, 4, 3, 4, 1, 1}, {4, 2}),
      {-1.907106876373291, -2.3071067333221436, 1.1547002792358398, 1.6320502758026123,
       1.1547002792358398, 1.6320502758026123, -0.4022936224937439, -0.9569938778877258});
  expect_gradient(ONE((renorm(in[0], 2, 0, 6) * counting({2, 3})).sum()),
                  of({1, 5, 2, 4, 3, 6}, {2, 3}),
                  {0, 1, 2, -0.41559508442878723, 1.0326908826828003, -0.23928198218345642});
  expect_gradient(ONE(vander(in[0]).sum()), of({0, 2, 3}), {1, 5, 7});
  expect_gradient(ONE(unfold(in[0], 0, 2, 1).sum()), counting({4}), {1, 2, 2, 1});
}

// The count of windows follows from a size that stays open.
TEST(TorchNames, WindowsOfOpenSizes) {
  const TemporaryFolder folder;
  const TensorFunction windows = ONE(unfold(in[0], 1, 3, 2));
  export_onnx(windows, {counting({2, 7})}, folder / "m.onnx",
              {.input_names = {"x"}, .dynamic_axes = {{"x", {{1, "n"}}}}});
  const Compiled compiled = compile(windows);
  for (const int64_t length : {3, 8, 15}) {
    const Tensor x = counting({2, length});
    EXPECT_TRUE(equal(OnnxModule(folder / "m.onnx")({x})[0], windows({x})[0]));
    EXPECT_TRUE(equal(compiled({x})[0], windows({x})[0]));
  }
}

TEST(TorchNames, ElementsWithinBraces) {
  EXPECT_EQ(tensor({{{1, 2}, {3, 4}}}).data().shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(tensor({{{1, 2}, {3, 4}}}).to_vector<int>(), (std::vector<int>{1, 2, 3, 4}));
  const Tensor deep = tensor({{{{1.f}, {2.f}}, {{3.f}, {4.f}}}, {{{5.f}, {6.f}}, {{7.f}, {8.f}}}});
  EXPECT_EQ(deep.data().shape(), (Shape{2, 2, 2, 1}));
  EXPECT_EQ(deep.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(tensor({{true, false}}).dtype(), DType::kBool);
  expect_refusals({
      {"tensor: expected rows of 2 elements, got one of 1",
       [] {
         tensor({{{1, 2}, {3}}});
       }},
      {"tensor: expected rows of 1 elements, got one of 2",
       [] {
         tensor({{{1}}, {{2}, {3}}});
       }},
  });
}

// As in torch, whatever stands beside it.
TEST(TorchNames, GradientsOfNothingThatIsJoined) {
  for (const int64_t axis : {0, 1, -1}) {
    const Tensor nothing = zeros({0}, {.requires_grad = true});
    const Tensor m = ones({2, 3}, {.requires_grad = true});
    cat({nothing, m, nothing, m}, axis).sum().backward();
    ASSERT_TRUE(nothing.grad().defined()) << axis;
    EXPECT_EQ(nothing.grad().data().shape(), (Shape{0})) << axis;
    EXPECT_TRUE(equal(m.grad(), full({2, 3}, 2))) << axis;
  }
  const auto step = compile([](const Tensors& in) -> Tensors {
    const Tensor nothing = zeros({0}, {.requires_grad = true});
    return {grad({cat({nothing, in[0]}, 1).sum()}, {nothing})[0]};
  });
  EXPECT_EQ(step({ones({2, 3})})[0].data().shape(), (Shape{0}));
}

TEST(TorchNames, ASignalComesBackFromItsSpectra) {
  const Tensor x = randn({2, 64}, {.generator = Generator(3)});
  for (const bool center : {true, false}) {
    const fft::StftOptions options{.n_fft = 16,
                                   .hop_length = 4,
                                   .window = center ? fft::hann_window(16) : Tensor(),
                                   .center = center,
                                   .normalized = center};
    const Tensor spectra = fft::stft(x, options);
    EXPECT_EQ(spectra.data().shape(), (Shape{2, 9, center ? 17 : 13, 2}));
    EXPECT_TRUE(allclose(fft::istft(spectra, options, 64), x, {.atol = 1e-5})) << center;
  }
  // One window of ones is the transform itself.
  const Tensor whole = fft::stft(x, {.n_fft = 64, .center = false}).squeeze(2);
  EXPECT_TRUE(allclose(whole, fft::rfft(x), {.atol = 1e-4}));
}

TEST(TorchNames, OrderOfOneNumberOfBoolsAndOfNothing) {
  const Tensor one = full({}, 5), none = zeros({0}), rows = zeros({0, 3});
  for (const auto& [value, index] : {median(one, 0), nanmedian(one, -1, true), mode(one, 0)}) {
    EXPECT_TRUE(equal(value, one));
    EXPECT_TRUE(equal(index, zeros({}, {.dtype = DType::kInt64})));
  }
  EXPECT_TRUE(equal(sort(bools({true, false, true}), 0).first, bools({false, true, true})));
  EXPECT_EQ(sort(bools({true, false, true}), 0, true).second.to_vector<int64_t>(),
            (std::vector<int64_t>{0, 2, 1}));
  EXPECT_TRUE(mode(bools({true, false, true})).first.item<bool>());
  EXPECT_TRUE(std::isnan(median(none).item<float>()));
  EXPECT_TRUE(std::isnan(nanmedian(rows).item<float>()));
  EXPECT_EQ(median(rows, 1).first.data().shape(), (Shape{0}));
  for (const Tensor& nothing : {none, none.to(DType::kInt64)}) {
    expect_refusals({
        {"median: expected elements along axis 0, got", [&] { median(nothing, 0, true); }},
        {"median: expected elements along axis 0, got", [&] { nanmedian(nothing, 0); }},
        {"mode: expected elements along axis 0, got", [&] { mode(nothing, 0); }},
    });
  }
}

// No number is within a bound that is NaN; bools are limited as the integers that they stand for.
TEST(TorchNames, BoundsThatAreNoNumbersAndBoundsOfBools) {
  const Tensor x = arange(-1, 2).to(DType::kFloat).set_requires_grad();
  const std::optional<Number> nan = kQuietNan, zero = 0;
  for (const auto& [low, high] :
       {std::pair(nan, zero), std::pair(zero, nan), std::pair(nan, std::optional<Number>())}) {
    EXPECT_TRUE(isnan(clamp(x, low, high)).all().item<bool>());
    const Tensor of_integers = clamp(ints({1, 2}), low, high);
    EXPECT_EQ(of_integers.dtype(), DType::kFloat);
    EXPECT_TRUE(isnan(of_integers).all().item<bool>());
  }
  EXPECT_TRUE(equal(grad({clamp(x, nan).sum()}, {x})[0], zeros({3})));
  const auto limit = [&](const Tensors& in) -> Tensors { return {clamp(in[0], zero, nan)}; };
  EXPECT_TRUE(isnan(compile(limit)({ones(2)})[0]).all().item<bool>());
  EXPECT_TRUE(equal(clamp(x.detach(), 1, -1), full({3}, -1)));
  EXPECT_TRUE(equal(clamp(bools({true, false}), -3, 7), ints({1, 0})));
}

// What is left of a division by the least integer is below 0.
TEST(TorchNames, DivisorsAreNotNegative) {
  const Tensor least = full({1}, std::numeric_limits<int64_t>::min(), {.dtype = DType::kInt64});
  const Tensor most = full({1}, std::numeric_limits<int64_t>::max(), {.dtype = DType::kInt64});
  EXPECT_EQ(gcd(least, most).item<int64_t>(), 1);
  EXPECT_EQ(gcd(most, least).item<int64_t>(), 1);
  EXPECT_EQ(gcd(ints({-12, 0}), ints({18, -5})).to_vector<int64_t>(), (std::vector<int64_t>{6, 5}));
}

// At once each pair is divided by itself, and in a graph all of them in passes.
TEST(TorchNames, DivisorsAreTheSameCompiled) {
  manual_seed(3);
  const TensorFunction both = [](const Tensors& in) -> Tensors {
    return {gcd(in[0], in[1]), lcm(in[0], in[1])};
  };
  using enum DType;
  for (const DType dtype : {kInt8, kUInt8, kInt16, kInt32, kInt64}) {
    SCOPED_TRACE(text(dtype));
    const int64_t low = dtype == kUInt8 ? 0 : -100;
    const Tensor a = randint(low, 100, {300}, {.dtype = dtype});
    const Tensor b = randint(low, 100, {300}, {.dtype = dtype});
    const Tensors now = both({a, b}), later = compile(both)({a, b});
    EXPECT_TRUE(equal(now[0], later[0]));
    EXPECT_TRUE(equal(now[1], later[1]));
  }
}

TEST(TorchNames, Refusals) {
  expect_refusals({
      {"names_test.cpp:", [] { scatter_reduce(ones(2), 0, ints({0}), ones(1), "median"); }},
      {"expected sum, prod, mean, amax or amin, got median",
       [] { scatter_reduce(ones(2), 0, ints({0}), ones(1), "median"); }},
      {"T: expected a matrix, got float[1, 2, 3]; swap the last two axes with mT()",
       [] {
         ones({1, 2, 3}).T();
       }},
      {"arange: expected a step from 0 towards 1, got -0.5", [] { arange(0, 1, -0.5); }},
      {"arange: expected a step from 0 towards 1, got 0", [] { arange(0, 1, 0.0); }},
      {"histc: expected at least one bin and low <= high, got 0 bins", [] { histc(ones(2), 0); }},
      {"fliplr: expected at least 2 axes, got float[3]", [] { fliplr(ones(3)); }},
      {"unfold: expected 0 <= size <= 3 and a step of at least 1, got 4 and 1",
       [] { unfold(ones(3), 0, 4, 1); }},
      {"unfold: expected 0 <= size <= 3 and a step of at least 1, got 2 and 0",
       [] { unfold(ones(3), 0, 2, 0); }},
      {"combinations: expected a vector, got float[2, 2]",
       [] {
         combinations(ones({2, 2}));
       }},
      {"combinations: expected a count of at least 0, got -1", [] { combinations(ones(3), -1); }},
      {"vander: expected at least 0 columns, got -2", [] { vander(ones(3), -2); }},
      {"pdist: expected rows [n, d], got float[3]", [] { pdist(ones(3)); }},
      {"pdist: expected floating rows [n, d] and p of at least 0, got float[2, 2] and -1",
       [] {
         pdist(ones({2, 2}), -1);
       }},
      {"renorm: expected at least 2 axes, p above 0 and maxnorm of at least 0, got float[2], 2 and "
       "1",
       [] { renorm(ones(2), 2, 0, 1); }},
      {"bitwise_left_shift: expected integers, got float[2] and float[]",
       [] { bitwise_left_shift(ones(2), 1); }},
      {"bitwise_right_shift: expected integers, got bool[1] and bool[1]",
       [] { bitwise_right_shift(bools({true}), bools({true})); }},
      {"gcd: expected integers, got float[2] and float[]", [] { gcd(ones(2), 1); }},
      {"names_test.cpp:", [] { lcm(bools({true}), bools({true})); }},
      {"logcumsumexp: expected floating elements, got int64[1]; convert",
       [] { logcumsumexp(ints({1}), 0); }},
      {"stft: expected at least 8 samples, got float[4]",
       [] { fft::stft(ones(4), {.n_fft = 8, .center = false}); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager

#undef ONE
