#include "ir/ops/elementwise_group.h"

#include <algorithm>

#include "ir/ops/fused.h"
#include "ir/ops/infer_body.h"
#include "ir/ops/tables.h"

namespace sardonyx::ops {
namespace {

constexpr GroupedOp kGroupedOps[] = {
    {"Abs", 1},
    {"Ceil", 1},
    {"Cos", 1},
    {"Erf", 1},
    {"Exp", 1},
    {"Floor", 1},
    {"Log", 1},
    {"Mish", 1},
    {"Neg", 1},
    {"Reciprocal", 1},
    {"Round", 1},
    {"Sin", 1},
    {"Softplus", 1},
    {"Sqrt", 1},
    {"Not", 1},
    {"Relu", 1},
    {"Sigmoid", 1},
    {"Tanh", 1},
    {"HardSwish", 1},
    {"Gelu", 1},
    {"GeluTanh", 1},
    {"LeakyRelu", 1, 1},
    {"Elu", 1, 1},
    {"Swish", 1, 1},
    {"Clip", 1, 2},
    {"HardSigmoid", 1, 2},
    {"Cast", 1, 1},
    {"Add", 2},
    {"Sub", 2},
    {"Mul", 2},
    {"Div", 2},
    {"Max", 2},
    {"Min", 2},
    {"PRelu", 2},
    {"Pow", 2},
    {"Equal", 2},
    {"Greater", 2},
    {"Less", 2},
    {"GreaterOrEqual", 2},
    {"LessOrEqual", 2},
    {"And", 2},
    {"Or", 2},
    {"Xor", 2},
    {"Where", 3},
};

[[noreturn]] void fail_group(std::string_view what) {
  fail(ErrorCode::kInvalidModel, "sardonyx::ElementwiseGroup: ", what);
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

Vals group_body(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ElementwiseGroupAttrs>();
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
  const auto* found = std::ranges::find(kGroupedOps, name, &GroupedOp::name);
  return found == std::end(kGroupedOps) ? nullptr : found;
}

std::vector<GroupStep> group_steps(const ElementwiseGroupAttrs& attrs, size_t inputs) {
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
      {.name = "ElementwiseGroup",
       .domain = "sardonyx",
       .since = 1,
       .signature = "(values...: T*) -> (results...: T*)",
       .types = {{"T", kNumbers | DTypeSet(DType::kBool)}},
       .attrs = attr_schema<ElementwiseGroupAttrs>(),
       .infer = infer_by_body,
       .body = group_body,
       .facts = kElementwise,
       .samples = group_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
