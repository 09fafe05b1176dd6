// Computes chains of float16 and bfloat16 ops in float32: a node of arithmetic on such values gets
// its inputs cast up and its outputs cast down, and casts that meet cancel out, so a chain is
// rounded once, at its end. It does not fire
//  1. for nodes that only move values (views, Gather, Concat ...) or change the type (Cast),
//  2. for nodes whose row does not allow float32 in the place of the narrow type,
//  3. for nodes with subgraphs.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "executor/passes/precision/cast_around.h"

namespace sardonyx::passes {
namespace {

bool is_narrow(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// Whether the op computes on its elements. Ops whose types include strings only move values. Of
// other domains than ai.onnx only sardonyx is considered, for its gradients.
bool is_arithmetic(const OpDef& op) {
  if (!op.domain.empty() && op.domain != "sardonyx") return false;
  if (op.name == "Cast" || op.name == "CastLike") return false;
  const Signature& signature = signature_of(op);
  if (signature.inputs.empty()) return false;
  for (const TypeConstraint& constraint : op.types) {
    if (constraint.name == signature.inputs[0].type)
      return !constraint.types.tensors.has(DType::kString);
  }
  return false;
}

// Casts to float32 of the node's narrow results that are outputs of the graph: gradients, say.
std::vector<Node*> widened_outputs(const Graph& graph, const Node& node) {
  std::vector<Node*> casts;
  for (const Value* output : node.outputs) {
    if (!output || !output->type.is_tensor() || !is_narrow(output->type.dtype)) continue;
    for (const Use& use : output->uses) {
      if (!use.node || !is_op(*use.node, "Cast")) continue;
      const Value& wide = *use.node->outputs[0];
      if (wide.type.dtype == DType::kFloat && graph.is_output(wide)) casts.push_back(use.node);
    }
  }
  return casts;
}

// Replaces the output of `cast`, which widens a value that was computed in float32 and rounded, by
// that unrounded value. The dead cast stays in the graph, since the driver may be about to visit
// it.
void skip_rounding(Graph& graph, Node& cast) {
  Value& wide = *cast.outputs[0];
  Value& result = *cast.inputs[0]->producer->inputs[0];
  if (graph.is_output(result)) return;
  graph.replace_uses(wide, result);
  graph.take_name(result, wide);
}

}  // namespace

bool widen_float16(Graph& graph, Node& node) {
  if (!is_arithmetic(*node.op) || node.captures > 0) return false;
  const std::vector<Node*> casts = widened_outputs(graph, node);
  if (!compute_in(graph, node, DType::kFloat, is_narrow)) return false;
  for (Node* cast : casts)
    skip_rounding(graph, *cast);
  return true;
}

// Concat of narrow values that are all cast down from float32 joins these, and is cast down itself.
bool widen_concat(Graph& graph, Node& node) {
  if (node.op->name != "Concat" || !node.op->domain.empty()) return false;
  if (!is_narrow(node.outputs[0]->type.dtype)) return false;
  Vals wide;
  for (const Value* input : node.inputs) {
    const Node* producer = input->producer;
    if (!producer || producer->op->name != "Cast" || !producer->op->domain.empty() ||
        producer->inputs[0]->type.dtype != DType::kFloat) {
      return false;
    }
    wide.push_back(GraphEmitter::wrap(producer->inputs[0]));
  }
  GraphEmitter emitter(graph, &node);
  emitter.set_origin(node);
  Value& old = *node.outputs[0];
  const Val joined = emitter.emit(*node.op, wide, node.attrs, 1)[0];
  const auto narrow = static_cast<int64_t>(old.type.dtype);
  Value* result = GraphEmitter::unwrap(emitter.call("Cast", {joined}, {{"to", narrow}}));
  const bool renames = graph.is_output(old);
  graph.replace_uses(old, *result);
  if (renames) graph.take_name(*result, old);
  graph.erase(node);
  return true;
}

// Cast(float32 to a narrow type) and back to float32: the value need not be rounded in between.
bool cancel_casts(Graph& graph, Node& node) {
  if (node.op->name != "Cast" || !node.op->domain.empty()) return false;
  Value& y = *node.outputs[0];
  if (y.type.dtype != DType::kFloat || !node.inputs[0]->producer || graph.is_output(y))
    return false;
  const Node& first = *node.inputs[0]->producer;
  if (first.op != node.op || !is_narrow(node.inputs[0]->type.dtype)) return false;
  if (first.inputs[0]->type.dtype != DType::kFloat) return false;
  graph.replace_uses(y, *first.inputs[0]);
  graph.erase(node);
  return true;
}

}  // namespace sardonyx::passes
