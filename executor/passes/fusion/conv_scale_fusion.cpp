// Mul or Div of a layer's output by a constant for each channel goes into its weights and bias; Add
// or Sub of one goes into its bias. The layer is Conv, ConvTranspose or Gemm. They do not fire
//  1. where somebody else reads the layer's output,
//  2. where a weight or bias of the layer is no float constant,
//  3. where the constant varies along another dim than the channels, or makes the output larger,
//  4. where Div would divide by zero, or a factor is not finite.
#include <algorithm>
#include <cmath>

#include "executor/passes/all_passes.h"
#include "executor/passes/fusion/per_channel_weights.h"
#include "executor/passes/pattern.h"

namespace sardonyx::passes {
namespace {

struct Affine {
  ChannelLayer layer;
  std::vector<float> constant;
};

// `node` applied to a layer's output and a constant per channel; the layer first unless the op
// commutes.
std::optional<Affine> match(const Graph& graph, const Node& node, bool commutes) {
  if (node.formal_inputs() != 2) return std::nullopt;
  for (const size_t slot : {0, 1}) {
    if (slot == 1 && !commutes) continue;
    const Tensor* constant = float_constant(node, 1 - slot);
    if (!constant) continue;
    const auto layer = channel_layer(graph, node, slot);
    if (!layer || !same_shape(*node.inputs[slot], *node.outputs[0])) continue;
    auto values = per_channel(*constant, node.outputs[0]->type.rank(), layer->bias.size());
    if (values.empty()) continue;
    return Affine{*layer, std::move(values)};
  }
  return std::nullopt;
}

}  // namespace

bool fold_conv_scale(Graph& graph, Node& node) {
  const bool is_division = is_op(node, "Div");
  if (!is_op(node, "Mul") && !is_division) return false;
  const auto found = match(graph, node, !is_division);
  if (!found) return false;
  std::vector<double> scale(found->constant.begin(), found->constant.end());
  if (is_division) {
    for (double& factor : scale)
      factor = 1 / factor;
  }
  const auto finite = [](double factor) { return std::isfinite(static_cast<float>(factor)); };
  if (!std::ranges::all_of(scale, finite)) return false;
  absorb_channels(graph, node, found->layer, scale, std::vector<double>(scale.size(), 0.0));
  return true;
}

bool fuse_conv_bias(Graph& graph, Node& node) {
  const bool is_difference = is_op(node, "Sub");
  if (!is_op(node, "Add") && !is_difference) return false;
  const auto found = match(graph, node, !is_difference);
  if (!found) return false;
  std::vector<double> shift(found->constant.begin(), found->constant.end());
  if (is_difference) {
    for (double& term : shift)
      term = -term;
  }
  absorb_channels(graph, node, found->layer, std::vector<double>(shift.size(), 1.0), shift);
  return true;
}

}  // namespace sardonyx::passes
