// BatchNormalization(L(x)) in inference becomes L with other weights and bias, where L is Conv,
// ConvTranspose or Gemm. It does not fire
//  1. in training mode, or where the running statistics are asked for,
//  2. where somebody else reads L's output,
//  3. where a weight, a bias or a statistic is no float constant,
//  4. where a variance is so small or negative that the factors are not finite.
#include <algorithm>
#include <cmath>

#include "executor/passes/all_passes.h"
#include "executor/passes/fusion/per_channel_weights.h"
#include "executor/passes/pattern.h"
#include "ir/ops/normalization/batch_group_norm.h"

namespace sardonyx::passes {

bool fold_batch_norm(Graph& graph, Node& node) {
  if (!is_op(node, "BatchNormalization") || node.outputs.size() != 1) return false;
  const auto& attrs = node.attrs.as<ops::BatchNormalizationAttrs>();
  if (attrs.training_mode) return false;
  const auto layer = channel_layer(graph, node, 0);
  if (!layer) return false;
  const size_t channels = layer->bias.size();
  std::span<const float> statistics[4];  // scale, bias, mean, variance
  for (size_t i = 0; i < 4; ++i) {
    const Tensor* constant = float_constant(node, i + 1);
    if (!constant || constant->values<float>().size() != channels) return false;
    statistics[i] = constant->values<float>();
  }
  std::vector<double> scale(channels), shift(channels);
  for (size_t i = 0; i < channels; ++i) {
    scale[i] = statistics[0][i] / std::sqrt(double{statistics[3][i]} + attrs.epsilon);
    shift[i] = statistics[1][i] - statistics[2][i] * scale[i];
    if (!std::isfinite(static_cast<float>(scale[i])) || !std::isfinite(shift[i])) return false;
  }
  absorb_channels(graph, node, *layer, scale, shift);
  return true;
}

}  // namespace sardonyx::passes
