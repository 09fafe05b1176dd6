// 8-bit weights as the integer kernels expect them: int8, with a zero point of 0 where that fits.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/kernel.h"

namespace sardonyx::cpu {

// Why weights have no CenteredWeights.
inline constexpr const char* kNoInt8 = "weights without their zero point do not fit into int8";

// Constant weights minus their zero points. The tensor outlives them.
class CenteredWeights {
 public:
  // `zero_points` has one element for all (null: 0), or one for each channel, whose weights are
  // `step` elements apart. nullopt where a difference does not fit into int8.
  static std::optional<CenteredWeights> of(const Tensor& weights, const Tensor* zero_points,
                                           int64_t step);
  // Weights whose differences from one zero point do not fit into int8: uint8 ones are moved by
  // 128, and zero() is what their zero point becomes. nullopt where there are several zero points.
  static std::optional<CenteredWeights> moved(const Tensor& weights, const Tensor* zero_point);
  int32_t zero() const { return zero_; }  // 0 of those that of() makes

  // The int8 elements, readable while the kernel is prepared.
  const int8_t* elements() const;
  // The part of the prepack key that names how the elements differ from the tensor's; an opaque
  // string.
  const std::string& form() const { return form_; }
  // The tensor itself where its elements are the weights, else null.
  const Tensor* original() const { return original_; }

 private:
  const Tensor* original_ = nullptr;  // where they are the tensor's own
  std::shared_ptr<Buffer> values_;    // where they are not
  std::string form_;
  int32_t zero_ = 0;
};

// Null, or why the kernels of VNNI instructions don't compute results of this type with these
// scales.
const char* unsupported_by_vnni(DType result, std::span<const float> scales);

}  // namespace sardonyx::cpu
