// Two-axis and short-time Fourier transforms of eager/functional/fft.h.
#include <cmath>
#include <numbers>

#include "eager/create.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::fft {
namespace {

struct StftWindows {
  int64_t size, hop;
  Tensor window;  // [size]
};

StftWindows windows_of(const char* name, const StftOptions& options, DType dtype, const Loc& loc) {
  const int64_t size = options.n_fft, hop = options.hop_length.value_or(size / 4);
  if (size < 1 || hop < 1) {
    fail_at(loc, name, ": expected n_fft and hop_length of at least 1, got ", size, " and ", hop);
  }
  if (!options.window.defined()) return {size, hop, ones({size}, {.dtype = dtype}, loc)};
  if (options.window.rank() != 1 || options.window.size(0, loc) > size) {
    fail_at(loc, name, ": expected a window of at most ", size, " elements, got ",
            options.window.type());
  }
  const int64_t missing = size - options.window.size(0, loc).value();
  return {size, hop,
          eager::pad(options.window.to(dtype, loc), {missing / 2, missing - missing / 2}, 0, loc)};
}

// [frames, size]: the places of each frame's elements.
Tensor places_of(const Dim& frames, const StftWindows& windows, const Loc& loc) {
  const Tensor begins = mul({arange(frames, {.dtype = DType::kInt64}, loc), loc}, windows.hop);
  const Tensor within = arange(Dim(windows.size), {.dtype = DType::kInt64}, loc);
  return add({begins.unsqueeze(1, loc), loc}, within);
}

Tensor cosine_window(int64_t size, bool periodic, double mean) {
  if (size < 1)
    fail(ErrorCode::kInvalidArgument, "window: expected a size of at least 1, got ", size);
  const double period = static_cast<double>(periodic || size == 1 ? size : size - 1);
  std::vector<float> values(static_cast<size_t>(size), 1.0f);
  for (size_t i = 0; size > 1 && i < values.size(); ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / period;
    values[i] = static_cast<float>(mean - (1 - mean) * std::cos(turn));
  }
  return tensor(values);
}

}  // namespace

Tensor fft2(const Tensor& z, Norm norm, Loc loc) {
  return fftn(z, {.axes = {-2, -1}, .norm = norm}, loc);
}
Tensor ifft2(const Tensor& z, Norm norm, Loc loc) {
  return ifftn(z, {.axes = {-2, -1}, .norm = norm}, loc);
}
Tensor rfft2(const Tensor& x, Norm norm, Loc loc) {
  return rfftn(x, {.axes = {-2, -1}, .norm = norm}, loc);
}
Tensor irfft2(const Tensor& z, Norm norm, Loc loc) {
  return irfftn(z, {.axes = {-2, -1}, .norm = norm}, loc);
}

Tensor stft(const Tensor& x, const StftOptions& options, Loc loc) {
  require_defined(x, "stft", "x", loc);
  if (!is_floating(x.dtype()) || (x.rank() != 1 && x.rank() != 2)) {
    fail_at(loc, "stft: expected a floating signal [samples] or [N, samples], got ", x.type());
  }
  const StftWindows windows = windows_of("stft", options, x.dtype(), loc);
  const int64_t half = windows.size / 2;
  const Tensor signal = options.center ? eager::pad(x, {half, half}, "reflect", 0, loc) : x;
  const Dim samples = signal.size(-1, loc);
  if (!size_reaches(samples, windows.size, loc))
    fail_at(loc, "stft: expected at least ", windows.size, " samples, got ", signal.type());
  const Dim frames(floor_div(samples - windows.size, windows.hop) + 1);
  const Tensor parts = index_select(signal, -1, places_of(frames, windows, loc), loc);
  const Norm norm = options.normalized ? Norm::kOrtho : Norm::kBackward;
  return rfft(mul({parts, loc}, windows.window), {.norm = norm}, loc).transpose(-3, -2, loc);
}

// Frames are added where they were, weighted by the window again, over the sum of its squares.
Tensor istft(const Tensor& z, const StftOptions& options, std::optional<int64_t> length, Loc loc) {
  require_defined(z, "istft", "z", loc);
  if (z.rank() != 3 && z.rank() != 4) {
    fail_at(loc, "istft: expected spectra [n_fft / 2 + 1, frames, 2] or [N, ...] of them, got ",
            z.type());
  }
  const StftWindows windows = windows_of("istft", options, z.dtype(), loc);
  const Norm norm = options.normalized ? Norm::kOrtho : Norm::kBackward;
  const Tensor parts = irfft(z.transpose(-3, -2, loc), {.n = windows.size, .norm = norm}, loc);
  const Dim frames = z.size(-2, loc);
  const Dim samples((frames - 1) * windows.hop + windows.size);
  const Tensor places = places_of(frames, windows, loc).reshape(-1, loc);
  const auto added = [&](const Tensor& values) {
    const Tensor flat = values.flatten(-2, -1, loc);
    Dims shape = flat.shape(loc);
    shape.back() = samples;
    return index_add(zeros(shape, {.dtype = z.dtype()}, loc), -1, places, flat, 1, loc);
  };
  const Tensor weight = square(windows.window, loc).expand({frames, windows.size}, loc);
  const Tensor sums = added(mul({parts, loc}, windows.window)), weights = added(weight);
  const Dim begin = options.center ? Dim(windows.size / 2) : Dim(0);
  const Dim end = length ? begin + *length : Dim(samples - begin);
  const Slice kept{begin, end};
  return div({sums.slice(-1, kept, loc), loc}, weights.slice(-1, kept, loc));
}

Tensor hann_window(int64_t size, bool periodic) {
  return cosine_window(size, periodic, 0.5);
}
Tensor hamming_window(int64_t size, bool periodic) {
  return cosine_window(size, periodic, 0.54);
}
Tensor angle(const Tensor& z, Loc loc) {
  return atan2({imag(z, loc), loc}, real(z, loc));
}

}  // namespace sardonyx::eager::fft
