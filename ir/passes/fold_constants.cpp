// Replaces outputs that are known before the run by constants. It does not fire
//  1. for random ops: each run draws anew,
//  2. for nodes with subgraphs: a loop may take any time (a constant If is inlined by another
//  pass),
//  3. where an output is larger than kLargestFolded: better computed than held,
//  4. where the op fails on the values: the error belongs to the run that reaches the node.
// fold_dequantized does the same for DequantizeLinear alone, which fold_constants leaves: quantised
// weights grow by it, and passes that make integer ops of their readers come first.
#include "ir/constant_folding.h"
#include "ir/emitter/tensor_from_dims.h"
#include "ir/pass.h"

namespace sardonyx::passes {
namespace {

constexpr int64_t kLargestFolded = int64_t{1} << 30;  // bytes

bool is_foldable(const Node& node) {
  if (node.op->is(kRandom) || !subgraphs_of(node).empty()) return false;
  for (const Value* input : node.inputs) {
    if (input && !input->constant) return false;
  }
  for (const Value* output : node.outputs) {
    if (!output->type.is_tensor()) return false;
    const std::optional<Shape> shape = output->type.known_shape();
    if (shape && static_cast<int64_t>(bytes_for(output->type.dtype, element_count(*shape))) >
                     kLargestFolded) {
      return false;
    }
  }
  return true;
}

std::vector<Datum> folded(const Graph& graph, const Node& node) {
  try {
    return sardonyx::fold(graph, node);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeadlineExceeded) {
      throw;
    }
    return {};
  }
}

void replace_by_constant(Graph& graph, Value& value, Tensor constant) {
  Value* folded = graph.add_constant("", std::move(constant));
  graph.replace_uses(value, *folded);
  graph.take_name(*folded, value);
}

bool is_dequantize(const Node& node) {
  return node.op->is(kDequantizes);
}

bool fold(Graph& graph, Node& node) {
  if (node.op->is(kRandom)) return false;
  bool all_known = !node.outputs.empty();
  std::vector<std::optional<Tensor>> values;
  for (const Value* output : node.outputs) {
    values.push_back(tensor_of_dims(output->type, output->dims));
    all_known = all_known && (values.back() || (output->uses.empty() && !graph.is_output(*output)));
  }
  if (!all_known) {
    if (!is_foldable(node)) return false;
    values.clear();
    for (Datum& output : folded(graph, node)) {
      if (!output.is_tensor()) return false;
      values.emplace_back(output.tensor());
    }
    if (values.size() != node.outputs.size()) return false;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]) replace_by_constant(graph, *node.outputs[i], std::move(*values[i]));
  }
  graph.erase(node);
  return true;
}

}  // namespace

bool fold_constants(Graph& graph, Node& node) {
  return !is_dequantize(node) && fold(graph, node);
}

bool fold_dequantized(Graph& graph, Node& node) {
  return is_dequantize(node) && fold(graph, node);
}

}  // namespace sardonyx::passes
