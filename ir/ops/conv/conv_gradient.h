// Gradients of the convolutions, and how pools share them. Convolution is bilinear, so each of the
// three products of (input, weight, output) has the other two as gradients: Conv, ConvInputGrad and
// ConvWeightGrad are closed under differentiation.
#pragma once

#include "ir/op_def.h"
#include "ir/ops/conv/conv.h"

namespace sardonyx::ops {

Vals conv_grad(Emitter& e, const GradCall& call);
Vals conv_transpose_grad(Emitter& e, const GradCall& call);
// Rows of our own domain: ConvInputGrad, ConvWeightGrad.
std::span<const OpDef> convolution_gradient_ops();

// The windows of a call as values: each a 1-D int64 list with an element for each spatial axis.
struct WindowValues {
  Val in, out;  // spatial sizes
  Val begin;    // padding before the first element
  Val full;     // (out - 1) * stride + extent: from the first window's first tap to the last one's
  std::vector<int64_t> strides, dilations;
};
// `spec` of a convolution or a pool; `kernel` its sizes. The last window may reach beyond the
// input's end by any length, or end before it.
WindowValues window_values(Emitter& e, const WindowSpec& spec, const Val& in, const Val& out,
                           const Val& kernel);

// The padding before and after, together, that the attributes say.
Val window_padding(Emitter& e, const WindowSpec& spec, const WindowValues& window);

// Adds y * w at the taps of each window: what a convolution with these windows does backwards. y is
// [N, M, out...], w [M, C / group, kernel...], the result [N, C, in...].
Val spread_windows(Emitter& e, const Val& y, const Val& w, const WindowValues& window,
                   int64_t group);
// x so padded and cropped that windows without padding end exactly with its last element.
Val framed(Emitter& e, const Val& x, const WindowValues& window);

}  // namespace sardonyx::ops
