// Residual: Add(Conv(x), z) becomes FusedConv(x, z). Activation: act(Conv(x)) becomes FusedConv
// with it; likewise for ConvTranspose. They do not fire
//  1. where somebody else reads the convolution's output,
//  2. for other elements than float,
//  3. after an activation has been taken in; a residual must come before it and there is but one,
//  4. where z is not known to have the shape of the convolution's output.
#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"

namespace sardonyx::passes {
namespace {

// The attributes of a convolution that an activation or a residual may still be added to.
std::optional<ops::FusedConvAttrs> open_conv(const Node& node) {
  if (!is_float(*node.outputs[0])) return std::nullopt;
  if (is_op(node, "Conv")) {
    ops::FusedConvAttrs attrs;
    static_cast<ops::ConvAttrs&>(attrs) = node.attrs.as<ops::ConvAttrs>();
    return attrs;
  }
  if (!is_fused(node, "FusedConv")) return std::nullopt;
  const auto& attrs = node.attrs.as<ops::FusedConvAttrs>();
  return attrs.activation.empty() ? std::optional(attrs) : std::nullopt;
}

const OpDef& fused_conv() {
  static const OpDef& op = op_named("sardonyx::FusedConv");
  return op;
}

const OpDef& fused_conv_transpose() {
  static const OpDef& op = op_named("sardonyx::FusedConvTranspose");
  return op;
}

bool fuse_transposed(Graph& graph, Node& node, Node& conv, const ops::FusedActivation& activation) {
  if (!is_op(conv, "ConvTranspose") || !is_float(*conv.outputs[0])) return false;
  ops::FusedConvTransposeAttrs attrs;
  static_cast<ops::ConvTransposeAttrs&>(attrs) = conv.attrs.as<ops::ConvTransposeAttrs>();
  attrs.activation = activation.name;
  attrs.activation_params = activation.params;
  absorb(graph, node, conv, fused_conv_transpose(), Attrs(std::move(attrs)), conv.inputs);
  return true;
}

}  // namespace

bool fuse_conv_residual(Graph& graph, Node& node) {
  if (!is_op(node, "Add")) return false;
  for (const size_t slot : {1, 0}) {
    Node* conv = sole_producer(graph, node, slot);
    if (!conv || conv->has_input(3)) continue;
    const auto attrs = open_conv(*conv);
    Value* residual = node.inputs[1 - slot];
    if (!attrs || !same_shape(*conv->outputs[0], *residual)) continue;
    std::vector<Value*> inputs = conv->inputs;
    inputs.resize(4);
    inputs[3] = residual;
    absorb(graph, node, *conv, fused_conv(), Attrs(*attrs), std::move(inputs));
    return true;
  }
  return false;
}

bool fuse_conv_activation(Graph& graph, Node& node) {
  const auto activation = activation_of(node);
  if (!activation) return false;
  Node* conv = sole_producer(graph, node, 0);
  if (!conv) return false;
  auto attrs = open_conv(*conv);
  if (!attrs) return fuse_transposed(graph, node, *conv, *activation);
  attrs->activation = activation->name;
  attrs->activation_params = activation->params;
  absorb(graph, node, *conv, fused_conv(), Attrs(*attrs), conv->inputs);
  return true;
}

}  // namespace sardonyx::passes
