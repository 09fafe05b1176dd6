// f(View(y)) becomes View(f(y)), where y is made by a convolution or a matrix product, so that f
// can be fused into it. View is Squeeze, Unsqueeze, Reshape or Flatten; f is an activation, or Add,
// Sub, Mul or Div with a constant. It does not fire
//  1. where somebody else reads the view, or what it is a view of,
//  2. where the constant has more than one element, unless View is a Squeeze of known axes: the
//  dims that it dropped are put back into the constant's shape,
//  3. where the constant makes the result larger.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/core/strides.h"

namespace sardonyx::passes {
namespace {

// Whether a later pass may fuse ops into the product. FusedConvTranspose already ends with an
// activation.
bool is_fusable_product(const Node& node) {
  return node.op->is(kProduct) && !is_fused(node, "FusedConvTranspose");
}

bool is_view(const Node& node) {
  for (const std::string_view name : {"Squeeze", "Unsqueeze", "Reshape", "Flatten"}) {
    if (is_op(node, name)) return true;
  }
  return false;
}

bool is_arithmetic(const Node& node) {
  for (const std::string_view name : {"Add", "Sub", "Mul", "Div"}) {
    if (is_op(node, name)) return node.formal_inputs() == 2;
  }
  return false;
}

// The shape that lets `constant` broadcast against y, before the view; nullopt where there is none.
std::optional<Shape> shape_before_view(const Node& view, const Tensor& constant) {
  if (constant.count() == 1) return Shape{};
  const Value& y = *view.inputs[0];
  if (!is_op(view, "Squeeze") || !view.has_input(1) || !view.inputs[1]->constant ||
      !y.type.has_rank() || !view.outputs[0]->type.has_rank()) {
    return std::nullopt;
  }
  const size_t rank = view.outputs[0]->type.rank();
  if (constant.rank() > rank) return std::nullopt;
  std::vector<size_t> dropped;
  for (const int64_t axis : view.inputs[1]->constant->to_int64s())
    dropped.push_back(axis_of(axis, y.type.rank()));
  Shape shape = constant.shape();
  shape.insert(shape.begin(), rank - shape.size(), 1);
  std::ranges::sort(dropped);
  for (const size_t axis : dropped) {
    if (axis > shape.size()) return std::nullopt;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  }
  return shape.size() == y.type.rank() ? std::optional(shape) : std::nullopt;
}

// The inputs of f on y instead of its view in input `slot`; empty where the pass does not fire.
Vals inputs_before_view(GraphEmitter& emitter, const Node& node, const Node& view, size_t slot) {
  Vals inputs;
  for (size_t i = 0; i < node.formal_inputs(); ++i) {
    if (i == slot) {
      inputs.push_back(GraphEmitter::wrap(view.inputs[0]));
    } else if (!is_arithmetic(node)) {
      inputs.push_back(GraphEmitter::wrap(node.inputs[i]));  // the bounds of Clip
    } else {
      const Tensor* constant = float_constant(node, i);
      if (!constant) return {};
      const auto shape = shape_before_view(view, *constant);
      if (!shape) return {};
      inputs.push_back(emitter.constant(constant->reshaped(*shape)));
    }
  }
  return inputs;
}

}  // namespace

bool sink_views(Graph& graph, Node& node) {
  if (node.outputs.size() != 1 || node.captures > 0 || !is_float(*node.outputs[0])) return false;
  if (!is_arithmetic(node) && !activation_of(node)) return false;
  for (size_t slot = 0; slot < (is_arithmetic(node) ? 2u : 1u); ++slot) {
    Node* view = sole_producer(graph, node, slot);
    if (!view || !is_view(*view) || !same_shape(*view->outputs[0], *node.outputs[0])) continue;
    const Node* product = sole_producer(graph, *view, 0);
    if (!product || !is_fusable_product(*product)) continue;
    GraphEmitter emitter(graph, &node);
    emitter.set_origin(node);
    const Vals inputs = inputs_before_view(emitter, node, *view, slot);
    if (inputs.empty()) continue;
    Vals seen = emitter.emit(*node.op, inputs, node.attrs, 1);
    if (!same_shape(*GraphEmitter::unwrap(seen[0]), *view->inputs[0])) continue;
    for (size_t i = 1; i < view->formal_inputs(); ++i)
      seen.push_back(GraphEmitter::wrap(view->inputs[i]));
    const Val result = emitter.emit(*view->op, seen, view->attrs, 1)[0];
    Value& old = *node.outputs[0];
    const bool renames = graph.is_output(old);
    graph.replace_uses(old, *GraphEmitter::unwrap(result));
    if (renames) graph.take_name(*GraphEmitter::unwrap(result), old);
    graph.erase(node);
    graph.erase(*view);
    return true;
  }
  return false;
}

}  // namespace sardonyx::passes
