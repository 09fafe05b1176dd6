#include "models/unet.h"

#include "eager/functional/functional.h"
#include "eager/nn/pooling.h"

namespace sardonyx::models {

DoubleConv::DoubleConv(int64_t in, int64_t out)
    : conv1(add("conv1", nn::Conv2d(in, out, 3, {.padding = 1, .bias = false}))),
      conv2(add("conv2", nn::Conv2d(out, out, 3, {.padding = 1, .bias = false}))),
      norm1(add("norm1", nn::BatchNorm2d(out))),
      norm2(add("norm2", nn::BatchNorm2d(out))) {}

Tensor DoubleConv::forward(const Tensor& x) const {
  return relu(norm2(conv2(relu(norm1(conv1(x))))));
}

UNet::UNet(int64_t in, int64_t classes, int64_t width, size_t depth)
    : head(add("head", nn::Conv2d(width, classes, 1))) {
  for (size_t level = 0; level <= depth; ++level) {
    down.append(DoubleConv(in, width << level));
    in = width << level;
  }
  for (size_t level = depth; level-- > 0;) {
    raise.append(nn::ConvTranspose2d(in, width << level, 2, {.stride = 2}));
    up.append(DoubleConv(in, width << level));
    in = width << level;
  }
}

Tensor UNet::forward(const Tensor& x) const {
  std::vector<Tensor> kept;
  Tensor y = x;
  for (size_t level = 0; level < down.size(); ++level) {
    y = down[level](level == 0 ? y : nn::max_pool2d(y, 2));
    kept.push_back(y);
  }
  for (size_t i = 0; i < up.size(); ++i)
    y = up[i](eager::cat({kept[up.size() - 1 - i], raise[i](y)}, 1));
  return head(y);
}

}  // namespace sardonyx::models
