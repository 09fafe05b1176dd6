// Vision transformer; Dosovitskiy et al., "An image is worth 16x16 words", arXiv:2010.11929.
#pragma once

#include "eager/nn/convolution.h"
#include "models/transformer.h"

namespace sardonyx::models {

struct VitShape {
  int64_t image = 224, patch = 16, layers = 12, width = 192, heads = 3, classes = 1000;
};

// Images [batch, 3, image, image] to scores [batch, classes].
struct VisionTransformer : nn::Layer<VisionTransformer> {
  explicit VisionTransformer(const VitShape& shape = {});
  nn::Conv2d patches;
  Tensor class_token, places;
  nn::ModuleList<TransformerBlock> blocks = add("blocks", nn::ModuleList<TransformerBlock>());
  nn::LayerNorm norm;
  nn::Linear head;

  Tensor forward(const Tensor& x) const;
};

}  // namespace sardonyx::models
