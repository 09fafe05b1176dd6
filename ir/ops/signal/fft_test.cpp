#include "ir/ops/signal/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "ir/core/error.h"
#include "ir/core/run_control.h"
#include "ir/reference_evaluator.h"

namespace sardonyx::ops {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> wave(size_t length) {
  std::vector<Complex> data;
  for (size_t n = 0; n < length; ++n) {
    const auto x = static_cast<double>(n);
    data.emplace_back(std::sin(x * x + 1), std::cos(3 * x));
  }
  return data;
}

std::vector<Complex> by_sum(const std::vector<Complex>& data) {
  std::vector<Complex> out(data.size());
  for (size_t k = 0; k < data.size(); ++k) {
    for (size_t n = 0; n < data.size(); ++n) {
      const double turns =
          static_cast<double>(k * n % data.size()) / static_cast<double>(data.size());
      out[k] += data[n] * std::polar(1.0, -2 * std::numbers::pi * turns);
    }
  }
  return out;
}

TEST(FourierTransform, AgreesWithTheSumAndIsInvertible) {
  // Powers, mixed factors, the largest small prime, primes and products beyond it.
  for (const size_t length : {1, 2, 3, 5, 8, 12, 31, 32, 37, 60, 74, 97, 128, 400, 41 * 43}) {
    const std::vector<Complex> data = wave(length), expected = by_sum(data);
    std::vector<Complex> got = data;
    const FourierTransform transform(length);
    transform.forward(got);
    for (size_t k = 0; k < length; ++k) {
      EXPECT_LT(std::abs(got[k] - expected[k]), 1e-11 * static_cast<double>(length)) << length;
    }
    transform.inverse(got);
    for (size_t k = 0; k < length; ++k)
      EXPECT_LT(std::abs(got[k] - data[k]), 1e-12) << length;
  }
}

std::vector<double> dft(const Tensor& input, const std::vector<Tensor>& more, AttrMap attrs) {
  const OpDef& op = op_named("DFT");
  std::vector<Datum> inputs{input};
  inputs.insert(inputs.end(), more.begin(), more.end());
  return evaluate(op, Attrs::parse(*op.attrs, attrs), inputs, 1)[0].tensor().to_doubles();
}

// 1,000,003 is prime: its convolution takes a transform of 2^21.
TEST(FourierTransform, LongTablesCountAndEndWithTheRun) {
  const auto budget = std::make_shared<MemoryBudget>(size_t{64} << 20);
  const auto code_of = [&](const RunControl& control) {
    const ControlScope scope(control);
    try {
      std::vector<Complex> data(1'000'003);
      FourierTransform::of(data.size())->forward(data);
    } catch (const Error& error) {
      return std::optional(error.code());
    }
    return std::optional<ErrorCode>();
  };
  EXPECT_EQ(code_of({budget, std::nullopt, {}}), ErrorCode::kResourceExhausted);
  EXPECT_EQ(budget->used(), 0u);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of({nullptr, start + std::chrono::milliseconds(20), {}}),
            ErrorCode::kDeadlineExceeded);
}

TEST(Dft, OneSidedInverseUndoesOneSided) {
  for (const int64_t length : {4, 7, 10}) {
    Tensor signal = Tensor::allocate(DType::kDouble, {length, 1});
    for (int64_t n = 0; n < length; ++n) {
      signal.mutable_values<double>()[static_cast<size_t>(n)] =
          std::sin(static_cast<double>(n * n));
    }
    const std::vector<double> spectrum = dft(signal, {}, {{"onesided", int64_t{1}}});
    ASSERT_EQ(spectrum.size(), static_cast<size_t>(2 * (length / 2 + 1)));
    const std::vector<double> back =
        dft(Tensor::of(spectrum, {length / 2 + 1, 2}), {Tensor::scalar(length)},
            {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}});
    ASSERT_EQ(back.size(), static_cast<size_t>(length));
    for (size_t n = 0; n < back.size(); ++n) {
      EXPECT_NEAR(back[n], signal.values<double>()[n], 1e-12);
    }
  }
}

TEST(Dft, RefusesWhatCannotBe) {
  const Tensor real = Tensor::zeros(DType::kFloat, {4, 1});
  const Tensor complex = Tensor::zeros(DType::kFloat, {4, 2});
  const AttrMap onesided{{"onesided", int64_t{1}}};
  EXPECT_THROW(dft(complex, {}, onesided), Error);
  EXPECT_THROW(dft(Tensor::zeros(DType::kFloat, {4, 3}), {}, {}), Error);
  EXPECT_THROW(dft(real, {Tensor::scalar<int64_t>(0)}, {}), Error);
  EXPECT_THROW(dft(real, {Tensor::scalar<int64_t>(4), Tensor::scalar<int64_t>(1)}, {}), Error);
  EXPECT_THROW(dft(real, {Tensor::scalar<int64_t>(4), Tensor::scalar<int64_t>(-3)}, {}), Error);
}

TEST(FourierTransform, RealElementsTransformAsComplexOnes) {
  for (const size_t length : {1, 2, 3, 4, 6, 7, 10, 62, 64, 74, 100, 512}) {
    const auto transform = FourierTransform::of(length);
    EXPECT_EQ(transform->length(), length);
    std::vector<double> in(length);
    for (size_t n = 0; n < length; ++n)
      in[n] = std::cos(static_cast<double>(n * n + 1));
    std::vector<FourierTransform::Complex> expected(in.begin(), in.end()), out(length);
    transform->forward(expected);
    transform->forward_real(in, out);
    for (size_t k = 0; k < length; ++k)
      EXPECT_NEAR(std::abs(out[k] - expected[k]), 0, 1e-12) << length << ": " << k;
  }
  EXPECT_EQ(FourierTransform::of(512), FourierTransform::of(512));
}

}  // namespace
}  // namespace sardonyx::ops
