// The eager layer in Python: module sardonyx._sardonyx.eager, whose public face is sardonyx/eager/.
#pragma once

#include <pybind11/pybind11.h>

#include "eager/nn/module.h"
#include "eager/tensor.h"

namespace sardonyx::python::eager_layer {

namespace py = pybind11;
using eager::Tensor;

using TensorClass = py::class_<Tensor>;

// Defines a function of the module, and a method that is the same.
class Definer {
 public:
  Definer(py::module_& module, TensorClass& tensor) : module_(module), tensor_(tensor) {}
  template <typename Function, typename... Extra>
  void operator()(const char* name, const Function& function, const Extra&... extra) {
    module_.def(name, function, py::arg("input"), extra...);
    tensor_.def(name, function, extra...);
  }

 private:
  py::module_& module_;
  TensorClass& tensor_;
};

void bind_eager(py::module_& module);

// Its parts, in the order in which they are bound.
TensorClass bind_tensor(py::module_& module);
void bind_tensor_functions(py::module_& module, TensorClass& tensor);
void bind_shape_functions(py::module_& module, TensorClass& tensor);
void bind_autograd(py::module_& module, TensorClass& tensor);
void bind_operators(py::module_& module);
void bind_modules(py::module_& nn);
void bind_layers(py::module_& nn);
void bind_recurrent_layers(py::module_& nn);
void bind_losses(py::module_& nn);
void bind_functional(py::module_& module, py::module_& nn);
void bind_optimizers(py::module_& optim);
void bind_schedulers(py::module_& optim);
void bind_deployment(py::module_& module);

}  // namespace sardonyx::python::eager_layer
