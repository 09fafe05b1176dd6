#include "tools/python/module/eager/function_rows.h"

#include <pybind11/stl.h>

#include "ir/type.h"
#include "tools/python/module/eager/integers.h"

namespace sardonyx::python::eager_layer {
namespace {

using PythonParameter = PythonSignature::PythonParameter;
using Kind = PythonParameter::Kind;

// "a, b=(1, 2), *" at the commas outside of brackets.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  for (const char c : list) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (parts.empty() || (c == ',' && depth == 0)) parts.emplace_back();
    if (c == ' ' && parts.back().empty()) continue;
    if (c != ',' || depth != 0) parts.back() += c;
  }
  return parts;
}

std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names{""};
  for (const char c : text) {
    if (c == '|')
      names.emplace_back();
    else
      names.back() += c;
  }
  // As NumPy calls them.
  if (names[0] == "dim") names.push_back("axis");
  if (names[0] == "keepdim") names.push_back("keepdims");
  return names;
}

PythonParameter parameter_of(const std::string& text, Kind kind) {
  const size_t equals = text.find('=');
  PythonParameter made{names_of(text.substr(0, equals)), {}, kind, {}};
  if (equals != std::string::npos) {
    made.fallback_text = text.substr(equals + 1);
    made.fallback = py::module_::import("ast").attr("literal_eval")(made.fallback_text);
  }
  if (kind == Kind::kOptions) made.fallback = py::none();
  return made;
}

std::string short_repr(const py::handle& object) {
  if (py::isinstance<Tensor>(object)) return text("a Tensor ", object.cast<const Tensor&>().type());
  const auto whole = std::string(py::repr(object));
  return whole.size() > 100 ? whole.substr(0, 100) + "..." : whole;
}

// Optional where None stands for what is left out, and not where it must be given.
std::string type_text(const PythonParameter& parameter, const char* type) {
  if (parameter.kind == Kind::kRest || parameter.kind == Kind::kOptions) return "Any";
  constexpr std::string_view kOptional = "Optional[";
  std::string_view plain = type;
  if (plain.starts_with(kOptional)) {
    plain.remove_prefix(kOptional.size());
    plain.remove_suffix(1);
  }
  const bool may_be_none = parameter.fallback_text == "None" && plain != "Any";
  return may_be_none ? sardonyx::text(kOptional, plain, "]") : std::string(plain);
}

// Stubs have classes for named results.
std::string result_text(const PythonRow& row) {
  if (row.options.fields.empty()) return row.result;
  const std::string_view first = row.options.fields[0];
  const bool is_ordered = first == "values";
  const std::string named = is_ordered            ? "ValuesAndIndices"
                            : first == "mantissa" ? "MantissaAndExponent"
                            : first == "hist"     ? "HistogramAndEdges"
                                                  : "MinAndMax";
  const bool is_one_way = row.result == kResultType<std::pair<Tensor, Tensor>>;
  return is_one_way || !is_ordered ? named : "Union[Tensor, " + named + "]";
}

// "topk(input: Tensor, k: int, dim: int = -1, largest: bool = True) -> Tuple[Tensor, Tensor]".
std::string doc_of(const PythonRow& row) {
  std::string all = row.signature.name() + "(";
  bool is_by_name = false;
  for (size_t i = 0; i < row.signature.parameters().size(); ++i) {
    const PythonParameter& one = row.signature.parameters()[i];
    if (i > 0) all += ", ";
    if (one.kind == Kind::kKeyword && !is_by_name) all += "*, ";
    is_by_name |= one.kind == Kind::kKeyword || one.kind == Kind::kRest;
    all += one.kind == Kind::kRest ? "*" : one.kind == Kind::kOptions ? "**" : "";
    all += one.names[0] + ": " + type_text(one, row.types[i]);
    if (!one.fallback_text.empty()) all += " = " + one.fallback_text;
  }
  all += ") -> " + result_text(row);
  return *row.options.doc ? all + "\n\n" + row.options.doc : all;
}

}  // namespace

PythonSignature::PythonSignature(std::string_view text) {
  const size_t open = text.find('('), close = text.rfind(')');
  name_ = text.substr(0, open);
  Kind kind = Kind::kPlain;
  for (const std::string& part : parts_of(text.substr(open + 1, close - open - 1))) {
    if (part == "*") {
      kind = Kind::kKeyword;
    } else if (part.starts_with("**")) {
      parameters_.push_back(parameter_of(part.substr(2), Kind::kOptions));
    } else if (part.starts_with("*")) {
      parameters_.push_back(parameter_of(part.substr(1), Kind::kRest));
      kind = Kind::kKeyword;
    } else {
      parameters_.push_back(parameter_of(part, kind));
    }
  }
}

void PythonSignature::take_places(const py::args& args, std::vector<py::object>& found) const {
  size_t place = 0;
  for (size_t i = 0; i < parameters_.size() && place < args.size(); ++i) {
    if (parameters_[i].kind == Kind::kRest) {
      py::object rest =
          args[py::slice(static_cast<ssize_t>(place), static_cast<ssize_t>(args.size()), 1)];
      const bool is_one = args.size() - place == 1 && py::isinstance<py::sequence>(args[place]);
      found[i] = is_one ? py::object(args[place]) : rest;
      return;
    }
    if (parameters_[i].kind != Kind::kPlain) break;
    found[i] = args[place++];
  }
  if (place == args.size()) return;
  throw py::type_error(
      sardonyx::text(name_, "() takes ", place, " arguments by place, got ", args.size()));
}

