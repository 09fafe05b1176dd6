#include "providers/onednn/winograd_weights.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "providers/cpu/winograd_rows.h"

namespace sardonyx::onednn {
namespace {

constexpr int64_t kSide = 3;
constexpr int64_t kTaps = cpu::kWindowTaps;
constexpr int64_t kLanes = cpu::kWindowLanes;
constexpr int64_t kMostPlaces = 36;  // elements of a transformed window
// Inputs that are transformed one after the other: what they share of the lines that they are read
// from and of those that they are written to is then in the innermost cache.
constexpr int64_t kInputs = 8;

struct WeightSource {
  const std::byte* values;
  const Extents& dims;
  const Extents& strides;

  const std::byte* at(int64_t index) const {
    return values + index * static_cast<int64_t>(sizeof(float));
  }

  // The windows of inputs [input, input + inputs) and outputs [first, first + count), by input and
  // tap; zeros where there are none.
  void load(int64_t first, int64_t count, int64_t input, int64_t inputs, float* taps) const {
    const int64_t rows = std::clamp<int64_t>(dims[0] - first, 0, count);
    const int64_t columns = std::clamp<int64_t>(dims[1] - input, 0, inputs);
    if (rows < count || columns < inputs) std::fill_n(taps, inputs * kTaps * kLanes, 0.f);
    std::array<int64_t, kTaps> offsets;
    for (int64_t tap = 0; tap < kTaps; ++tap)
      offsets[static_cast<size_t>(tap)] = tap / kSide * strides[2] + tap % kSide * strides[3];
    for (int64_t k = 0; k < columns; ++k) {
      for (int64_t lane = 0; lane < rows; ++lane) {
        const int64_t window = (first + lane) * strides[0] + (input + k) * strides[1];
        float* to = taps + k * kTaps * kLanes + lane;
        for (const int64_t offset : offsets) {
          std::memcpy(to, at(window + offset), sizeof(float));
          to += kLanes;
        }
      }
    }
  }
};

// Results of one place, of `count` outputs.
template <int64_t kCount>
void write_row(const float* from, float* to, int64_t count) {
  if constexpr (kCount > 0)
    std::memcpy(to, from, kCount * sizeof(float));
  else
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

// kBlock: form.block where it is known here, 0 otherwise.
template <int64_t kBlock>
void transform_part(const WeightSource& source, const WinogradForm& form, int64_t output,
                    int64_t begin, float* out) {
  alignas(64) float taps[kInputs * kTaps * kLanes] = {};
  alignas(64) float results[kMostPlaces * kInputs * kLanes];
  const int64_t count = std::min(kInputs, form.inputs - begin);
  source.load(output, form.block, begin, count, taps);
  cpu::transform_windows(static_cast<size_t>(form.alpha), taps, static_cast<size_t>(count),
                         results);
  const int64_t number = output / form.block;
  float* column =
      out + number / form.group * form.group_stride + number % form.group * form.block_stride;
  for (int64_t place = 0; place < form.alpha * form.alpha; ++place) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t input = begin + k;
      float* to = column + place * form.place_stride + input / form.inner * form.inner_stride +
                  input % form.inner / form.sub * form.sub_stride +
                  input % form.sub * form.input_stride;
      write_row<kBlock>(results + (place * count + k) * kLanes, to, form.block);
    }
  }
}

}  // namespace

void transform_weights(const void* values, const Extents& dims, const Extents& strides,
                       const WinogradForm& form, float* out, int threads) {
  SARDONYX_CHECK(dims.size() == 4 && dims[2] == kSide && dims[3] == kSide);
  SARDONYX_CHECK(form.block <= kLanes);
  SARDONYX_CHECK(form.alpha * form.alpha <= kMostPlaces);
  const WeightSource source{static_cast<const std::byte*>(values), dims, strides};
  const auto part = form.block == kLanes ? transform_part<kLanes> : transform_part<0>;
  const int64_t columns = form.outputs / form.block;
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t begin = 0; begin < form.inputs; begin += kInputs)
      part(source, form, column * form.block, begin, out);
  }
}

}  // namespace sardonyx::onednn
