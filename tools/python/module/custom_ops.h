// Operators of the program's, computed by Python functions.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python {

void bind_custom_ops(pybind11::module_& module);

}  // namespace sardonyx::python
