// Conv and FusedConv of dense 3x3 windows may be computed by Winograd's
// algorithm: fewer multiplications, results that differ from the direct sum in the last places. It
// does not fire
//  1. for strides or groups other than 1,
//  2. for fewer than 16 channels on either side, which do not fill a block,
//  3. for other elements than float.
// Whether it pays for the sizes at hand is for the kernel to say.
#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"

namespace sardonyx::passes {
namespace {

bool has_dense_window(const Node& node, const ops::ConvAttrs& attrs) {
  const std::optional<Shape> known = node.inputs[1]->type.known_shape();
  if (!known || known->size() != 4) return false;
  const Shape& shape = *known;
  return shape[0] >= 16 && shape[1] >= 16 && shape[2] == 3 && shape[3] == 3 && attrs.group == 1 &&
         all_are(attrs.strides, 1);
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
  if (attrs.allows_winograd || !is_float(*node.outputs[0]) || !has_dense_window(node, attrs))
    return false;
  attrs.allows_winograd = true;
  graph.set_op(node, op_named("sardonyx::FusedConv"), Attrs(std::move(attrs)), node.inputs);
  return true;
}

}  // namespace sardonyx::passes
