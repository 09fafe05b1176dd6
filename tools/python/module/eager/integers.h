// Integers of Python as numbers of a tensor's element type, all 64 bits of them.
#pragma once

#include <pybind11/pybind11.h>

#include "eager/tensor.h"

namespace sardonyx::python::eager_layer {

namespace py = pybind11;

// Whether it is an int itself: a bool, an element type and a size of a trace are not.
bool is_python_integer(const py::handle& object);
// Whether 64 bits with a sign hold it.
bool is_int64(const py::handle& integer);
// The type that an int takes on beside elements of type `other`: that type, but int64 beside bools.
DType dtype_beside(DType other);
// As a tensor of rank 0. Throws kInvalidArgument where an integer type can't hold it.
eager::Tensor tensor_of_integer(const py::handle& integer, DType dtype, const eager::Loc& loc);
// Throws what tensor_of_integer() does.
void check_fits(const py::handle& integer, DType dtype, const eager::Loc& loc);
// With all its digits where 64 bits hold it, else as a double.
eager::Number number_of_integer(const py::handle& integer);

}  // namespace sardonyx::python::eager_layer
