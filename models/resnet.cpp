#include "models/resnet.h"

#include "eager/functional/functional.h"
#include "eager/nn/pooling.h"

namespace sardonyx::models {
namespace {

constexpr int64_t kExpansion = 4;  // of a bottleneck's last convolution

nn::Conv2d plain_conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(in, out, kernel, {.stride = stride, .padding = kernel / 2, .bias = false});
}

}  // namespace

ResidualBlock::ResidualBlock(int64_t in, int64_t channels, int64_t stride, bool is_bottleneck) {
  const int64_t out = is_bottleneck ? channels * kExpansion : channels;
  if (is_bottleneck) {
    convs.append(plain_conv(in, channels, 1, 1));
    convs.append(plain_conv(channels, channels, 3, stride));
    convs.append(plain_conv(channels, out, 1, 1));
  } else {
    convs.append(plain_conv(in, channels, 3, stride));
    convs.append(plain_conv(channels, channels, 3, 1));
  }
  for (size_t i = 0; i < convs.size(); ++i)
    norms.append(nn::BatchNorm2d(i + 1 == convs.size() ? out : channels));
  if (stride == 1 && in == out) return;
  downsample =
      add("downsample", nn::Sequential(plain_conv(in, out, 1, stride), nn::BatchNorm2d(out)));
}

Tensor ResidualBlock::forward(const Tensor& x) const {
  Tensor y = x;
  for (size_t i = 0; i < convs.size(); ++i)
    y = i == 0 ? norms[i](convs[i](y)) : norms[i](convs[i](relu(y)));
  return relu(y + (downsample.size() > 0 ? downsample(x) : x));
}

ResNet::ResNet(const std::vector<int64_t>& depths, bool is_bottleneck, int64_t classes) : fc(1, 1) {
  int64_t in = 64;
  for (size_t stage = 0; stage < depths.size(); ++stage) {
    const int64_t channels = int64_t{64} << stage;
    nn::ModuleList<ResidualBlock> blocks;
    for (int64_t i = 0; i < depths[stage]; ++i) {
      blocks.append(ResidualBlock(in, channels, i == 0 && stage > 0 ? 2 : 1, is_bottleneck));
      in = is_bottleneck ? channels * kExpansion : channels;
    }
    stages.append(blocks);
  }
  fc = add("fc", nn::Linear(in, classes));
}

Tensor ResNet::forward(const Tensor& x) const {
  Tensor y = nn::max_pool2d(relu(bn1(conv1(x))), 3, {.stride = 2, .padding = 1});
  for (const auto& stage : stages) {
    for (const ResidualBlock& block : stage)
      y = block(y);
  }
  return fc(nn::GlobalAvgPool().forward(y).flatten(1));
}

ResNet resnet18(int64_t classes) {
  return ResNet({2, 2, 2, 2}, false, classes);
}
ResNet resnet50(int64_t classes) {
  return ResNet({3, 4, 6, 3}, true, classes);
}

}  // namespace sardonyx::models
