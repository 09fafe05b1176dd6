// Quantized convolution by our own kernels, for all sizes: oneDNN generates code for each.
#pragma once

#include "providers/onednn/byte_call.h"

namespace sardonyx::onednn {

// Sums over all channels of a group.
Prepared prepare_byte_convolution(const ByteCall& call);
// For single channels, each its own group.
Prepared prepare_byte_depthwise(const ByteCall& call);
// For channels that are no whole quads, which are read from planes: quads lie along windows.
Prepared prepare_byte_planes(const ByteCall& call);

}  // namespace sardonyx::onednn
