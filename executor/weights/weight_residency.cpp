#include "executor/weights/weight_residency.h"

#include <algorithm>

#include "executor/weights/graph_constants.h"

namespace sardonyx {

namespace {

// The constants of `graph`, one tensor for each buffer.
std::unordered_map<const Buffer*, std::shared_ptr<const Tensor>> constants_of(const Graph& graph) {
  std::unordered_map<const Buffer*, std::shared_ptr<const Tensor>> found;
  for_each_constant(graph, [&](const std::shared_ptr<const Tensor>& constant) {
    found.emplace(constant->buffer().get(), constant);
  });
  return found;
}

}  // namespace

void WeightResidency::allow_release() {
  const std::lock_guard lock(mutex_);
  is_allowed_ = true;
}

void WeightResidency::restore(const Graph& graph) {
  const std::lock_guard lock(mutex_);
  for (const auto& [buffer, tensor] : constants_of(graph))
    load_weight(*tensor);
  is_allowed_ = false;
}

void WeightResidency::release_replaced(const Graph& before, const Graph& after) {
  const auto used = constants_of(after);
  for (const auto& [buffer, tensor] : constants_of(before)) {
    if (used.contains(buffer)) continue;
    if (auto weights = std::dynamic_pointer_cast<EvictableBuffer>(tensor->buffer()))
      weights->release();
  }
}

void load_inspectable_weights(const Graph& graph) {
  const auto use = [](const Value* value) {
    if (value && value->constant) load_weight(*value->constant);
    if (value && value->default_value) load_weight(*value->default_value);
  };
  std::ranges::for_each(graph.inputs(), use);
  std::ranges::for_each(graph.outputs(), use);
  for (const auto& node : graph.nodes()) {
    for (size_t slot = 0; slot < node->inputs.size(); ++slot) {
      const bool is_quantized = slot == 0 && node->op->is(kDequantizes);
      if (!has_bit(node->op->weight_inputs, slot) && !is_quantized) use(node->inputs[slot]);
    }
    for (const GraphPtr& inner : subgraphs_of(*node))
      load_inspectable_weights(*inner);
  }
}

size_t weight_bytes(const Graph& graph) {
  std::unordered_set<const Buffer*> seen;
  size_t bytes = 0;
  for (const auto& node : graph.nodes()) {
    if (node->op->is(kReadsTable)) continue;
    for (size_t slot = 0; slot < node->inputs.size(); ++slot) {
      const Value* weights = has_bit(node->op->weight_inputs, slot) ? node->inputs[slot] : nullptr;
      if (weights && weights->constant && seen.insert(weights->constant->buffer().get()).second)
        bytes += weights->constant->bytes();
    }
  }
  return bytes;
}

WeightUses::WeightUses(std::span<const Value* const> values, std::span<const size_t> last_use) {
  for (size_t value = 0; value < values.size(); ++value) {
    if (!values[value]->constant) continue;
    size_t& last = last_use_[values[value]->constant->buffer().get()];
    last = std::max(last, last_use[value]);
  }
}

std::shared_ptr<EvictableBuffer> WeightUses::unused_after(const Tensor& weights,
                                                          size_t node) const {
  const Buffer* buffer = weights.buffer().get();
  const auto last = last_use_.find(buffer);
  if (last == last_use_.end() || last->second > node) return nullptr;
  return std::dynamic_pointer_cast<EvictableBuffer>(weights.buffer());
}

}  // namespace sardonyx
