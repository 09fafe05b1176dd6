// Conv and FusedConv of dense 3x3 windows may be computed by Winograd's
// algorithm: fewer multiplications, results that differ from the direct sum in the last places. It
// does not fire
//  1. for strides, dilations or groups other than 1,
//  2. for fewer than 16 channels on either side, which do not fill a block,
//  3. where the output is known to be small: the transformed weights are larger, and reading them
//  costs more than is won,
//  4. for other elements than float.
#include "executor/passes/fusion.h"
#include "executor/passes/match.h"

namespace sardonyx::passes {
namespace {

bool has_dense_window(const Node& node, const ops::ConvAttrs& attrs) {
  const std::optional<Shape> known = node.inputs[1]->type.known_shape();
  if (!known || known->size() != 4) return false;
  const Shape& shape = *known;
  return shape[0] >= 16 && shape[1] >= 16 && shape[2] == 3 && shape[3] == 3 && attrs.group == 1 &&
         all_are(attrs.strides, 1) && all_are(attrs.dilations, 1);
}

// Weights that change are weighed against the whole batch, when its size is known.
bool is_small(const Node& node, const Value& output) {
  if (!float_constant(node, 1)) return false;
  const auto shape = output.type.known_shape();
  return shape && shape->size() == 4 && (*shape)[2] * (*shape)[3] < ops::kLeastWinogradOutputs;
}

}  // namespace

bool allow_winograd(Graph& graph, Node& node) {
  ops::FusedConvAttrs attrs;
  if (is_op(node, "Conv")) {
    static_cast<ops::ConvAttrs&>(attrs) = node.attrs.as<ops::ConvAttrs>();
  } else if (is_fused(node, "FusedConv")) {
    attrs = node.attrs.as<ops::FusedConvAttrs>();
  } else {
    return false;
  }
  if (attrs.allows_winograd || !is_float(*node.outputs[0]) || !has_dense_window(node, attrs) ||
      is_small(node, *node.outputs[0])) {
    return false;
  }
  attrs.allows_winograd = true;
  graph.set_op(node, op_named("sardonyx::FusedConv"), Attrs(std::move(attrs)), node.inputs);
  return true;
}

}  // namespace sardonyx::passes
