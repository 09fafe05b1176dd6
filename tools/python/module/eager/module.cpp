#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {

void bind_eager(py::module_& module) {
  py::module_ eager = module.def_submodule("eager");
  py::module_ nn = eager.def_submodule("_nn"), optim = eager.def_submodule("_optim");
  eager.def_submodule("return_types", "Named tuples that functions give.").attr("__name__") =
      "sardonyx._sardonyx.eager.return_types";
  TensorClass tensor = bind_tensor(eager);
  bind_tensor_functions(eager, tensor);
  bind_order_functions(eager, tensor);
  bind_shape_functions(eager, tensor);
  bind_autograd(eager, tensor);
  bind_creation(eager, tensor);
  bind_fft(eager);
  bind_special(eager);
  bind_rows(eager, tensor);
  bind_transforms(eager);
  bind_operators(eager);
  bind_modules(nn);
  bind_layers(nn);
  bind_recurrent_layers(nn);
  bind_losses(nn);
  bind_functional(eager, nn);
  bind_optimizers(optim);
  bind_schedulers(optim);
  bind_scaler(optim);
  bind_deployment(eager);
  bind_files(eager);
}

}  // namespace sardonyx::python::eager_layer
