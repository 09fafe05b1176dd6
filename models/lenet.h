// LeNet-5 with ReLU and max pooling; LeCun et al., "Gradient-based learning applied to document
// recognition", 1998.
#pragma once

#include "eager/functional/functional.h"
#include "eager/nn/convolution.h"
#include "eager/nn/linear.h"
#include "eager/nn/pooling.h"

namespace sardonyx::models {

namespace nn = eager::nn;
using eager::Tensor;

// Images [batch, 1, size, size] to scores [batch, classes]; size is 28, or 8 as scikit-learn's
// digits have it (with smaller kernels and more channels).
struct LeNet : nn::Layer<LeNet> {
  explicit LeNet(int64_t size = 28, int64_t classes = 10);
  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2, fc3;

  Tensor forward(const Tensor& x) const;
};

}  // namespace sardonyx::models
