#include "providers/onednn/bytes.h"

namespace sardonyx::onednn {

std::optional<CenteredWeights> CenteredWeights::of(const Tensor& weights, const Tensor* zero_points,
                                                   int64_t step) {
  std::vector<int64_t> zeros{0};
  if (zero_points) zeros = zero_points->to_int64s();
  const bool is_signed = weights.dtype() == DType::kInt8;
  const auto* from = static_cast<const uint8_t*>(weights.raw());
  CenteredWeights centered;
  centered.values_ = Buffer::allocate(weights.bytes());
  auto* to = reinterpret_cast<int8_t*>(centered.values_->data());
  for (int64_t begin = 0, channel = 0; begin < weights.count(); begin += step, ++channel) {
    const int64_t zero = zeros[static_cast<size_t>(channel) % zeros.size()];
    for (int64_t i = begin; i < begin + step; ++i) {
      const int64_t value = (is_signed ? static_cast<int8_t>(from[i]) : from[i]) - zero;
      if (value < INT8_MIN || value > INT8_MAX) return std::nullopt;
      to[i] = static_cast<int8_t>(value);
    }
  }
  centered.form_ = text("centered:", step, ":");
  for (const int64_t zero : zeros)
    centered.form_ += text(zero, ",");
  return centered;
}

ProgramBuilder::Place CenteredWeights::place(ProgramBuilder& builder, size_t index,
                                             const Desc& stored, const Desc& wanted) const {
  const std::string form = form_ + fingerprint(stored) + ">" + fingerprint(wanted);
  return builder.packed(index, wanted, form, [&] {
    return wanted == stored ? values_ : reordered(values_->data(), stored, wanted);
  });
}

}  // namespace sardonyx::onednn
