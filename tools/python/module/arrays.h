// NumPy arrays and other Python objects as values of models, and back.
#pragma once

#include <pybind11/pybind11.h>

#include "ir/datum.h"

namespace sardonyx::python {

namespace py = pybind11;

// Loads NumPy's C interface; once, when the module is imported. Throws py::error_already_set.
void import_numpy();

// "tensor(float)", "seq(tensor(int64))", "map(int64,tensor(float))": how ONNX Runtime writes types.
std::string type_text(const Type& type);

// The NumPy type of elements of `dtype`, as a new reference: those that NumPy lacks (bfloat16, the
// float8 and packed types) come from the package ml_dtypes where it is installed. Throws
// py::type_error with that remedy where it is not.
py::object numpy_dtype(DType dtype);
bool has_numpy_dtype(DType dtype);
// The other way; kUndefined where ONNX has no such type.
DType dtype_of_numpy(const py::handle& dtype);

// `object` as an input of type `type`: an array (shared, not copied, if it is aligned and
// contiguous, else copied), a list for a sequence, a dict for a map, None for an empty optional; or
// an OrtValue.
// `name` is the input's, for errors. Throws Error (kInvalidArgument).
Datum datum_from_python(const py::handle& object, const Type& type, const std::string& name);
// An array as a tensor. Whoever holds the tensor holds the array.
Tensor tensor_from_array(const py::handle& array, const std::string& name);

// A tensor becomes an array, a sequence a list, a map a dict, an empty optional None. Elements of a
// tensor that nobody else holds are not copied: the array owns them. Tensors of a type that NumPy
// lacks become OrtValues.
py::object python_from_datum(Datum datum);
py::object array_from_tensor(Tensor tensor);
// Over the tensor's own elements, which are neither strings nor packed.
py::object shared_array(const Tensor& tensor);

}  // namespace sardonyx::python
