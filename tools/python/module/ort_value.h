// OrtValue: a value of a model outside of NumPy, and its exchange over DLPack.
#pragma once

#include <pybind11/pybind11.h>

#include "executor/ort_abi/values/sparse.h"
#include "ir/datum.h"

namespace sardonyx::python {

// A tensor, sequence, map, optional or sparse tensor. Elements are the value's own, or an array's
// that it was made over; never a session's weights.
struct PyOrtValue {
  Datum datum;
  std::shared_ptr<const ort_abi::SparseParts> sparse = {};  // as a program gave them
};

// The result of a run as a value that may be written: elements that others hold are copied.
PyOrtValue owned_value(Datum datum);

void bind_ort_value(pybind11::module_& module);

}  // namespace sardonyx::python
