// Bessel functions, polygamma, the parts of numbers, histograms, quantiles beside NaNs, tensors as
// equations: values are torch 1.13's, gradients those of differences.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eager/autograd/gradcheck.h"
#include "eager/create.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/functional/linalg.h"
#include "eager/functional/special.h"
#include "eager/functional/statistics.h"
#include "eager/functional/tensors_for_test.h"
#include "ir/core/tensor.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

Tensor wide(const Numbers& values) {
  return Tensor::of(values, {static_cast<int64_t>(values.size())});
}

void expect_all_near(const Tensor& found, const Numbers& wanted, double tolerance = 1e-13) {
  const std::vector<double> values = found.data().to_doubles();
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == wanted[i] || (std::isnan(values[i]) && std::isnan(wanted[i]))) continue;
    EXPECT_NEAR(values[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i]))) << i;
  }
}

using OfOne = std::function<Tensor(const Tensor&)>;
void expect_slopes(const OfOne& function, const Numbers& at) {
  const Tensor x = wide(at).set_requires_grad(true);
  EXPECT_TRUE(
      gradcheck([&](const std::vector<Tensor>& in) { return std::vector{function(in[0])}; }, {x}));
}

TEST(BesselFunctions, ValuesAndSlopes) {
  const Tensor x = wide({-20, -8, -1.5, 0, 0.25, 3, 8, 9, 50});
  expect_all_near(
      i0(x), {43558282.559553534, 427.56411572180474, 1.6467231897728907, 1, 1.015686141223608,
              4.880792585865024, 427.56411572180474, 1093.5883545113745, 2.9325537838493355e+20});
  expect_all_near(
      i0e(x), {0.089780311884826, 0.1434317818568503, 0.36743360905415834, 1, 0.7910171621397194,
               0.24300035416182536, 0.1434317818568503, 0.134959524581723, 0.056561626647454184});
  expect_all_near(
      i1(x), {-42454973.385127775, -399.8731367825599, -0.9816664285779075, 0, 0.12597910894546793,
              3.9533702174026093, 399.8731367825599, 1030.9147225169565, 2.9030785901035566e+20});
  expect_all_near(i1e(x), {-0.08750622218328867, -0.13414249329269812, -0.21903938742092566, 0,
                           0.09811262869736825, 0.19682671329730084, 0.13414249329269812,
                           0.1272249839358912, 0.055993123892895395});
  const double inf = std::numeric_limits<double>::infinity();
  expect_all_near(i0(wide({inf, -inf, NAN})), {inf, inf, NAN});
  expect_all_near(i1(wide({inf, -inf, NAN})), {inf, -inf, NAN});
  expect_all_near(i1e(wide({inf, -inf})), {0, 0});
  for (const auto& function : {i0, i0e, i1, i1e})
    expect_slopes([&](const Tensor& t) { return function(t, Loc::current()); },
                  {-3, -0.5, 0.25, 4, 9.5});
  // Of the order 1 at 0, where it is a quotient of zeros.
  expect_slopes([](const Tensor& t) { return i1(t); }, {0});
}

TEST(Polygamma, ValuesAndSlopes) {
  const Tensor x = wide({0.1, 0.5, 1, 2.5, 30});
  expect_all_near(polygamma(1, x), {101.43329915079275, 4.9348022005446793, 1.6449340668482264,
                                    0.49035775610023486, 0.033895060357739944});
  expect_all_near(polygamma(2, x), {-2001.8614573783439, -16.828796644234316, -2.404113806319188,
                                    -0.23620405164172736, -0.0011487652037285997});
  expect_all_near(polygamma(3, x), {60004.512876790235, 97.40909103400242, 6.493939402266829,
                                    0.2239058488172521, 7.786003664736127e-05});
  expect_all_near(polygamma(7, x), {504000002365.1903, 1290440.2181855962, 5060.549875237633,
                                    3.5652363525231268, 3.693311077871007e-08});
  const Tensor below = wide({-0.5, -2.25});
  expect_all_near(polygamma(1, below), {8.934802200544679, 19.379410506842447}, 1e-9);
  expect_all_near(polygamma(2, below), {-0.82879664423432, 123.89694977406015});
  expect_all_near(polygamma(3, below), {193.40909103400242, 1558.4550231887147});
  const double inf = std::numeric_limits<double>::infinity();
  expect_all_near(polygamma(2, wide({0, -1, inf})), {-inf, -inf, 0});
  expect_all_near(polygamma(0, x), digamma(x).data().to_doubles());
  for (const int64_t n : {0, 1, 2, 4})
    expect_slopes([n](const Tensor& t) { return polygamma(n, t); }, {0.8, 3.5, -1.3});
  expect_refusal(ErrorCode::kInvalidArgument, "polygamma: expected n within [0, 169], got -1",
                 [&] { static_cast<void>(polygamma(-1, x)); });
}

TEST(PartsOfNumbers, MantissaAndExponent) {
  const auto [mantissa, exponent] = frexp(of({0, 1, -3.5, 1e-40, 3e38, -INFINITY}));
  expect_all_near(mantissa, {0, 0.5, -0.875, 0.5444488525390625, 0.8816207647323608, -INFINITY}, 0);
  EXPECT_EQ(exponent.dtype(), DType::kInt32);
  EXPECT_EQ(exponent.data().to_int64s(), (std::vector<int64_t>{0, 1, 2, -132, 128, 0}));
  const auto [small, power] = frexp(wide({5e-324, 1.7976931348623157e308}));
  expect_all_near(small, {0.5, 0.9999999999999999}, 0);
  EXPECT_EQ(power.data().to_int64s(), (std::vector<int64_t>{-1073, 1024}));
  expect_slopes([](const Tensor& t) { return frexp(t).first; }, {0.7, -3, 100});
  expect_refusal(ErrorCode::kInvalidArgument, "frexp: expected floating elements",
                 [&] { static_cast<void>(frexp(ints({1}))); });
}

