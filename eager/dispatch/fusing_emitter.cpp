#include "eager/dispatch/fusing_emitter.h"

#include <algorithm>
#include <unordered_map>

#include "eager/autograd/anomaly.h"
#include "eager/autograd/tape.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/substitutes.h"
#include "eager/trace/frame.h"
#include "ir/core/strides.h"
#include "ir/ops/elementwise/fused_elementwise.h"

namespace sardonyx::eager {
namespace {

constexpr int64_t kMinElements = 4096;  // fewer fit the nearest cache unfused
constexpr size_t kMaxSteps = 32;
constexpr size_t kMaxValues = 48;

// Whether a group may contain the op, by the types of its inputs and outputs.
enum class Grouping : uint8_t { kNone, kFloats, kComparison, kLogic, kWhere, kExpand };

Grouping grouping_of(const OpDef& op) {
  if (!op.domain.empty()) return Grouping::kNone;
  if (op.name == "Expand") return Grouping::kExpand;
  if (op.name == "Where") return Grouping::kWhere;
  for (const std::string_view name : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"})
    if (op.name == name) return Grouping::kComparison;
  for (const std::string_view name : {"And", "Or", "Xor", "Not"})
    if (op.name == name) return Grouping::kLogic;
  // Groups know parameters of their own in place of attributes.
  const ops::GroupedOp* grouped = ops::find_grouped_op(op.name);
  const bool is_plain = grouped && grouped->params == 0 && op.attrs->fields.empty();
  return is_plain ? Grouping::kFloats : Grouping::kNone;
}

Grouping cached_grouping_of(const OpDef& op) {
  thread_local std::unordered_map<const OpDef*, Grouping> known;
  const auto at = known.find(&op);
  return at != known.end() ? at->second : known.emplace(&op, grouping_of(op)).first->second;
}

// Of the result; kUndefined where no group has such operands.
DType result_type(Grouping grouping, std::span<const DType> operands) {
  const DType asked = grouping == Grouping::kLogic ? DType::kBool : DType::kFloat;
  const bool is_where = grouping == Grouping::kWhere;
  if (is_where && operands[0] != DType::kBool) return DType::kUndefined;
  for (const DType dtype : operands.subspan(is_where ? 1 : 0)) {
    if (dtype != asked) return DType::kUndefined;
  }
  return grouping == Grouping::kComparison ? DType::kBool : asked;
}

}  // namespace

const FusingEmitter::FusedValue* FusingEmitter::FusionGroup::result_of(const Val& val) const {
  for (const FusedValue& value : values) {
    if (value.is_result && value.impl.get() == val.as<detail::TensorImpl>()) return &value;
  }
  return nullptr;
}

size_t FusingEmitter::FusionGroup::index_of(const Val& val) {
  detail::TensorImpl& impl = detail::impl_of(val);
  const auto at =
      std::ranges::find(values, &impl, [](const auto& each) { return each.impl.get(); });
  if (at != values.end()) return static_cast<size_t>(at - values.begin());
  values.push_back({impl.shared_from_this(), impl.value.tensor().dtype(), false});
  return values.size() - 1;
}

size_t FusingEmitter::FusionGroup::source_of(size_t value) const {
  const auto made = std::ranges::find(steps, value, &FusedStep::result);
  return made != steps.end() && made->is_expand ? made->operands[0] : value;
}

// Where one operand has all elements, the others may be repeated by the group itself.
void FusingEmitter::FusionGroup::read_sources(FusedStep& step, int64_t count) const {
  const auto is_whole = [&](size_t operand) {
    const FusedValue& value = values[operand];
    return source_of(operand) == operand &&
           (value.is_result || value.impl->value.tensor().count() == count);
  };
  if (std::ranges::none_of(step.operands, is_whole)) return;
  for (size_t& operand : step.operands)
    operand = source_of(operand);
}

std::optional<FusingEmitter::ResultType> FusingEmitter::result_of_step(
    const OpDef& op, std::span<const Val> inputs) const {
  const Grouping grouping = cached_grouping_of(op);
  if (grouping == Grouping::kNone) return std::nullopt;
  const bool is_expand = grouping == Grouping::kExpand;
  std::vector<DType> dtypes;
  Shape shape;
  int64_t largest = 0;
  for (const Val& input : inputs.first(is_expand ? 1 : inputs.size())) {
    const FusedValue* held_back = group_.result_of(input);
    const Datum& datum = detail::impl_of(input).value;
    if (!held_back && !datum.is_tensor()) return std::nullopt;
    dtypes.push_back(held_back ? held_back->dtype : datum.tensor().dtype());
    const Shape& own = held_back ? shape_ : datum.tensor().shape();
    std::optional<Shape> joined = try_broadcast(shape, own);
    if (!joined) return std::nullopt;
    shape = std::move(*joined);
    largest = std::max(largest, element_count(own));
  }
  const DType dtype = result_type(grouping, dtypes);
  if (is_expand) {
    const std::optional<Dims> dims = dims_value(inputs[1]);
    const std::optional<Shape> wanted = dims ? known_shape(*dims) : std::nullopt;
    const std::optional<Shape> joined = wanted ? try_broadcast(shape, *wanted) : std::nullopt;
    if (!joined) return std::nullopt;
    shape = *joined;
  }
  const int64_t count = element_count(shape);
  if (dtype == DType::kUndefined || count < kMinElements || (largest < count) != is_expand)
    return std::nullopt;
  return ResultType{std::move(shape), dtype, is_expand};
}

bool FusingEmitter::reads_held_back(std::span<const Val> inputs) const {
  return std::ranges::any_of(
      inputs, [&](const Val& input) { return input && group_.result_of(input) != nullptr; });
}

Vals FusingEmitter::emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs,
                         size_t outputs, size_t captures) {
  std::optional<ResultType> made = result_of_step(op, inputs);
  if (!made) {
    if (std::optional<Vals> scattered = scatter_over_fill(op, inputs, attrs)) return *scattered;
    if (reads_held_back(inputs)) finish();
    return EagerEmitter::emit(op, inputs, attrs, outputs, captures);
  }
  const bool is_full = group_.steps.size() >= kMaxSteps || group_.values.size() >= kMaxValues;
  if (is_full || made->shape != shape_) finish();
  shape_ = std::move(made->shape);
  FusedStep step{&op, attrs, {}, 0, made->is_expand};
  for (const Val& input : inputs)
    step.operands.push_back(group_.index_of(input));
  if (!step.is_expand) group_.read_sources(step, element_count(shape_));
  step.result = group_.values.size();
  const Val result(detail::make_impl(Datum()));
  group_.values.push_back({detail::impl_of(result).shared_from_this(), made->dtype, true});
  group_.steps.push_back(std::move(step));
  return {result};
}

std::optional<Vals> FusingEmitter::scatter_over_fill(const OpDef& op, std::span<const Val> inputs,
                                                     const Attrs& attrs) {
  if (!op.domain.empty() || (op.name != "ScatterElements" && op.name != "ScatterND"))
    return std::nullopt;
  const FusedValue* fill = group_.result_of(inputs[0]);
  if (!fill || reads_held_back(inputs.subspan(1))) return std::nullopt;
  const auto number = static_cast<size_t>(fill - group_.values.data());
  const auto step = std::ranges::find(group_.steps, number, &FusedStep::result);
  if (!step->is_expand || group_.values[step->operands[0]].is_result) return std::nullopt;
  Vals operands;
  for (const size_t operand : step->operands)
    operands.emplace_back(group_.values[operand].impl);
  const Vals filled = EagerEmitter::emit(*step->op, operands, step->attrs, 1);
  std::vector<Tensor> in{detail::tensor_of(filled[0])}, out(1);
  for (const Val& input : inputs.subspan(1))
    in.push_back(detail::tensor_of(input));
  apply({.op = op, .attrs = attrs, .inputs = in, .loc = loc(), .may_overwrite_first = true}, out);
  return Vals{detail::val_of(out[0])};
}

// Runs the steps whose results are held outside, or read by such a step.
void FusingEmitter::finish() {
  FusionGroup group = std::exchange(group_, {});
  std::vector<const FusedStep*> needed;
  for (size_t i = group.steps.size(); i-- > 0;) {
    const FusedStep& step = group.steps[i];
    FusedValue& result = group.values[step.result];
    result.is_output = result.impl.use_count() > 1;
    if (!result.is_output && !result.is_read) continue;
    if (step.is_expand) {
      run_alone(group, step);
      result.is_result = false;
      continue;
    }
    needed.push_back(&step);
    for (const size_t operand : step.operands)
      group.values[operand].is_read = true;
  }
  std::ranges::reverse(needed);
  if (needed.size() == 1)
    run_alone(group, *needed[0]);
  else if (!needed.empty())
    run_fused(group, needed);
}

void FusingEmitter::run_alone(FusionGroup& group, const FusedStep& step) {
  Vals inputs;
  for (const size_t operand : step.operands)
    inputs.emplace_back(group.values[operand].impl);
  const Vals results = EagerEmitter::emit(*step.op, inputs, step.attrs, 1);
  group.values[step.result].impl->value = detail::impl_of(results[0]).value;
}

void FusingEmitter::run_fused(FusionGroup& group, const std::vector<const FusedStep*>& steps) {
  static const OpDef& fused = op_named("sardonyx::FusedElementwise");
  ops::FusedElementwiseAttrs attrs;
  std::vector<int64_t> numbers(group.values.size());
  Vals inputs;
  for (size_t i = 0; i < group.values.size(); ++i) {
    const FusedValue& value = group.values[i];
    if (value.is_result || !value.is_read) continue;
    numbers[i] = static_cast<int64_t>(inputs.size());
    inputs.emplace_back(value.impl);
  }
  std::vector<size_t> outputs;
  for (size_t i = 0; i < steps.size(); ++i) {
    const FusedStep& step = *steps[i];
    attrs.ops.emplace_back(step.op->name);
    for (const size_t operand : step.operands)
      attrs.operands.push_back(numbers[operand]);
    numbers[step.result] = static_cast<int64_t>(inputs.size() + i);
    if (!group.values[step.result].is_output) continue;
    outputs.push_back(step.result);
    attrs.results.push_back(numbers[step.result]);
  }
  const Vals results = EagerEmitter::emit(fused, inputs, Attrs(std::move(attrs)), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    group.values[outputs[i]].impl->value = detail::impl_of(results[i]).value;
}

bool may_fuse(std::span<const Tensor> tensors) {
  if (TraceContext::active() || detects_anomalies() || detail::Substitutes::any() ||
      Autocast::current() != DType::kUndefined)
    return false;
  return std::ranges::all_of(tensors, [](const Tensor& tensor) {
    if (!tensor.defined() || (detail::grad_enabled() && tensor.impl()->tracked())) return false;
    const Datum& value = tensor.impl()->value;
    return value.is_tensor() && value.tensor().dtype() == DType::kFloat;
  });
}

Type FusingEmitter::type(const Val& val) const {
  const FusedValue* held_back = group_.result_of(val);
  return held_back ? Type::tensor(held_back->dtype, to_dims(shape_)) : EagerEmitter::type(val);
}

std::optional<sardonyx::Tensor> FusingEmitter::constant_value(const Val& val) const {
  return group_.result_of(val) ? std::nullopt : EagerEmitter::constant_value(val);
}

std::optional<Dims> FusingEmitter::dims_value(const Val& val) const {
  return group_.result_of(val) ? std::nullopt : EagerEmitter::dims_value(val);
}

}  // namespace sardonyx::eager
