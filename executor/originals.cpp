#include "executor/originals.h"

#include <algorithm>

#include "executor/constants.h"
#include "ir/weights_slots.h"

namespace sardonyx {

namespace {

// One tensor of each buffer.
std::unordered_map<const Buffer*, std::shared_ptr<const Tensor>> constants_of(const Graph& graph) {
  std::unordered_map<const Buffer*, std::shared_ptr<const Tensor>> found;
  for_each_constant(graph, [&](const std::shared_ptr<const Tensor>& constant) {
    found.emplace(constant->buffer().get(), constant);
  });
  return found;
}

}  // namespace

void Originals::allow_release() {
  const std::lock_guard lock(mutex_);
  is_allowed_ = true;
}

void Originals::restore(const Graph& graph) {
  const std::lock_guard lock(mutex_);
  is_allowed_ = false;
  for (const auto& [buffer, tensor] : constants_of(graph))
    bring(*tensor);
}

void Originals::release_replaced(const Graph& before, const Graph& after) {
  const auto used = constants_of(after);
  for (const auto& [buffer, tensor] : constants_of(before)) {
    if (used.contains(buffer)) continue;
    if (auto weights = std::dynamic_pointer_cast<ReloadableBuffer>(tensor->buffer()))
      weights->release();
  }
}

namespace {

bool is_dequantize(const OpDef& op) {
  return op.domain.empty() && op.name == "DequantizeLinear";
}

}  // namespace

void bring_what_may_be_looked_at(const Graph& graph) {
  const auto use = [](const Value* value) {
    if (value && value->constant) bring(*value->constant);
    if (value && value->default_value) bring(*value->default_value);
  };
  std::ranges::for_each(graph.inputs(), use);
  std::ranges::for_each(graph.outputs(), use);
  for (const auto& node : graph.nodes()) {
    for (size_t slot = 0; slot < node->inputs.size(); ++slot) {
      if (!may_be_away(*node->op, slot) && !(slot == 0 && is_dequantize(*node->op)))
        use(node->inputs[slot]);
    }
    for (const GraphPtr& inner : subgraphs_of(*node))
      bring_what_may_be_looked_at(*inner);
  }
}

size_t weight_bytes(const Graph& graph) {
  std::unordered_set<const Buffer*> seen;
  size_t bytes = 0;
  for (const auto& node : graph.nodes()) {
    if (node->op->name == "Gather") continue;
    for (size_t slot = 0; slot < node->inputs.size(); ++slot) {
      const Value* weights = may_be_away(*node->op, slot) ? node->inputs[slot] : nullptr;
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

std::shared_ptr<ReloadableBuffer> WeightUses::unused_after(const Tensor& weights,
                                                           size_t node) const {
  const Buffer* buffer = weights.buffer().get();
  const auto last = last_use_.find(buffer);
  if (last == last_use_.end() || last->second > node) return nullptr;
  return std::dynamic_pointer_cast<ReloadableBuffer>(weights.buffer());
}

}  // namespace sardonyx
