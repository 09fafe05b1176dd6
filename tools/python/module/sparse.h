// SparseTensor: elements of a sparse value in the format that a program gave them in.
#pragma once

#include <pybind11/pybind11.h>

#include "tools/python/module/ort_value.h"

namespace sardonyx::python {

struct PySparseTensor {
  PyOrtValue value;  // sparse
};

void bind_sparse(pybind11::module_& module);

}  // namespace sardonyx::python
