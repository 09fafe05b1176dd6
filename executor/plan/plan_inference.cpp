// Planning of what is known of values: their types, and those that do not depend on the run.
#include <algorithm>

#include "executor/plan/planner.h"
#include "ir/emitter/tensor_from_dims.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

using State = PlanSegment::ValueState::State;

// Outputs that can be computed while planning are, up to this size: shape arithmetic, not data.
constexpr int64_t kLargestPlanned = 64 << 10;

// Is it told apart from others by its value?
bool is_small(const TypeInfo& constant) {
  return constant.type.dtype != DType::kString && constant.bytes <= InferenceCache::kSmall;
}

}  // namespace

// The node's constants are in a key by value where they are small, else by address. nullopt: it
// may be another tensor by the time that its address comes again.
std::optional<uint64_t> Planner::constant_word(size_t slot) {
  const ValueId value = input(slot);
  const PlanSegment::ValueState& entry = known(value);
  if (!entry.constant) return 0;
  const bool has_value =
      !has_bit(numbered().op->def().weight_inputs, slot) && is_small(*entry.facts);
  if (has_value && !entry.is_same_constant) {
    load_weight(*entry.constant);
    entry.constant = executable_.inference_cache_.same_constant(entry.constant);
    entry.is_same_constant = true;
  }
  if (!has_value && entry.constant != executable_.values_[value]->constant &&
      !entry.is_same_constant) {
    return std::nullopt;
  }
  return reinterpret_cast<uintptr_t>(entry.constant.get());
}

// The constants that inference looks at: numbers that are no floats, and single ones. Others may be
// the weights of any layer.
bool Planner::is_looked_at(size_t slot) const {
  const OpDef& op = numbered().op->def();
  const TypeInfo& constant = *known(input(slot)).facts;
  return slot >= 32 || has_bit(op.shape_inputs, slot) || constant.has_one_element() ||
         !is_floating(constant.type.dtype);
}

// What inference says of a node follows from this. `hidden`: constants that it is not told then.
bool Planner::inference_key(CacheKey& key, uint32_t& hidden) {
  if (numbered().kind == Executable::kNoKind) return false;
  key.add(numbered().kind);
  const bool are_all_constant = has_only_constants();
  for (size_t slot = 0; slot < numbered().formal_inputs; ++slot) {
    if (input(slot) == kNoValue) {
      key.add(uint64_t{0});
      continue;
    }
    const PlanSegment::ValueState& entry = known(input(slot));
    if (!entry.type().is_tensor() || !entry.shape()) return false;
    key.add(entry.facts.get());
    if (entry.constant && !are_all_constant && !is_looked_at(slot)) {
      hidden |= 1u << slot;
      key.add(kHidden);
      continue;
    }
    const std::optional<uint64_t> constant = constant_word(slot);
    if (!constant) return false;
    key.add(*constant);
  }
  return true;
}

HeldByKey Planner::held_by_key() const {
  HeldByKey held;
  held.reserve(2 * numbered().inputs.size());
  for (const ValueId input : numbered().inputs) {
    if (input == kNoValue) continue;
    held.push_back(known(input).facts);
    if (known(input).is_same_constant) held.push_back(known(input).constant);
  }
  return held;
}

const Inference& Planner::infer_node(const Node& node) {
  CacheKey key;
  uint32_t hidden = 0;
  const bool is_kept = inference_key(key, hidden);
  if (is_kept) {
    if (const Inference* found = executable_.inference_cache_.find(key)) return *found;
  }
  inference_ = inferred(node, hidden);
  const bool is_known = inference_.is_concrete;
  // What it was not told decides: it is said of this node alone.
  if (!is_known && hidden != 0) inference_ = inferred(node, 0);
  if (!is_kept || !is_known) return inference_;
  return executable_.inference_cache_.remember(key, std::move(inference_), held_by_key());
}

Inference Planner::inferred(const Node& node, uint32_t hidden) {
  load_constants(/*all=*/false);
  std::vector<InferInput> inputs;
  inputs.reserve(numbered().inputs.size());
  for (size_t slot = 0; slot < numbered().inputs.size(); ++slot) {
    if (input(slot) == kNoValue) {
      inputs.emplace_back();
      continue;
    }
    const PlanSegment::ValueState& entry = known(input(slot));
    inputs.push_back(
        {entry.type(), has_bit(hidden, slot) ? nullptr : entry.constant.get(), nullptr});
  }
  const auto fresh = [this] { return Dim::symbol("?p" + std::to_string(unknown_++)); };
  const std::vector<InferOutput> outputs =
      infer(*node.op, node.attrs, inputs, node.formal_inputs(), node.outputs.size(), fresh);
  Inference made;
  made.is_concrete = true;
  size_t bytes = 0;
  for (const InferOutput& output : outputs) {
    made.outputs.push_back(executable_.inference_cache_.facts_of(output.type));
    made.is_concrete = made.is_concrete && is_concrete(output.type);
    if (!made.is_concrete) continue;
    bytes =
        std::max(bytes, bytes_for(output.type.dtype, element_count(*made.outputs.back()->shape)));
  }
  made.values = values_of_dims(outputs);
  if (made.values.empty() && made.is_concrete && bytes <= InferenceCache::kSmall)
    made.values = evaluated(node, made);
  return made;
}

