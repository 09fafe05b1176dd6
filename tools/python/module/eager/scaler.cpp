// Loss scaling, under torch.amp.GradScaler's names.
#include "eager/optim/grad_scaler.h"

#include <pybind11/stl.h>

#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace optim = eager::optim;

// With optimisers of Python, step() calls back.
void scaled_step(optim::GradScaler& self, optim::Optimizer& optimizer) {
  unlocked([&](const Loc& loc) { self.step(optimizer, loc); });
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
  py::class_<optim::GradScaler>(
      m, "GradScaler",
      "Scales losses so that gradients of float16 do not vanish, and skips steps that overflow.")
      .def(py::init(&made))
      .def(
          "scale",
          [](const optim::GradScaler& self, const Tensor& loss) {
            return unlocked([&](const Loc& loc) { return self.scale(loss, loc); });
          },
          py::arg("outputs"))
      .def(
          "unscale_",
          [](optim::GradScaler& self, const optim::Optimizer& optimizer) {
            unlocked([&](const Loc& loc) { self.unscale(optimizer, loc); });
          },
          py::arg("optimizer"))
      .def("step", &scaled_step, py::arg("optimizer"))
      .def("update", [](optim::GradScaler& self) { self.update(python_line()); })
      .def("get_scale", [](const optim::GradScaler& self) { return self.scale(); })
      .def("state_dict", &optim::GradScaler::state_dict)
      .def("load_state_dict", &optim::GradScaler::load_state_dict, py::arg("state_dict"));
}

}  // namespace sardonyx::python::eager_layer
