// Conversions of contiguous rows between element types, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

void half_to_float_row(const uint16_t* in, float* out, size_t count);
void float_to_half_row(const float* in, uint16_t* out, size_t count);

// out[i] = saturate(round half to even(in[i] / scale) + zero), into uint8 or int8.
void quantize_row(const float* in, float scale, int32_t zero, uint8_t* out, size_t count);
void quantize_row(const float* in, float scale, int32_t zero, int8_t* out, size_t count);
// out[i] = (in[i] - zero) * scale.
void dequantize_row(const uint8_t* in, float scale, int32_t zero, float* out, size_t count);
void dequantize_row(const int8_t* in, float scale, int32_t zero, float* out, size_t count);

}  // namespace sardonyx::cpu
