#include "providers/cpu/quantization/blockwise_dequantize_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/quantization/blockwise_dequantize_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {

// Plain loops, which the compiler makes vectors of for each target. Of 4 bits, `first` and `count`
// are even.
template <bool is_signed>
HWY_INLINE float half_of(uint8_t byte, int shift) {
  const int code = byte >> shift & 15;
  return static_cast<float>(is_signed ? (code ^ 8) - 8 : code);
}

template <bool is_signed>
void decode_halves(const uint8_t* bytes, float zero, float scale, float* out, int64_t pairs) {
  for (int64_t i = 0; i < pairs; ++i) {
    out[2 * i] = (half_of<is_signed>(bytes[i], 0) - zero) * scale;
    out[2 * i + 1] = (half_of<is_signed>(bytes[i], 4) - zero) * scale;
  }
}

template <typename T>
void decode_bytes(const T* codes, float zero, float scale, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = (static_cast<float>(codes[i]) - zero) * scale;
}

void DecodeRow(Codes form, const void* codes, int64_t first, float zero, float scale, float* out,
               int64_t count) {
  const auto* bytes = static_cast<const uint8_t*>(codes);
  switch (form) {
    case Codes::kUnsigned4:
      return decode_halves<false>(bytes + first / 2, zero, scale, out, count / 2);
    case Codes::kSigned4:
      return decode_halves<true>(bytes + first / 2, zero, scale, out, count / 2);
    case Codes::kUnsigned8:
      return decode_bytes(bytes + first, zero, scale, out, count);
    case Codes::kSigned8:
      return decode_bytes(static_cast<const int8_t*>(codes) + first, zero, scale, out, count);
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(DecodeRow);

float decoded(Codes form, const void* codes, int64_t index) {
  const auto* bytes = static_cast<const uint8_t*>(codes);
  if (form == Codes::kUnsigned8) return bytes[index];
  if (form == Codes::kSigned8) return static_cast<const int8_t*>(codes)[index];
  const int code = bytes[index / 2] >> (index % 2 ? 4 : 0) & 15;
  return static_cast<float>(form == Codes::kSigned4 ? (code ^ 8) - 8 : code);
}

void decode_row(Codes form, const void* codes, int64_t first, float zero, float scale, float* out,
                int64_t count) {
  const bool is_half = form == Codes::kUnsigned4 || form == Codes::kSigned4;
  if (is_half && count > 0 && first % 2 != 0) {
    *out++ = (decoded(form, codes, first++) - zero) * scale;
    --count;
  }
  if (is_half && count % 2 != 0) {
    --count;
    out[count] = (decoded(form, codes, first + count) - zero) * scale;
  }
  HWY_DYNAMIC_DISPATCH(DecodeRow)(form, codes, first, zero, scale, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
