// Checks a call against its row's signature and runs the row's inference.
#include <algorithm>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx {
namespace {

const TypeConstraint* constraint_named(const OpDef& op, std::string_view name) {
  const auto at = std::ranges::find(op.types, name, &TypeConstraint::name);
  return at == op.types.end() ? nullptr : &*at;
}

// A type that a signature names directly.
TypeSet dtype_as_set(const OpDef& op, std::string_view name) {
  const DType dtype = dtype_named(name);
  if (dtype == DType::kUndefined) {
    fail(ErrorCode::kInternal, full_name(op), ": signature names the type ", name,
         ", which no constraint explains");
  }
  return dtype;
}

void append_names(std::string& out, DTypeSet set, std::string_view before, std::string_view after) {
  for (int i = 1; i < kDTypeCount; ++i) {
    if (!set.has(static_cast<DType>(i))) continue;
    out += (out.empty() ? "" : ", ") + std::string(before) +
           std::string(name_of(static_cast<DType>(i))) + std::string(after);
  }
}

void check_count(const InferContext& context, size_t count, size_t least, size_t most,
                 std::string_view what) {
  if (count >= least && count <= most) return;
  if (least == most) context.fail("expected ", least, " ", what, ", got ", count);
  if (most == SIZE_MAX) context.fail("expected at least ", least, " ", what, ", got ", count);
  context.fail("expected ", least, " to ", most, " ", what, ", got ", count);
}

void check_inputs(const InferContext& context, const Signature& signature) {
  const OpDef& op = context.op();
  check_count(context, context.input_count(), signature.min_inputs, signature.max_inputs, "inputs");
  std::vector<std::pair<std::string_view, size_t>> bound;  // constraint, first input of that type
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Param& param = signature.input(i);
    if (!context.has(i)) {
      if (!param.optional) context.fail_input(i, "is required and was left out");
      continue;
    }
    const TypeConstraint* constraint = constraint_named(op, param.type);
    const TypeSet direct = constraint ? TypeSet() : dtype_as_set(op, param.type);
    const TypeSet& allowed = constraint ? constraint->types : direct;
    if (!allowed.has(context.type(i))) {
      context.fail_input(i, "expected a type of ", allowed.text(), ", got ", context.type(i));
    }
    if (!param.homogeneous || !constraint) continue;
    const auto first = std::ranges::find(bound, param.type, [](const auto& b) { return b.first; });
    if (first == bound.end()) {
      bound.emplace_back(param.type, i);
    } else if (!same_kind(context.type(first->second), context.type(i))) {
      context.fail_input(i, "must have the type of ", context.input_label(first->second), ", got ",
                         context.type(i));
    }
  }
}

// Sizes that come of sizes and attributes may cross zero.
void check_result(const InferContext& context, size_t output) {
  const Type& type = context.outputs()[output].type;
  if (!type.is_tensor() || !type.shape) return;
  for (const Dim& dim : *type.shape) {
    if (dim.is_known() && dim.value() < 0)
      context.fail("output ", output, " would have the shape ", type, "; no size may be negative");
  }
}

}  // namespace

bool TypeSet::has(const Type& type) const {
  switch (type.kind) {
    case Type::Kind::kTensor:
    case Type::Kind::kSparseTensor:
      return tensors.has(type.dtype);
    case Type::Kind::kSequence:
      if (type.element->is_tensor()) return sequences.has(type.element->dtype);
      break;
    case Type::Kind::kOptional:
      if (type.element->is_tensor()) return optional_tensors.has(type.element->dtype);
      if (type.element->is_sequence() && type.element->element->is_tensor()) {
        return optional_sequences.has(type.element->element->dtype);
      }
      break;
    default:
      break;
  }
  // Shapes are no part of a constraint: compare the text without them.
  std::string wanted;
  int depth = 0;
  for (const char c : type.text()) {
    depth += c == '[' ? 1 : 0;
    if (depth == 0) wanted += c;
    depth -= c == ']' ? 1 : 0;
  }
  for (size_t begin = 0; begin < others.size();) {
    const size_t end = std::min(others.find(';', begin), others.size());
    if (others.substr(begin, end - begin) == wanted) return true;
    begin = end + 1;
  }
  return false;
}

