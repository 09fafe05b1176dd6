#include "providers/cpu/quantization/int8_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ir/core/memory/evictable_buffer.h"
#include "providers/cpu/conv/igemm_u8s8.h"

namespace sardonyx::cpu {
namespace {

template <typename T>
std::pair<int32_t, int32_t> range_of(const T* elements, int64_t count) {
  T least = elements[0], greatest = elements[0];
  for (int64_t i = 1; i < count; ++i) {
    least = std::min(least, elements[i]);
    greatest = std::max(greatest, elements[i]);
  }
  return {least, greatest};
}

}  // namespace

std::optional<CenteredWeights> CenteredWeights::of(const Tensor& weights, const Tensor* zero_points,
                                                   int64_t step) {
  std::vector<int64_t> zeros{0};
  if (zero_points) zeros = zero_points->to_int64s();
  const bool is_signed = weights.dtype() == DType::kInt8;
  CenteredWeights centered;
  if (is_signed && std::ranges::all_of(zeros, [](int64_t zero) { return zero == 0; })) {
    centered.original_ = &weights;
    centered.form_ = "bytes:";
    return centered;
  }
  const auto* from = reinterpret_cast<const uint8_t*>(peek(weights));
  const int64_t named_step = step;
  if (zeros.size() == 1) step = std::max<int64_t>(weights.count(), 1);
  const auto zero_of = [&](int64_t begin) {
    return static_cast<int32_t>(zeros[static_cast<size_t>(begin / step) % zeros.size()]);
  };
  for (int64_t begin = 0; begin < weights.count(); begin += step) {
    const auto [least, greatest] =
        is_signed ? range_of(reinterpret_cast<const int8_t*>(from) + begin, step)
                  : range_of(from + begin, step);
    const int32_t zero = zero_of(begin);
    if (least - zero < INT8_MIN || greatest - zero > INT8_MAX) return std::nullopt;
  }
  centered.values_ = Buffer::allocate(weights.bytes());
  auto* to = reinterpret_cast<uint8_t*>(centered.values_->data());
  for (int64_t begin = 0; begin < weights.count(); begin += step) {
    const auto zero = static_cast<uint8_t>(zero_of(begin));
    for (int64_t i = begin; i < begin + step; ++i)
      to[i] = static_cast<uint8_t>(from[i] - zero);
  }
  centered.form_ = text("centered:", named_step, ":");
  for (const int64_t zero : zeros)
    centered.form_ += text(zero, ",");
  return centered;
}

std::optional<CenteredWeights> CenteredWeights::moved(const Tensor& weights,
                                                      const Tensor* zero_point) {
  if (zero_point && zero_point->count() != 1) return std::nullopt;
  const int64_t zero = zero_point ? zero_point->to_int64s()[0] : 0;
  CenteredWeights moved;
  if (weights.dtype() == DType::kInt8) {
    moved.original_ = &weights;
    moved.form_ = "bytes:";
    moved.zero_ = static_cast<int32_t>(zero);
    return moved;
  }
  const auto* from = reinterpret_cast<const uint8_t*>(peek(weights));
  moved.values_ = Buffer::allocate(weights.bytes());
  auto* to = reinterpret_cast<uint8_t*>(moved.values_->data());
  for (int64_t i = 0; i < weights.count(); ++i)
    to[i] = from[i] ^ 0x80;
  moved.form_ = "moved:";
  moved.zero_ = static_cast<int32_t>(zero) - 128;
  return moved;
}

const int8_t* CenteredWeights::elements() const {
  return reinterpret_cast<const int8_t*>(original_ ? peek(*original_) : values_->data());
}

const char* unsupported_by_vnni(DType result, std::span<const float> scales) {
  if (!has_igemm_u8s8()) return "this CPU adds no products of bytes";
  const auto is_small = [](float scale) { return std::abs(scale) < 1; };
  const bool has_far = is_byte(result) && !std::ranges::all_of(scales, is_small);
  return has_far ? "results are far from bytes" : nullptr;
}

}  // namespace sardonyx::cpu
