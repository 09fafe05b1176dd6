// Quantized convolution by our own kernels, for all sizes: oneDNN generates code for each.
#pragma once

#include "providers/onednn/byte_call.h"

namespace sardonyx::onednn {

// Sums over all channels of a group, or where these are single ones over each.
Prepared prepare_byte_convolution(const ByteCall& call);
Prepared prepare_byte_depthwise(const ByteCall& call);

}  // namespace sardonyx::onednn
