// HardSigmoid and HardSwish in the forms that exporters write. Clip stands for Min(Max(x, low),
// high) and Min(Relu(x), high) too, which become one first.
//
// recognize-clip: Min of a Max or Relu and a constant becomes Clip.
// recognize-hard-sigmoid:
//  Clip(x + b, 0, h) * (1 / h)        HardSigmoid(x, 1 / h, b / h)
//  x * Clip(x + 3, 0, 6) * (1 / 6)    HardSwish(x)
// where * (1 / h) may be / h. They do not fire
//  1. where somebody else reads the values between,
//  2. where a constant has more than one element, or one for which the result would be larger than
//  x,
//  3. for other elements than float.
#include <cmath>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"

namespace sardonyx::passes {
namespace {

// A node of one value and one constant.
struct Scalar {
  size_t slot;  // of the value
  float constant;
};

std::optional<Scalar> with_scalar(const Node& node, std::initializer_list<std::string_view> names) {
  if (!node.op->domain.empty() || std::ranges::count(names, node.op->name) == 0)
    return std::nullopt;
  if (node.formal_inputs() != 2 || node.outputs.size() != 1 || !is_float(*node.outputs[0]))
    return std::nullopt;
  for (const size_t slot : {0, 1}) {
    const auto constant = scalar_constant(node, 1 - slot);
    if (constant && node.inputs[slot] && same_shape(*node.inputs[slot], *node.outputs[0]))
      return Scalar{slot, *constant};
  }
  return std::nullopt;
}

// The constant factor of a node that multiplies or divides by a scalar; nullopt for other nodes.
std::optional<Scalar> factor_of(const Node& node) {
  if (const auto product = with_scalar(node, {"Mul"})) return product;
  const auto quotient = with_scalar(node, {"Div"});
  if (!quotient || quotient->slot != 0 || quotient->constant == 0) return std::nullopt;
  return Scalar{0, 1 / quotient->constant};
}

bool is_close(float a, float b) {
  return std::abs(a - b) <= 1e-6f * std::abs(b);
}

// Clip(x + offset, 0, high), which nobody but `reader` reads.
struct ShiftedClip {
  Node* clip;
  Node* sum;
  Value* x;
  float offset, high;
};

std::optional<ShiftedClip> shifted_clip(const Graph& graph, const Node& reader, size_t slot) {
  Node* clip = sole_producer(graph, reader, slot);
  const auto activation = clip ? activation_of(*clip) : std::nullopt;
  if (!activation || activation->name != "Clip" || activation->params[0] != 0) return std::nullopt;
  const float high = activation->params[1];
  Node* sum = sole_producer(graph, *clip, 0);
  const auto offset = sum ? with_scalar(*sum, {"Add"}) : std::nullopt;
  if (!offset || !std::isfinite(high) || high <= 0) return std::nullopt;
  return ShiftedClip{clip, sum, sum->inputs[offset->slot], offset->constant, high};
}

void replace(Graph& graph, Node& node, const OpDef& op, Attrs attrs, Value& x,
             std::initializer_list<Node*> absorbed) {
  graph.set_op(node, op, std::move(attrs), {&x});
  for (Node* old : absorbed)
    graph.erase(*old);
}

bool recognize_hard_swish(Graph& graph, Node& node, size_t slot) {
  Node* product = sole_producer(graph, node, slot);
  if (!product || !is_op(*product, "Mul")) return false;
  for (const size_t side : {1, 0}) {
    const auto gate = shifted_clip(graph, *product, side);
    if (!gate || gate->x != product->inputs[1 - side]) continue;
    if (gate->offset != 3 || gate->high != 6) continue;
    replace(graph, node, op_named("HardSwish"), Attrs(), *gate->x,
            {product, gate->clip, gate->sum});
    return true;
  }
  return false;
}

}  // namespace

bool recognize_clip(Graph& graph, Node& node) {
  const auto high = with_scalar(node, {"Min"});
  if (!high) return false;
  Node* first = sole_producer(graph, node, high->slot);
  if (!first) return false;
  float low = 0;
  size_t slot = 0;
  if (!is_op(*first, "Relu")) {
    const auto bound = with_scalar(*first, {"Max"});
    if (!bound) return false;
    low = bound->constant;
    slot = bound->slot;
  }
  if (!(low <= high->constant)) return false;
  GraphEmitter emitter(graph, &node);
  std::vector<Value*> inputs{first->inputs[slot]};
  for (const float bound : {low, high->constant})
    inputs.push_back(GraphEmitter::unwrap(emitter.constant(Tensor::scalar(bound))));
  graph.set_op(node, op_named("Clip"), Attrs(), std::move(inputs));
  graph.erase(*first);
  return true;
}

bool recognize_hard_sigmoid(Graph& graph, Node& node) {
  const auto factor = factor_of(node);
  if (!factor) return false;
  if (is_close(factor->constant, 1.f / 6) && recognize_hard_swish(graph, node, factor->slot))
    return true;
  const auto gate = shifted_clip(graph, node, factor->slot);
  if (!gate || !is_close(factor->constant * gate->high, 1)) return false;
  const OpDef& op = op_named("HardSigmoid");
  const AttrMap attrs{{"alpha", 1 / gate->high}, {"beta", gate->offset / gate->high}};
  replace(graph, node, op, Attrs::parse(*op.attrs, attrs), *gate->x, {gate->clip, gate->sum});
  return true;
}

}  // namespace sardonyx::passes
