// U-Net; Ronneberger et al., "Convolutional networks for biomedical image segmentation",
// arXiv:1505.04597. Convolutions are padded, so that sizes stay.
#pragma once

#include "eager/nn/container.h"
#include "eager/nn/convolution.h"
#include "eager/nn/normalization.h"

namespace sardonyx::models {

namespace nn = eager::nn;
using eager::Tensor;

// Two 3x3 convolutions with batch norm and ReLU.
struct DoubleConv : nn::Layer<DoubleConv> {
  DoubleConv(int64_t in, int64_t out);
  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d norm1, norm2;

  Tensor forward(const Tensor& x) const;
};

// Images [batch, in, height, width] to scores of each pixel [batch, classes, height, width]; height
// and width are multiples of 2^depth.
struct UNet : nn::Layer<UNet> {
  UNet(int64_t in, int64_t classes, int64_t width = 64, size_t depth = 4);
  nn::ModuleList<DoubleConv> down = add("down", nn::ModuleList<DoubleConv>());
  nn::ModuleList<nn::ConvTranspose2d> raise = add("raise", nn::ModuleList<nn::ConvTranspose2d>());
  nn::ModuleList<DoubleConv> up = add("up", nn::ModuleList<DoubleConv>());
  nn::Conv2d head;

  Tensor forward(const Tensor& x) const;
};

}  // namespace sardonyx::models
