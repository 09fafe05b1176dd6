// Planning of kernels: which one runs a node, and whether another step has it ready.
#include <algorithm>

#include "executor/plan/planner.h"

namespace sardonyx {

// What a kernel is made for: the inputs as they come, and the constants that it may pack.
bool Planner::kernel_key(CacheKey& key) {
  if (numbered().kind == Executable::kNoKind) return false;
  key.add(numbered().kind);
  for (size_t slot = 0; slot < numbered().formal_inputs; ++slot) {
    const ValueId value = input(slot);
    if (value == kNoValue) {
      key.add(uint64_t{0});
      continue;
    }
    const PlanSegment::ValueState& entry = known(value);
    if (!entry.shape()) return false;
    key.add(entry.facts.get());
    key.add(layout_of(value).get());
    const std::optional<uint64_t> constant = sees_constant(slot) ? constant_word(slot) : kHidden;
    if (!constant) return false;
    key.add(*constant);
  }
  return true;
}

// Do kernels get to know what this constant is? What decides shapes is known to eager calls as
// well.
bool Planner::sees_constant(size_t slot) const {
  if (has_bit(numbered().op->def().shape_inputs, slot)) return true;
  if (!session_state_.specializes) return false;
  const PlanSegment::ValueState& entry = known(input(slot));
  return numbered().op->reads_constants() || !entry.constant || entry.facts->has_one_element() ||
         std::ranges::any_of(numbered().inputs, [this](ValueId value) {
           return value != kNoValue && layout_of(value);
         });
}

// May kernels of the node give other layouts than row-major? What a Transpose gives of a row-major
// value would have to be moved again, unless somebody wants the layout.
bool Planner::takes_layouts(const Node& node) const {
  if (node.op->layout != LayoutRole::kPermutes || layout_of(input(0)))
    return session_state_.layouts;
  return session_state_.layouts && feeds_layout(node);
}

// Null where no kernel computes the node.
std::shared_ptr<const PreparedStep> Planner::prepared_step(const Node& node,
                                                           const Inference& inference) {
  CacheKey key;
  const bool is_shared = kernel_key(key);
  key.add(uint64_t{takes_layouts(node)});
  if (is_shared) {
    if (auto found = executable_.prepared_steps_.find(key)) return found;
  }
  std::optional<PreparedStep> made = prepare_step(node, inference);
  if (!made) return nullptr;
  if (!is_shared) return std::make_shared<const PreparedStep>(std::move(*made));
  HeldByKey held;  // beside what the step itself holds
  for (const ValueId value : numbered().inputs) {
    if (value != kNoValue && known(value).is_same_constant) held.push_back(known(value).constant);
  }
  return executable_.prepared_steps_.remember(key, std::move(*made), std::move(held));
}

std::optional<PreparedStep> Planner::prepare_step(const Node& node, const Inference& inference) {
  load_constants(/*all=*/false);
  const size_t input_count = node.formal_inputs(), output_count = inference.outputs.size();
  std::vector<StepValue> inputs(input_count), outputs(output_count);
  request_.resize(std::max(request_.size(), input_count + output_count));
  const std::span<KernelTensor> tensors(request_);
  for (size_t slot = 0; slot < input_count; ++slot) {
    const ValueId value = input(slot);
    if (value != kNoValue) inputs[slot] = {known(value).facts, layout_of(value)};
    describe(inputs[slot], tensors[slot]);
    if (value != kNoValue && sees_constant(slot))
      tensors[slot].constant = known(value).constant.get();
  }
  for (size_t i = 0; i < output_count; ++i) {
    outputs[i] = {inference.outputs[i], nullptr};
    describe(outputs[i], tensors[input_count + i]);
  }
  KernelRequest request{*node.op, node.attrs, tensors.first(input_count),
                        tensors.subspan(input_count, output_count)};
  request.threads = session_state_.threads;
  request.layouts = takes_layouts(node);
  request.precision = session_state_.precision;
  request.packs = &session_state_.packs;
  std::vector<KernelAttempt> attempts;
  if (session_state_.keeps_attempts) request.attempts = &attempts;
  Prepared prepared = prepare_kernel(numbered().op->providers(), request);
  PreparedStep step;
  if (prepared.kernel) step = {std::move(prepared), std::move(inputs), std::move(outputs)};
  step.attempts = std::move(attempts);
  if (step.kernel) return step;
  if (!step.attempts.empty()) refused_ = std::make_shared<const PreparedStep>(std::move(step));
  return std::nullopt;
}

// The same for a request, over what another one had there.
void Planner::describe(const StepValue& value, KernelTensor& tensor) {
  tensor.dtype = value.facts ? value.facts->type.dtype : DType::kUndefined;
  if (value.facts)
    tensor.shape = *value.facts->shape;
  else
    tensor.shape.clear();
  tensor.layout = value.layout;
  tensor.constant = nullptr;
}

}  // namespace sardonyx
