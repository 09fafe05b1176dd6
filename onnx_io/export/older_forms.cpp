#include "onnx_io/export/older_forms.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "ir/core/error.h"
#include "onnx_io/export/downgrade.h"
#include "onnx_io/op_versions.h"

namespace sardonyx::onnx_export {
namespace {

constexpr DTypeSet kIeeeFloats{DType::kFloat16, DType::kFloat, DType::kDouble};

// Removes `text` up to and including `end`.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return taken;
}

DTypeSet dtypes_named(std::string_view name) {
  if (name == "classic") return kClassicTypes;
  if (name == "ints") return kInts;
  if (name == "ieee") return kIeeeFloats;
  if (name == "float8") return kFloat8s;
  const DType dtype = dtype_named(name);
  SARDONYX_CHECK(dtype != DType::kUndefined);
  return dtype;
}

DTypeSet read_dtypes(std::string_view names) {
  DTypeSet set;
  while (!names.empty())
    set = set | dtypes_named(take_until(names, " "));
  return set;
}

// "ints bool seq(ints bool) optional(seq(ints))".
TypeSet read_types(std::string_view text) {
  TypeSet types;
  const size_t first_nested = std::min({text.find("seq("), text.find("optional("), text.size()});
  std::string_view plain = text.substr(0, first_nested);
  if (plain.ends_with(' ')) plain.remove_suffix(1);
  types.tensors = read_dtypes(plain);
  text.remove_prefix(first_nested);
  while (!text.empty()) {
    const std::string_view kinds = text.substr(0, text.find_last_of('(', text.find(')')) + 1);
    text.remove_prefix(kinds.size());
    const DTypeSet dtypes = read_dtypes(take_until(text, ")"));
    if (kinds == "seq(") types.sequences = dtypes;
    if (kinds == "optional(") types.optional_tensors = dtypes;
    if (kinds == "optional(seq(") types.optional_sequences = dtypes;
    text.remove_prefix(std::min(text.find_first_not_of(") "), text.size()));
  }
  return types;
}

std::unique_ptr<const OlderForm> read_form(std::string_view name, int since,
                                           std::string_view line) {
  auto form = std::make_unique<OlderForm>();
  const size_t results = line.find(") -> (");
  const size_t end = line.find(')', results + 1) + 1;
  form->op.name = name;
  form->op.since = since;
  form->op.signature = line.substr(0, end);
  form->op.infer = [](InferContext&) {};
  line.remove_prefix(std::min(end + 1, line.size()));
  if (line.starts_with('[')) {
    line.remove_prefix(1);
    std::string_view names = take_until(line, "]");
    while (!names.empty())
      form->attributes.insert(take_until(names, " "));
    line.remove_prefix(std::min<size_t>(1, line.size()));
  }
  std::vector<TypeConstraint> constraints;
  while (!line.empty()) {
    std::string_view types = take_until(line, "; ");
    const std::string_view constraint = take_until(types, " = ");
    constraints.push_back({constraint, read_types(types)});
  }
  form->op.types = TypeConstraints(constraints);
  return form;
}

std::string type_mismatch(const WrittenCall& call, const OlderForm& form) {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (!call.outputs[i]) continue;
    const Param& param = signature_of(form.op).output(i);
    const Type& type = call.outputs[i]->type;
    const auto found = std::ranges::find(form.op.types, param.type, &TypeConstraint::name);
    const TypeSet allowed =
        found == form.op.types.end() ? TypeSet(dtype_named(param.type)) : found->types;
    if (!type.is_none() && !allowed.has(type))
      return text("output ", param.name, ": expected a type of ", allowed.text(), ", got ", type);
  }
  return "";
}

// The constraint that one input and one output share binds them to one type.
std::string shared_type_mismatch(const WrittenCall& call, const OlderForm& form) {
  const Signature& signature = signature_of(form.op);
  for (size_t o = 0; o < call.outputs.size(); ++o) {
    if (!call.outputs[o] || !signature.output(o).homogeneous) continue;
    const Param& output = signature.output(o);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (!call.inputs[i]) continue;
      const Param& input = signature.input(i);
      if (input.type != output.type || !input.homogeneous) continue;
      if (same_kind(call.inputs[i]->type, call.outputs[o]->type)) continue;
      return text("output ", output.name, " (", call.outputs[o]->type,
                  ") must have the type of input ", input.name, " (", call.inputs[i]->type, ")");
    }
  }
  return "";
}

// In which version an attribute came.
int first_with(std::string_view op, std::string_view attribute) {
  const std::optional<OpVersions> versions = versions_of("", op);
  for (const int since : versions->since) {
    const OlderForm* form = older_form(op, since);
    if (form && form->attributes.contains(attribute)) return since;
  }
  return versions->since.back();
}

}  // namespace

const OlderForm* older_form(std::string_view op, int since) {
  // For good, as rows are: other threads may save models until the end of the process.
  static auto& mutex = *new std::mutex;
  static auto& forms = *new std::map<std::string, std::unique_ptr<const OlderForm>>;
  const std::string key = text("\n", op, "-", since, " ");
  const std::lock_guard lock(mutex);
  const auto known = forms.find(key);
  if (known != forms.end()) return known->second.get();
  std::string_view rest = older_signatures();
  const size_t at = rest.find(key);
  if (at == std::string_view::npos) return nullptr;
  rest.remove_prefix(at + 1);
  const std::string_view name = rest.substr(0, op.size());
  rest.remove_prefix(key.size() - 1);
  return (forms[key] = read_form(name, since, take_until(rest, "\n"))).get();
}

std::string mismatch(const WrittenCall& call, const OlderForm& form) {
  for (const auto& [name, value] : call.attrs) {
    if (!form.attributes.contains(name))
      return text("attribute ", name, " came with opset ", first_with(call.op, name));
  }
  static const Attrs none = Attrs::parse(*attr_schema<NoAttrs>(), {});
  std::vector<InferInput> inputs;
  for (const Value* input : call.inputs)
    inputs.push_back({.type = input ? input->type : Type()});
  while (!inputs.empty() && inputs.back().type.is_none())
    inputs.pop_back();
  try {
    infer(form.op, none, inputs, inputs.size(), call.outputs.size(), Graph::fresh_symbol);
  } catch (const Error& error) {
    return error.what();
  }
  if (std::string why = type_mismatch(call, form); !why.empty()) return why;
  return shared_type_mismatch(call, form);
}

}  // namespace sardonyx::onnx_export
