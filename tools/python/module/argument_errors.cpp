#include "tools/python/module/argument_errors.h"

#include <cctype>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/core/error.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

// What all functions of pybind11 are for CPython: their records are its first argument.
PyCFunctionWithKeywords first_dispatcher = nullptr;

struct BoundFunction {
  std::string name;       // "Optimizer.lr"
  std::string signature;  // "lr(self: Optimizer, lr: float) -> None", or what its text begins with
};
// By record. Functions live as long as the process.
std::unordered_map<const PyObject*, BoundFunction>& bound_functions() {
  static auto& functions = *new std::unordered_map<const PyObject*, BoundFunction>;
  return functions;
}

void erase_all(std::string& from, std::string_view part) {
  for (size_t at = from.find(part); at != std::string::npos; at = from.find(part, at))
    from.erase(at, part.size());
}

// "x: int, sizes: Tuple[int, int]" of "1. f(self: A, x: int, sizes: Tuple[int, int]) -> B".
std::string parameters_of(std::string signature, bool has_self) {
  for (const char* scope :
       {"sardonyx._sardonyx.eager.nn.", "sardonyx._sardonyx.eager.", "sardonyx._sardonyx."})
    erase_all(signature, scope);
  signature = signature.substr(0, signature.rfind(" -> "));
  const size_t open = signature.find('('), close = signature.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return signature;
  std::string all = signature.substr(open + 1, close - open - 1);
  if (has_self) {
    const size_t next = all.find(", ");
    all = next == std::string::npos ? "" : all.substr(next + 2);
  }
  // Those without names have a type alone.
  for (size_t at = all.find("arg"); at != std::string::npos; at = all.find("arg", at + 1)) {
    const size_t colon = all.find(": ", at);
    const bool is_number = colon != std::string::npos && colon > at + 3 &&
                           std::isdigit(static_cast<unsigned char>(all[at + 3]));
    if (is_number) all.erase(at, colon + 2 - at);
  }
  return all;
}

std::vector<std::string> signatures_in(const std::string& message) {
  std::vector<std::string> found;
  if (message.find("argument types are supported") == std::string::npos) return found;
  const size_t end = message.find("\n\nInvoked with");
  for (size_t at = message.find("\n    "); at < end; at = message.find("\n    ", at + 1))
    found.push_back(message.substr(at + 5, message.find('\n', at + 5) - at - 5));
  return found;
}

std::string shortened(const py::handle& object) {
  constexpr size_t kMost = 60;
  const auto whole = std::string(py::repr(object));
  if (whole.size() <= kMost && whole.find('\n') == std::string::npos) return whole;
  return text("a ", std::string(py::str(py::type::of(object).attr("__name__"))));
}

// But for `self`.
std::string given_text(const py::tuple& args, const py::handle& kwargs, bool has_self) {
  std::string all;
  for (size_t i = has_self ? 1 : 0; i < args.size(); ++i)
    all += (all.empty() ? "" : ", ") + shortened(args[i]);
  if (!kwargs) return all;
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(kwargs))
    all += (all.empty() ? "" : ", ") + std::string(py::str(name)) + "=" + shortened(value);
  return all;
}

// Of pybind11's message about arguments that no overload takes, or of one that its bodies did not.
std::string readable(const std::string& message, const PyObject* record, const py::tuple& args,
                     const py::handle& kwargs) {
  const auto known = bound_functions().find(record);
  const BoundFunction function = known == bound_functions().end() ? BoundFunction() : known->second;
  std::vector<std::string> signatures = signatures_in(message);
  if (signatures.empty()) signatures = {function.signature};
  // A constructor's signatures leave its object out; a property's do not call it self.
  const bool is_constructor = message.find("incompatible constructor") != std::string::npos;
  const bool is_property = !function.name.empty() && function.name.back() != ')';
  const bool is_method =
      !is_constructor && (is_property || signatures[0].find("(self: ") != std::string::npos);
  std::string expected;
  for (const std::string& signature : signatures)
    expected += (expected.empty() ? "(" : " or (") + parameters_of(signature, is_method) + ")";
  return text(function.name, ": expected ", expected, ", got (",
              given_text(args, kwargs, is_constructor || is_method), ")");
}

bool is_of_binding(const std::string& message) {
  return message.find("The following argument types are supported:") != std::string::npos ||
         message.starts_with("Unable to cast Python instance");
}

PyObject* dispatch(PyObject* record, PyObject* args, PyObject* kwargs) {
  PyObject* const result = first_dispatcher(record, args, kwargs);
  if (result ||
      !(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_RuntimeError)))
    return result;
  py::error_already_set raised;
  try {
    const auto message = std::string(py::str(raised.value()));
    if (!is_of_binding(message)) {
      raised.restore();
      return nullptr;
    }
    const std::string better =
        readable(message, record, py::reinterpret_borrow<py::tuple>(args), kwargs);
    PyErr_SetString(PyExc_TypeError, better.c_str());
  } catch (py::error_already_set& in_repr) {
    in_repr.restore();
  }
  return nullptr;
}

void take_function(PyObject* function, const std::string& name) {
  if (function && PyInstanceMethod_Check(function))
    function = PyInstanceMethod_GET_FUNCTION(function);
  if (!function || !PyCFunction_Check(function)) return;
  PyObject* const record = PyCFunction_GET_SELF(function);
  if (!record || !PyCapsule_CheckExact(record)) return;
  PyMethodDef& definition = *reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  const auto own = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&dispatch));
  const std::string_view doc = definition.ml_doc ? definition.ml_doc : "";
  bound_functions().emplace(record,
                            BoundFunction{name, std::string(doc.substr(0, doc.find('\n')))});
  if (definition.ml_meth == own) return;
  first_dispatcher =
      reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void (*)()>(definition.ml_meth));
  definition.ml_meth = own;
}

void take_scope(const py::handle& scope, const std::string& prefix) {
  for (const auto& [key, value] : py::dict(scope.attr("__dict__"))) {
    const auto name = std::string(py::str(key));
    const std::string whole = prefix + name;
    if (PyModule_Check(value.ptr())) {
      if (std::string(py::str(value.attr("__name__"))).starts_with("sardonyx._sardonyx"))
        take_scope(value, "");
    } else if (PyType_Check(value.ptr())) {
      const bool is_own =
          std::string(py::str(value.attr("__module__"))).starts_with("sardonyx._sardonyx");
      if (is_own && !prefix.ends_with(name + ".")) take_scope(value, whole + ".");
    } else if (PyObject_IsInstance(value.ptr(), reinterpret_cast<PyObject*>(&PyProperty_Type))) {
      take_function(value.attr("fget").ptr(), whole);
      take_function(value.attr("fset").ptr(), whole);
    } else {
      const py::object function = py::getattr(value, "__func__", value);
      const bool is_constructor = name == "__init__" && !prefix.empty();
      take_function(function.ptr(),
                    is_constructor ? prefix.substr(0, prefix.size() - 1) + "()" : whole + "()");
    }
  }
}

}  // namespace

void shorten_argument_errors(const py::module_& module) {
  take_scope(module, "");
}

}  // namespace sardonyx::python
