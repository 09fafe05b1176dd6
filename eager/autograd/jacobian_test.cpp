#include "eager/autograd/jacobian.h"

#include <gtest/gtest.h>

#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "executor/session.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager {
namespace {

using Numbers = std::vector<double>;
using Tensors = std::vector<Tensor>;

void expect_numbers(const Tensor& found, const Shape& shape, const Numbers& expected,
                    const char* what) {
  EXPECT_EQ(found.shape(), to_dims(shape)) << what;
  const Numbers values = found.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-12) << what << " " << i;
}

struct MapCase {
  const char* name;
  TensorMap fn;
  Shape shape;       // of the Jacobian at (1, 2, -1)
  Numbers jacobian;  // by hand
  Numbers jvp;       // along (1, 0.5, 2)
};

std::vector<MapCase> map_cases() {
  return {
      {"square",
       [](const Tensor& x) { return x * x; },
       {3, 3},
       {2, 0, 0, 0, 4, 0, 0, 0, -2},
       {2, 2, -4}},
      {"linear",
       [](const Tensor& x) {
         return matmul(tensor({{1.0, 2.0, 3.0}, {0.0, 1.0, 0.0}}), x);
       },
       {2, 3},
       {1, 2, 3, 0, 1, 0},
       {8, 0.5}},
      {"product of all",
       [](const Tensor& x) { return x[0] * x[1] * x[2]; },
       {3},
       {-2, -1, 2},
       {1.5}},
      {"matrix",
       [](const Tensor& x) {
         return (x * x).slice(0, {0, 2}).reshape({2, 1});
       },
       {2, 1, 3},
       {2, 0, 0, 0, 4, 0},
       {2, 2}},
      {"constant",
       [](const Tensor&) {
         return tensor({1.0, 2.0});
       },
       {2, 3},
       {0, 0, 0, 0, 0, 0},
       {0, 0}},
  };
}

TEST(Jacobian, BothWaysAtOnceAndCompiled) {
  const Tensor x = tensor({1.0, 2.0, -1.0}), tangent = tensor({1.0, 0.5, 2.0});
  for (const MapCase& one : map_cases()) {
    expect_numbers(jacrev(one.fn)(x), one.shape, one.jacobian, one.name);
    expect_numbers(jacfwd(one.fn)(x), one.shape, one.jacobian, one.name);
    const auto [value, moved] = jvp(one.fn, x, tangent);
    EXPECT_EQ(value.to_vector<double>(), one.fn(x).to_vector<double>()) << one.name;
    EXPECT_FALSE(moved.requires_grad());
    const Shape out = value.data().shape();
    expect_numbers(moved, out, one.jvp, one.name);
    const auto compiled =
        compile([&](const Tensors& in) -> Tensors { return {jvp(one.fn, in[0], in[1]).second}; });
    expect_numbers(compiled({x, tangent})[0], out, one.jvp, one.name);
  }
}

TEST(Jacobian, OfSeveralArguments) {
  const Function fn = [](const Tensors& in) { return in[0] * in[1].sum(); };
  const Tensor a = tensor({1.0, 2.0}), b = tensor({3.0, 4.0, 5.0});
  for (const auto& jacobian : {jacrev(fn), jacfwd(fn)}) {
    const Tensors found = jacobian({a, b});
    expect_numbers(found[0], {2, 2}, {12, 0, 0, 12}, "by a");
    expect_numbers(found[1], {2, 3}, {1, 1, 1, 2, 2, 2}, "by b");
  }
  const auto [value, pull] = vjp(fn, {a, b});
  expect_numbers(value, {2}, {12, 24}, "value");
  for (int i = 0; i < 2; ++i) {
    const Tensors pulled = pull(tensor({1.0, -1.0}));
    expect_numbers(pulled[0], {2}, {12, -12}, "pulled a");
    expect_numbers(pulled[1], {3}, {-1, -1, -1}, "pulled b");
  }
}

TEST(Jacobian, HessiansAndTheirProducts) {
  // x0^2 x1 + x2^3
  const TensorMap fn = [](const Tensor& x) { return x[0] * x[0] * x[1] + x[2] * x[2] * x[2]; };
  const Tensor x = tensor({1.0, 2.0, -1.0});
  const Numbers expected{4, 2, 0, 2, 0, 0, 0, 0, -6};
  expect_numbers(hessian(fn)(x), {3, 3}, expected, "hessian");
  expect_numbers(jacfwd(jacrev(fn))(x), {3, 3}, expected, "forward over reverse");
  expect_numbers(jacrev(jacrev(fn))(x), {3, 3}, expected, "reverse over reverse");
  const Function of_vector = [&](const Tensors& in) { return fn(in[0]); };
  expect_numbers(hvp(of_vector, {x}, {tensor({1.0, 1.0, 2.0})})[0], {3}, {6, 2, -12}, "hvp");
  const Function two = [](const Tensors& in) { return (in[0] * in[1] * in[1]).sum(); };
  const auto blocks = hessian(two)({tensor({1.0, 2.0}), tensor({3.0, 4.0})});
  expect_numbers(blocks[0][0], {2, 2}, {0, 0, 0, 0}, "aa");
  expect_numbers(blocks[0][1], {2, 2}, {6, 0, 0, 8}, "ab");
  expect_numbers(blocks[1][0], {2, 2}, {6, 0, 0, 8}, "ba");
  expect_numbers(blocks[1][1], {2, 2}, {2, 0, 0, 4}, "bb");
  // A Jacobian in a loss: gradients of parameters flow through it.
  const Tensor w = tensor({2.0}).set_requires_grad();
  const Tensor y = tensor({3.0}).set_requires_grad();
  jacrev([&](const Tensor& t) { return w * t * t * t; })(y).sum().backward();
  expect_numbers(w.grad(), {1}, {27}, "of a parameter");
  expect_numbers(y.grad(), {1}, {36}, "of the argument");
}

