#include "models/mobilenet_v2.h"

#include "eager/functional/functional.h"
#include "eager/nn/pooling.h"

namespace sardonyx::models {
namespace {

Tensor relu6(const Tensor& x) {
  return eager::clamp(x, 0, 6);
}

void append_conv(nn::Sequential& layers, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                 int64_t groups, bool has_activation) {
  layers.append(nn::Conv2d(
      in, out, kernel, {.stride = stride, .padding = kernel / 2, .groups = groups, .bias = false}));
  layers.append(nn::BatchNorm2d(out));
  if (has_activation) layers.append(nn::AnyLayer(relu6));
}

}  // namespace

InvertedResidual::InvertedResidual(int64_t in, int64_t out, int64_t stride, int64_t expansion)
    : has_shortcut(stride == 1 && in == out) {
  const int64_t wide = in * expansion;
  nn::Sequential layers;
  if (expansion > 1) append_conv(layers, in, wide, 1, 1, 1, true);
  append_conv(layers, wide, wide, 3, stride, wide, true);
  append_conv(layers, wide, out, 1, 1, 1, false);
  body = add("body", layers);
}

Tensor InvertedResidual::forward(const Tensor& x) const {
  return has_shortcut ? x + body(x) : body(x);
}

MobileNetV2::MobileNetV2(int64_t classes)
    : classifier(add("classifier", nn::Linear(1280, classes))) {
  struct Stage {
    int64_t expansion, channels, count, stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  append_conv(features, 3, 32, 3, 2, 1, true);
  int64_t in = 32;
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.count; ++i) {
      features.append(
          InvertedResidual(in, stage.channels, i == 0 ? stage.stride : 1, stage.expansion));
      in = stage.channels;
    }
  }
  append_conv(features, in, 1280, 1, 1, 1, true);
}

Tensor MobileNetV2::forward(const Tensor& x) const {
  return classifier(nn::GlobalAvgPool().forward(features(x)).flatten(1));
}

}  // namespace sardonyx::models
