// SgdStep and AdamStep whose gradient is a product of two matrices become SgdProductStep and
// AdamProductStep, so that the gradient is never written to memory. They do not fire
//  1. where somebody else reads the gradient,
//  2. for other elements than float,
//  3. for a product that is scaled, has an addend, or whose second operand is transposed,
//  4. where something that the step reads is computed behind the product: the step moves to the
//     product's place, as its operands would have to be kept until the end otherwise.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/ops/gemm/matmul.h"
#include "ir/ops/training/optimizer.h"

namespace sardonyx::passes {
namespace {

// Whether the first operand is transposed; nullopt where `node` is no plain product.
std::optional<bool> transposition_of(const Node& node) {
  if (!is_op(node, "Gemm")) return std::nullopt;
  const auto& gemm = node.attrs.as<ops::GemmAttrs>();
  const bool has_addend = node.has_input(2) && gemm.beta != 0;
  if (gemm.alpha != 1 || gemm.transB || has_addend) return std::nullopt;
  return gemm.transA;
}

template <typename Step>
Attrs with_transposition(const Attrs& step, bool transposed) {
  ops::ProductStepAttrs<Step> attrs;
  static_cast<Step&>(attrs) = step.as<Step>();
  attrs.transA = transposed;
  return Attrs(attrs);
}

}  // namespace

bool fuse_product_step(Graph& graph, Node& node) {
  const bool is_sgd = is_fused(node, "SgdStep");
  if ((!is_sgd && !is_fused(node, "AdamStep")) || !is_float(*node.inputs[0])) return false;
  Node* product = sole_producer(graph, node, 1);
  const auto transposed = product ? transposition_of(*product) : std::nullopt;
  if (!transposed) return false;
  const auto comes_late = [&](const Value* input) {
    return input && input->producer && input->producer != product &&
           input->producer->order >= product->order;
  };
  if (std::ranges::any_of(node.inputs, comes_late)) return false;
  std::vector<Value*> inputs{node.inputs[0], product->inputs[0], product->inputs[1]};
  inputs.insert(inputs.end(), node.inputs.begin() + 2, node.inputs.end());
  static const OpDef &sgd = op_named("sardonyx::SgdProductStep"),
                     &adam = op_named("sardonyx::AdamProductStep");
  graph.move_before(node, *product);
  absorb(graph, node, *product, is_sgd ? sgd : adam,
         is_sgd ? with_transposition<ops::SgdStepAttrs>(node.attrs, *transposed)
                : with_transposition<ops::AdamStepAttrs>(node.attrs, *transposed),
         std::move(inputs));
  return true;
}

}  // namespace sardonyx::passes
