#include "executor/plan/shape_specializer.h"

#include <algorithm>

#include "ir/emitter/tensor_from_dims.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

// Outputs up to this size are computed while planning: shape arithmetic, not data.
constexpr int64_t kMaxFoldedBytes = 64 << 10;

// Records the run's types of dynamic values, as guards of the segment.
void record_guards(PlanContext& context) {
  InferenceCache& inferences = context.caches.inferences;
  for (const ValueId value : context.parent.known->dynamic) {
    const Datum* datum = context.run_values[value];
    ShapeGuard guard{value, datum ? datum->type() : Type::none(), std::nullopt, std::nullopt};
    if (datum && datum->is_tensor()) guard.shape = datum->tensor().shape();
    ValueState& known = context.known.refine(value);
    known.facts = guard.shape ? inferences.facts_of(guard.type.dtype, *guard.shape)
                              : inferences.facts_of(guard.type);
    known.is_datum = datum != nullptr;
    known.state = ValueState::TypeState::kTyped;
    context.segment->guards.push_back(std::move(guard));
  }
}

ShapeExpressions::Sizes guarded_sizes(PlanContext& context) {
  record_guards(context);
  return context.graph.shape_expressions().sizes([&](ValueId value) {
    const ValueState& given = context.known[value];
    return given.shape() ? &*given.shape() : nullptr;
  });
}

}  // namespace

bool is_concrete(const Type& type) {
  return type.is_tensor() && type.known_shape().has_value();
}

ShapeSpecializer::ShapeSpecializer(PlanContext& context)
    : context_(context), computed_(context.graph.shape_expressions(), guarded_sizes(context)) {}

bool ShapeSpecializer::can_leave_out() const {
  return context_.indexed().has_formulas &&
         std::ranges::all_of(context_.indexed().outputs,
                             [this](ValueId output) { return computed_.knows(output); });
}

void ShapeSpecializer::compute_if_left_out(ValueId value) {
  if (context_.known[value].state != ValueState::TypeState::kUnseen || !computed_.knows(value))
    return;
  InferenceCache& inferences = context_.caches.inferences;
  std::shared_ptr<const Tensor>& constant = computed_.computed(value);
  const bool is_new = constant == nullptr;
  if (is_new) constant = std::make_shared<const Tensor>(computed_.compute(value));
  TypeInfoPtr facts = inferences.facts_of(constant->dtype(), constant->shape());
  const bool has_value = is_small(*facts);
  if (is_new && has_value) constant = inferences.same_constant(constant);
  ValueState& entry = context_.known.set_typed(value, std::move(facts));
  entry.constant = constant;
  entry.is_same_constant = has_value;
}

bool ShapeSpecializer::bind_shape_inputs() {
  const uint32_t shape_inputs = context_.op().shape_inputs;
  if (shape_inputs == 0) return true;
  for (size_t slot = 0; slot < context_.indexed().formal_inputs; ++slot) {
    const ValueId value = context_.input(slot);
    if (!has_bit(shape_inputs, slot) || value == kNoValue) continue;
    const ValueState& known = context_.known[value];
    if (known.constant || !known.type().is_tensor()) continue;
    if (!known.is_datum) return false;
    const Tensor& given = context_.run_values[value]->tensor();
    if (!has_elements(given)) {
      fail(ErrorCode::kInvalidArgument, "input ", context_.graph.values()[value]->name,
           ": its value decides shapes; prepare with a tensor, not its shape alone");
    }
    ValueState& entry = context_.known.refine(value);
    entry.constant = std::make_shared<const Tensor>(given.clone());
    context_.segment->guards.push_back({value, entry.type(), entry.shape(), *entry.constant});
  }
  return true;
}

// Whether inference may read the constant in `slot`: integers and single elements. Other floats may
// be the weights of any layer, which types do not depend on.
bool ShapeSpecializer::is_read_by_inference(size_t slot) const {
  const TypeInfo& constant = *context_.known[context_.input(slot)].facts;
  return slot >= 32 || has_bit(context_.op().shape_inputs, slot) || constant.has_one_element() ||
         !is_floating(constant.type.dtype);
}

// The inference of a node follows from its key, but for constants in the slots `hidden`, which it
// is not told then. False where the node has no key.
bool ShapeSpecializer::make_key(CacheKey& key, uint32_t& hidden) const {
  if (context_.indexed().kind == IndexedNode::kNoKind) return false;
  key.add(context_.indexed().kind);
  const bool are_all_constant = context_.has_only_constants();
  for (size_t slot = 0; slot < context_.indexed().formal_inputs; ++slot) {
    if (context_.input(slot) == kNoValue) {
      key.add(uint64_t{0});
      continue;
    }
    const ValueState& entry = context_.known[context_.input(slot)];
    if (!entry.type().is_tensor() || !entry.shape()) return false;
    key.add(entry.facts.get());
    if (entry.constant && !are_all_constant && !is_read_by_inference(slot)) {
      hidden |= 1u << slot;
      key.add(kHiddenConstant);
      continue;
    }
    const std::optional<uint64_t> constant = context_.constant_key(slot);
    if (!constant) return false;
    key.add(*constant);
  }
  return true;
}

