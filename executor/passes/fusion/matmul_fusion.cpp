// MatMul, or a Gemm that is equivalent to one, and the ops around it become FusedMatMul:
//   Transpose of an operand's last two dims, a factor (Mul, Div by a constant), a bias of one row,
//   a residual of the output's shape, an activation. They do not fire
//  1. where another node reads the product (a Transpose may have other readers),
//  2. for other elements than float,
//  3. out of order: factor, then bias and residual, then activation,
//  4. where a bias has more than one row or makes the output larger,
//  5. where a residual is not known to have the shape of the output,
//  6. for operands of rank 1 and a Transpose.
// An addend of Gemm that is no row (a column, a single element) is added by an Add: kernels of
// products add rows and whole matrices.
#include <cmath>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/ops/gemm/matmul.h"

namespace sardonyx::passes {
namespace {

// A product seen as FusedMatMul.
struct FusedProduct {
  Node* node;
  ops::FusedMatMulAttrs attrs;
  std::vector<Value*> inputs;  // A, B, bias, residual
};

bool is_row(const Value& value, const Dim& columns) {
  if (!value.type.shape) return false;
  const Dims& dims = *value.type.shape;
  if (dims.empty() || !(dims.back() == columns)) return false;
  for (size_t dim = 0; dim + 1 < dims.size(); ++dim) {
    if (!(dims[dim] == 1)) return false;
  }
  return true;
}

std::optional<FusedProduct> product_of(Node& node) {
  if (node.outputs.size() != 1 || !is_float(*node.outputs[0])) return std::nullopt;
  FusedProduct product{&node, {}, node.inputs};
  if (is_fused(node, "FusedMatMul")) {
    product.attrs = node.attrs.as<ops::FusedMatMulAttrs>();
  } else if (is_op(node, "Gemm")) {
    const auto& gemm = node.attrs.as<ops::GemmAttrs>();
    product.attrs.alpha = gemm.alpha;
    product.attrs.transA = gemm.transA;
    product.attrs.transB = gemm.transB;
    const Value& output = *node.outputs[0];
    if (node.has_input(2) && gemm.beta == 0) product.inputs[2] = nullptr;
    if (node.has_input(2) && gemm.beta != 0) {
      if (gemm.beta != 1 || !output.type.shape) return std::nullopt;
      if (!is_row(*node.inputs[2], output.type.shape->back())) return std::nullopt;
    }
  } else if (!is_op(node, "MatMul")) {
    return std::nullopt;
  }
  product.inputs.resize(4);
  return product;
}

const OpDef& fused_matmul() {
  static const OpDef& op = op_named("sardonyx::FusedMatMul");
  return op;
}

void replace(Graph& graph, Node& last, FusedProduct product) {
  while (!product.inputs.back())
    product.inputs.pop_back();
  absorb(graph, last, *product.node, fused_matmul(), Attrs(product.attrs),
         std::move(product.inputs));
}

// The product that makes input `slot` of `node`, if only `node` reads it and no activation is done
// yet.
std::optional<FusedProduct> open_product(const Graph& graph, const Node& node, size_t slot) {
  Node* producer = sole_producer(graph, node, slot);
  auto product = producer ? product_of(*producer) : std::nullopt;
  if (!product || !product->attrs.activation.empty()) return std::nullopt;
  return product;
}

// The input of a Transpose that exchanges only the last two dims; null for any other value.
Value* untransposed(const Value& value) {
  const Node* node = value.producer;
  if (!node || !is_op(*node, "Transpose") || !value.type.has_rank()) return nullptr;
  const size_t rank = value.type.rank();
  if (rank < 2) return nullptr;
  const auto attribute = node->attrs.get("perm");
  if (!attribute) return rank == 2 ? node->inputs[0] : nullptr;
  const auto& order = std::get<std::vector<int64_t>>(*attribute);
  if (order.size() != rank) return nullptr;
  for (size_t dim = 0; dim < rank; ++dim) {
    size_t source = dim;
    if (dim + 2 == rank) source = dim + 1;
    if (dim + 1 == rank) source = dim - 1;
    if (order[dim] != static_cast<int64_t>(source)) return nullptr;
  }
  return node->inputs[0];
}

}  // namespace

bool split_gemm_addend(Graph& graph, Node& node) {
  if (!is_op(node, "Gemm") || !node.has_input(2) || !is_float(*node.outputs[0])) return false;
  const auto& gemm = node.attrs.as<ops::GemmAttrs>();
  const Value &addend = *node.inputs[2], &output = *node.outputs[0];
  if (gemm.beta == 0 || !addend.type.shape || !output.type.shape) return false;
  const Dims &added = *addend.type.shape, &sums = *output.type.shape;
  const bool is_repeated = added.empty() || (added.back() == 1 && !(sums.back() == 1));
  if (!is_repeated) return false;
  GraphEmitter emitter(graph, &node);
  emitter.set_origin(node);
  ops::GemmAttrs alone = gemm;
  alone.beta = 1;
  const Val factors[] = {GraphEmitter::wrap(node.inputs[0]), GraphEmitter::wrap(node.inputs[1])};
  const Val product = emitter.emit(op_named("Gemm"), factors, Attrs(alone), 1)[0];
  Val last = GraphEmitter::wrap(node.inputs[2]);
  if (gemm.beta != 1) last = emitter.call("Mul", {last, emitter.scalar_like(last, gemm.beta)});
  const Val sum = emitter.call("Add", {product, last});
  graph.take_name(*GraphEmitter::unwrap(sum), *node.outputs[0]);
  graph.replace_uses(*node.outputs[0], *GraphEmitter::unwrap(sum));
  graph.erase(node);
  return true;
}

bool fuse_matmul_transpose(Graph& graph, Node& node) {
  auto product = product_of(node);
  if (!product) return false;
  for (const size_t slot : {0, 1}) {
    const Value& other = *node.inputs[1 - slot];
    Value* source = untransposed(*node.inputs[slot]);
    if (!source || !other.type.has_rank() || other.type.rank() < 2) continue;
    bool& flag = slot == 0 ? product->attrs.transA : product->attrs.transB;
    flag = !flag;
    product->inputs[slot] = source;
    while (!product->inputs.back())
      product->inputs.pop_back();
    graph.set_op(node, fused_matmul(), Attrs(product->attrs), product->inputs);
    return true;
  }
  return false;
}

bool fuse_matmul_scale(Graph& graph, Node& node) {
  const bool is_division = is_op(node, "Div");
  if (!is_op(node, "Mul") && !is_division) return false;
  for (const size_t slot : {0, 1}) {
    if (slot == 1 && is_division) continue;
    const auto factor = scalar_constant(node, 1 - slot);
    if (!factor || (is_division && *factor == 0)) continue;
    auto product = open_product(graph, node, slot);
    if (!product || product->inputs[2] || product->inputs[3]) continue;
    if (!same_shape(*node.inputs[slot], *node.outputs[0])) continue;
    const float alpha =
        is_division ? product->attrs.alpha / *factor : product->attrs.alpha * *factor;
    if (!std::isfinite(alpha)) continue;
    product->attrs.alpha = alpha;
    replace(graph, node, std::move(*product));
    return true;
  }
  return false;
}

bool fuse_matmul_bias(Graph& graph, Node& node) {
  if (!is_op(node, "Add")) return false;
  for (const size_t slot : {0, 1}) {
    auto product = open_product(graph, node, slot);
    if (!product || product->inputs[2]) continue;
    const Type& type = node.inputs[slot]->type;
    Value* bias = node.inputs[1 - slot];
    if (!type.has_rank() || type.rank() == 0 || !is_row(*bias, type.shape->back())) continue;
    if (!same_shape(*node.inputs[slot], *node.outputs[0])) continue;
    product->inputs[2] = bias;
    replace(graph, node, std::move(*product));
    return true;
  }
  return false;
}

bool fuse_matmul_residual(Graph& graph, Node& node) {
  if (!is_op(node, "Add")) return false;
  for (const size_t slot : {1, 0}) {
    auto product = open_product(graph, node, slot);
    Value* residual = node.inputs[1 - slot];
    if (!product || product->inputs[3] || !same_shape(*node.inputs[slot], *residual)) continue;
    product->inputs[3] = residual;
    replace(graph, node, std::move(*product));
    return true;
  }
  return false;
}

bool fuse_matmul_activation(Graph& graph, Node& node) {
  const auto activation = activation_of(node);
  if (!activation) return false;
  auto product = open_product(graph, node, 0);
  if (!product) return false;
  product->attrs.activation = activation->name;
  product->attrs.activation_params = activation->params;
  replace(graph, node, std::move(*product));
  return true;
}

}  // namespace sardonyx::passes
