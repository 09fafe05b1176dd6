// The eager layer in Python: module sardonyx._sardonyx.eager, whose public face is sardonyx/eager/.
#pragma once

#include <pybind11/pybind11.h>

#include "eager/nn/module.h"
#include "eager/tensor.h"

namespace sardonyx::python::eager_layer {

namespace py = pybind11;
using eager::Tensor;

using TensorClass = py::class_<Tensor>;

void bind_eager(py::module_& module);

// Its parts, in the order in which they are bound.
TensorClass bind_tensor(py::module_& module);
void bind_tensor_functions(py::module_& module, TensorClass& tensor);
void bind_order_functions(py::module_& module, TensorClass& tensor);
void bind_shape_functions(py::module_& module, TensorClass& tensor);
void bind_creation(py::module_& module, TensorClass& tensor);
void bind_fft(py::module_& module);
void bind_special(py::module_& module);
void bind_rows(py::module_& module, TensorClass& tensor);
void bind_transforms(py::module_& module);
void bind_autograd(py::module_& module, TensorClass& tensor);
void bind_operators(py::module_& module);
void bind_modules(py::module_& nn);
void bind_layers(py::module_& nn);
void bind_recurrent_layers(py::module_& nn);
void bind_losses(py::module_& nn);
void bind_functional(py::module_& module, py::module_& nn);
void bind_optimizers(py::module_& optim);
void bind_schedulers(py::module_& optim);
void bind_scaler(py::module_& optim);
void bind_deployment(py::module_& module);
void bind_files(py::module_& module);

}  // namespace sardonyx::python::eager_layer
