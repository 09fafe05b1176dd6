#include "tools/python/module/construction.h"

#include <pybind11/pybind11.h>

#include <string>

namespace sardonyx::python {

namespace py = pybind11;

namespace {

// pybind11 calls it where an object that holds nothing yet is to become a C++ value.
void* refuse_memory(size_t) {
  throw py::type_error(
      "the object is used before its constructor has run: the __init__ of a class that derives "
      "from one of sardonyx must call super().__init__() first");
}

}  // namespace

void require_construction() {
  for (const auto& [type, bases] : py::detail::get_internals().registered_types_py) {
    const py::handle handle(reinterpret_cast<PyObject*>(type));
    const bool is_ours = handle.attr("__module__").cast<std::string>().starts_with("sardonyx.");
    // Of a class of its own the list is itself; else it names what the class derives from.
    if (is_ours && bases.size() == 1 && bases[0]->type == type)
      bases[0]->operator_new = refuse_memory;
  }
}

}  // namespace sardonyx::python
