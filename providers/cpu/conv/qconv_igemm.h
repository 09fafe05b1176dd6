// Quantized convolution by our own kernels, for all sizes: oneDNN generates code for each.
#pragma once

#include "providers/cpu/conv/qconv_params.h"

namespace sardonyx::cpu {

// Sums over all channels of a group.
Prepared prepare_conv_u8s8(const QConvCall& call);
// For single channels, each its own group.
Prepared prepare_qdwconv(const QConvCall& call);
// For channels that are no whole quads, which are read from planes: quads lie along windows.
Prepared prepare_qconv_first_layer(const QConvCall& call);

}  // namespace sardonyx::cpu
