// Discrete Fourier transforms, after torch.fft. A complex tensor is one of pairs: its last axis
// holds the real and the imaginary part, [..., 2], as in ONNX's DFT, which all this is made of. So
// transforms have gradients and can be traced and exported. Axes count those of the signal, the
// pairs' left out: -1 is the one before the pairs. Elements are float32 or float64.
#pragma once

#include <optional>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager::fft {

// [...] and [...] (zeros where undefined) to [..., 2], and the parts again.
Tensor complex(const Tensor& real, const Tensor& imag = {}, Loc loc = Loc::current());
Tensor real(const Tensor& z, Loc loc = Loc::current());
Tensor imag(const Tensor& z, Loc loc = Loc::current());
Tensor conj(const Tensor& z, Loc loc = Loc::current());
// The product of complex numbers; axes broadcast.
Tensor multiply(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
// The magnitude; its gradient at 0 is 0.
Tensor abs(const Tensor& z, Loc loc = Loc::current());

// Where 1/n stands: at the inverse, at the forward transform, or its root at both.
enum class Norm { kBackward, kForward, kOrtho };

struct Options {
  std::optional<int64_t> n = {};  // the axis is cut or filled with zeros to this length
  int64_t axis = -1;
  Norm norm = Norm::kBackward;
};
// [..., m, ..., 2] to [..., n, ..., 2]: X[k] = sum of x[j] exp(-2 pi i j k / n).
Tensor fft(const Tensor& z, Options options = {}, Loc loc = Loc::current());
Tensor ifft(const Tensor& z, Options options = {}, Loc loc = Loc::current());
// Real [..., m] to the half of the spectrum that says all, [..., n / 2 + 1, 2].
Tensor rfft(const Tensor& x, Options options = {}, Loc loc = Loc::current());
// Back to real [..., n], where n is 2 * (m - 1) unless given; give it for odd lengths.
Tensor irfft(const Tensor& z, Options options = {}, Loc loc = Loc::current());

// Of the half of a signal [..., m, 2] whose other half is its conjugate the spectrum, real
// [..., n], n = 2 * (m - 1) unless given; and back from real [..., n] to [..., n / 2 + 1, 2].
Tensor hfft(const Tensor& z, Options options = {}, Loc loc = Loc::current());
Tensor ihfft(const Tensor& x, Options options = {}, Loc loc = Loc::current());

struct OptionsN {
  std::vector<int64_t> s = {};     // lengths, one for each axis; none: as they are
  std::vector<int64_t> axes = {};  // none: all, or as many of the last as `s` has
  Norm norm = Norm::kBackward;
};
// Over several axes; the real ones are half a spectrum along the last of them.
Tensor fftn(const Tensor& z, const OptionsN& options = {}, Loc loc = Loc::current());
Tensor ifftn(const Tensor& z, const OptionsN& options = {}, Loc loc = Loc::current());
Tensor rfftn(const Tensor& x, const OptionsN& options = {}, Loc loc = Loc::current());
Tensor irfftn(const Tensor& z, const OptionsN& options = {}, Loc loc = Loc::current());

// The same over the last two axes.
Tensor fft2(const Tensor& z, Norm norm = Norm::kBackward, Loc loc = Loc::current());
Tensor ifft2(const Tensor& z, Norm norm = Norm::kBackward, Loc loc = Loc::current());
Tensor rfft2(const Tensor& x, Norm norm = Norm::kBackward, Loc loc = Loc::current());
Tensor irfft2(const Tensor& z, Norm norm = Norm::kBackward, Loc loc = Loc::current());

struct StftOptions {
  int64_t n_fft = 0;
  std::optional<int64_t> hop_length = {};  // n_fft / 4
  Tensor window = {};                      // [n_fft or less, then centred]; none: ones
  bool center = true;                      // signals are reflected by n_fft / 2 at both ends
  bool normalized = false;                 // divided by the root of n_fft
};
// Spectra of windows of a signal x [samples] or [N, samples]: [N, n_fft / 2 + 1, frames, 2], and
// the signal of such spectra, of `length` samples where given.
Tensor stft(const Tensor& x, const StftOptions& options, Loc loc = Loc::current());
Tensor istft(const Tensor& z, const StftOptions& options, std::optional<int64_t> length = {},
             Loc loc = Loc::current());
Tensor hann_window(int64_t size, bool periodic = true);
Tensor hamming_window(int64_t size, bool periodic = true);
// The angle of a complex number, within [-pi, pi].
Tensor angle(const Tensor& z, Loc loc = Loc::current());

// Frequencies of the bins in cycles per unit of `spacing`: 0, 1, ..., -2, -1 over n * spacing, and
// of rfft's: 0 ... n / 2.
Tensor fftfreq(int64_t n, double spacing = 1, DType dtype = DType::kFloat);
Tensor rfftfreq(int64_t n, double spacing = 1, DType dtype = DType::kFloat);
// Moves the bin of frequency 0 to the middle of the axes (none: all) of any tensor, and back.
Tensor fftshift(const Tensor& x, const IntList& axes = {}, Loc loc = Loc::current());
Tensor ifftshift(const Tensor& x, const IntList& axes = {}, Loc loc = Loc::current());

}  // namespace sardonyx::eager::fft
