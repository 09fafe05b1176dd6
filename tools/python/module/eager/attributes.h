// Classes whose objects have attributes of Python's own, as py::dynamic_attr() gives them.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python::eager_layer {

namespace py = pybind11;

// Beside py::dynamic_attr(): objects of classes that Python derives are freed though their
// attributes hold them. In Python 3.11 pybind11 says of its class that it has no dict, so that the
// collector would visit the dict for the derived class and for the base, count it twice and take
// it for held from outside. A dict that is there from the beginning is the only place of
// attributes that both visit.
inline py::custom_type_setup attributes_are_collected() {
  return py::custom_type_setup([]([[maybe_unused]] PyHeapTypeObject* heap_type) {
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
    heap_type->ht_type.tp_dictoffset = -1;
    heap_type->ht_type.tp_new = [](PyTypeObject* type, PyObject* args, PyObject* kwargs) {
      const auto* base = reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
      PyObject* made = base->tp_new(type, args, kwargs);
      if (made) (void)_PyObject_GetDictPtr(made);
      return made;
    };
#endif
  });
}

}  // namespace sardonyx::python::eager_layer
