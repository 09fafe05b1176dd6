#include <string>

#include "models/builder.h"
#include "models/zoo.h"

namespace sardonyx::models {
namespace {

Val conv_norm(NetBuilder& net, const Val& x, int64_t channels,
              const NetBuilder::ConvOptions& options, const std::string& conv,
              const std::string& norm) {
  NetBuilder::ConvOptions plain = options;
  plain.bias = false;
  Val y;
  {
    const auto scope = net.scope(conv);
    y = net.conv2d(x, channels, plain);
  }
  const auto scope = net.scope(norm);
  return net.batch_norm(y);
}

Val shortcut(NetBuilder& net, const Val& x, int64_t channels, int64_t stride) {
  if (stride == 1 && net.channels(x) == channels) return x;
  const auto scope = net.scope("downsample");
  return conv_norm(net, x, channels, {.kernel = 1, .stride = stride}, "0", "1");
}

Val basic_block(NetBuilder& net, const Val& x, int64_t channels, int64_t stride) {
  Val y = conv_norm(net, x, channels, {.stride = stride, .padding = 1}, "conv1", "bn1");
  y = conv_norm(net, net.relu(y), channels, {.padding = 1}, "conv2", "bn2");
  return net.relu(net.add(y, shortcut(net, x, channels, stride)));
}

Val bottleneck(NetBuilder& net, const Val& x, int64_t channels, int64_t stride) {
  constexpr int64_t kExpansion = 4;
  Val y = conv_norm(net, x, channels, {.kernel = 1}, "conv1", "bn1");
  y = conv_norm(net, net.relu(y), channels, {.stride = stride, .padding = 1}, "conv2", "bn2");
  y = conv_norm(net, net.relu(y), channels * kExpansion, {.kernel = 1}, "conv3", "bn3");
  return net.relu(net.add(y, shortcut(net, x, channels * kExpansion, stride)));
}

using Block = Val (*)(NetBuilder&, const Val&, int64_t, int64_t);

Model resnet(const std::string& name, uint64_t seed, Block block,
             const std::vector<int64_t>& depths) {
  NetBuilder net(name, seed);
  const Val image = net.input("image", DType::kFloat, {Dim::symbol("batch"), 3, 224, 224});
  Val x = conv_norm(net, image, 64, {.kernel = 7, .stride = 2, .padding = 3}, "conv1", "bn1");
  x = net.max_pool(net.relu(x), 3, 2, 1);
  for (size_t stage = 0; stage < depths.size(); ++stage) {
    for (int64_t i = 0; i < depths[stage]; ++i) {
      const auto scope = net.scope("layer" + std::to_string(stage + 1) + "." + std::to_string(i));
      x = block(net, x, int64_t{64} << stage, i == 0 && stage > 0 ? 2 : 1);
    }
  }
  const auto scope = net.scope("fc");
  net.output("logits", net.linear(net.global_average_pool(x), 1000));
  return net.finish();
}

Val relu6(NetBuilder& net, const Val& x) {
  return net.op("Clip",
                {x, net.ops().scalar(DType::kFloat, 0), net.ops().scalar(DType::kFloat, 6)});
}

Val inverted_residual(NetBuilder& net, const Val& x, int64_t channels, int64_t stride,
                      int64_t expansion) {
  const int64_t wide = net.channels(x) * expansion;
  Val y = x;
  if (expansion > 1) y = relu6(net, conv_norm(net, y, wide, {.kernel = 1}, "expand", "expand_bn"));
  y = relu6(net, conv_norm(net, y, wide, {.stride = stride, .padding = 1, .groups = wide},
                           "depthwise", "depthwise_bn"));
  y = conv_norm(net, y, channels, {.kernel = 1}, "project", "project_bn");
  return stride == 1 && net.channels(x) == channels ? net.add(x, y) : y;
}

}  // namespace

Model lenet(uint64_t seed) {
  NetBuilder net("lenet", seed);
  Val x = net.input("image", DType::kFloat, {Dim::symbol("batch"), 1, 28, 28});
  const auto layer = [&](const std::string& name, const auto& build) {
    const auto scope = net.scope(name);
    return build();
  };
  x = layer("conv1", [&] { return net.conv2d(x, 6, {.kernel = 5, .padding = 2}); });
  x = net.max_pool(net.relu(x), 2, 2);
  x = layer("conv2", [&] { return net.conv2d(x, 16, {.kernel = 5}); });
  x = net.flatten(net.max_pool(net.relu(x), 2, 2));
  x = layer("fc1", [&] { return net.relu(net.linear(x, 120)); });
  x = layer("fc2", [&] { return net.relu(net.linear(x, 84)); });
  net.output("logits", layer("fc3", [&] { return net.linear(x, 10); }));
  return net.finish();
}

Model resnet18(uint64_t seed) {
  return resnet("resnet18", seed, basic_block, {2, 2, 2, 2});
}
Model resnet50(uint64_t seed) {
  return resnet("resnet50", seed, bottleneck, {3, 4, 6, 3});
}

Model mobilenet_v2(uint64_t seed) {
  struct Stage {
    int64_t expansion, channels, count, stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  NetBuilder net("mobilenet_v2", seed);
  Val x = net.input("image", DType::kFloat, {Dim::symbol("batch"), 3, 224, 224});
  x = relu6(net, conv_norm(net, x, 32, {.stride = 2, .padding = 1}, "stem", "stem_bn"));
  int block = 0;
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.count; ++i) {
      const auto scope = net.scope("block" + std::to_string(block++));
      x = inverted_residual(net, x, stage.channels, i == 0 ? stage.stride : 1, stage.expansion);
    }
  }
  x = relu6(net, conv_norm(net, x, 1280, {.kernel = 1}, "head", "head_bn"));
  const auto scope = net.scope("classifier");
  net.output("logits", net.linear(net.global_average_pool(x), 1000));
  return net.finish();
}

}  // namespace sardonyx::models
