// IOBinding: inputs and outputs that are bound once and run many times.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python {

void bind_io_binding(pybind11::module_& module);

}  // namespace sardonyx::python
