// Quantized convolution by our own kernel, for all sizes: oneDNN generates code for each.
#pragma once

#include "ir/ops/convolution.h"
#include "ir/ops/window.h"
#include "providers/onednn/bytes.h"
#include "providers/onednn/shim.h"

namespace sardonyx::onednn {

// Where the op has what is not told by `scaling`; SIZE_MAX: it has no such input.
struct ByteSlots {
  size_t x, w, bias;
};

// Sums of products with `weights`, int8 in the tensor's own order, which become bytes by scales for
// all outputs or each, and a zero point.
Prepared prepare_byte_convolution(const KernelRequest& request, const ByteSlots& slots,
                                  const ops::Window& window, int64_t groups,
                                  const CenteredWeights& weights, const IntegerScaling& scaling);

}  // namespace sardonyx::onednn
