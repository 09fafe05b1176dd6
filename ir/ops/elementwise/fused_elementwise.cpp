#include "ir/ops/elementwise/fused_elementwise.h"

#include <unordered_map>

#include "ir/ops/conv/fused_ops.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

constexpr std::string_view kGeluTanh = "GeluTanh";

GroupedOp grouped(const OpDef& row) {
  const Signature& signature = signature_of(row);
  const size_t floats = float_param_names(row).size();
  if (row.name == "Cast") return {row.name, 1, 1, &row};
  const Attrs defaults = Attrs::parse(*row.attrs, {});
  if (signature.inputs.back().variadic) return {row.name, 2, floats, &row, defaults};
  const size_t bounds = signature.max_inputs - signature.min_inputs;
  return {row.name, signature.min_inputs, bounds + floats, &row, defaults};
}

std::unordered_map<std::string_view, GroupedOp> grouped_ops() {
  std::unordered_map<std::string_view, GroupedOp> all;
  for (const OpDef* row : all_ops()) {
    if (row->is(kFusable) && row->domain.empty()) all.emplace(row->name, grouped(*row));
  }
  GroupedOp gelu = all.at("Gelu");
  gelu.name = kGeluTanh;
  all.emplace(kGeluTanh, gelu);
  return all;
}

[[noreturn]] void fail_group(std::string_view what) {
  fail(ErrorCode::kInvalidModel, "sardonyx::FusedElementwise: ", what);
}

Val emit_step(Emitter& e, const GroupStep& step, const Vals& values) {
  Vals operands;
  for (const int64_t operand : step.operands)
    operands.push_back(values[static_cast<size_t>(operand)]);
  const FusedActivation activation{std::string(step.op->name),
                                   {step.params.begin(), step.params.end()}};
  if (is_known(activation)) return apply(e, activation, operands[0]);
  if (step.op->name == "Cast") {
    return e.call("Cast", {operands[0]}, {{"to", static_cast<int64_t>(step.params[0])}});
  }
  return e.call_many(step.op->name, operands, {}, 1)[0];
}

InferOutput infer_step(const InferContext& c, const GroupStep& step,
                       std::span<const InferInput> operands) {
  const OpDef& row = *step.op->row;
  Attrs attrs = step.op->defaults;
  if (row.name == "Cast")
    attrs = Attrs::parse(*row.attrs, {{"to", static_cast<int64_t>(step.params[0])}});
  return std::move(infer(row, attrs, operands, operands.size(), 1, c.fresh_symbol())[0]);
}

// What the types of the body are. Plans for new sizes infer groups anew, so no body is emitted for
// it.
void infer_group(InferContext& c) {
  const auto& attrs = c.attrs<FusedElementwiseAttrs>();
  const std::vector<GroupStep> steps = group_steps(attrs, c.input_count());
  if (attrs.results.size() != c.output_count()) fail_group("needs one result for each output");
  std::vector<InferInput> values(c.all_inputs().begin(), c.all_inputs().end());
  std::vector<InferOutput> made;
  made.reserve(steps.size());  // values refer to their dims
  std::vector<InferInput> operands;
  for (const GroupStep& step : steps) {
    operands.clear();
    for (const int64_t operand : step.operands)
      operands.push_back(values[static_cast<size_t>(operand)]);
    const InferOutput& output = made.emplace_back(infer_step(c, step, operands));
    values.push_back({output.type, nullptr, output.dims ? &*output.dims : nullptr});
  }
  for (size_t i = 0; i < attrs.results.size(); ++i) {
    const InferInput& result = values[static_cast<size_t>(attrs.results[i])];
    c.set(i, result.type);
    if (result.dims) c.set_dims(i, *result.dims);
  }
}

Vals group_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<FusedElementwiseAttrs>();
  Vals values(c.inputs.begin(), c.inputs.end());
  for (const GroupStep& step : group_steps(attrs, c.inputs.size()))
    values.push_back(emit_step(e, step, values));
  if (attrs.results.size() != c.output_count) fail_group("needs one result for each output");
  Vals results;
  for (const int64_t result : attrs.results)
    results.push_back(values[static_cast<size_t>(result)]);
  return results;
}

