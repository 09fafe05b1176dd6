// Planning of kernels: which one runs a node, and whether another step has it ready.
#include "executor/planner.h"

namespace sardonyx {

// What a kernel is made for: the inputs as they come, and the constants that it may pack.
bool Planner::kernel_key(const Node& node, PlanKey& key) {
  if (numbered().kind == Program::kNoKind) return false;
  key.add(numbered().kind);
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    const ValueId value = input(slot);
    if (value == kNoValue) {
      key.add(uint64_t{0});
      continue;
    }
    const Segment::Known& entry = known(value);
    if (!entry.shape()) return false;
    key.add(entry.facts.get());
    key.add(layout_of(value).get());
    if (!is_told(slot)) continue;
    const std::optional<uint64_t> constant = constant_word(slot);
    if (!constant) return false;
    key.add(*constant);
  }
  return true;
}

// Do kernels get to know that this input never changes? What decides shapes is known to eager calls
// as well.
bool Planner::is_told(size_t slot) const {
  return environment_.specializes || has_bit(numbered().node->op->shape_inputs, slot);
}

// Null where no kernel computes the node.
std::shared_ptr<const PreparedStep> Planner::prepared_step(const Node& node,
                                                           const Inference& inference) {
  PlanKey key;
  const bool is_shared = kernel_key(node, key);
  if (is_shared) {
    if (auto found = program_.prepared_steps_.find(key)) return found;
  }
  std::optional<PreparedStep> made = prepare_step(node, inference);
  if (!made) return nullptr;
  if (!is_shared) return std::make_shared<const PreparedStep>(std::move(*made));
  HeldByKey held = held_by_key();
  for (const ValueId value : numbered().inputs) {
    if (value != kNoValue && layout_of(value)) held.push_back(layout_of(value));
  }
  return program_.prepared_steps_.remember(key, std::move(*made), std::move(held));
}

std::optional<PreparedStep> Planner::prepare_step(const Node& node, const Inference& inference) {
  std::vector<KernelTensor> inputs, outputs;
  inputs.reserve(node.formal_inputs());
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    const ValueId value = input(slot);
    if (value == kNoValue) {
      inputs.emplace_back();
      continue;
    }
    const Segment::Known& entry = known(value);
    inputs.push_back({entry.type().dtype, *entry.shape(), layout_of(value),
                      is_told(slot) ? entry.constant.get() : nullptr});
  }
  outputs.reserve(inference.outputs.size());
  for (const FactsPtr& output : inference.outputs)
    outputs.push_back({output->type.dtype, *output->shape, nullptr, nullptr});
  KernelRequest request{*node.op, node.attrs, inputs, outputs};
  request.threads = environment_.threads;
  request.layouts = environment_.layouts;
  request.precision = environment_.precision;
  request.packs = &environment_.packs;
  Prepared prepared = prepare_kernel(environment_.providers, request);
  if (!prepared.kernel) return std::nullopt;
  return PreparedStep(std::move(prepared), std::move(inputs), std::move(outputs));
}

}  // namespace sardonyx
