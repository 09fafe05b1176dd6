// Tensors as DLPack capsules (github.com/dmlc/dlpack, structure version 0.8), without copies.
#pragma once

#include <pybind11/pybind11.h>

#include "ir/core/tensor.h"

namespace sardonyx::python {

// A capsule named "dltensor". Throws Error (kUnsupported) for strings and packed types.
pybind11::object to_dlpack(const Tensor& tensor);
// Takes the capsule over. Throws Error (kInvalidArgument) for memory that is not the CPU's, strides
// that leave gaps, and types that ONNX lacks.
Tensor from_dlpack(const pybind11::object& capsule);

}  // namespace sardonyx::python
