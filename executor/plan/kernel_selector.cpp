#include "executor/plan/kernel_selector.h"

#include <algorithm>

namespace sardonyx {
namespace {

bool is_read_in_layout(const Node& node, int elementwise_between) {
  const auto wants_layout = [&](const Use& use) {
    const OpDef& op = *use.node->op;
    return op.layout == LayoutRole::kConv || op.layout == LayoutRole::kImage ||
           op.layout == LayoutRole::kKeeps ||
           (elementwise_between > 0 && op.is(kElementwise) &&
            is_read_in_layout(*use.node, elementwise_between - 1));
  };
  return std::ranges::any_of(node.outputs, [&](const Value* output) {
    return output && std::ranges::any_of(output->uses, wants_layout);
  });
}

// Fills what a request says of a value, over what an earlier request had there.
void describe(const StepValue& value, KernelTensor& tensor) {
  tensor.dtype = value.facts ? value.facts->type.dtype : DType::kUndefined;
  if (value.facts)
    tensor.shape = *value.facts->shape;
  else
    tensor.shape.clear();
  tensor.layout = value.layout;
  tensor.constant = nullptr;
}

}  // namespace

bool feeds_layout(const Node& node) {
  constexpr int kElementwiseBetween = 2;
  return is_read_in_layout(node, kElementwiseBetween);
}

// A kernel follows from the inputs with their layouts, and the constants that it may pack. False
// where the node has no key.
bool KernelSelector::make_key(CacheKey& key) const {
  if (context_.indexed().kind == IndexedNode::kNoKind) return false;
  key.add(context_.indexed().kind);
  for (size_t slot = 0; slot < context_.indexed().formal_inputs; ++slot) {
    const ValueId value = context_.input(slot);
    if (value == kNoValue) {
      key.add(uint64_t{0});
      continue;
    }
    const ValueState& known = context_.known[value];
    if (!known.shape()) return false;
    key.add(known.facts.get());
    key.add(buffers_.layout_of(value).get());
    const std::optional<uint64_t> constant =
        sees_constant(slot) ? context_.constant_key(slot) : kHiddenConstant;
    if (!constant) return false;
    key.add(*constant);
  }
  return true;
}

// Whether kernels are told the elements of this constant. Constants that decide shapes are told
// even without specialization, as in eager calls.
bool KernelSelector::sees_constant(size_t slot) const {
  if (has_bit(context_.op().shape_inputs, slot)) return true;
  if (!context_.session.specializes) return false;
  const ValueState& known = context_.known[context_.input(slot)];
  return context_.indexed().op->reads_constants() || !known.constant ||
         known.facts->has_one_element() ||
         std::ranges::any_of(context_.indexed().inputs, [this](ValueId value) {
           return value != kNoValue && buffers_.layout_of(value);
         });
}

// Whether kernels of the node may return other layouts than row-major. The output of a Transpose
// that reads a row-major value would have to be moved again, unless a reader wants the layout.
bool KernelSelector::takes_layouts() const {
  if (!context_.session.layouts) return false;
  const Node& node = context_.node();
  if (node.op->layout != LayoutRole::kPermutes || buffers_.layout_of(context_.input(0)))
    return true;
  return feeds_layout(node);
}

// Whether readers of the output take layouts (KernelRequest::layout_readers). True for all ops but
// convolutions, whose kernels alone ask.
bool KernelSelector::has_layout_readers() const {
  const Node& node = context_.node();
  return node.op->layout != LayoutRole::kConv || feeds_layout(node);
}

std::shared_ptr<const PreparedStep> KernelSelector::select(const Inference& inference) {
  KernelCache& kernels = context_.caches.kernels;
  CacheKey key;
  const bool is_shared = make_key(key);
  key.add(uint64_t{takes_layouts()} << 1 | uint64_t{has_layout_readers()});
  if (is_shared) {
    if (auto found = kernels.find(key)) return found;
  }
  PreparedStep made = prepare(inference);
  if (!made.kernel && made.attempts.empty()) return nullptr;
  if (!made.kernel || !is_shared) return std::make_shared<const PreparedStep>(std::move(made));
  HeldByKey held;  // beside what the step itself holds
  for (const ValueId value : context_.indexed().inputs) {
    if (value == kNoValue || !context_.known[value].is_same_constant) continue;
    held.push_back(context_.known[value].constant);
  }
  return kernels.remember(key, std::move(made), std::move(held));
}

PreparedStep KernelSelector::prepare(const Inference& inference) {
  context_.load_constants(/*all=*/false);
  const Node& node = context_.node();
  const size_t input_count = node.formal_inputs(), output_count = inference.outputs.size();
  std::vector<StepValue> inputs(input_count), outputs(output_count);
  tensors_.resize(std::max(tensors_.size(), input_count + output_count));
  const std::span<KernelTensor> tensors(tensors_);
  for (size_t slot = 0; slot < input_count; ++slot) {
    const ValueId value = context_.input(slot);
    if (value != kNoValue) inputs[slot] = {context_.known[value].facts, buffers_.layout_of(value)};
    describe(inputs[slot], tensors[slot]);
    if (value != kNoValue && sees_constant(slot))
      tensors[slot].constant = context_.known[value].constant.get();
  }
  for (size_t i = 0; i < output_count; ++i) {
    outputs[i] = {inference.outputs[i], nullptr};
    describe(outputs[i], tensors[input_count + i]);
  }
  KernelRequest request{*node.op, node.attrs, tensors.first(input_count),
                        tensors.subspan(input_count, output_count)};
  request.threads = context_.session.threads;
  request.layouts = takes_layouts();
  request.layout_readers = has_layout_readers();
  request.precision = context_.session.precision;
  request.packs = &context_.session.packs;
  std::vector<KernelAttempt> attempts;
  if (context_.session.keeps_attempts) request.attempts = &attempts;
  Prepared prepared = prepare_kernel(context_.indexed().op->providers(), request);
  PreparedStep step;
  if (prepared.kernel) step = {std::move(prepared), std::move(inputs), std::move(outputs)};
  step.attempts = std::move(attempts);
  return step;
}

std::shared_ptr<const PreparedStep> KernelSelector::select_reorder(ValueId value,
                                                                   const LayoutPtr& to) {
  const LayoutPtr& from = buffers_.layout_of(value);
  const TypeInfoPtr& facts = context_.known[value].facts;
  Prepared prepared = Prepared::refuse("no provider reorders");
  for (const Provider* provider : context_.session.providers) {
    if (!provider->prepare_reorder) continue;
    prepared = provider->prepare_reorder(facts->type.dtype, *facts->shape, from, to,
                                         context_.session.threads);
    if (prepared.kernel) break;
  }
  if (!prepared.kernel) {
    fail(ErrorCode::kInternal, "value ", context_.graph.values()[value]->name,
         ": no way from layout ", from ? from->text() : "plain", " to ", to ? to->text() : "plain",
         ": ", prepared.refusal);
  }
  return std::make_shared<const PreparedStep>(std::move(prepared),
                                              std::vector<StepValue>{{facts, from}},
                                              std::vector<StepValue>{{facts, to}});
}

}  // namespace sardonyx
