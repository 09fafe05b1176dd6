// ModelCompiler: models that are optimised ahead.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python {

void bind_compiler(pybind11::module_& module);

}  // namespace sardonyx::python
