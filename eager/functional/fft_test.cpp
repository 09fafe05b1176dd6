// Expected values are torch 1.13's.
#include "eager/functional/fft.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::fft {
namespace {

using Numbers = std::vector<double>;
using Transform = std::function<Tensor(const Tensor&)>;

struct TransformCase {
  const char* name;
  Transform fn;
  Tensor in;
  Shape shape;
  Numbers out;
};

Tensor numbers(const Numbers& values, const Shape& shape) {
  return Tensor::of(values, shape);
}

std::vector<TransformCase> transform_cases() {
  const Tensor x = numbers({1, -2, 3, 0.5, 4}, {5}), m = numbers({1, 2, 3, 4, 5, 7}, {2, 3});
  const Tensor half = numbers({1, 0, 2, 1, 0.5, -1}, {3, 2});
  const Tensor pairs = arange(12).to(DType::kDouble).reshape({2, 3, 2});
  return {
      {"rfft",
       [](const Tensor& t) { return rfft(t); },
       x,
       {3, 2},
       {6.5, 0, -1.21352549156242, 4.23687596703974, 0.463525491562421, 5.90435280449272}},
      {"rfft of a part, ortho",
       [](const Tensor& t) { return rfft(t, {.n = 4, .norm = Norm::kOrtho}); },
       x,
       {3, 2},
       {1.25, 0, -1, 1.25, 2.75, 0}},
      {"fft filled up, forward",
       [](const Tensor& t) { return fft(complex(t), {.n = 6, .norm = Norm::kForward}); },
       x,
       {6, 2},
       {1.08333333333333, 0, -0.666666666666667, 0.433012701892219, -0.166666666666667,
        0.144337567297406, 1.58333333333333, 0, -0.166666666666667, -0.144337567297406,
        -0.666666666666667, -0.433012701892219}},
      {"rfftn",
       [](const Tensor& t) { return rfftn(t); },
       m,
       {2, 2, 2},
       {22, 0, -3.5, 2.59807621135332, -10, 0, 0.5, -0.866025403784439}},
      {"fftn over axis 0",
       [](const Tensor& t) { return fftn(complex(t), {.axes = {0}}); },
       m,
       {2, 3, 2},
       {5, 0, 7, 0, 10, 0, -3, 0, -3, 0, -4, 0}},
      {"irfft",
       [](const Tensor& t) { return irfft(t); },
       half,
       {4},
       {1.375, -0.375, -0.625, 0.625}},
      {"irfft, odd and ortho",
       [](const Tensor& t) { return irfft(t, {.n = 5, .norm = Norm::kOrtho}); },
       half,
       {5},
       {2.68328157299975, 0.313276904892104, -2.23818531934616, 0.514578521596184,
        0.963116297357917}},
      {"irfftn",
       [](const Tensor& t) {
         return irfftn(t, {.s = {2, 5}});
       },
       pairs,
       {2, 5},
       {5.4, -5.21066204194424, 1.47990984214251, -1.7854826511426, 3.11623485094432, -3,
        1.84661012230515, -0.435925516803216, 0.435925516803216, -1.84661012230515}},
  };
}

void expect_close(const Tensor& found, const Numbers& expected, const char* what,
                  double tolerance = 1e-12) {
  const Numbers values = found.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance) << what << " " << i;
}

TEST(Fourier, AsTorchAndCompiled) {
  for (const TransformCase& one : transform_cases()) {
    const Tensor found = one.fn(one.in);
    EXPECT_EQ(found.shape(), to_dims(one.shape)) << one.name;
    expect_close(found, one.out, one.name);
    const auto compiled =
        compile([&](const std::vector<Tensor>& in) { return std::vector{one.fn(in[0])}; });
    expect_close(compiled({one.in})[0], one.out, one.name);
  }
}