using Names = std::vector<std::string>;
using Ints = std::vector<int64_t>;

std::vector<Sample> group_samples() {
  return {
      {{{{2, 3, 4}}, {{4}}, {{}}},
       {{"ops", Names{"Mul", "Sigmoid", "Add", "LeakyRelu"}},
        {"operands", Ints{0, 1, 3, 4, 2, 5}},
        {"params", std::vector{0.1f}},
        {"results", Ints{6}}},
       1,
       DType::kFloat},
      {{{{3, 1}}, {{1, 5}}},
       {{"ops", Names{"Less", "Sub", "Where", "Cast"}},
        {"operands", Ints{0, 1, 0, 1, 2, 3, 1, 2}},
        {"params", std::vector{1.f}},
        {"results", Ints{4, 5}}},
       2,
       DType::kFloat},
  };
}

}  // namespace

const GroupedOp* find_grouped_op(std::string_view name) {
  static const auto& all = *new auto(grouped_ops());
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

std::string_view grouped_name(const OpDef& op, const Attrs& attrs) {
  const bool is_gelu = op.name == "Gelu";
  if (is_gelu && std::get<std::string>(attrs.get("approximate").value()) == "tanh")
    return kGeluTanh;
  return op.name;
}

std::vector<std::string> float_param_names(const OpDef& op) {
  static const size_t kFloatKind = AttrValue(0.0f).index();
  std::vector<std::string> names;
  for (const AttrField& field : op.attrs->fields) {
    if (field.kind == kFloatKind) names.push_back(field.name);
  }
  return names;
}

std::vector<float> float_params(const OpDef& op, const Attrs& attrs) {
  std::vector<float> values;
  for (const std::string& name : float_param_names(op))
    values.push_back(std::get<float>(attrs.get(name).value()));
  return values;
}

std::vector<GroupStep> group_steps(const FusedElementwiseAttrs& attrs, size_t inputs) {
  std::vector<GroupStep> steps;
  std::span<const int64_t> operands = attrs.operands;
  std::span<const float> params = attrs.params;
  for (const std::string& name : attrs.ops) {
    const GroupedOp* op = find_grouped_op(name);
    if (!op) fail_group(text("attribute ops: \"", name, "\" is no op of groups"));
    if (operands.size() < op->operands || params.size() < op->params) {
      fail_group(text("operands or params end before op \"", name, "\""));
    }
    steps.push_back({op, operands.first(op->operands), params.first(op->params)});
    for (const int64_t operand : steps.back().operands) {
      if (operand < 0 || static_cast<uint64_t>(operand) + 1 >= inputs + steps.size()) {
        fail_group(
            text("op \"", name, "\" reads value ", operand, ", which is not made before it"));
      }
    }
    operands = operands.subspan(op->operands);
    params = params.subspan(op->params);
  }
  if (!operands.empty() || !params.empty()) fail_group("operands or params are left over");
  for (const int64_t result : attrs.results) {
    if (result < 0 || static_cast<uint64_t>(result) >= inputs + steps.size()) {
      fail_group(text("result ", result, " is no value"));
    }
  }
  return steps;
}

std::span<const OpDef> group_ops() {
  static const OpDef kOps[] = {
      {.name = "FusedElementwise",
       .doc =
           "A connected set of elementwise ops, broadcast to one shape and computed in one loop.",
       .domain = "sardonyx",
       .since = 1,
       .signature = "(values...: T*) -> (results...: T*)",
       .types = {{"T", kNumbers | DTypeSet(DType::kBool)}},
       .attrs = attr_schema<FusedElementwiseAttrs>(),
       .infer = infer_group,
       .body = group_body,
       .facts = kElementwise | kIgnoresConstants,
       .samples = group_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
