// Loss scaling, under torch.amp.GradScaler's names.
#include "eager/optim/grad_scaler.h"

#include <pybind11/stl.h>

#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace optim = eager::optim;

optim::GradScaler& scaler_of(const py::object& self) {
  return self.cast<optim::GradScaler&>();
}

optim::GradScaler made(const py::args& args, const py::kwargs& kwargs) {
  CallArguments a("GradScaler", args, kwargs);
  optim::GradScalerOptions o;
  a.take("init_scale", o.init_scale).take("growth_factor", o.growth_factor);
  a.take("backoff_factor", o.backoff_factor).take("growth_interval", o.growth_interval);
  a.take("enabled", o.enabled).finish();
  return optim::GradScaler(o);
}

}  // namespace

void bind_scaler(py::module_& m) {
  py::class_<optim::GradScaler> scaler(
      m, "GradScaler",
      "Scales losses so that gradients of float16 do not vanish, and skips steps that overflow.");
  scaler.def(py::init(&made))
      .def("update", [](optim::GradScaler& self) { self.update(python_line()); })
      .def("get_scale", [](const optim::GradScaler& self) { return self.scale(); })
      .def("state_dict", &optim::GradScaler::state_dict)
      .def("load_state_dict", &optim::GradScaler::load_state_dict, py::arg("state_dict"));
  RowDefiner define(m, &scaler);
  define.method("scale(self, outputs)", [](const py::object& self, const Tensor& loss) {
    const optim::GradScaler& scaler = scaler_of(self);
    return unlocked([&](const Loc& loc) { return scaler.scale(loss, loc); });
  });
  define.method("unscale_(self, optimizer)",
                [](const py::object& self, const optim::Optimizer* optimizer) {
                  optim::GradScaler& scaler = scaler_of(self);
                  unlocked([&](const Loc& loc) { scaler.unscale(*optimizer, loc); });
                });
  // With optimisers of Python, step() calls back.
  define.method("step(self, optimizer)", [](const py::object& self, optim::Optimizer* optimizer) {
    optim::GradScaler& scaler = scaler_of(self);
    unlocked([&](const Loc& loc) { scaler.step(*optimizer, loc); });
  });
}

}  // namespace sardonyx::python::eager_layer
