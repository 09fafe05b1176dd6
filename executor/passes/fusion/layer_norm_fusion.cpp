// LayerNormalization and RMSNormalization written out in simpler ops become one op:
//   (x - mean) / Sqrt(variance + epsilon)        LayerNormalization
//   x / Sqrt(ReduceMean(x^2) + epsilon)          RMSNormalization
// where mean is ReduceMean(x) and variance ReduceMean((x - mean)^2), both over the last axes with
// keepdims. The quotient may be a product with Reciprocal(Sqrt(.)), 1 / Sqrt(.) or Pow(., -0.5),
// and the scale may come first, as Keras writes it:
//   x * k + (bias - mean * k) where k = scale / Sqrt(variance + epsilon).
// A second pass takes in the scale and the bias that follow. They do not fire
//  1. for other elements than float,
//  2. where a size along the axes is not known,
//  3. for an epsilon that is no constant or not positive,
//  4. for a scale or bias that is not constant, or is along other dims than those of the axes.
#include <algorithm>
#include <utility>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/ops/normalization/batch_group_norm.h"
#include "ir/ops/reduction/reduce.h"

namespace sardonyx::passes {
namespace {

Node* maker(const Value& value, std::string_view op) {
  Node* node = value.producer;
  return node && is_op(*node, op) ? node : nullptr;
}

// The first of the axes where ReduceMean reduces just the last ones and keeps them.
std::optional<size_t> first_axis(const Node& mean) {
  const auto& attrs = mean.attrs.as<ops::ReduceAttrs>();
  const Type& type = mean.inputs[0]->type;
  if (!attrs.keepdims || !type.has_rank() || !mean.has_input(1)) return std::nullopt;
  if (!mean.inputs[1]->constant || mean.inputs[1]->constant->count() == 0) return std::nullopt;
  const std::vector<int64_t> axes = mean.inputs[1]->constant->to_int64s();
  const ops::ReducedDims reduced = ops::reduced_dims(attrs, axes, type.rank());
  const auto first = std::ranges::find(reduced, true);
  if (!std::all_of(first, reduced.end(), [](bool is_reduced) { return is_reduced; }))
    return std::nullopt;
  return static_cast<size_t>(first - reduced.begin());
}

// ReduceMean(base^2) + epsilon.
struct Moment {
  Value* base;
  size_t axis;
  float epsilon;
};

Value* base_of_square(const Value& value) {
  const Node* node = value.producer;
  if (!node || !is_float(value)) return nullptr;
  if (is_op(*node, "Mul")) return node->inputs[0] == node->inputs[1] ? node->inputs[0] : nullptr;
  if (!is_op(*node, "Pow") || !node->inputs[1]->constant) return nullptr;
  const Tensor& exponent = *node->inputs[1]->constant;
  return exponent.count() == 1 && exponent.to_doubles()[0] == 2 ? node->inputs[0] : nullptr;
}

std::optional<Moment> moment_of(const Value& value) {
  const Node* sum = maker(value, "Add");
  if (!sum) return std::nullopt;
  for (const size_t slot : {0, 1}) {
    const auto epsilon = scalar_constant(*sum, 1 - slot);
    const Node* mean = maker(*sum->inputs[slot], "ReduceMean");
    if (!epsilon || !(*epsilon > 0) || !mean) continue;
    Value* base = base_of_square(*mean->inputs[0]);
    const auto axis = first_axis(*mean);
    if (base && axis && same_shape(*base, *mean->inputs[0])) return Moment{base, *axis, *epsilon};
  }
  return std::nullopt;
}

std::optional<Moment> moment_under_root(const Value& value) {
  const Node* root = maker(value, "Sqrt");
  return root ? moment_of(*root->inputs[0]) : std::nullopt;
}

// The moment whose inverse root the value is.
std::optional<Moment> moment_under_inverse_root(const Value& value) {
  if (const Node* node = maker(value, "Reciprocal")) return moment_under_root(*node->inputs[0]);
  if (const Node* node = maker(value, "Div")) {
    if (scalar_constant(*node, 0) != 1.f) return std::nullopt;
    return moment_under_root(*node->inputs[1]);
  }
  const Node* node = maker(value, "Pow");
  if (!node || scalar_constant(*node, 1) != -0.5f) return std::nullopt;
  return moment_of(*node->inputs[0]);
}

// x where the value is ReduceMean(x) from `axis` on.
Value* averaged(const Value& value, size_t axis) {
  const Node* node = maker(value, "ReduceMean");
  return node && first_axis(*node) == axis ? node->inputs[0] : nullptr;
}

// x where the value is x - ReduceMean(x).
Value* uncentred(const Value& value, size_t axis) {
  const Node* node = maker(value, "Sub");
  if (!node || !is_float(value)) return nullptr;
  return averaged(*node->inputs[1], axis) == node->inputs[0] ? node->inputs[0] : nullptr;
}

// The dims from `axis` on, where they are known.
std::optional<Shape> tail_of(const Value& x, size_t axis) {
  const Dims& dims = *x.type.shape;
  Shape tail;
  for (size_t dim = axis; dim < dims.size(); ++dim) {
    if (!dims[dim].is_known()) return std::nullopt;
    tail.push_back(dims[dim].value());
  }
  return tail;
}

Tensor ones(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  std::ranges::fill(tensor.mutable_values<float>(), 1.f);
  return tensor;
}

// A constant with just the elements of `tail`, behind dims of 1 at most; in that shape.
std::optional<Tensor> along(const Node& node, size_t slot, const Shape& tail) {
  const Tensor* value = float_constant(node, slot);
  if (!value) return std::nullopt;
  Shape shape = value->shape();
  while (shape.size() > tail.size() && shape.front() == 1)
    shape.erase(shape.begin());
  if (shape != tail) return std::nullopt;
  return value->reshaped(tail);
}

void become(Graph& graph, Node& node, std::string_view op, Value* x, const Moment& moment,
            std::vector<Tensor> constants) {
  ops::LayerNormalizationAttrs attrs;
  attrs.axis = static_cast<int64_t>(moment.axis) - static_cast<int64_t>(x->type.rank());
  attrs.epsilon = moment.epsilon;
  std::vector<Value*> inputs{x};
  for (Tensor& constant : constants)
    inputs.push_back(graph.add_constant("", std::move(constant)));
  graph.set_op(node, op_named(op), Attrs(attrs), std::move(inputs));
}

bool recognize_quotient(Graph& graph, Node& node, size_t slot, const Moment& moment) {
  Value* numerator = node.inputs[slot];
  if (numerator != moment.base || !same_shape(*numerator, *node.outputs[0])) return false;
  Value* x = uncentred(*numerator, moment.axis);
  const auto tail = tail_of(*numerator, moment.axis);
  if (!tail || (x && !same_shape(*x, *numerator))) return false;
  become(graph, node, x ? "LayerNormalization" : "RMSNormalization", x ? x : numerator, moment,
         {ones(*tail)});
  return true;
}

// x * k + (bias - mean * k)
bool recognize_keras(Graph& graph, Node& node, size_t slot) {
  const Node* product = maker(*node.inputs[slot], "Mul");
  const Node* shift = maker(*node.inputs[1 - slot], "Sub");
  const Node* shifted = shift ? maker(*shift->inputs[1], "Mul") : nullptr;
  if (!product || !shifted) return false;
  for (const auto& [at, k_at] : {std::pair{0, 1}, std::pair{1, 0}}) {
    Value* x = product->inputs[static_cast<size_t>(at)];
    const Value* k = product->inputs[static_cast<size_t>(k_at)];
    const size_t k_slot = shifted->inputs[0] == k ? 0 : 1;
    const Node* scaled = maker(*k, "Mul");
    if (shifted->inputs[k_slot] != k || !scaled || !x->type.has_rank()) continue;
    for (const size_t inverse : {0, 1}) {
      const auto moment = moment_under_inverse_root(*scaled->inputs[inverse]);
      if (!moment || uncentred(*moment->base, moment->axis) != x) continue;
      if (averaged(*shifted->inputs[1 - k_slot], moment->axis) != x) continue;
      const auto tail = tail_of(*x, moment->axis);
      if (!tail || !same_shape(*x, *node.outputs[0])) continue;
      auto scale = along(*scaled, 1 - inverse, *tail), bias = along(*shift, 0, *tail);
      if (!scale || !bias) continue;
      become(graph, node, "LayerNormalization", x, *moment, {*scale, *bias});
      return true;
    }
  }
  return false;
}

bool is_normalization(const Node& node) {
  return is_op(node, "LayerNormalization") || is_op(node, "RMSNormalization");
}

bool is_all_ones(const Node& node, size_t slot) {
  const Tensor* value = float_constant(node, slot);
  return value && std::ranges::all_of(value->values<float>(), [](float x) { return x == 1; });
}

}  // namespace

bool recognize_normalization(Graph& graph, Node& node) {
  if (node.outputs.size() != 1 || !is_float(*node.outputs[0])) return false;
  if (is_op(node, "Div")) {
    const auto moment = moment_under_root(*node.inputs[1]);
    return moment && recognize_quotient(graph, node, 0, *moment);
  }
  for (const size_t slot : {0, 1}) {
    if (is_op(node, "Add") && recognize_keras(graph, node, slot)) return true;
    if (!is_op(node, "Mul")) continue;
    const auto moment = moment_under_inverse_root(*node.inputs[1 - slot]);
    if (moment && recognize_quotient(graph, node, slot, *moment)) return true;
  }
  return false;
}

bool fuse_normalization_scale(Graph& graph, Node& node) {
  const bool is_scale = is_op(node, "Mul");
  if (!is_scale && !is_op(node, "Add")) return false;
  for (const size_t slot : {0, 1}) {
    Node* normal = sole_producer(graph, node, slot);
    if (!normal || !is_normalization(*normal) || !is_float(*normal->inputs[0])) continue;
    if (!is_scale && (normal->has_input(2) || is_op(*normal, "RMSNormalization"))) continue;
    if (is_scale && (normal->has_input(2) || !is_all_ones(*normal, 1))) continue;
    if (!same_shape(*normal->outputs[0], *node.outputs[0])) continue;
    const auto& attrs = normal->attrs.as<ops::LayerNormalizationAttrs>();
    const size_t rank = normal->inputs[0]->type.rank();
    const int64_t axis = attrs.axis < 0 ? attrs.axis + static_cast<int64_t>(rank) : attrs.axis;
    const auto tail = tail_of(*normal->inputs[0], static_cast<size_t>(axis));
    auto constant = tail ? along(node, 1 - slot, *tail) : std::nullopt;
    if (!constant) continue;
    std::vector<Value*> inputs = normal->inputs;
    inputs.resize(is_scale ? 2 : 3);
    inputs.back() = graph.add_constant("", std::move(*constant));
    absorb(graph, node, *normal, *normal->op, normal->attrs, std::move(inputs));
    return true;
  }
  return false;
}

}  // namespace sardonyx::passes