// Against difference quotients of a weighted sum of the results.
TEST(Fourier, Gradients) {
  manual_seed(2);
  for (const TransformCase& one : transform_cases()) {
    const Tensor weight = randn(one.fn(one.in).shape(), {.dtype = DType::kDouble});
    const auto value = [&](const Tensor& t) { return (one.fn(t) * weight).sum(); };
    const Tensor x = one.in.detach().set_requires_grad();
    value(x).backward();
    const Numbers slopes = x.grad().to_vector<double>();
    const Numbers at = one.in.to_vector<double>();
    for (size_t i = 0; i < at.size(); ++i) {
      constexpr double kStep = 1e-3;  // the transforms are linear
      Numbers up = at, down = at;
      up[i] += kStep, down[i] -= kStep;
      const Shape shape = one.in.data().shape();
      const double quotient =
          (value(numbers(up, shape)).item<double>() - value(numbers(down, shape)).item<double>()) /
          (2 * kStep);
      EXPECT_NEAR(slopes[i], quotient, 1e-9) << one.name << " " << i;
    }
  }
}

TEST(Fourier, InversesInEveryNorm) {
  manual_seed(3);
  const Tensor x = randn({3, 4, 5}, {.dtype = DType::kDouble});
  const Tensor z = complex(x, randn({3, 4, 5}, {.dtype = DType::kDouble}));
  for (const Norm norm : {Norm::kBackward, Norm::kForward, Norm::kOrtho}) {
    const Numbers expected = x.to_vector<double>(), both = z.to_vector<double>();
    expect_close(irfft(rfft(x, {.axis = 1, .norm = norm}), {.axis = 1, .norm = norm}), expected,
                 "rfft");
    expect_close(ifft(fft(z, {.axis = -2, .norm = norm}), {.axis = -2, .norm = norm}), both, "fft");
    expect_close(ifftn(fftn(z, {.norm = norm}), {.norm = norm}), both, "fftn");
    const OptionsN real{.s = {4, 5}, .axes = {1, 2}, .norm = norm};
    expect_close(irfftn(rfftn(x, real), real), expected, "rfftn");
  }
  expect_close(real(multiply(z, conj(z))), square(fft::abs(z)).to_vector<double>(), "z z*");
  expect_close(imag(multiply(z, conj(z))), Numbers(60, 0.0), "imaginary part of z z*");
}

TEST(Fourier, FrequenciesAndShifts) {
  const auto doubles = DType::kDouble;
  expect_close(fftfreq(5, 0.5, doubles), {0, 0.4, 0.8, -0.8, -0.4}, "fftfreq");
  expect_close(fftfreq(4, 1, doubles), {0, 0.25, -0.5, -0.25}, "fftfreq, even");
  expect_close(rfftfreq(5, 0.5, doubles), {0, 0.4, 0.8}, "rfftfreq");
  expect_close(rfftfreq(4, 1, doubles), {0, 0.25, 0.5}, "rfftfreq, even");
  const Tensor x = arange(10).to(doubles).reshape({2, 5});
  expect_close(fftshift(x, {1}), {3, 4, 0, 1, 2, 8, 9, 5, 6, 7}, "fftshift");
  expect_close(fftshift(x, {0, 1}), {8, 9, 5, 6, 7, 3, 4, 0, 1, 2}, "fftshift of both");
  expect_close(ifftshift(fftshift(x, {-1}), {-1}), x.to_vector<double>(), "ifftshift");
}

TEST(FourierRefusals, Arguments) {
  const Tensor x = ones({3, 5});
  expect_refusals({
      {"fft_test.cpp:", [&] { fft(x); }},
      {"fft: expected complex numbers as pairs, [..., 2] (fft::complex makes them), got float[3, "
       "5]",
       [&] { fft(x); }},
      {"rfft: expected n of at least 1, not 0", [&] { rfft(x, {.n = 0}); }},
      {"rfft: expected an axis within [-2, 2), not 2", [&] { rfft(x, {.axis = 2}); }},
      {"rfftn: expected a length for each of 1 axes, not 2",
       [&] {
         rfftn(x, {.s = {1, 2}, .axes = {0}});
       }},
      {"fftn: expected at most 2 lengths",
       [&] {
         fftn(complex(x), {.s = {1, 2, 3}});
       }},
      {"fftfreq: expected n of at least 1", [] { fftfreq(0); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::fft