HeldByKey ShapeSpecializer::held_by_key() const {
  HeldByKey held;
  held.reserve(2 * context_.indexed().inputs.size());
  for (const ValueId input : context_.indexed().inputs) {
    if (input == kNoValue) continue;
    const ValueState& known = context_.known[input];
    held.push_back(known.facts);
    if (known.is_same_constant) held.push_back(known.constant);
  }
  return held;
}

const Inference& ShapeSpecializer::infer() {
  CacheKey key;
  uint32_t hidden = 0;
  const bool has_key = make_key(key, hidden);
  if (has_key) {
    if (const Inference* found = context_.caches.inferences.find(key)) return *found;
  }
  inference_ = inferred(hidden);
  const bool is_known = inference_.is_concrete;
  // A constant that was hidden decides: the result holds for this node alone.
  if (!is_known && hidden != 0) inference_ = inferred(0);
  if (!has_key || !is_known) return inference_;
  return context_.caches.inferences.remember(key, std::move(inference_), held_by_key());
}

Inference ShapeSpecializer::inferred(uint32_t hidden) {
  context_.load_constants(/*all=*/false);
  const Node& node = context_.node();
  const IndexedNode& indexed = context_.indexed();
  std::vector<InferInput> inputs;
  inputs.reserve(indexed.inputs.size());
  for (size_t slot = 0; slot < indexed.inputs.size(); ++slot) {
    if (indexed.inputs[slot] == kNoValue) {
      inputs.emplace_back();
      continue;
    }
    const ValueState& entry = context_.known[indexed.inputs[slot]];
    inputs.push_back(
        {entry.type(), has_bit(hidden, slot) ? nullptr : entry.constant.get(), nullptr});
  }
  const auto fresh = [this] { return Dim::symbol("?p" + std::to_string(unknown_dims_++)); };
  const std::vector<InferOutput> outputs = sardonyx::infer(
      *node.op, node.attrs, inputs, node.formal_inputs(), node.outputs.size(), fresh);
  Inference made;
  made.is_concrete = true;
  size_t bytes = 0;
  for (const InferOutput& output : outputs) {
    made.outputs.push_back(context_.caches.inferences.facts_of(output.type));
    made.is_concrete = made.is_concrete && is_concrete(output.type);
    if (!made.is_concrete) continue;
    bytes =
        std::max(bytes, bytes_for(output.type.dtype, element_count(*made.outputs.back()->shape)));
  }
  made.values = values_of_dims(outputs);
  if (made.values.empty() && made.is_concrete && bytes <= InferenceCache::kSmall)
    made.values = evaluated(made);
  return made;
}

// The outputs' elements where inference knows them all.
ShapeSpecializer::Tensors ShapeSpecializer::values_of_dims(std::span<const InferOutput> outputs) {
  Tensors values;
  for (const InferOutput& output : outputs) {
    std::optional<Tensor> value = tensor_of_dims(output.type, output.dims);
    if (!value) return {};
    values.push_back(std::make_shared<const Tensor>(std::move(*value)));
  }
  return values;
}

// The outputs, evaluated if they depend on constants only and are small enough; else empty.
ShapeSpecializer::Tensors ShapeSpecializer::evaluated(const Inference& inference) const {
  const Node& node = context_.node();
  if (!context_.has_only_constants() || node.op->is(kRandom)) return {};
  if (node.captures > 0 || !subgraphs_of(node).empty()) return {};
  for (const TypeInfoPtr& output : inference.outputs) {
    if (!output->type.is_tensor() || !output->shape) return {};
    // Floats are not folded then: the reference may differ from the op's kernel in the last bits.
    if (!context_.session.specializes && is_floating(output->type.dtype)) return {};
    if (static_cast<int64_t>(bytes_for(output->type.dtype, element_count(*output->shape))) >
        kMaxFoldedBytes)
      return {};
  }
  std::vector<Datum> inputs;
  context_.load_constants(/*all=*/true);
  for (const ValueId input : context_.indexed().inputs)
    inputs.push_back(input != kNoValue ? Datum(*context_.known[input].constant) : Datum());
  const auto results = [&] {
    if (!node.op->reference) return evaluate(*node.op, node.attrs, inputs, node.outputs.size());
    std::vector<Type> types;
    for (const TypeInfoPtr& output : inference.outputs)
      types.push_back(output->type);
    return evaluate_inferred(*node.op, node.attrs, inputs, types);
  };
  Tensors values;
  for (const Datum& result : results())
    values.push_back(std::make_shared<const Tensor>(result.tensor()));
  return values;
}

bool ShapeSpecializer::fold(const Inference& inference) {
  if (context_.op().is(kRandom)) return false;
  const Tensors evaluated_now = inference.values.empty() ? evaluated(inference) : Tensors();
  const Tensors& values = inference.values.empty() ? evaluated_now : inference.values;
  if (values.empty()) return false;
  for (size_t i = 0; i < context_.indexed().outputs.size(); ++i) {
    const ValueId output = context_.output(i);
    if (output == kNoValue) continue;
    context_.known.set_typed(output, inference.outputs[i]).constant = values[i];
  }
  return true;
}

}  // namespace sardonyx
