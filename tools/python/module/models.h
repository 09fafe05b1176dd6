// Functions from model file to model file: check, infer_shapes, convert, optimize.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python {

void bind_models(pybind11::module_& module);

}  // namespace sardonyx::python
