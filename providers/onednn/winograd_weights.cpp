#include "providers/onednn/winograd_weights.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sardonyx::onednn {
namespace {

constexpr size_t kTaps = 3;
// Outputs that are transformed together.
constexpr size_t kLanes = 16;
using Lanes = std::array<float, kLanes>;

// `taps` times G^T, or G times them: three values become four.
void transform_for_2(const Lanes& a, const Lanes& b, const Lanes& c, Lanes* const out[4]) {
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const float ends = (a[lane] + c[lane]) * 0.5f, middle = b[lane] * 0.5f;
    (*out[0])[lane] = a[lane];
    (*out[1])[lane] = ends + middle;
    (*out[2])[lane] = ends - middle;
    (*out[3])[lane] = c[lane];
  }
}

// Three values become six. The rows of G are those of the Lagrange basis: for a point p the
// coefficients 1, p, p^2, over the product of its distances to the others.
void transform_for_4(const Lanes& a, const Lanes& b, const Lanes& c, Lanes* const out[6]) {
  constexpr double kNear = 0.625, kFar = 1.5;
  constexpr double kGap = kFar * kFar - kNear * kNear;
  constexpr double kNearScale = -1 / (2 * kNear * kNear * kGap);
  constexpr double kFarScale = 1 / (2 * kFar * kFar * kGap);
  constexpr auto kZero = static_cast<float>(1 / (kNear * kNear * kFar * kFar));
  constexpr auto kNear0 = static_cast<float>(kNearScale),
                 kNear1 = static_cast<float>(kNearScale * kNear),
                 kNear2 = static_cast<float>(kNearScale * kNear * kNear);
  constexpr auto kFar0 = static_cast<float>(kFarScale),
                 kFar1 = static_cast<float>(kFarScale * kFar),
                 kFar2 = static_cast<float>(kFarScale * kFar * kFar);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const float near_even = a[lane] * kNear0 + c[lane] * kNear2, near_odd = b[lane] * kNear1;
    const float far_even = a[lane] * kFar0 + c[lane] * kFar2, far_odd = b[lane] * kFar1;
    (*out[0])[lane] = a[lane] * kZero;
    (*out[1])[lane] = near_even + near_odd;
    (*out[2])[lane] = near_even - near_odd;
    (*out[3])[lane] = far_even + far_odd;
    (*out[4])[lane] = far_even - far_odd;
    (*out[5])[lane] = c[lane];
  }
}

// Both sides: of the rows of a window, then of its columns.
template <size_t kAlpha, typename Transform>
void transform_window(const Lanes (&window)[kTaps][kTaps], Lanes (&result)[kAlpha][kAlpha],
                      const Transform& transform) {
  Lanes tall[kAlpha][kTaps];
  Lanes* to[kAlpha];
  for (size_t x = 0; x < kTaps; ++x) {
    for (size_t u = 0; u < kAlpha; ++u)
      to[u] = &tall[u][x];
    transform(window[0][x], window[1][x], window[2][x], to);
  }
  for (size_t u = 0; u < kAlpha; ++u) {
    for (size_t v = 0; v < kAlpha; ++v)
      to[v] = &result[u][v];
    transform(tall[u][0], tall[u][1], tall[u][2], to);
  }
}

struct Source {
  const std::byte* values;
  const Extents& dims;
  const Extents& strides;

  // Window `input` of outputs [first, first + count).
  void load(int64_t first, size_t count, int64_t input, Lanes (&window)[kTaps][kTaps]) const {
    for (size_t lane = 0; lane < count; ++lane) {
      const int64_t output = first + static_cast<int64_t>(lane);
      const bool is_there = output < dims[0] && input < dims[1];
      for (size_t y = 0; y < kTaps; ++y) {
        for (size_t x = 0; x < kTaps; ++x) {
          const int64_t at = output * strides[0] + input * strides[1] +
                             static_cast<int64_t>(y) * strides[2] +
                             static_cast<int64_t>(x) * strides[3];
          float& tap = window[y][x][lane];
          if (is_there)
            std::memcpy(&tap, values + at * static_cast<int64_t>(sizeof(float)), sizeof(float));
          else
            tap = 0;
        }
      }
    }
  }
};

// Inputs that are transformed one after the other, so that what they share of lines is read once.
constexpr int64_t kInputs = 16;

template <size_t kAlpha, typename Transform>
void transform_part(const Source& source, const WinogradForm& form, int64_t output, int64_t begin,
                    float* out, const Transform& transform) {
  const auto block = static_cast<size_t>(form.block);
  const int64_t number = output / form.block;
  float* column =
      out + number / form.group * form.group_stride + number % form.group * form.block_stride;
  for (int64_t input = begin; input < std::min(begin + kInputs, form.inputs); ++input) {
    float* to = column + input / form.inner * form.inner_stride +
                input % form.inner / form.sub * form.sub_stride +
                input % form.sub * form.input_stride;
    Lanes window[kTaps][kTaps] = {};
    Lanes result[kAlpha][kAlpha];
    source.load(output, block, input, window);
    transform_window<kAlpha>(window, result, transform);
    for (size_t place = 0; place < kAlpha * kAlpha; ++place) {
      std::memcpy(to + static_cast<int64_t>(place) * form.place_stride,
                  result[place / kAlpha][place % kAlpha].data(), block * sizeof(float));
    }
  }
}

template <size_t kAlpha, typename Transform>
void transform_all(const Source& source, const WinogradForm& form, float* out, int threads,
                   const Transform& transform) {
  const int64_t columns = form.outputs / form.block;
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t begin = 0; begin < form.inputs; begin += kInputs)
      transform_part<kAlpha>(source, form, column * form.block, begin, out, transform);
  }
}

}  // namespace

void transform_weights(const void* values, const Extents& dims, const Extents& strides,
                       const WinogradForm& form, float* out, int threads) {
  SARDONYX_CHECK(dims.size() == 4 && dims[2] == kTaps && dims[3] == kTaps);
  SARDONYX_CHECK(form.block <= static_cast<int64_t>(kLanes));
  const Source source{static_cast<const std::byte*>(values), dims, strides};
  if (form.alpha == 4)
    transform_all<4>(source, form, out, threads, transform_for_2);
  else
    transform_all<6>(source, form, out, threads, transform_for_4);
}

}  // namespace sardonyx::onednn