std::string TypeSet::text() const {
  std::string out;
  append_names(out, tensors, "", "");
  append_names(out, sequences, "seq(", ")");
  append_names(out, optional_tensors, "optional(", ")");
  append_names(out, optional_sequences, "optional(seq(", "))");
  if (!others.empty()) out += (out.empty() ? "" : ", ") + std::string(others);
  return out;
}

InferContext::InferContext(const OpDef& op, const Attrs& attrs, std::span<const InferInput> inputs,
                           size_t outputs, size_t formal_inputs, std::function<Dim()> fresh_symbol,
                           bool types_subgraphs)
    : op_(op),
      attrs_(attrs),
      inputs_(inputs),
      formal_(formal_inputs),
      outputs_(outputs),
      fresh_symbol_(std::move(fresh_symbol)),
      types_subgraphs_(types_subgraphs) {}

const Dims* InferContext::shape(size_t input) const {
  return has(input) && inputs_[input].type.shape ? &*inputs_[input].type.shape : nullptr;
}

std::optional<Dims> InferContext::dims(size_t input) const {
  if (!has(input)) return std::nullopt;
  if (inputs_[input].dims) return *inputs_[input].dims;
  const Tensor* value = inputs_[input].constant;
  if (!value || !is_integer(value->dtype())) return std::nullopt;
  return to_dims(value->to_int64s());
}

std::optional<std::vector<int64_t>> InferContext::int64s(size_t input) const {
  const std::optional<Dims> elements = dims(input);
  return elements ? known_shape(*elements) : std::nullopt;
}

void InferContext::set(size_t output, DType dtype, std::optional<Dims> shape) {
  set(output, Type::tensor(dtype, std::move(shape)));
}

void InferContext::set(size_t output, Type type) {
  if (output < outputs_.size()) outputs_[output].type = std::move(type);
}

void InferContext::set_dims(size_t output, Dims elements) {
  if (output < outputs_.size()) outputs_[output].dims = std::move(elements);
}

void InferContext::require_rank(size_t input, size_t rank) const {
  const Dims* dims = shape(input);
  if (dims && dims->size() != rank)
    fail_input(input, "expected rank ", rank, ", got ", dims->size());
}

int64_t InferContext::normalized_axis(int64_t axis, size_t rank, std::string_view what) const {
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit) {
    fail(what, " ", axis, " is out of range [", -limit, ", ", limit - 1, "] for rank ", rank);
  }
  return axis < 0 ? axis + limit : axis;
}

Dim InferContext::merged(const Dim& a, const Dim& b, std::string_view what) const {
  if (a.is_known() && b.is_known() && a.value() != b.value())
    fail(what, ": ", a, " and ", b, " differ");
  return a.is_known() ? a : b;
}

std::string InferContext::input_label(size_t input) const {
  const Signature& signature = signature_of(op_);
  std::string label = "input " + signature.input(input).name;
  if (input >= signature.inputs.size() || signature.input(input).variadic)
    label += " #" + std::to_string(input);
  if (has(input)) label += " (" + inputs_[input].type.text() + ")";
  return label;
}

void InferContext::fail_joined(TextParts parts) const {
  sardonyx::fail(ErrorCode::kInvalidModel, full_name(op_), ": ", detail::joined(parts));
}

void InferContext::fail_input_joined(size_t input, TextParts parts) const {
  fail(input_label(input), ": ", detail::joined(parts));
}

std::vector<InferOutput> infer(const OpDef& op, const Attrs& attrs,
                               std::span<const InferInput> inputs, size_t formal_inputs,
                               size_t outputs, const std::function<Dim()>& fresh_symbol,
                               bool types_subgraphs) {
  InferContext context(op, attrs, inputs, outputs, formal_inputs, fresh_symbol, types_subgraphs);
  const Signature& signature = signature_of(op);
  check_inputs(context, signature);
  check_count(context, outputs, signature.min_outputs, signature.max_outputs, "outputs");
  op.infer(context);
  for (size_t i = 0; i < outputs; ++i)
    check_result(context, i);
  return context.outputs();
}

}  // namespace sardonyx
