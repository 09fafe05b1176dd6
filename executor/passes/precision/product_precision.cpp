#include "executor/passes/precision/product_precision.h"

#include <algorithm>
#include <array>

#include "executor/passes.h"
#include "executor/passes/all_passes.h"
#include "ir/op_def.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

// Ops without the kProduct trait that passes turn into products, or that are computed as products.
constexpr std::array<std::string_view, 8> kProductsBesides = {
    "Attention",      "ConvInputGrad", "ConvWeightGrad", "DeformConv",
    "FusedAttention", "Einsum",        "FlexAttention",  "LinearAttention"};

bool is_product(const OpDef& op) {
  return op.is(kProduct) || std::ranges::find(kProductsBesides, op.name) != kProductsBesides.end();
}

// The type that a node computes on: that of its first input, where it is a floating one.
DType floating_type(const Node& node) {
  if (node.inputs.empty() || !node.inputs[0] || !node.inputs[0]->type.is_tensor())
    return DType::kUndefined;
  const DType dtype = node.inputs[0]->type.dtype;
  return is_floating(dtype) ? dtype : DType::kUndefined;
}

// A value before it was cast and its elements were put in another order or shape.
const Value* source_of_factor(const Value* value) {
  constexpr std::array<std::string_view, 7> kMovers = {
      "Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
  while (value && value->producer && value->producer->op->domain.empty() &&
         std::ranges::find(kMovers, value->producer->op->name) != kMovers.end()) {
    value = value->producer->inputs[0];
  }
  return value;
}

using Factors = std::set<const Value*>;
Factors factors_of(const Node& node) {
  Factors factors;
  for (size_t slot = 0; slot < node.formal_inputs() && slot < 2; ++slot)
    factors.insert(source_of_factor(node.inputs[slot]));
  return factors;
}

// The nodes of a graph and its subgraphs whose products are computed, or that become products.
struct ProductLists {
  std::vector<const Node*> narrow, others;
  size_t narrow_products = 0, other_products = 0;

  explicit ProductLists(const Graph& graph) { add(graph); }
  void add(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      for (const GraphPtr& inner : subgraphs_of(*node))
        add(*inner);
      const DType dtype = floating_type(*node);
      const bool counts = is_product(*node->op);
      if (dtype == DType::kUndefined || (!counts && !node->op->body)) continue;
      const bool is_narrow = dtype == DType::kBFloat16;
      (is_narrow ? narrow : others).push_back(node.get());
      if (counts) ++(is_narrow ? narrow_products : other_products);
    }
  }
};

}  // namespace

Precision precision_of_products(const Graph& graph) {
  if (!computes_bfloat16()) return Precision::kFloat32;
  return ProductLists(graph).narrow_products > 0 ? Precision::kBFloat16 : Precision::kFloat32;
}

// A product of bfloat16 values and one of the float32 values that these are cast from become common
// subexpressions once the casts are dropped, and then one node. Such a pair stays in float32.
WrittenProducts::WrittenProducts(const Graph& graph) {
  const ProductLists lists(graph);
  mixed_ = lists.narrow_products > 0 && lists.other_products > 0;
  if (!mixed_) return;
  std::set<Factors> wide_factors;
  std::set<std::string> wide;
  for (const Node* node : lists.others) {
    wide_factors.insert(factors_of(*node));
    wide.insert(node->name);
  }
  for (const Node* node : lists.narrow) {
    if (!wide.contains(node->name) && !wide_factors.contains(factors_of(*node)))
      narrow_.insert(node->name);
  }
}

const std::vector<std::string>& WrittenProducts::merging_passes() {
  static const std::vector<std::string> names{"merge-sibling-convs", "merge-depthwise-convs"};
  return names;
}

size_t WrittenProducts::narrow_written(Graph& graph) const {
  size_t changes = 0;
  for (auto at = graph.nodes().begin(); at != graph.nodes().end();) {
    Node& node = **at++;  // it may be replaced
    for (const GraphPtr& inner : subgraphs_of(node))
      changes += narrow_written(*inner);
    changes += narrow_.contains(node.name) && passes::narrow_products(graph, node);
  }
  return changes;
}

std::vector<PassEffect> WrittenProducts::narrow(Graph& graph, const PassOptions& options) const {
  constexpr std::string_view kName = "narrow-products";
  std::vector<Pass> passes(narrowing_passes().begin(), narrowing_passes().end());
  std::vector<PassEffect> effects;
  if (mixed_) {
    std::erase_if(passes, [&](const Pass& pass) { return pass.name == kName; });
    if (std::ranges::find(options.disabled, kName) == options.disabled.end())
      effects.push_back({kName, narrow_written(graph)});
  }
  for (const std::span<const Pass> list : {std::span<const Pass>(passes), generic_passes()}) {
    for (const PassEffect& effect : run_passes(graph, list, options))
      effects.push_back(effect);
  }
  return effects;
}

}  // namespace sardonyx
