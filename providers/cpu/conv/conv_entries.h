// Conv and sardonyx::FusedConv for kernels that compute both.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"

namespace sardonyx::cpu {

// `prepare` takes the request, the attributes of the convolution and the activation behind it.
template <auto prepare>
Prepared prepare_plain_conv(const KernelRequest& request) {
  return prepare(request, request.attrs<ops::ConvAttrs>(), {});
}
template <auto prepare>
Prepared prepare_fused_conv(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::FusedConvAttrs>();
  return prepare(request, attrs, {attrs.activation, attrs.activation_params});
}

}  // namespace sardonyx::cpu
