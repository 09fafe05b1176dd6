// Tensors as DLPack capsules (github.com/dmlc/dlpack, structure version 0.8), without copies.
#pragma once

#include <pybind11/pybind11.h>

#include "ir/core/tensor.h"

namespace sardonyx::python {

// A capsule named "dltensor". Throws Error (kUnsupported) for strings and packed types.
pybind11::object to_dlpack(const Tensor& tensor);
// Of what has __dlpack__, or a capsule, which it takes over; bytes as bools where they `is_bool`.
// Throws Error (kInvalidArgument) for memory that is not the CPU's, strides
// that leave gaps, and types that ONNX lacks.
Tensor from_dlpack(const pybind11::object& source, bool is_bool = false);
// Whether the elements of a capsule are of uint8. Throws Error where it is none.
bool is_dlpack_uint8(const pybind11::object& capsule);

}  // namespace sardonyx::python
