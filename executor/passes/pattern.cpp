#include "executor/passes/pattern.h"

#include <algorithm>
#include <limits>

#include "ir/ops/elementwise/fused_elementwise.h"

namespace sardonyx::passes {

bool is_op(const Node& node, std::string_view name, std::string_view domain) {
  return node.op->name == name && node.op->domain == domain;
}

bool is_fused(const Node& node, std::string_view name) {
  return is_op(node, name, "sardonyx");
}

Node* sole_producer(const Graph& graph, const Node& node, size_t slot) {
  if (!node.has_input(slot)) return nullptr;
  const Value& value = *node.inputs[slot];
  if (!value.producer || value.producer_slot != 0 || value.uses.size() != 1) return nullptr;
  if (graph.is_output(value)) return nullptr;
  for (const Value* other : value.producer->outputs) {
    if (other && other != &value && (!other->uses.empty() || graph.is_output(*other))) {
      return nullptr;
    }
  }
  return value.producer;
}

const Tensor* float_constant(const Node& node, size_t slot) {
  if (!node.has_input(slot)) return nullptr;
  const Tensor* value = node.inputs[slot]->constant.get();
  return value && value->dtype() == DType::kFloat ? value : nullptr;
}

std::optional<float> scalar_constant(const Node& node, size_t slot) {
  const Tensor* value = float_constant(node, slot);
  if (!value || value->count() != 1) return std::nullopt;
  return value->values<float>()[0];
}

bool all_are(const ops::OptionalInts& values, int64_t wanted) {
  return !values || std::ranges::all_of(*values, [&](int64_t value) { return value == wanted; });
}

bool is_float(const Value& value) {
  return value.type.is_tensor() && value.type.dtype == DType::kFloat;
}

bool same_shape(const Value& a, const Value& b) {
  return a.type.is_tensor() && b.type.is_tensor() && a.type.shape && a.type.shape == b.type.shape;
}

void absorb(Graph& graph, Node& last, Node& first, const OpDef& op, Attrs attrs,
            std::vector<Value*> inputs) {
  graph.set_op(last, op, std::move(attrs), std::move(inputs));
  last.name = first.name;
  last.scope = first.scope;
  last.source = first.source;
  graph.erase(first);
}

namespace {

std::optional<ops::FusedActivation> clip_of(const Node& node) {
  float low = -std::numeric_limits<float>::infinity(),
        high = std::numeric_limits<float>::infinity();
  if (node.has_input(1)) {
    const auto bound = scalar_constant(node, 1);
    if (!bound) return std::nullopt;
    low = *bound;
  }
  if (node.has_input(2)) {
    const auto bound = scalar_constant(node, 2);
    if (!bound) return std::nullopt;
    high = *bound;
  }
  if (!(low <= high)) return std::nullopt;
  return ops::FusedActivation{"Clip", {low, high}};
}

}  // namespace

std::optional<ops::FusedActivation> activation_of(const Node& node) {
  if (!node.op->is(kActivation) || node.outputs.size() != 1) return std::nullopt;
  if (is_op(node, "Clip")) return clip_of(node);
  return ops::FusedActivation{std::string(ops::grouped_name(*node.op, node.attrs)),
                              ops::float_params(*node.op, node.attrs)};
}

}  // namespace sardonyx::passes