TEST(Vmap, GivesWhatALoopGives) {
  const Tensor x = arange(12).to(DType::kDouble).reshape({3, 4});
  const Tensor w = tensor({1.0, -1.0, 2.0, 0.5});
  const TensorMap dot = [&](const Tensor& row) { return (row * w).sum(); };
  expect_numbers(vmap(dot)(x), {3}, matmul(x, w).to_vector<double>(), "rows");
  const TensorMap by_columns =
      vmap([](const Tensor& column) { return column * 2; }, {.in_axes = {1}, .out_axis = -1});
  expect_numbers(by_columns(x), {3, 4}, (x * 2).to_vector<double>(), "columns");
  const TensorsMap scaled = vmap(
      [](const Tensors& in) -> Tensors {
        return {in[0] * in[1], in[0].sum()};
      },
      {.in_axes = {0, std::nullopt}});
  const Tensors results = scaled({x, w});
  expect_numbers(results[0], {3, 4}, (x * w).to_vector<double>(), "shared argument");
  expect_numbers(results[1], {3}, {6, 22, 38}, "second result");
  expect_refusals({
      {"vmap: expected 2 arguments, as in_axes has, got 1", [&] { scaled({x}); }},
      {"vmap: argument 0: expected an axis within [-2, 2) of double[3, 4], got 2",
       [&] { vmap(dot, {.in_axes = {2}})(x); }},
      {"vmap: expected an argument with a batch axis, all are shared",
       [&] { vmap(dot, {.in_axes = {std::nullopt}})(x); }},
      {"vmap: expected out_axis within [-1, 1) of double[3], got 1",
       [&] { vmap(dot, {.out_axis = 1})(x); }},
  });
}

// vmap(grad(loss)) by sample: at once, compiled for any batch, and in a file.
TEST(Vmap, GradientsOfEachSample) {
  manual_seed(9);
  const nn::Linear layer(3, 1);
  const TensorMap gradient = [&](const Tensor& sample) {
    const EnableGrad enable_grad;  // files are checked without gradients
    const Tensor loss = square(layer(sample.unsqueeze(0))).sum();
    return grad({loss}, {layer.weight})[0];
  };
  const TensorFunction by_sample = [&](const Tensors& in) -> Tensors {
    return {vmap(gradient)(in[0])};
  };
  const auto compiled = compile(by_sample);
  for (const int64_t count : {4, 7}) {
    const Tensor x = randn({count, 3});
    const Tensor found = by_sample({x})[0], again = compiled({x})[0];
    EXPECT_EQ(found.shape(), (Dims{count, 1, 3}));
    layer.zero_grad();
    square(layer(x)).sum().backward();
    const std::vector<float> whole = layer.weight.grad().to_vector<float>();
    const std::vector<float> sums = found.sum({0}).to_vector<float>(),
                             sums_again = again.sum({0}).to_vector<float>();
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_NEAR(sums[i], whole[i], 1e-4);
      EXPECT_NEAR(sums_again[i], whole[i], 1e-4);
    }
    layer.zero_grad();
  }
  EXPECT_EQ(compiled.traces(), 1u);
  const TemporaryFolder folder;
  export_onnx(by_sample, {randn({4, 3})}, folder / "m.onnx",
              {.dynamic_axes = {{"input_0", {{0, "n"}}}}});
}

TEST(JacobianRefusals, Arguments) {
  const Tensor x = ones({2});
  const Function integers = [](const Tensors& in) { return in[0].to(DType::kInt64); };
  const Function square_of = [](const Tensors& in) { return in[0] * in[0]; };
  expect_refusals({
      {"jvp: expected a tangent of each input's type, float[2], got float[3]",
       [&] { jvp(square_of, {x}, {ones({3})}); }},
      {"jacrev: expected a function that gives a floating tensor, got int64[2]",
       [&] { jacrev(integers)({x}); }},
      {"hessian: expected a function that gives one number, got float[2]",
       [&] { hessian(square_of)({x}); }},
      {"jacrev: the size of float[size_0] is open while the function is traced",
       [&] { compile([&](const Tensors& in) { return jacrev(square_of)(in); })({x}); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager
