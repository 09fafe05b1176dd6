#include "ir/custom_op.h"

#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <tuple>

#include "ir/datum_tensors.h"

namespace sardonyx {
namespace {

template <typename... Parts>
[[noreturn]] void refuse_op(const CustomOp& op, const Parts&... parts) {
  fail(ErrorCode::kInvalidArgument, "custom operator ", op.domain, "::", op.name, ": ", parts...);
}

// Attributes of a row whose list of them is known at run time alone.
struct CustomAttrs {
  std::vector<std::optional<AttrValue>> values;  // by field; what is not there was not given
};

std::optional<AttrValue> get_attribute(const void* attrs, const AttrField& field) {
  const auto& values = static_cast<const CustomAttrs*>(attrs)->values;
  const bool is_given = field.index < values.size() && values[field.index];
  return is_given ? values[field.index] : field.default_value;
}

void set_attribute(void* attrs, const AttrField& field, const AttrValue& value) {
  auto& values = static_cast<CustomAttrs*>(attrs)->values;
  if (values.size() <= field.index) values.resize(field.index + 1);
  values[field.index] = value;
}

// Rows refer to constraints that stay for good (ir/op_def.h). Rows come and go with sessions, so
// equal lists are one.
TypeConstraints shared_constraints(const std::vector<CustomTypes>& types) {
  using Entry = std::tuple<std::string, uint32_t, uint32_t, uint32_t, uint32_t, std::string>;
  static std::mutex mutex;
  static auto& known = *new std::map<std::vector<Entry>, TypeConstraints>;
  std::vector<Entry> key;
  for (const CustomTypes& given : types)
    key.emplace_back(given.name, given.tensors.bits(), given.sequences.bits(),
                     given.optional_tensors.bits(), given.optional_sequences.bits(), given.others);
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(std::move(key));
  if (!is_new) return at->second;
  std::vector<TypeConstraint> constraints;
  for (const auto& [name, tensors, sequences, optionals, optional_sequences, others] : at->first) {
    constexpr auto set = DTypeSet::from_bits;
    constraints.push_back({name, TypeSet(set(tensors), set(sequences), set(optionals),
                                         set(optional_sequences), others)});
  }
  return at->second = TypeConstraints(constraints);
}

bool is_constraint(const OpDef& op, std::string_view type) {
  return std::ranges::find(op.types, type, &TypeConstraint::name) != op.types.end();
}

// The type of an output as far as the signature tells it.
Type declared_type(const InferContext& context, const Signature& signature, size_t output) {
  const std::string& type = signature.output(output).type;
  if (!is_constraint(context.op(), type)) return Type::tensor(dtype_named(type));
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has(i) || signature.input(i).type != type) continue;
    Type same = context.type(i);
    same.shape.reset();
    return same;
  }
  return Type::none();
}

// Runs a function of the program's, whose errors become ours.
template <typename Body>
auto call_program(const OpDef& op, const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw ProgramError(error.with_context(full_name(op)));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const Interruption&) {
    throw;
  } catch (const std::exception& error) {
    fail(ErrorCode::kInvalidArgument, full_name(op), ": ", error.what());
  } catch (...) {
    fail(ErrorCode::kInternal, full_name(op), ": its function threw what is no std::exception");
  }
}

// Outputs of the call before must not pass for outputs of this one; their memory serves again.
void clear_outputs(const EvalCall& call) {
  for (Datum& output : call.outputs) {
    const bool is_bytes = output.is_tensor() && output.tensor().dtype() != DType::kString;
    std::shared_ptr<Buffer> buffer = is_bytes ? output.tensor().buffer() : nullptr;
    output.clear();
    if (call.buffers && buffer) call.buffers->give_back(std::move(buffer));
  }
}

// Whether the value is of the type that the signature has for it.
bool is_declared(const EvalCall& call, const Signature& signature, const Param& param,
                 const Datum& output) {
  const auto constraint = std::ranges::find(call.op.types, param.type, &TypeConstraint::name);
  if (constraint == call.op.types.end())
    return output.is_tensor() && output.tensor().dtype() == dtype_named(param.type);
  const bool is_allowed = output.is_tensor()
                              ? constraint->types.tensors.has(output.tensor().dtype())
                              : constraint->types.has(output.type());
  if (!is_allowed || !param.homogeneous) return is_allowed;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Param& same = signature.input(i);
    if (!call.has(i) || !same.homogeneous || same.type != param.type) continue;
    const Datum& input = call.inputs[i];
    if (input.is_tensor() && output.is_tensor())
      return input.tensor().dtype() == output.tensor().dtype();
    return same_kind(input.type(), output.type());
  }
  return true;
}

void check_outputs(const EvalCall& call) {
  const Signature& signature = signature_of(call.op);
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const Param& param = signature.output(i);
    Datum& output = call.outputs[i];
    if (!output.defined()) {
      if (param.optional || param.variadic) continue;
      fail(ErrorCode::kInvalidArgument, "output ", param.name, " was not made");
    }
    if (!is_declared(call, signature, param, output)) {
      fail(ErrorCode::kInvalidArgument, "output ", param.name, ": the signature ",
           call.op.signature, " has another type than ", output.type());
    }
    if (has_odd_bools(output)) output = with_normal_bools(output);
  }
}

void check_params(const CustomOp& op, const OpDef& row, const std::vector<Param>& params,
                  const char* what) {
  for (size_t i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    if (param.name.empty()) refuse_op(op, what, " ", i, " has no name");
    if (!is_constraint(row, param.type) && dtype_named(param.type) == DType::kUndefined) {
      refuse_op(op, what, " ", param.name,
                ": expected an element type such as \"float\", or one of ", "`types`, got \"",
                param.type, "\"");
    }
    if (param.variadic && i + 1 < params.size())
      refuse_op(op, what, " ", param.name, ": only the last one may be variadic");
    for (size_t k = 0; k < i; ++k) {
      if (params[k].name == param.name) refuse_op(op, "two ", what, "s are named ", param.name);
    }
  }
}

// Where `infer` tells no types, the signature must.
void check_output_types(const CustomOp& op, const OpDef& row, const Signature& signature) {
  for (const Param& output : signature.outputs) {
    if (!is_constraint(row, output.type)) continue;
    const auto tells = [&](const Param& input) {
      return input.type == output.type && !input.optional &&
             (!input.variadic || input.min_count > 0);
    };
    if (std::ranges::none_of(signature.inputs, tells)) {
      refuse_op(op, "output ", output.name, ": its type ", output.type,
                " is that of no required input; name an element type, or give `infer`");
    }
  }
}

}  // namespace

CustomOpRow::CustomOpRow(CustomOp op) : op_(std::move(op)) {
  name = op_.name;
  domain = op_.domain;
  since = op_.since;
  signature = op_.signature;
  types = shared_constraints(op_.types);
  set_attributes();
  infer = infer_custom;
  evaluate = evaluate_custom;
  if (op_.gradient) grad = differentiate_custom;
  if (!op_.is_pure) facts = kRandom;
  shape_inputs = op_.shape_inputs;
  check();
}

CustomOpRow::~CustomOpRow() {
  forget_signature(*this);
}

void CustomOpRow::set_attributes() {
  schema_.make = []() -> std::shared_ptr<void> { return std::make_shared<CustomAttrs>(); };
  for (const CustomAttribute& attribute : op_.attributes) {
    if (attribute.name.empty()) refuse_op(op_, "an attribute has no name");
    if (schema_.find(attribute.name)) refuse_op(op_, "two attributes are named ", attribute.name);
    const bool has_default = !attribute.is_required && !attribute.is_optional;
    schema_.fields.push_back({attribute.name, attribute.value.index(), attribute.is_required,
                              has_default ? std::optional(attribute.value) : std::nullopt,
                              get_attribute, set_attribute, schema_.fields.size()});
  }
  attrs = &schema_;
}

void CustomOpRow::check() const {
  if (op_.name.empty() || op_.name.find("::") != std::string::npos)
    refuse_op(op_, "expected a name without \"::\"");
  if (op_.since < 1) refuse_op(op_, "since: expected at least 1, got ", op_.since);
  if (!op_.compute) refuse_op(op_, "has no function that computes");
  const Signature* read = nullptr;
  try {
    read = &signature_of(*this);
  } catch (const Error& error) {
    refuse_op(op_, error.what());
  }
  try {
    check_params(op_, *this, read->inputs, "input");
    check_params(op_, *this, read->outputs, "output");
    if (read->outputs.empty()) refuse_op(op_, "has no outputs");
    if (!op_.infer) check_output_types(op_, *this, *read);
  } catch (...) {
    forget_signature(*this);
    throw;
  }
}

void CustomOpRow::infer_custom(InferContext& context) {
  const auto& row = static_cast<const CustomOpRow&>(context.op());
  const Signature& signature = signature_of(row);
  for (size_t i = 0; i < context.output_count(); ++i)
    context.set(i, declared_type(context, signature, i));
  if (row.op_.infer) call_program(row, [&] { row.op_.infer(context); });
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (context.outputs()[i].type.is_none())
      context.fail("the type of output ", signature.output(i).name, " was not told");
  }
}

void CustomOpRow::evaluate_custom(const EvalCall& call) {
  const auto& row = static_cast<const CustomOpRow&>(call.op);
  clear_outputs(call);
  call_program(row, [&] {
    row.op_.compute(call);
    check_outputs(call);
  });
}

Vals CustomOpRow::differentiate_custom(Emitter& emitter, const GradCall& call) {
  const auto& row = static_cast<const CustomOpRow&>(call.op);
  return call_program(row, [&] { return row.op_.gradient(emitter, call); });
}

namespace {

// Rows stay at their addresses, also those that nobody finds any more.
struct CustomOpTable {
  std::shared_mutex mutex;
  std::deque<CustomOpRow> rows;
  std::map<std::string, const OpDef*, std::less<>> by_name;
};

CustomOpTable& custom_op_table() {
  static auto& table = *new CustomOpTable;
  return table;
}

std::string qualified_name(std::string_view name, std::string_view domain) {
  return std::string(domain) + "::" + std::string(name);
}

}  // namespace

const OpDef& register_custom_op(CustomOp op) {
  if (canonical_domain(op.domain).empty() || op.domain == "sardonyx") {
    refuse_op(op, "expected a domain of the program's own, got \"", op.domain,
              "\", whose operators are part of sardonyx");
  }
  if (op.domain.find("::") != std::string::npos) refuse_op(op, "expected a domain without \"::\"");
  if (find_op(op.name, op.domain)) {
    refuse_op(op,
              "there is an operator of this name; unregister_custom_op() removes one that was "
              "registered");
  }
  CustomOpTable& table = custom_op_table();
  const std::string qualified = qualified_name(op.name, op.domain);
  const std::lock_guard lock(table.mutex);
  if (table.by_name.contains(qualified)) refuse_op(op, "there is an operator of this name");
  const OpDef& row = table.rows.emplace_back(std::move(op));
  table.by_name.emplace(qualified, &row);
  return row;
}

bool unregister_custom_op(std::string_view name, std::string_view domain) {
  CustomOpTable& table = custom_op_table();
  const std::lock_guard lock(table.mutex);
  return table.by_name.erase(qualified_name(name, domain)) > 0;
}

const OpDef* find_custom_op(std::string_view name, std::string_view domain) {
  CustomOpTable& table = custom_op_table();
  const std::shared_lock lock(table.mutex);
  const auto at = table.by_name.find(qualified_name(name, domain));
  return at == table.by_name.end() ? nullptr : at->second;
}

}  // namespace sardonyx