void PythonSignature::take_names(const py::kwargs& kwargs, std::vector<py::object>& found) const {
  py::dict options;
  for (const auto& [key, value] : kwargs) {
    const auto name = key.cast<std::string>();
    const auto at = std::ranges::find_if(parameters_, [&](const PythonParameter& one) {
      return one.kind != Kind::kOptions && std::ranges::find(one.names, name) != one.names.end();
    });
    if (at == parameters_.end()) {
      options[key] = value;
      continue;
    }
    py::object& place = found[static_cast<size_t>(at - parameters_.begin())];
    if (place) throw py::type_error(sardonyx::text(name_, "() got two values of ", name));
    place = py::reinterpret_borrow<py::object>(value);
  }
  if (!parameters_.empty() && parameters_.back().kind == Kind::kOptions) {
    found.back() = options;
  } else if (!options.empty()) {
    std::string known;
    for (const PythonParameter& one : parameters_)
      known += (known.empty() ? "" : ", ") + one.names[0];
    const auto name = std::string(py::str(options.begin()->first));
    throw py::type_error(sardonyx::text(name_, "() has no argument ", name, "; there are ", known));
  }
}

std::vector<py::object> PythonSignature::arguments(const py::args& args,
                                                   const py::kwargs& kwargs) const {
  std::vector<py::object> found(parameters_.size());
  take_places(args, found);
  const bool has_options = !parameters_.empty() && parameters_.back().kind == Kind::kOptions;
  if (!kwargs.empty() || has_options) take_names(kwargs, found);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i]) continue;
    found[i] = parameters_[i].kind == Kind::kRest && !parameters_[i].fallback
                   ? py::object(py::tuple())
                   : parameters_[i].fallback;
    if (!found[i])
      throw py::type_error(
          sardonyx::text(name_, "() needs the argument ", parameters_[i].names[0]));
  }
  return found;
}

void PythonSignature::fail_type(size_t parameter, const char* expected,
                                const py::handle& given) const {
  throw py::type_error(sardonyx::text(name_, "(): ", parameters_[parameter].names[0], ": expected ",
                                      expected, ", got ", short_repr(given)));
}

namespace {

// The first tensor among the other arguments; None where there is none.
py::handle tensor_beside(const RowCall& call, size_t place) {
  for (size_t i = 0; i < call.given.size(); ++i) {
    if (i != place && py::isinstance<Tensor>(call.given[i])) return call.given[i];
  }
  return Py_None;
}

}  // namespace

eager::Number number_argument(const RowCall& call, size_t place) {
  const py::object& given = call.given[place];
  const py::handle beside = tensor_beside(call, place);
  if (is_python_integer(given) && !beside.is_none())
    check_fits(given, dtype_beside(py::cast<const Tensor&>(beside).dtype()), call.loc);
  eager::Number number;
  try {
    convert(given, number);
  } catch (const std::exception&) {
    call.signature.fail_type(place, "a number", given);
  }
  return number;
}

RowArgument<eager::Operand>::RowArgument(const RowCall& call, size_t place) {
  const py::handle beside = tensor_beside(call, place);
  try {
    holder_ = std::make_unique<OperandHolder>(call.given[place], beside, call.loc);
  } catch (const py::type_error&) {
    call.signature.fail_type(place, "a Tensor or a number", call.given[place]);
  }
}

void RowDefiner::define(PythonRow row, bool is_function, bool is_method) {
  const auto typed = std::ranges::count_if(row.types, [](const char* type) { return type; });
  SARDONYX_CHECK(typed == std::ssize(row.signature.parameters()));
  const std::string doc = doc_of(row);
  const std::string name = row.signature.name();
  py::object type;
  if (!row.options.fields.empty()) {
    py::object results = module_.attr("return_types");
    type = py::module_::import("collections").attr("namedtuple")(name, row.options.fields);
    type.attr("__module__") = results.attr("__name__");
    results.attr(name.c_str()) = type;
  }
  const auto call = [shared = std::make_shared<PythonRow>(std::move(row)), type](
                        const py::args& args, const py::kwargs& kwargs) -> py::object {
    const std::vector<py::object> given = shared->signature.arguments(args, kwargs);
    const py::object result = shared->call({shared->signature, given, python_line()});
    return type && py::isinstance<py::tuple>(result) ? type.attr("_make")(result) : result;
  };
  py::options options;
  options.disable_function_signatures();
  if (is_function) module_.def(name.c_str(), call, doc.c_str());
  if (!is_method || !type_) return;
  const py::cpp_function method(call, py::name(name.c_str()), py::is_method(*type_),
                                py::sibling(py::getattr(*type_, name.c_str(), py::none())),
                                doc.c_str());
  py::detail::add_class_method(*type_, name.c_str(), method);
}

}  // namespace sardonyx::python::eager_layer