TEST(PartsOfNumbers, Neighbours) {
  const Tensor from = of({0, 1, -1, 1e-45, 2, 0, NAN, 3.4028235e38});
  const Tensor to = of({-1, 2, 2, 0, 2, 0, 1, INFINITY});
  const Tensor found = nextafter(from, to);
  for (size_t i = 0; i < 8; ++i) {
    const float a = from.data().values<float>()[i], b = to.data().values<float>()[i];
    const float got = found.data().values<float>()[i], wanted = std::nextafter(a, b);
    EXPECT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted))) << a << " to " << b;
  }
  EXPECT_EQ(nextafter(wide({1}), 2.0).item<double>(), std::nextafter(1.0, 2.0));
  expect_refusal(ErrorCode::kInvalidArgument, "nextafter: expected float32 or float64 elements",
                 [&] { static_cast<void>(nextafter(ints({1}), ints({2}))); });
}

TEST(Histograms, CountByEdges) {
  const Tensor x = of({1, 2, 1, 4, 4.5, 0}), weight = of({1, 2, 4, 1, 1, 3});
  const Histogram found =
      histogram(x, 4, {.range = std::pair(0.0, 4.0), .weight = weight, .density = true});
  expect_all_near(found.counts, {3. / 11, 5. / 11, 2. / 11, 1. / 11}, 1e-7);
  expect_all_near(found.edges, {0, 1, 2, 3, 4}, 0);
  expect_all_near(histogram(of({3, 3}), 2).counts, {0, 2}, 0);
  expect_all_near(histogram(of({3, 3}), 2).edges, {2.5, 3, 3.5}, 0);
  expect_all_near(histogram(zeros({0}), 2).edges, {0, 0.5, 1}, 0);
  expect_all_near(histogram(x, of({0, 1.5, 10})).counts, {3, 3}, 0);
  expect_refusal(ErrorCode::kInvalidArgument, "histogram: expected at least one bin, got 0",
                 [&] { static_cast<void>(histogram(x, 0)); });
  expect_refusal(ErrorCode::kInvalidArgument, "histogram: expected edges [2 or more]",
                 [&] { static_cast<void>(histogram(x, of({1}))); });
  expect_refusal(ErrorCode::kInvalidArgument, "weight: expected one for each of 6",
                 [&] { static_cast<void>(histogram(x, 2, {.weight = of({1})})); });
}

TEST(Quantiles, OfWhatIsNoNan) {
  const Tensor x = of({1, NAN, 3, 2, NAN, NAN, NAN, NAN}, {2, 4});
  expect_all_near(nanquantile(x, 0.4, 1), {1.8, NAN}, 1e-7);
  expect_all_near(nanquantile(x, 0.5), {2}, 0);
  EXPECT_EQ(nanquantile(x, 0.5, 0, true).shape().size(), 2u);
  expect_slopes([](const Tensor& t) { return nanquantile(t, 0.3); }, {3, 1, 7, 2});
}

TEST(FourierTransforms, OfHalfAHermitianSignal) {
  const Tensor z = wide({1, 2, 3, -1, 0.5, 0}).reshape({3, 2});
  expect_all_near(fft::hfft(z), {7.5, -1.5, -4.5, 2.5});
  expect_all_near(fft::hfft(z, {.n = 5, .norm = fft::Norm::kOrtho}),
                  {3.5777087639996634, 0.0639389950229917, -2.1111413087441018, -1.0596790845058348,
                   1.7652406117270716});
  expect_all_near(fft::ihfft(wide({1, 2, 4, 7})), {3.5, 0, -0.75, -1.25, -1, 0});
  expect_all_near(fft::hfft(fft::ihfft(wide({1, 2, 4, 7}))), {1, 2, 4, 7});
  expect_slopes([](const Tensor& t) { return fft::ihfft(t); }, {1, 2, 4, 7});
}

TEST(TensorEquations, SolveAndInvert) {
  const Tensor a = randn({2, 3, 6}, {.dtype = DType::kDouble}),
               b = randn({2, 3}, {.dtype = DType::kDouble});
  const Tensor y = linalg::tensorsolve(a, b);
  EXPECT_EQ(to_text(y.shape()), "[6]");
  expect_all_near(matmul(a, y), b.data().to_doubles(), 1e-9);
  const Tensor inverse = linalg::tensorinv(a, 2);
  EXPECT_EQ(to_text(inverse.shape()), "[6, 2, 3]");
  expect_all_near(tensordot(inverse, b, 2), y.data().to_doubles(), 1e-9);
  const Tensor moved = movedim(a, {2}, {0});
  expect_all_near(linalg::tensorsolve(moved, b, {0}), y.data().to_doubles(), 1e-9);
  expect_refusal(ErrorCode::kInvalidArgument, "tensorinv: expected as many elements in the first 1",
                 [&] { static_cast<void>(linalg::tensorinv(a, 1)); });
  expect_refusal(ErrorCode::kInvalidArgument, "tensorsolve: expected a [b's shape...",
                 [&] { static_cast<void>(linalg::tensorsolve(a, zeros({3}))); });
  expect_all_near(linalg::vander(of({2, 3, 1, 5}, {2, 2}), 3),
                  {1, 2, 4, 1, 3, 9, 1, 1, 1, 1, 5, 25}, 0);
}

}  // namespace
}  // namespace sardonyx::eager
