#include "tools/make-op-functions/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

namespace sardonyx::tool {
namespace {

constexpr size_t kColumns = 100;
constexpr std::string_view kIndent = "    ";

// INT attributes that name an element type.
constexpr std::string_view kDTypeAttributes[] = {"to", "dtype", "output_dtype", "stash_type",
                                                 "softmax_precision"};

template <typename T>
constexpr size_t kKind = sardonyx::detail::IndexIn<T, AttrKinds>::value;

bool is_graph(const AttrField& field) {
  return field.kind == kKind<GraphPtr> || field.kind == kKind<std::vector<GraphPtr>>;
}

// The fields that a caller may set: an optional subgraph is not among them.
std::vector<const AttrField*> settable(const OpDef& op) {
  std::vector<const AttrField*> fields;
  for (const AttrField& field : op.attrs->fields) {
    if (!is_graph(field)) fields.push_back(&field);
  }
  return fields;
}

bool names_dtype(const AttrField& field) {
  return field.kind == kKind<int64_t> &&
         std::ranges::find(kDTypeAttributes, field.name) != std::end(kDTypeAttributes);
}

std::string type_of(const AttrField& field) {
  constexpr std::array<std::string_view, std::variant_size_v<AttrKinds>> kTypes{
      "int64_t",
      "float",
      "std::string",
      "Tensor",
      "Tensor",
      "",
      "Type",
      "std::vector<int64_t>",
      "std::vector<float>",
      "std::vector<std::string>",
      "std::vector<Tensor>",
      "std::vector<Tensor>",
      "",
      "std::vector<Type>"};
  return names_dtype(field) ? "DType" : std::string(kTypes[field.kind]);
}

std::string literal(int64_t value) {
  return value == INT64_MIN ? "INT64_MIN" : std::to_string(value);
}
std::string literal(float value) {
  if (std::isnan(value)) return "std::numeric_limits<float>::quiet_NaN()";
  if (std::isinf(value))
    return text(value < 0 ? "-" : "", "std::numeric_limits<float>::infinity()");
  std::array<char, 32> buffer;  // the shortest text that reads back as the same number
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string digits(buffer.data(), end);
  return digits + (digits.find_first_of(".e") == digits.npos ? ".f" : "f");
}
std::string literal(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}
template <typename T>
requires std::is_same_v<T, int64_t> || std::is_same_v<T, float> || std::is_same_v<T, std::string>
    std::string literal(const std::vector<T>& values) {
  std::string out = "{";
  for (const T& value : values)
    out += (out.size() > 1 ? ", " : "") + literal(value);
  return out + "}";
}
// What has no default but none: tensors and types.
struct AnyValue {
  template <typename T>
  AnyValue(const T&) {}
};
std::string literal(AnyValue) {
  return "{}";
}

constexpr std::string_view kDTypeConstants[] = {
    "Undefined",      "Float",    "UInt8",        "Int8",           "UInt16",
    "Int16",          "Int32",    "Int64",        "String",         "Bool",
    "Float16",        "Double",   "UInt32",       "UInt64",         "Complex64",
    "Complex128",     "BFloat16", "Float8E4M3FN", "Float8E4M3FNUZ", "Float8E5M2",
    "Float8E5M2FNUZ", "UInt4",    "Int4",         "Float4E2M1",     "Float8E8M0",
    "UInt2",          "Int2"};
static_assert(std::size(kDTypeConstants) == kDTypeCount);

std::string member_of(const AttrField& field) {
  std::string type = type_of(field);
  // Tensors are undefined where they are not given.
  const bool may_be_unset = field.kind != kKind<Tensor> && field.kind != kKind<SparseTensor>;
  const bool is_unset = !field.default_value || field.required;
  if (is_unset && type.starts_with("std::vector<"))
    return text("OptionalList", type.substr(type.find('<')), " ", field.name, " = {};");
  if (is_unset && may_be_unset) return text("std::optional<", type, "> ", field.name, " = {};");
  if (!field.default_value) return text(type, " ", field.name, " = {};");
  if (names_dtype(field)) {
    const auto code = static_cast<size_t>(std::get<int64_t>(*field.default_value));
    return text("DType ", field.name, " = DType::k", kDTypeConstants[code], ";");
  }
  const std::string value =
      std::visit([](const auto& held) { return literal(held); }, *field.default_value);
  return text(type, " ", field.name, " = ", value, ";");
}

bool requires_attributes(const OpDef& op) {
  const auto fields = settable(op);
  return std::ranges::any_of(fields, &AttrField::required);
}

bool has_variadic_output(const OpDef& op) {
  const auto& outputs = signature_of(op).outputs;
  return !outputs.empty() && outputs.back().variadic;
}

// Whether callers say how many outputs they want.
bool has_open_count(const OpDef& op) {
  const Signature& signature = signature_of(op);
  return signature.min_outputs != signature.max_outputs;
}

// One tensor is what the op gives, or all that it must give.
bool gives_one(const OpDef& op) {
  const Signature& signature = signature_of(op);
  if (has_variadic_output(op) || signature.outputs.empty()) return false;
  for (size_t i = 1; i < signature.outputs.size(); ++i) {
    if (!signature.outputs[i].optional) return false;
  }
  return signature.outputs.size() == 1 || !signature.outputs[0].optional;
}

// The function of all outputs has a name of its own where another gives the first alone.
bool has_outputs_form(const OpDef& op) {
  return !gives_one(op) || signature_of(op).outputs.size() > 1;
}

// The first output alone, or all that are asked for.
enum class ReturnForm { kFirst, kOutputs };

struct FunctionArgument {
  std::string type, name;
  std::string default_value;  // empty: none
};

std::vector<FunctionArgument> arguments_of(const OpDef& op, ReturnForm form) {
  std::vector<FunctionArgument> arguments;
  if (form == ReturnForm::kOutputs && has_open_count(op))
    arguments.push_back({"size_t", "outputs", ""});
  const size_t first = arguments.size();
  for (const Param& input : signature_of(op).inputs) {
    const bool may_be_left_out = input.optional || (input.variadic && input.min_count == 0);
    arguments.push_back({input.variadic ? "const std::vector<Tensor>&" : "const Tensor&",
                         input.name, may_be_left_out ? "{}" : ""});
  }
  if (!settable(op).empty()) {
    arguments.push_back(
        {text("const ", op.name, "Attrs&"), "attrs", requires_attributes(op) ? "" : "{}"});
  }
  // Defaults count only where nothing without one follows.
  size_t from = arguments.size();
  while (from > first && !arguments[from - 1].default_value.empty())
    --from;
  for (size_t i = 0; i < from; ++i)
    arguments[i].default_value.clear();
  arguments.push_back({"Loc", "loc", "Loc::current()"});
  return arguments;
}

// "HEAD(a, b, c)TAIL", broken where the columns end.
std::string broken(const std::string& head, const std::vector<std::string>& items,
                   const std::string& tail, std::string_view indent = kIndent) {
  std::string out = head + "(";
  size_t column = out.size();
  for (size_t i = 0; i < items.size(); ++i) {
    const bool is_last = i + 1 == items.size();
    const std::string item = items[i] + (is_last ? ")" + tail : ",");
    if (column + item.size() + 1 > kColumns) {
      out += "\n" + std::string(indent);
      column = indent.size();
    } else if (i > 0) {
      out += ' ';
      ++column;
    }
    out += item;
    column += item.size();
  }
  return items.empty() ? out + ")" + tail : out;
}

std::string name_of(const OpDef& op, ReturnForm form) {
  const bool has_both = gives_one(op) && has_outputs_form(op);
  return text(op.name, form == ReturnForm::kOutputs && has_both ? "Outputs" : "");
}

std::string head_of(const OpDef& op, ReturnForm form, bool with_defaults) {
  std::vector<std::string> items;
  for (const FunctionArgument& argument : arguments_of(op, form)) {
    const bool has_default = with_defaults && !argument.default_value.empty();
    items.push_back(argument.type + " " + argument.name +
                    (has_default ? " = " + argument.default_value : ""));
  }
  const std::string result = form == ReturnForm::kFirst ? "Tensor " : "std::vector<Tensor> ";
  return broken(result + name_of(op, form), items, with_defaults ? ";" : " {");
}

std::vector<ReturnForm> forms_of(const OpDef& op) {
  std::vector<ReturnForm> forms;
  if (gives_one(op)) forms.push_back(ReturnForm::kFirst);
  if (has_outputs_form(op)) forms.push_back(ReturnForm::kOutputs);
  return forms;
}

// The inputs as one list: "{X, W, B}", or with a variadic's at the end "joined({R, T}, inputs)".
std::vector<std::string> inputs_of(const OpDef& op) {
  std::vector<std::string> single;
  std::string variadic;
  for (const Param& input : signature_of(op).inputs) {
    if (input.variadic)
      variadic = input.name;
    else
      single.push_back(input.name);
  }
  if (single.empty()) return {variadic.empty() ? "{}" : variadic};
  single.front() = (variadic.empty() ? "{" : "joined({") + single.front();
  single.back() += variadic.empty() ? "}" : "}, " + variadic + ")";
  return single;
}

std::string body_of(const OpDef& op, ReturnForm form) {
  const bool has_attrs = !settable(op).empty();
  std::vector<std::string> row = {"\"" + full_name(op) + "\""};
  if (has_attrs) row.push_back("fields_of(attrs)");
  std::string out = broken("  static const OpRow row", row, ";\n", "      ");
  std::vector<std::string> items = inputs_of(op);
  items.push_back(has_attrs ? "&attrs" : "nullptr");
  if (form == ReturnForm::kOutputs) {
    items.push_back(has_open_count(op) ? "outputs"
                                       : std::to_string(signature_of(op).outputs.size()));
  }
  items.push_back("loc");
  const char* call = form == ReturnForm::kFirst ? "  return row.call" : "  return row.call_many";
  return out + broken(call, items, ";\n", "      ");
}

// Words as comment lines; those after the first are moved in by `hang`.
std::string comment(const std::string& line, std::string_view hang = "") {
  std::string out = "//";
  size_t column = out.size();
  std::istringstream words{line};
  for (std::string word; words >> word;) {
    if (column + 1 + word.size() > kColumns) {
      out += "\n//" + std::string(hang);
      column = 2 + hang.size();
    }
    out += " " + word;
    column += 1 + word.size();
  }
  return out + "\n";
}

// "integers, floats, string"
std::string types_text(DTypeSet types) {
  constexpr std::pair<DTypeSet, const char*> kGroups[] = {
      {kAnyDType, "any"},      {kInts, "integers"},        {kFloats, "floats"},
      {kComplexes, "complex"}, {kFloat8s, "8-bit floats"}, {kPackedInts, "2- and 4-bit integers"}};
  std::string out;
  const auto add = [&](std::string_view name) { out += text(out.empty() ? "" : ", ", name); };
  for (const auto& [group, name] : kGroups) {
    if ((types.bits() & group.bits()) != group.bits()) continue;
    add(name);
    types = types.without(group);
  }
  for (size_t i = 0; i < kDTypeCount; ++i) {
    if (types.has(static_cast<DType>(i))) add(text(static_cast<DType>(i)));
  }
  return out;
}

// The sentence on the op, its signature and the types that it takes.
std::string comment_of(const OpDef& op) {
  if (op.doc.empty()) fail(ErrorCode::kInternal, full_name(op), ": the row has no `doc`");
  std::string signature(op.signature);
  for (const TypeConstraint& constraint : op.types) {
    const std::string types = types_text(constraint.types.tensors);
    if (!types.empty()) signature += text("; ", constraint.name, ": ", types);
  }
  return comment(std::string(op.doc)) + comment(signature, "  ");
}

}  // namespace

bool has_function(const OpDef& op) {
  return std::ranges::none_of(
      op.attrs->fields, [](const AttrField& field) { return is_graph(field) && field.required; });
}

std::string declaration_of(const OpDef& op) {
  std::string out;
  if (const auto fields = settable(op); !fields.empty()) {
    out += text("struct ", op.name, "Attrs {\n");
    for (const AttrField* field : fields)
      out += "  " + member_of(*field) + (field->required ? "  // required" : "") + "\n";
    out += "};\n";
  }
  out += comment_of(op);
  for (const ReturnForm form : forms_of(op))
    out += head_of(op, form, true) + "\n";
  return out + "\n";
}

std::string fields_of(const OpDef& op) {
  const auto fields = settable(op);
  if (fields.empty()) return "";
  std::string out =
      text("template <typename F>\nvoid each_field(const ", op.name, "Attrs*, F&& field) {\n");
  for (const AttrField* field : fields)
    out +=
        broken("  field", {"\"" + field->name + "\"", text("&", op.name, "Attrs::", field->name)},
               ";\n", "      ");
  return out + "}\n";
}

std::string definition_of(const OpDef& op) {
  std::string out;
  for (const ReturnForm form : forms_of(op))
    out += head_of(op, form, false) + "\n" + body_of(op, form) + "}\n";
  return out;
}

std::string caller_of(const OpDef& op) {
  std::vector<std::string> items;
  const auto& inputs = signature_of(op).inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    items.push_back(text(inputs[i].variadic ? "rest(in, " : "at(in, ", i, ")"));
  if (!settable(op).empty()) items.push_back(text("read<", op.name, "Attrs>(attrs)"));
  std::string statements;
  for (const ReturnForm form : forms_of(op)) {
    const bool is_first = form == ReturnForm::kFirst;
    const std::string head =
        is_first && has_outputs_form(op) ? "       if (outputs == 1) return " : "       return ";
    std::vector<std::string> arguments = items;
    if (!is_first && has_open_count(op)) arguments.insert(arguments.begin(), "outputs");
    statements += broken(head + (is_first ? "Tensors{" : "") + name_of(op, form), arguments,
                         is_first ? "};\n" : ";\n", "           ");
  }
  return text(
      "    {\"", full_name(op),
      "\",\n     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,\n"
      "        [[maybe_unused]] size_t outputs) -> Tensors {\n",
      statements, "     }},\n");
}

}  // namespace sardonyx::tool
