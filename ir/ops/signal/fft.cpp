#include "ir/ops/signal/fft.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <mutex>
#include <numbers>

#include "ir/core/error.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"

namespace sardonyx::ops {
namespace {

using Complex = FourierTransform::Complex;

// A butterfly of a prime p costs p^2, the chirp transform about 20 steps an element: they meet
// here.
constexpr size_t kLargestFactor = 31;
// Tables of a megabyte or so, which are kept; longer ones take less time than the transform, and
// count.
constexpr size_t kLongestKept = 1 << 16;
// Steps between two looks at the deadline: less than a millisecond.
constexpr size_t kStepsBetweenLooks = 1 << 14;

void look(size_t step) {
  if (step % kStepsBetweenLooks == 0) check_interrupted();
}

std::unique_ptr<BudgetShare> share_of(size_t elements) {
  if (elements <= kLongestKept) return nullptr;
  return std::make_unique<BudgetShare>(elements * sizeof(Complex));
}

Complex root_of_unity(size_t k, size_t length) {
  return std::polar(1.0,
                    -2 * std::numbers::pi * (static_cast<double>(k) / static_cast<double>(length)));
}

// Primes, and fours in place of pairs of twos.
std::vector<size_t> factors_of(size_t n) {
  std::vector<size_t> factors;
  for (; n % 4 == 0; n /= 4)
    factors.push_back(4);
  for (size_t p = 2; p <= kLargestFactor; ++p) {
    for (; n % p == 0; n /= p)
      factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);  // has no factor of 31 or less, itself need not be prime
  return factors;
}

// std::complex's product looks for NaN and infinity in every step.
Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

// k n = (k^2 + n^2 - (k - n)^2) / 2 makes the transform a convolution with wave[j] =
// exp(-pi i j^2 / length), conjugated.
struct FourierTransform::Chirp {
  FourierTransform padded;  // of a power of two >= 2 length - 1
  std::unique_ptr<BudgetShare> share;
  std::vector<Complex> wave;    // [length]
  std::vector<Complex> kernel;  // the transform of the conjugated wave, mirrored
  explicit Chirp(size_t length)
      : padded(std::bit_ceil(2 * length - 1), false),
        share(share_of(length + padded.length())),
        wave(length) {
    kernel.assign(padded.length(), 0);
    size_t square = 0;  // j^2 modulo 2 length
    for (size_t j = 0; j < length; ++j) {
      look(j);
      wave[j] = root_of_unity(square, 2 * length);
      kernel[j] = std::conj(wave[j]);
      if (j > 0) kernel[padded.length() - j] = kernel[j];
      square = (square + 2 * j + 1) % (2 * length);
    }
    padded.forward(kernel);
  }
};

// Real elements as the complex ones x[2 m] + i x[2 m + 1]: the transforms of the even and the odd
// ones are the symmetric and antisymmetric parts of theirs.
struct FourierTransform::Halves {
  FourierTransform transform;  // of half the length
  std::unique_ptr<BudgetShare> share;
  std::vector<Complex> twiddles;  // exp(-2 pi i k / length) for k up to that
  explicit Halves(size_t length) : transform(length / 2, false), share(share_of(length / 2)) {
    twiddles.reserve(length / 2);
    for (size_t k = 0; k < length / 2; ++k) {
      look(k);
      twiddles.push_back(root_of_unity(k, length));
    }
  }
};

FourierTransform::FourierTransform(size_t length, bool has_halves) : length_(length) {
  SARDONYX_CHECK(length > 0);
  if (has_halves && length % 2 == 0) halves_ = std::make_unique<Halves>(length);
  factors_ = factors_of(length);
  if (!factors_.empty() && factors_.back() > kLargestFactor) {
    chirp_ = std::make_unique<Chirp>(length);
    return;
  }
  share_ = share_of(length);
  twiddles_.reserve(length);
  for (size_t k = 0; k < length; ++k) {
    look(k);
    twiddles_.push_back(root_of_unity(k, length));
  }
}

FourierTransform::~FourierTransform() = default;
FourierTransform::FourierTransform(FourierTransform&&) noexcept = default;

// The transform of `length` elements of `in`, `step` apart, into `out`. factors_[factor...] have
// the product `length`. The recursion is as deep as there are factors: 63 at most.
void FourierTransform::transform(const Complex* in, size_t step, Complex* out, size_t length,
                                 size_t factor) const {
  if (length == 1) {
    *out = *in;
    return;
  }
  const size_t p = factors_[factor], part = length / p;
  for (size_t r = 0; r < p; ++r) {
    if (part == 1)
      out[r] = in[r * step];
    else
      transform(in + r * step, step * p, out + r * part, part, factor + 1);
  }
  for (size_t begin = 0; begin < part; begin += kStepsBetweenLooks) {
    const size_t end = std::min(part, begin + kStepsBetweenLooks);
    if (part >= kStepsBetweenLooks) check_interrupted();
    if (p == 2)
      join_two(out, part, begin, end);
    else if (p == 4)
      join_four(out, part, begin, end);
    else
      join(out, part, p, begin, end);
  }
}

// Butterflies: `p` transforms of `part` elements each become one.
void FourierTransform::join(Complex* out, size_t part, size_t p, size_t begin, size_t end) const {
  const size_t unit = length_ / (part * p);  // twiddles_[unit] is the root for this length
  Complex terms[kLargestFactor];
  for (size_t k = begin; k < end; ++k) {
    for (size_t r = 0; r < p; ++r)
      terms[r] = product(out[r * part + k], twiddles_[unit * r * k]);
    for (size_t q = 0; q < p; ++q) {
      Complex sum = terms[0];
      for (size_t r = 1; r < p; ++r)
        sum += product(terms[r], twiddles_[unit * part * (q * r % p)]);
      out[q * part + k] = sum;
    }
  }
}

void FourierTransform::join_two(Complex* out, size_t part, size_t begin, size_t end) const {
  const size_t unit = length_ / (part * 2);
  for (size_t k = begin; k < end; ++k) {
    const Complex a = out[k], b = product(out[part + k], twiddles_[unit * k]);
    out[k] = a + b;
    out[part + k] = a - b;
  }
}

void FourierTransform::join_four(Complex* out, size_t part, size_t begin, size_t end) const {
  const size_t unit = length_ / (part * 4);
  for (size_t k = begin; k < end; ++k) {
    const Complex a = out[k], b = product(out[part + k], twiddles_[unit * k]),
                  c = product(out[2 * part + k], twiddles_[unit * 2 * k]),
                  d = product(out[3 * part + k], twiddles_[unit * 3 * k]);
    const Complex even_sum = a + c, even_difference = a - c, odd_sum = b + d;
    const Complex rotated(b.imag() - d.imag(), d.real() - b.real());  // (b - d) * -i
    out[k] = even_sum + odd_sum;
    out[part + k] = even_difference + rotated;
    out[2 * part + k] = even_sum - odd_sum;
    out[3 * part + k] = even_difference - rotated;
  }
}

void FourierTransform::bluestein(std::span<Complex> data) const {
  const ScratchMark mark;
  std::pmr::vector<Complex> padded(chirp_->padded.length(), scratch());
  for (size_t j = 0; j < length_; ++j)
    padded[j] = product(data[j], chirp_->wave[j]);
  chirp_->padded.forward(padded);
  for (size_t j = 0; j < padded.size(); ++j)
    padded[j] = product(padded[j], chirp_->kernel[j]);
  chirp_->padded.inverse(padded);
  for (size_t j = 0; j < length_; ++j)
    data[j] = product(padded[j], chirp_->wave[j]);
}

void FourierTransform::forward(std::span<Complex> data) const {
  SARDONYX_CHECK(data.size() == length_);
  check_interrupted();
  if (chirp_) return bluestein(data);
  const ScratchMark mark;
  const std::pmr::vector<Complex> in(data.begin(), data.end(), scratch());
  transform(in.data(), 1, data.data(), length_, 0);
}

void FourierTransform::forward_real(std::span<const double> in, std::span<Complex> out) const {
  SARDONYX_CHECK(in.size() == length_ && out.size() == length_);
  if (!halves_) {
    std::copy(in.begin(), in.end(), out.begin());
    return forward(out);
  }
  const size_t half = length_ / 2;
  for (size_t m = 0; m < half; ++m)
    out[m] = {in[2 * m], in[2 * m + 1]};
  halves_->transform.forward(out.first(half));
  const auto joined = [&](const Complex& z, const Complex& mirrored, size_t k) -> Complex {
    const Complex even = (z + std::conj(mirrored)) * 0.5;
    const Complex difference = (z - std::conj(mirrored)) * 0.5;
    const Complex odd(difference.imag(), -difference.real());
    return even + product(halves_->twiddles[k], odd);
  };
  const Complex first = out[0];
  out[half] = first.real() - first.imag();
  out[0] = first.real() + first.imag();
  for (size_t k = 1; 2 * k <= half; ++k) {
    const Complex z = out[k], mirrored = out[half - k];
    out[k] = joined(z, mirrored, k);
    out[half - k] = joined(mirrored, z, half - k);
  }
  for (size_t k = half + 1; k < length_; ++k)
    out[k] = std::conj(out[length_ - k]);
}

std::shared_ptr<const FourierTransform> FourierTransform::of(size_t length) {
  constexpr size_t kKept = 8;
  if (length > kLongestKept) return std::make_shared<FourierTransform>(length);
  static std::mutex mutex;
  // The one used last comes first.
  static auto& kept = *new std::vector<std::shared_ptr<const FourierTransform>>;
  {
    const std::lock_guard lock(mutex);
    const auto at = std::ranges::find(kept, length, [](const auto& one) { return one->length(); });
    if (at != kept.end()) {
      std::rotate(kept.begin(), at, at + 1);
      return kept.front();
    }
  }
  auto made = std::make_shared<const FourierTransform>(length);
  const std::lock_guard lock(mutex);
  kept.insert(kept.begin(), made);
  if (kept.size() > kKept) kept.pop_back();
  return made;
}

void FourierTransform::inverse(std::span<Complex> data) const {
  for (Complex& x : data)
    x = std::conj(x);
  forward(data);
  const double share = 1 / static_cast<double>(length_);
  for (Complex& x : data)
    x = std::conj(x) * share;
}

}  // namespace sardonyx::ops
