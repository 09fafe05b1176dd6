// Residual networks; He et al., "Deep residual learning for image recognition", arXiv:1512.03385.
#pragma once

#include <vector>

#include "eager/nn/container.h"
#include "eager/nn/convolution.h"
#include "eager/nn/linear.h"
#include "eager/nn/normalization.h"

namespace sardonyx::models {

namespace nn = eager::nn;
using eager::Tensor;

// Two 3x3 convolutions, or 1x1, 3x3 and 1x1 (to four times the channels) for a bottleneck, beside a
// shortcut.
struct ResidualBlock : nn::Layer<ResidualBlock> {
  ResidualBlock(int64_t in, int64_t channels, int64_t stride, bool is_bottleneck);
  nn::ModuleList<nn::Conv2d> convs = add("convs", nn::ModuleList<nn::Conv2d>());
  nn::ModuleList<nn::BatchNorm2d> norms = add("norms", nn::ModuleList<nn::BatchNorm2d>());
  nn::Sequential downsample;  // empty: the shortcut is the identity

  Tensor forward(const Tensor& x) const;
};

// Images [batch, 3, height, width] to scores [batch, classes].
struct ResNet : nn::Layer<ResNet> {
  ResNet(const std::vector<int64_t>& depths, bool is_bottleneck, int64_t classes = 1000);
  nn::Conv2d conv1 = add("conv1", nn::Conv2d(3, 64, 7, {.stride = 2, .padding = 3, .bias = false}));
  nn::BatchNorm2d bn1 = add("bn1", nn::BatchNorm2d(64));
  nn::ModuleList<nn::ModuleList<ResidualBlock>> stages =
      add("stages", nn::ModuleList<nn::ModuleList<ResidualBlock>>());
  nn::Linear fc;

  Tensor forward(const Tensor& x) const;
};

ResNet resnet18(int64_t classes = 1000);
ResNet resnet50(int64_t classes = 1000);

}  // namespace sardonyx::models