// The outputs' elements where inference knows them all.
std::vector<std::shared_ptr<const Tensor>> Planner::values_of_dims(
    std::span<const InferOutput> outputs) {
  std::vector<std::shared_ptr<const Tensor>> values;
  for (const InferOutput& output : outputs) {
    std::optional<Tensor> value = tensor_of_dims(output.type, output.dims);
    if (!value) return {};
    values.push_back(std::make_shared<const Tensor>(std::move(*value)));
  }
  return values;
}

bool Planner::has_only_constants() const {
  return std::ranges::all_of(numbered().inputs, [this](ValueId input) {
    return input == kNoValue || known(input).constant;
  });
}

// The outputs where they follow from constants, and are no more than shape arithmetic; else
// nothing.
std::vector<std::shared_ptr<const Tensor>> Planner::evaluated(const Node& node,
                                                              const Inference& inference) {
  if (!has_only_constants() || node.op->is(kRandom)) return {};
  if (node.captures > 0 || !subgraphs_of(node).empty()) return {};
  for (const TypeInfoPtr& output : inference.outputs) {
    if (!output->type.is_tensor() || !output->shape) return {};
    // The reference may differ from the op's kernel in the last bits.
    if (!session_state_.specializes && is_floating(output->type.dtype)) return {};
    if (static_cast<int64_t>(bytes_for(output->type.dtype, element_count(*output->shape))) >
        kLargestPlanned)
      return {};
  }
  std::vector<Datum> inputs;
  load_constants(/*all=*/true);
  for (const ValueId input : numbered().inputs)
    inputs.push_back(input != kNoValue ? Datum(*known(input).constant) : Datum());
  std::vector<std::shared_ptr<const Tensor>> values;
  for (Datum& result : evaluate(*node.op, node.attrs, inputs, node.outputs.size()))
    values.push_back(std::make_shared<const Tensor>(result.tensor()));
  return values;
}

// Computes the node now where its value does not depend on the run.
bool Planner::plan_constants(const Node& node, const Inference& inference) {
  if (numbered().op->def().is(kRandom)) return false;
  const auto evaluated_now = inference.values.empty()
                                 ? evaluated(node, inference)
                                 : std::vector<std::shared_ptr<const Tensor>>();
  const auto& values = inference.values.empty() ? evaluated_now : inference.values;
  if (values.empty()) return false;
  for (size_t i = 0; i < numbered().outputs.size(); ++i) {
    if (output(i) != kNoValue) set_typed(output(i), inference.outputs[i]).constant = values[i];
  }
  return true;
}

bool Planner::bind_shape_inputs() {
  const uint32_t shape_inputs = numbered().op->def().shape_inputs;
  if (shape_inputs == 0) return true;
  for (size_t slot = 0; slot < numbered().formal_inputs; ++slot) {
    const ValueId value = input(slot);
    if (!has_bit(shape_inputs, slot) || value == kNoValue) continue;
    if (known(value).constant || !known(value).type().is_tensor()) continue;
    if (!known(value).is_datum) return false;
    if (!has_elements(state_.values[value]->tensor())) {
      fail(ErrorCode::kInvalidArgument, "input ", executable_.values_[value]->name,
           ": its value decides shapes; prepare with a tensor, not its shape alone");
    }
    // The value is at hand: this plan is for this value.
    PlanSegment::ValueState& entry = refine(value);
    entry.constant = std::make_shared<const Tensor>(state_.values[value]->tensor().clone());
    segment_->conditions.push_back({value, entry.type(), entry.shape(), *entry.constant});
  }
  return true;
}

// All outputs follow from the sizes of the inputs: each is computed where somebody asks for it.
bool Planner::can_leave_out() const {
  return numbered().has_formulas && std::ranges::all_of(numbered().outputs, [this](ValueId output) {
           return computed_->knows(output);
         });
}

void Planner::compute_if_left_out(ValueId value) {
  if (known(value).state != State::kUnseen || !computed_->knows(value)) return;
  std::shared_ptr<const Tensor>& constant = computed_->computed(value);
  const bool is_new = constant == nullptr;
  if (is_new) constant = std::make_shared<const Tensor>(computed_->compute(value));
  TypeInfoPtr facts = executable_.inference_cache_.facts_of(constant->dtype(), constant->shape());
  const bool has_value = is_small(*facts);
  if (is_new && has_value) constant = executable_.inference_cache_.same_constant(constant);
  PlanSegment::ValueState& entry = set_typed(value, std::move(facts));
  entry.constant = constant;
  entry.is_same_constant = has_value;
}

}  // namespace sardonyx
