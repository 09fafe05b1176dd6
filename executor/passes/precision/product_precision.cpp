#include "executor/passes/precision/product_precision.h"

#include <algorithm>
#include <array>

#include "ir/op_def.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

// Ops that are no kProduct, but become such, or are computed like one.
constexpr std::array<std::string_view, 8> kProductsBesides = {
    "Attention",      "ConvInputGrad", "ConvWeightGrad", "DeformConv",
    "FusedAttention", "Einsum",        "FlexAttention",  "LinearAttention"};

bool is_product_of_floats(const Node& node) {
  const bool is_product =
      node.op->is(kProduct) ||
      std::ranges::find(kProductsBesides, node.op->name) != kProductsBesides.end();
  return is_product && !node.inputs.empty() && node.inputs[0] && node.inputs[0]->type.is_tensor() &&
         is_floating(node.inputs[0]->type.dtype);
}

struct ProductCount {
  size_t narrow = 0, others = 0;
};

void count_products(const Graph& graph, ProductCount& count) {
  for (const auto& node : graph.nodes()) {
    for (const GraphPtr& inner : subgraphs_of(*node))
      count_products(*inner, count);
    if (!is_product_of_floats(*node)) continue;
    ++(node->inputs[0]->type.dtype == DType::kBFloat16 ? count.narrow : count.others);
  }
}

}  // namespace

Precision precision_of_products(const Graph& graph) {
  if (!computes_bfloat16()) return Precision::kFloat32;
  ProductCount count;
  count_products(graph, count);
  return count.narrow > 0 && count.others == 0 ? Precision::kBFloat16 : Precision::kFloat32;
}

}  // namespace sardonyx
