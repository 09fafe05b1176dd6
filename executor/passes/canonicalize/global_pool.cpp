// A mean over all pixels of what a convolution, its activation or a pool gives becomes
// GlobalAveragePool, which takes pixels in whatever order they are; dims that are not kept are
// dropped by a Reshape. It does not fire
//  1. unless the axes are constants, and all of those behind the channels,
//  2. for other elements than float,
//  3. for a maximum, which is NaN where an element is: pooling passes over them.
#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/core/strides.h"
#include "ir/ops/reduction/reduce.h"

namespace sardonyx::passes {
namespace {

bool reduces_pixels(const Node& node) {
  const Type& x = node.inputs[0]->type;
  if (!x.has_rank() || x.rank() < 3 || x.rank() > 5) return false;
  if (!node.has_input(1) || !node.inputs[1]->constant) return false;
  const auto& attrs = node.attrs.as<ops::ReduceAttrs>();
  const auto axes = node.inputs[1]->constant->to_int64s();
  const ops::ReducedDims reduced = ops::reduced_dims(attrs, axes, x.rank());
  for (size_t dim = 0; dim < x.rank(); ++dim) {
    if (reduced[dim] != (dim >= 2)) return false;
  }
  return true;
}

// Whether an op that chooses an image layout (a convolution, a pool, BatchNormalization) makes the
// value, directly or through a few elementwise ops.
bool comes_from_image(const Value& value) {
  constexpr int kSteps = 4;
  const Node* node = value.producer;
  for (int step = 0; node && step < kSteps; ++step) {
    if (node->op->layout == LayoutRole::kConv && node->op->is(kProduct)) return true;
    for (const std::string_view name : {"MaxPool", "AveragePool", "BatchNormalization"}) {
      if (is_op(*node, name)) return true;
    }
    if (!node->op->is(kElementwise) && !is_op(*node, "Concat")) return false;
    node = node->inputs[0] ? node->inputs[0]->producer : nullptr;
  }
  return false;
}

}  // namespace

bool recognize_global_pool(Graph& graph, Node& node) {
  if (!is_op(node, "ReduceMean") || !is_float(*node.outputs[0])) return false;
  if (!reduces_pixels(node) || !comes_from_image(*node.inputs[0])) return false;
  const OpDef& op = op_named("GlobalAveragePool");
  Value* x = node.inputs[0];
  if (node.attrs.as<ops::ReduceAttrs>().keepdims) {
    graph.set_op(node, op, Attrs(), {x});
    return true;
  }
  GraphEmitter emitter(graph, &node);
  emitter.set_origin(node);
  const Val pooled = emitter.emit(op, std::vector<Val>{GraphEmitter::wrap(x)}, Attrs(), 1)[0];
  const Val flat = emitter.constant(Tensor::vector<int64_t>({0, 0}));
  const OpDef& reshape = op_named("Reshape");
  graph.set_op(node, reshape, Attrs::parse(*reshape.attrs, {}),
               {GraphEmitter::unwrap(pooled), GraphEmitter::unwrap(flat)});
  return true;
}

}  // namespace sardonyx::passes
