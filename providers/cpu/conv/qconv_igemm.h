// Quantized convolution by our own kernels, for all sizes: oneDNN generates code for each size.
#pragma once

#include "providers/cpu/conv/qconv_params.h"

namespace sardonyx::cpu {

inline constexpr InnerKernel kQConvKernels[] = {
    {"qdwconv", "providers/cpu/conv/qdwconv.cpp"},
    {"qconv_first_layer", "providers/cpu/conv/qconv_first_layer.cpp"},
    {"qconv_igemm", "providers/cpu/conv/qconv_igemm.cpp"}};
constexpr InnerKernel kQConvIgemm = kQConvKernels[2];

// Prepares the kernel that suits the channels, and notes it for reports of kernel attempts.
Prepared prepare_qconv(const QConvCall& call);
// Depthwise convolution: each channel is a group.
Prepared prepare_qdwconv(const QConvCall& call);
// Channels of a group that are no multiple of kVnniGroup, such as RGB: the 4 products of a dot
// product are 4 elements of a window's row, in an NCHW image.
Prepared prepare_qconv_first_layer(const QConvCall& call);

}  // namespace sardonyx::cpu
