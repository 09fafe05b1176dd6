// Mul(Cast(MatMulInteger), scale) becomes MatMulIntegerToFloat, and an Add of one row its bias: the
// form that dynamic quantisation leaves. They do not fire
//  1. where another node reads the sums or an intermediate value,
//  2. for another type than float,
//  3. where the scale is not one number, one for each column, or the product of the two,
//  4. where a bias has more than one row or makes the output larger.
#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/ops/quantization/qlinear_attributes.h"

namespace sardonyx::passes {
namespace {

using ToFloatInput = ops::MatMulIntegerToFloatInput;

constexpr std::string_view kProduct = "MatMulIntegerToFloat";

bool is_one_number(const Value& value) {
  if (!value.type.shape) return false;
  for (const Dim& dim : *value.type.shape) {
    if (!(dim == 1)) return false;
  }
  return true;
}

bool is_scale_row(const Value& value, const Dim& columns) {
  return is_float(value) && value.type.shape && value.type.rank() == 1 &&
         (*value.type.shape)[0] == columns;
}

struct Scales {
  Value* a;  // null for 1
  Value* b;
};

// `scale` as that of A, one number, and that of B, one number or a row.
std::optional<Scales> split_scale(Value& scale, const Dim& columns) {
  if (!is_float(scale)) return std::nullopt;
  const Node* product = scale.producer;
  if (product && is_op(*product, "Mul")) {
    for (const size_t slot : {0, 1}) {
      Value &a = *product->inputs[slot], &b = *product->inputs[1 - slot];
      if (is_one_number(a) && b.constant && (is_one_number(b) || is_scale_row(b, columns))) {
        return Scales{&a, &b};
      }
    }
  }
  if (is_one_number(scale) || is_scale_row(scale, columns)) return Scales{nullptr, &scale};
  return std::nullopt;
}

}  // namespace

bool fuse_integer_scale(Graph& graph, Node& node) {
  if (!is_op(node, "Mul") || !is_float(*node.outputs[0])) return false;
  for (const size_t slot : {0, 1}) {
    const Node* cast = sole_producer(graph, node, slot);
    if (!cast || !is_op(*cast, "Cast") || !same_shape(*node.inputs[slot], *node.outputs[0])) {
      continue;
    }
    Node* sums = sole_producer(graph, *cast, 0);
    if (!sums || !is_op(*sums, "MatMulInteger")) continue;
    const Type& type = node.outputs[0]->type;
    if (type.rank() == 0) continue;
    const auto scales = split_scale(*node.inputs[1 - slot], type.shape->back());
    if (!scales) continue;
    GraphEmitter e(graph, &node);
    e.set_origin(*sums);
    const auto input = [&](size_t index) {
      return GraphEmitter::wrap(sums->has_input(index) ? sums->inputs[index] : nullptr);
    };
    Val a_scale = scales->a ? GraphEmitter::wrap(scales->a) : e.constant(Tensor::scalar(1.0f));
    Val b_scale = GraphEmitter::wrap(scales->b);
    // A factor that is not constant is the scale of A: kernels need constant scales of weights.
    if (!scales->a && !scales->b->constant && is_one_number(*scales->b)) {
      std::swap(a_scale, b_scale);
    }
    Vals inputs{input(0), input(1), a_scale, b_scale, input(2), input(3)};
    while (!inputs.back())
      inputs.pop_back();
    const Val made = e.emit(op_named(text("com.microsoft::", kProduct)), inputs, Attrs(), 1)[0];
    Value& product = *GraphEmitter::unwrap(made);
    if (!same_shape(product, *node.outputs[0])) {
      graph.erase(*product.producer);
      continue;
    }
    const bool renames = graph.is_output(*node.outputs[0]);
    graph.replace_uses(*node.outputs[0], product);
    if (renames) graph.take_name(product, *node.outputs[0]);
    graph.erase(node);
    return true;
  }
  return false;
}

bool fuse_integer_bias(Graph& graph, Node& node) {
  if (!is_op(node, "Add") || !is_float(*node.outputs[0])) return false;
  for (const size_t slot : {0, 1}) {
    Node* product = sole_producer(graph, node, slot);
    if (!product || !is_op(*product, kProduct, "com.microsoft")) continue;
    const Type& type = product->outputs[0]->type;
    Value* bias = node.inputs[1 - slot];
    if (product->has_input(ToFloatInput::kBias) || !type.has_rank() || type.rank() == 0) continue;
    if (!is_scale_row(*bias, type.shape->back())) continue;
    std::vector<Value*> inputs = product->inputs;
    inputs.resize(ToFloatInput::kBias + 1);
    inputs[ToFloatInput::kBias] = bias;
    absorb(graph, node, *product, *product->op, Attrs(), std::move(inputs));
    return true;
  }
  return false;
}

}  // namespace sardonyx::passes
