// DequantizeLinear moves down across ops that only pick and place elements, which then work on the
// integers: Reshape, Transpose, Slice, MaxPool, Split, Pad with zeros, Concat of parts with one
// scale ... This is exact for any scale, as it keeps the order of the numbers. What is quantised
// again afterwards with the same scale and zero point is left as it was, which quantize-unary does.
// It does not fire
//  1. for scales or zero points that the run brings; for one scale for each index, but across
//     Transpose,
//  2. where the op has no form for integers.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "executor/passes/quantization/qdq_pattern.h"

namespace sardonyx::passes {
namespace {

bool is_resize_of_nearest(const Node& node) {
  return is_op(node, "Resize") &&
         std::get<std::string>(node.attrs.get("mode").value()) == "nearest";
}

// Whether the op only moves elements of input 0.
bool only_moves(const Node& node) {
  static constexpr std::string_view kNames[] = {
      "Reshape", "Flatten", "Squeeze",      "Unsqueeze",    "Transpose", "Slice",
      "Gather",  "Split",   "DepthToSpace", "SpaceToDepth", "MaxPool"};
  if (!node.op->domain.empty()) return false;
  if (is_op(node, "MaxPool")) return node.outputs.size() == 1;
  return std::ranges::count(kNames, node.op->name) > 0 || is_resize_of_nearest(node);
}

// Pad with zeros (or with what is there already): the integer for 0 is the zero point.
bool pads_zeros(const Node& node) {
  if (!is_op(node, "Pad")) return false;
  if (std::get<std::string>(node.attrs.get("mode").value()) != "constant") return true;
  return !node.has_input(2) || scalar_constant(node, 2) == 0.0f;
}

// The DequantizeLinear of `model`, on `integers` and with `axis` in place of its own.
Val dequantized_as(Emitter& e, const Node& model, const Val& integers, const Attrs& attrs) {
  Vals inputs{integers};
  for (size_t slot = 1; slot < model.formal_inputs(); ++slot)
    inputs.push_back(GraphEmitter::wrap(model.inputs[slot]));
  return e.emit(*model.op, inputs, attrs, 1)[0];
}

// `node` on integers (null inputs stay), each output dequantised as `model` does it.
bool rewrite(Graph& graph, Node& node, const Node& model, Vals inputs, const Attrs& attrs) {
  GraphEmitter e(graph, &node);
  e.set_origin(node);
  Vals made;
  try {
    made = e.emit(*node.op, inputs, node.attrs, node.outputs.size());
  } catch (const Error&) {
    return false;  // the row has no form for bytes
  }
  for (size_t i = 0; i < made.size(); ++i) {
    const Val real = dequantized_as(e, model, made[i], attrs);
    replace_value(graph, *node.outputs[i], *GraphEmitter::unwrap(real));
  }
  graph.erase(node);
  return true;
}

Vals wrapped_inputs(const Node& node) {
  Vals inputs;
  for (Value* input : node.inputs)
    inputs.push_back(GraphEmitter::wrap(input));
  return inputs;
}

// Transpose of a tensor with one scale for each index of an axis: the axis moves along.
bool move_across_transpose(Graph& graph, Node& node, const Node& model) {
  const auto order = node.attrs.get("perm");
  const Value& integers = *model.inputs[0];
  if (!is_op(node, "Transpose") || !integers.type.has_rank()) return false;
  if (!integers.constant || !float_constant(model, 1) || integers.type.rank() < 2) return false;
  const auto rank = static_cast<int64_t>(integers.type.rank());
  AttrMap attrs = model.attrs.to_map();
  if (attrs.contains("block_size")) return false;
  int64_t axis = attrs.contains("axis") ? std::get<int64_t>(attrs.at("axis")) : 1;
  if (axis < 0) axis += rank;
  int64_t moved = rank - 1 - axis;
  if (order) {
    const auto& perm = std::get<std::vector<int64_t>>(*order);
    moved = std::ranges::find(perm, axis) - perm.begin();
  }
  attrs["axis"] = moved;
  Vals inputs = wrapped_inputs(node);
  inputs[0] = GraphEmitter::wrap(model.inputs[0]);
  return rewrite(graph, node, model, inputs, Attrs::parse(*model.op->attrs, attrs));
}

bool move_across_concat(Graph& graph, Node& node) {
  Vals inputs;
  std::optional<Quantization> common;
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
    const auto part = dequantized(node, slot);
    if (!part || (common && !(part->quantization == *common))) return false;
    common = part->quantization;
    inputs.push_back(GraphEmitter::wrap(part->integers));
  }
  if (!common) return false;
  const Node& model = *node.inputs[0]->producer;
  return rewrite(graph, node, model, inputs, model.attrs);
}

}  // namespace

bool move_dequantize(Graph& graph, Node& node) {
  if (is_op(node, "Concat")) return move_across_concat(graph, node);
  const bool pads = pads_zeros(node);
  if (!pads && !only_moves(node)) return false;
  const Node* model = node.has_input(0) ? node.inputs[0]->producer : nullptr;
  if (!model || !is_dequantize(*model) || node.captures > 0) return false;
  if (std::ranges::count(node.outputs, nullptr) > 0) return false;
  const auto source = dequantized(node, 0);
  if (!source) return move_across_transpose(graph, node, *model);
  Vals inputs = wrapped_inputs(node);
  inputs[0] = GraphEmitter::wrap(source->integers);
  if (pads && std::get<std::string>(node.attrs.get("mode").value()) == "constant") {
    GraphEmitter e(graph, &node);
    if (inputs.size() < 3) inputs.resize(3);
    inputs[2] = zero_of(e, source->quantization);
  }
  return rewrite(graph, node, *model, inputs, model->attrs);
}

// com.microsoft's ops of these names, as they were before ai.onnx had all of their types.
bool standard_quantize(Graph& graph, Node& node) {
  if (!is_op(node, "QuantizeLinear", "com.microsoft") &&
      !is_op(node, "DequantizeLinear", "com.microsoft")) {
    return false;
  }
  inline_body(graph, node);
  return true;
}

}  // namespace sardonyx::passes
