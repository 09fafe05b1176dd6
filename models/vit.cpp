#include "models/vit.h"

#include "eager/create.h"
#include "eager/functional/functional.h"

namespace sardonyx::models {

VisionTransformer::VisionTransformer(const VitShape& shape)
    : patches(add("patches", nn::Conv2d(3, shape.width, shape.patch, {.stride = shape.patch}))),
      class_token(parameter("class_token", eager::randn({1, 1, shape.width}) * 0.02)),
      places(parameter(
          "places", eager::randn({1, 1 + (shape.image / shape.patch) * (shape.image / shape.patch),
                                  shape.width}) *
                        0.02)),
      norm(add("norm", nn::LayerNorm(shape.width))),
      head(add("head", nn::Linear(shape.width, shape.classes))) {
  for (int64_t i = 0; i < shape.layers; ++i)
    blocks.append(TransformerBlock(shape.width, shape.heads));
}

Tensor VisionTransformer::forward(const Tensor& x) const {
  const Tensor tokens = patches(x).flatten(2).transpose(1, 2);
  const Dim width = class_token.size(2);
  Tensor y = eager::cat({class_token.expand({x.size(0), 1, width}), tokens}, 1) + places;
  for (const TransformerBlock& block : blocks)
    y = block(y);
  return head(norm(y).select(1, 0));
}

}  // namespace sardonyx::models
