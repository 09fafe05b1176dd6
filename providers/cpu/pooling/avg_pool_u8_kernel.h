// Sums of 8-bit integers, and means of them as 8-bit integers again, vectorised for the CPU that
// runs it. T is uint8_t or int8_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// The sum of up to 2^23 bytes, which int32 holds.
template <typename T>
int32_t sum_of_bytes(const T* in, size_t count);

// sums[i] += in[i].
template <typename T>
void add_bytes_to_sums(const T* in, int32_t* sums, size_t count);

// sums[i] = the sum of `kernel` elements of `line` from i on, for the starts of `outputs` windows
// that are `stride` apart; then sums[k] is that of window k. `sums` is large enough for all starts.
void sum_windows(const int32_t* line, size_t kernel, size_t stride, size_t outputs, int32_t* sums);

// The requantization of window sums: (sum - zeros) * factor, rounded to float, divided by `scale`,
// rounded half to even, plus `zero`.
struct MeanScale {
  int32_t zeros;
  double factor;
  float scale;
  int32_t zero;
};
// `sums` can be read up to a multiple of this many elements.
constexpr size_t kMeansAtOnce = 64;
template <typename T>
void quantize_means(const int32_t* sums, const MeanScale& to, T* out, size_t count);

}  // namespace sardonyx::cpu
