// MobileNetV2; Sandler et al., "Inverted residuals and linear bottlenecks", arXiv:1801.04381.
#pragma once

#include "eager/nn/container.h"
#include "eager/nn/convolution.h"
#include "eager/nn/linear.h"
#include "eager/nn/normalization.h"

namespace sardonyx::models {

namespace nn = eager::nn;
using eager::Tensor;

// 1x1 to `expansion` times the channels (left out where that is 1), 3x3 depthwise, 1x1 down again.
struct InvertedResidual : nn::Layer<InvertedResidual> {
  InvertedResidual(int64_t in, int64_t out, int64_t stride, int64_t expansion);
  nn::Sequential body;
  bool has_shortcut;

  Tensor forward(const Tensor& x) const;
};

// Images [batch, 3, height, width] to scores [batch, classes].
struct MobileNetV2 : nn::Layer<MobileNetV2> {
  explicit MobileNetV2(int64_t classes = 1000);
  nn::Sequential features = add("features", nn::Sequential());
  nn::Linear classifier;

  Tensor forward(const Tensor& x) const;
};

}  // namespace sardonyx::models
