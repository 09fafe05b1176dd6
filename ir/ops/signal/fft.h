// The discrete Fourier transform of any length, in double.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ir/core/memory/memory_reservation.h"

namespace sardonyx::ops {

// Mixed-radix (Cooley and Tukey, 1965) where all prime factors of the length are small; else the
// chirp transform of Bluestein (1970), which turns it into a convolution of a power of two. Either
// takes O(n log n). Safe from many threads; tables are made once, by the constructor.
class FourierTransform {
 public:
  using Complex = std::complex<double>;

  // `length` must be positive.
  explicit FourierTransform(size_t length) : FourierTransform(length, true) {}
  // The same; tables of the lengths that were asked for last are kept.
  static std::shared_ptr<const FourierTransform> of(size_t length);
  ~FourierTransform();
  FourierTransform(FourierTransform&&) noexcept;

  size_t length() const { return length_; }
  // X[k] = sum of x[n] exp(-2 pi i k n / length); in place.
  void forward(std::span<Complex> data) const;
  // Like forward(), of `length` real elements. An even length takes half the time.
  void forward_real(std::span<const double> in, std::span<Complex> out) const;
  // x[n] = sum of X[k] exp(2 pi i k n / length) / length; in place.
  void inverse(std::span<Complex> data) const;

 private:
  FourierTransform(size_t length, bool has_halves);
  struct Chirp;
  struct Halves;
  void transform(const Complex* in, size_t step, Complex* out, size_t length, size_t factor) const;
  // Butterflies begin to end of the `part` that there are.
  void join(Complex* out, size_t part, size_t p, size_t begin, size_t end) const;
  void join_two(Complex* out, size_t part, size_t begin, size_t end) const;
  void join_four(Complex* out, size_t part, size_t begin, size_t end) const;
  void bluestein(std::span<Complex> data) const;

  size_t length_;
  std::unique_ptr<BudgetShare> share_;  // of the tables, where they are long
  std::vector<size_t> factors_;         // primes and fours whose product is the length
  std::vector<Complex> twiddles_;       // twiddles_[k] = exp(-2 pi i k / length)
  std::unique_ptr<Chirp> chirp_;        // where a factor is too large
  std::unique_ptr<Halves> halves_;      // of even lengths
};

}  // namespace sardonyx::ops
