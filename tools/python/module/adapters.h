// LoRA adapters: files of weights that runs take in place of a model's inputs with defaults.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python {

void bind_adapters(pybind11::module_& module);

}  // namespace sardonyx::python
