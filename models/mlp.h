// Multilayer perceptron.
#pragma once

#include "eager/functional/functional.h"
#include "eager/nn/container.h"
#include "eager/nn/linear.h"

namespace sardonyx::models {

namespace nn = eager::nn;
using eager::Tensor;

// Linear layers of the given sizes with ReLU between them: Mlp({784, 128, 10}) takes
// [batch, 784] (further axes are flattened) to scores [batch, 10].
struct Mlp : nn::Layer<Mlp> {
  explicit Mlp(const std::vector<int64_t>& sizes) {
    for (size_t i = 0; i + 1 < sizes.size(); ++i)
      layers.append(nn::Linear(sizes[i], sizes[i + 1]));
  }
  nn::ModuleList<nn::Linear> layers = add("layers", nn::ModuleList<nn::Linear>());

  Tensor forward(const Tensor& x) const {
    Tensor y = x.flatten(1);
    for (size_t i = 0; i < layers.size(); ++i)
      y = i == 0 ? layers[i](y) : layers[i](relu(y));
    return y;
  }
};

}  // namespace sardonyx::models
