// Arithmetic on contiguous rows of quantized 8-bit integers, vectorised for the CPU that runs
// it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ir/core/dtype_convert.h"

namespace sardonyx::cpu {

// An integer q represents the real number (q - zero) * scale.
struct ByteScale {
  float scale = 1;
  int32_t zero = 0;
};
// DynamicQuantizeLinear's, for numbers in [low, high], which holds 0; codes are uint8.
inline ByteScale byte_scale_of(float low, float high) {
  const float scale = low == high ? 1.0f : (high - low) / 255.0f;
  const float zero = std::nearbyint(clamped_number(0.0f - low / scale, 0.0f, 255.0f));
  return {scale, static_cast<int32_t>(zero)};
}
struct QLinearScales {
  ByteScale a, b, out;
};

// out[i] = quantised(a[i] + b[i]) or (a[i] * b[i]), each step in float, rounded half to even; an
// operand with step 0 is one element for the whole row. `out` may be an operand of step 1.
template <typename T>  // uint8_t or int8_t
void qadd_row(const QLinearScales& scales, const T* a, bool a_steps, const T* b, bool b_steps,
              T* out, size_t count);
template <typename T>
void qdq_mul_row(const QLinearScales& scales, const T* a, bool a_steps, const T* b, bool b_steps,
                 T* out, size_t count);
// QLinearMul: the exact product of the distances from the zero points, times one factor, plus the
// zero point, rounded half to even.
template <typename T>
void qmul_row(const QLinearScales& scales, const T* a, bool a_steps, const T* b, bool b_steps,
              T* out, size_t count);

// Widens [low, high] to the range of `in`, ignoring NaN.
void widen_range(const float* in, size_t count, float& low, float& high);

}  // namespace sardonyx::cpu
