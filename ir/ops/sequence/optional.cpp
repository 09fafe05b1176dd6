// Optional, OptionalGetElement, OptionalHasElement.
#include "ir/eval_call.h"
#include "ir/ops/op_families.h"
#include "ir/ops/sequence/sequence.h"
#include "ir/ops/sequence/sequence_gradient.h"

namespace sardonyx::ops {
namespace {

constexpr TypeSet kValues(kClassicTypes, kClassicTypes);
constexpr TypeSet kOptionals({}, {}, kClassicTypes, kClassicTypes);
constexpr TypeSet kOptionalsOrValues(kClassicTypes, kClassicTypes, kClassicTypes, kClassicTypes);

void infer_optional(InferContext& c) {
  const auto& type = c.attrs<OptionalAttrs>().type;
  c.require(c.has(0) || type, "neither an input nor the attribute type is given");
  if (c.has(0) && type) {
    c.require(same_kind(c.type(0), *type), "type: the attribute says ", *type, ", the input is ",
              c.type(0));
  }
  const Type& element = c.has(0) ? c.type(0) : *type;
  c.require(kValues.has(element), "type: expected one of ", kValues.text(), ", got ", element);
  c.set(0, Type::optional(element));
}

bool holds_sequences_like(const OptionalDatum& optional, const Sequence& sequence) {
  return optional.element.is_sequence() && *optional.element.element == sequence.element;
}

// Run-time optionals say no more of a tensor than its dtype, as run-time sequences do.
void run_optional(const EvalCall& call) {
  OptionalDatum& optional = renewed<OptionalDatum>(call.outputs[0]);
  optional.items.resize(call.has(0) ? 1 : 0);
  if (!call.has(0)) {
    optional.element = *call.attrs<OptionalAttrs>().type;
    return;
  }
  const Datum& value = call.inputs[0];
  if (value.is_tensor())
    optional.element = Type::tensor(value.tensor().dtype());
  else if (!holds_sequences_like(optional, value.sequence()))
    optional.element = value.type();
  optional.items[0] = value;
}

void infer_optional_get_element(InferContext& c) {
  c.set(0, c.type(0).is_optional() ? *c.type(0).element : c.type(0));
}

void run_optional_get_element(const EvalCall& call) {
  const Datum& input = call.inputs[0];
  const Datum* value = input.is_optional() ? input.optional().value() : &input;
  if (!value) fail(ErrorCode::kInvalidArgument, "input: the optional is empty");
  call.outputs[0] = *value;
}

void infer_optional_has_element(InferContext& c) {
  c.set(0, DType::kBool, Dims{});
}

void run_optional_has_element(const EvalCall& call) {
  const bool is_empty =
      !call.has(0) || (call.inputs[0].is_optional() && !call.inputs[0].optional().value());
  call.set_scalar(call.outputs[0], !is_empty);
}

std::vector<Sample> optional_samples() {
  return {{{{.shape = {2, 3}}}}};
}

const OpDef kOptionalOps[] = {
    {.name = "Optional",
     .doc = "An optional that holds the input, or an empty one of the type.",
     .since = 15,
     .signature = "(input?: V) -> (output: O)",
     .types = {{"V", kValues}, {"O", kOptionals}},
     .attrs = attr_schema<OptionalAttrs>(),
     .infer = infer_optional,
     .evaluate = run_optional,
     .grad = optional_grad,
     .samples = optional_samples},
    {.name = "OptionalGetElement",
     .doc = "What the optional holds; an empty one is refused.",
     .since = 18,
     .signature = "(input: O) -> (output: V)",
     .types = {{"O", kOptionalsOrValues}, {"V", kValues}},
     .infer = infer_optional_get_element,
     .evaluate = run_optional_get_element,
     .grad = optional_grad,
     .samples = optional_samples},
    {.name = "OptionalHasElement",
     .doc = "Whether the optional holds something: bool, rank 0.",
     .since = 18,
     .signature = "(input?: O) -> (output: B)",
     .types = {{"O", kOptionalsOrValues}, {"B", DType::kBool}},
     .infer = infer_optional_has_element,
     .evaluate = run_optional_has_element,
     .samples = optional_samples},
};

}  // namespace

std::span<const OpDef> optional_ops() {
  return kOptionalOps;
}

}  // namespace sardonyx::ops
