// Errors of the library as the exceptions that users of onnxruntime catch.
#pragma once

#include <pybind11/pybind11.h>

namespace sardonyx::python {

// Adds the exception classes to `module`, by the names that ONNX Runtime's status codes have, and
// has every Error that leaves a bound function raise the one of its code.
void bind_errors(pybind11::module_& module);

}  // namespace sardonyx::python
