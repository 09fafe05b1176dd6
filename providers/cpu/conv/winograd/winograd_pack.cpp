#include "providers/cpu/conv/winograd/winograd_pack.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "ir/core/error.h"
#include "ir/core/threading/parallel_for.h"
#include "providers/cpu/conv/winograd/winograd_f32.h"
#include "providers/cpu/conv/winograd/winograd_weight_transform.h"
#include "providers/cpu/gemm/pack_transposed.h"

namespace sardonyx::cpu {
namespace {

constexpr int64_t kTaps = kWindowTaps;
constexpr int64_t kLanes = kWindowLanes;
constexpr int64_t kMaxPlaces = 36;
// Inputs that are transformed one after the other: what they share of the lines that they are read
// from and of those that they are written to is then in the innermost cache.
constexpr int64_t kInputs = 8;

struct WindowSource {
  const LooseFloat* values;
  int64_t outputs, inputs;

  // Windows of inputs [input, input + count) and of kLanes outputs from `first` on, by input and
  // tap; zeros where there are none.
  void load(int64_t first, int64_t input, int64_t count, float* taps) const {
    const int64_t lanes = std::clamp<int64_t>(outputs - first, 0, kLanes);
    if (lanes < kLanes) std::fill_n(taps, count * kTaps * kLanes, 0.0f);
    pack_transposed(values + (first * inputs + input) * kTaps, inputs * kTaps, lanes, count * kTaps,
                    taps, kLanes);
  }
};

}  // namespace

void transform_weights(const LooseFloat* values, int64_t outputs, int64_t inputs, int64_t side,
                       float* out, int threads) {
  const int64_t places = (side + 2) * (side + 2);
  SARDONYX_CHECK(places <= kMaxPlaces);
  const WindowSource source{values, outputs, inputs};
  const int64_t units = (outputs + kWinogradUnit - 1) / kWinogradUnit;
  const int64_t columns = units * (kWinogradUnit / kLanes);
  const int64_t pieces = (inputs + kInputs - 1) / kInputs;
  parallel_for_each(columns * pieces, threads, [&](int64_t task) {
    alignas(64) float taps[kInputs * kTaps * kLanes];
    alignas(64) float results[kMaxPlaces * kInputs * kLanes];
    const int64_t first = task / pieces * kLanes, begin = task % pieces * kInputs;
    const int64_t count = std::min(kInputs, inputs - begin);
    source.load(first, begin, count, taps);
    transform_windows(static_cast<size_t>(side + 2), taps, static_cast<size_t>(count), results);
    float* to =
        out + first / kWinogradUnit * places * inputs * kWinogradUnit + first % kWinogradUnit;
    for (int64_t place = 0; place < places; ++place) {
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + (place * inputs + begin + i) * kWinogradUnit,
                    results + (place * count + i) * kLanes, kLanes * sizeof(float));
    }
  });
}

}  // namespace sardonyx::cpu
