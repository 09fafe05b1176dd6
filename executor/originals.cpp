#include "executor/originals.h"

#include <algorithm>

namespace sardonyx {

namespace {

void add_constants(const Graph& graph, std::unordered_map<const Buffer*, const Tensor*>& found) {
  const auto add = [&](const Tensor* tensor) {
    if (tensor) found.emplace(tensor->buffer().get(), tensor);
  };
  for (const Value* output : graph.outputs())
    add(output->constant.get());
  for (const Value* input : graph.inputs())
    add(input->default_value.get());
  for (const auto& node : graph.nodes()) {
    for (const Value* input : node->inputs) {
      if (input) add(input->constant.get());
    }
    for (const GraphPtr& inner : subgraphs_of(*node))
      add_constants(*inner, found);
  }
}

}  // namespace

void Originals::allow_release() {
  const std::lock_guard lock(mutex_);
  is_allowed_ = true;
}

void Originals::restore() {
  const std::lock_guard lock(mutex_);
  is_allowed_ = false;
  reload(released_);
}

void Originals::restore_all() {
  const std::lock_guard lock(mutex_);
  is_allowed_ = false;
  reload(released_);
  reload(replaced_);
}

void Originals::reload(Buffers& buffers) {
  for (; !buffers.empty(); buffers.pop_back())
    buffers.back()->reload();
}

// The caller is in `planning`, which holds the lock.
void Originals::release(std::shared_ptr<ReloadableBuffer> weights) {
  if (!weights->is_there()) return;
  weights->release();
  released_.push_back(std::move(weights));
}

void Originals::bring_back(const Tensor& weights) {
  if (const auto buffer = std::dynamic_pointer_cast<ReloadableBuffer>(weights.buffer()))
    buffer->reload();
}

void Originals::release_replaced(const Graph& before, const Graph& after) {
  std::unordered_map<const Buffer*, const Tensor*> old, used;
  add_constants(before, old);
  add_constants(after, used);
  const std::lock_guard lock(mutex_);
  for (const auto& [buffer, tensor] : old) {
    if (used.contains(buffer)) continue;
    if (auto weights = std::dynamic_pointer_cast<ReloadableBuffer>(tensor->buffer())) {
      weights->release();
      replaced_.push_back(std::move(weights));
    }
  }
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
