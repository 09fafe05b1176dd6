// The float types that the oneDNN kernels accept.
#pragma once

#include "ir/kernel.h"
#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

// bfloat16 where the caller chose it for speed: oneDNN takes its denormals for zero.
inline bool takes_bfloat16(const KernelRequest& request) {
  return request.precision == Precision::kBFloat16 && has_bfloat16();
}

inline bool takes_float(const KernelRequest& request, DType dtype) {
  return dtype == DType::kFloat || (dtype == DType::kBFloat16 && takes_bfloat16(request));
}

// Why `dtype` is not supported, or null.
inline const char* why_unsupported_type(const KernelRequest& request, DType dtype) {
  return takes_float(request, dtype) ? nullptr : "only float is computed here";
}

}  // namespace sardonyx::onednn
