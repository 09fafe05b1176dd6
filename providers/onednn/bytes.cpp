#include "providers/onednn/bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/reloadable_buffer.h"
#include "providers/cpu/byte_windows.h"
#include "providers/onednn/provider.h"

namespace sardonyx::onednn {

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
  centered.values_ = Buffer::allocate(weights.bytes());
  auto* to = reinterpret_cast<int8_t*>(centered.values_->data());
  bool fits = true;
  for (int64_t begin = 0, channel = 0; begin < weights.count(); begin += step, ++channel) {
    const auto zero = static_cast<int32_t>(zeros[static_cast<size_t>(channel) % zeros.size()]);
    for (int64_t i = begin; i < begin + step; ++i) {
      const int32_t value = (is_signed ? static_cast<int8_t>(from[i]) : from[i]) - zero;
      to[i] = static_cast<int8_t>(value);
      fits = fits && to[i] == value;
    }
  }
  if (!fits) return std::nullopt;
  centered.form_ = text("centered:", step, ":");
  for (const int64_t zero : zeros)
    centered.form_ += text(zero, ",");
  return centered;
}

const int8_t* CenteredWeights::elements() const {
  return reinterpret_cast<const int8_t*>(original_ ? peek(*original_) : values_->data());
}

ProgramBuilder::Place CenteredWeights::place(ProgramBuilder& builder, size_t index,
                                             const Desc& stored, const Desc& wanted) const {
  const std::string form = form_ + fingerprint(stored) + ">" + fingerprint(wanted);
  return builder.packed(index, wanted, form, [&](std::byte* to) {
    const bool as_it_is = wanted == stored;  // copied, for the tensor's elements may be let go
    if (as_it_is)
      std::memcpy(to, elements(), wanted.get_size());
    else if (original_)
      reorder(*original_, stored, wanted, to, builder.threads());
    else
      reorder(values_->data(), stored, wanted, to, builder.threads());
  });
}

const char* refusal_of_own_bytes(DType result, std::span<const float> scales) {
  if (!cpu::has_byte_windows()) return "this CPU adds no products of bytes";
  if (onednn_computes_bfloat16_by_tiles()) return "this CPU multiplies bytes by tiles";
  const auto is_small = [](float scale) { return std::abs(scale) < 1; };
  const bool has_far = is_byte(result) && !std::ranges::all_of(scales, is_small);
  return has_far ? "results are far from bytes" : nullptr;
}

}  // namespace sardonyx::onednn
