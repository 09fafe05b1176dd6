// Optimisers, by torch.optim's names and arguments.
#include "eager/optim.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace optim = eager::optim;

void take_betas(CallArguments& a, double& beta1, double& beta2) {
  std::vector<double> betas{beta1, beta2};
  a.take("betas", betas);
  if (betas.size() != 2) throw py::type_error("betas: expected two numbers");
  beta1 = betas[0], beta2 = betas[1];
}

void take(CallArguments& a, optim::SgdOptions& o) {
  a.take("lr", o.lr).take("momentum", o.momentum).take("dampening", o.dampening);
  a.take("weight_decay", o.weight_decay).take("nesterov", o.nesterov).take("maximize", o.maximize);
}
template <typename Options>
void take_adam(CallArguments& a, Options& o) {
  a.take("lr", o.lr);
  take_betas(a, o.beta1, o.beta2);
  a.take("eps", o.eps).take("weight_decay", o.weight_decay).take("amsgrad", o.amsgrad);
  a.take("maximize", o.maximize);
}
void take(CallArguments& a, optim::AdamOptions& o) {
  take_adam(a, o);
}
void take(CallArguments& a, optim::AdamWOptions& o) {
  take_adam(a, o);
}
void take(CallArguments& a, optim::RmspropOptions& o) {
  a.take("lr", o.lr).take("alpha", o.alpha).take("eps", o.eps).take("weight_decay", o.weight_decay);
  a.take("momentum", o.momentum).take("centered", o.centered).take("maximize", o.maximize);
}
void take(CallArguments& a, optim::AdagradOptions& o) {
  a.take("lr", o.lr).take("lr_decay", o.lr_decay).take("weight_decay", o.weight_decay);
  a.take("initial_accumulator_value", o.initial_accumulator).take("eps", o.eps);
  a.take("maximize", o.maximize);
}
void take(CallArguments& a, optim::AdadeltaOptions& o) {
  a.take("lr", o.lr).take("rho", o.rho).take("eps", o.eps).take("weight_decay", o.weight_decay);
  a.take("maximize", o.maximize);
}
void take(CallArguments& a, optim::AdamaxOptions& o) {
  a.take("lr", o.lr);
  take_betas(a, o.beta1, o.beta2);
  a.take("eps", o.eps).take("weight_decay", o.weight_decay).take("maximize", o.maximize);
}
void take(CallArguments& a, optim::NAdamOptions& o) {
  a.take("lr", o.lr);
  take_betas(a, o.beta1, o.beta2);
  a.take("eps", o.eps).take("weight_decay", o.weight_decay);
  a.take("momentum_decay", o.momentum_decay);
  a.take("decoupled_weight_decay", o.decoupled_weight_decay).take("maximize", o.maximize);
}
void take(CallArguments& a, optim::RAdamOptions& o) {
  a.take("lr", o.lr);
  take_betas(a, o.beta1, o.beta2);
  a.take("eps", o.eps).take("weight_decay", o.weight_decay);
  a.take("decoupled_weight_decay", o.decoupled_weight_decay).take("maximize", o.maximize);
}
void take(CallArguments& a, optim::RpropOptions& o) {
  a.take("lr", o.lr);
  std::vector<double> etas{o.eta_minus, o.eta_plus}, steps{o.min_step, o.max_step};
  a.take("etas", etas).take("step_sizes", steps).take("maximize", o.maximize);
  if (etas.size() != 2 || steps.size() != 2)
    throw py::type_error("etas, step_sizes: expected two numbers each");
  o.eta_minus = etas[0], o.eta_plus = etas[1], o.min_step = steps[0], o.max_step = steps[1];
}
void take(CallArguments& a, optim::AsgdOptions& o) {
  a.take("lr", o.lr).take("lambd", o.lambd).take("alpha", o.alpha).take("t0", o.t0);
  a.take("weight_decay", o.weight_decay).take("maximize", o.maximize);
}

// params: tensors, or dicts of "params" and options that differ from the rest's.
template <typename Options>
std::vector<optim::Group<Options>> groups_from(const char* name, const py::object& params,
                                               const Options& options) {
  const py::list all(params);
  if (all.empty() || !py::isinstance<py::dict>(all[0])) return {{tensors_from(all, name), options}};
  std::vector<optim::Group<Options>> groups;
  for (const py::handle& one : all) {
    py::kwargs own;
    py::object parameters;
    for (const auto& [key, value] : one.cast<py::dict>()) {
      if (std::string(py::str(key)) == "params")
        parameters = py::reinterpret_borrow<py::object>(value);
      else
        own[key] = value;
    }
    if (!parameters) throw py::type_error(text(name, ": a group has no \"params\""));
    optim::Group<Options>& group = groups.emplace_back();
    group.options = options;
    CallArguments a(name, py::args(), own);
    take(a, group.options);
    a.finish();
    group.parameters = tensors_from(parameters, name);
  }
  return groups;
}

template <typename O, typename Options>
void optimizer(py::module_& m, const char* name) {
  const std::string signature = signature_text(name, [](CallArguments& a) {
    a.need<std::vector<Tensor>>("params");
    Options options;
    take(a, options);
    a.finish();
  });
  py::class_<O, optim::Optimizer>(m, name, signature.c_str())
      .def(py::init(
               [name](const py::object& params, const py::args& args, const py::kwargs& kwargs) {
                 CallArguments a(name, args, kwargs);
                 Options options;
                 take(a, options);
                 a.finish();
                 return O(groups_from(name, params, options));
               }),
           py::arg("params"));
}

void bind_lbfgs(py::module_& m) {
  const auto take_options = [](CallArguments& a) {
    optim::LbfgsOptions o;
    std::optional<std::string> search;
    a.take("lr", o.lr).take("max_iter", o.max_iter).take("max_eval", o.max_eval);
    a.take("tolerance_grad", o.tolerance_grad).take("tolerance_change", o.tolerance_change);
    a.take("history_size", o.history_size).take("line_search_fn", search).finish();
    if (search && *search != "strong_wolfe")
      throw py::type_error("line_search_fn: expected None or strong_wolfe, got " + *search);
    o.strong_wolfe = search.has_value();
    return o;
  };
  py::class_<optim::LBFGS, optim::Optimizer>(m, "LBFGS",
                                             "step(closure) alone; see torch.optim.LBFGS.")
      .def(py::init([take_options](const py::object& params, const py::args& args,
                                   const py::kwargs& kwargs) {
             CallArguments a("LBFGS", args, kwargs);
             return optim::LBFGS(tensors_from(params, "LBFGS"), take_options(a));
           }),
           py::arg("params"));
}

py::object step(optim::Optimizer& self, const py::object& closure) {
  const Loc loc = python_line();
  if (closure.is_none()) {
    const UnlockedInterpreter released;
    self.step(loc);
    return py::none();
  }
  return py::cast(self.step(
      [&] {
        const LockedInterpreter locked;
        return closure().cast<Tensor>();
      },
      loc));
}

void bind_base(py::module_& m) {
  py::class_<optim::Optimizer>(m, "Optimizer")
      .def("step", &step, py::arg("closure") = py::none())
      .def("zero_grad", &optim::Optimizer::zero_grad)
      .def("parameters", &optim::Optimizer::parameters)
      .def_property(
          "lr", [](const optim::Optimizer& self) { return self.lr(); },
          [](const optim::Optimizer& self, double lr) { self.set_lr(lr); },
          "The learning rate; setting it sets that of all groups.")
      .def("get_lr", &optim::Optimizer::lr, py::arg("group") = 0)
      .def(
          "set_lr",
          [](const optim::Optimizer& self, double lr, size_t group) { self.set_lr(lr, group); },
          py::arg("lr"), py::arg("group"))
      .def("state_dict", &optim::Optimizer::state_dict)
      .def("load_state_dict", &optim::Optimizer::load_state_dict, py::arg("state_dict"))
      .def("named_states", &optim::Optimizer::named_states);
}

}  // namespace

void bind_optimizers(py::module_& m) {
  bind_base(m);
  optimizer<optim::SGD, optim::SgdOptions>(m, "SGD");
  optimizer<optim::Adam, optim::AdamOptions>(m, "Adam");
  optimizer<optim::AdamW, optim::AdamWOptions>(m, "AdamW");
  optimizer<optim::RMSprop, optim::RmspropOptions>(m, "RMSprop");
  optimizer<optim::Adagrad, optim::AdagradOptions>(m, "Adagrad");
  optimizer<optim::Adadelta, optim::AdadeltaOptions>(m, "Adadelta");
  optimizer<optim::Adamax, optim::AdamaxOptions>(m, "Adamax");
  optimizer<optim::NAdam, optim::NAdamOptions>(m, "NAdam");
  optimizer<optim::RAdam, optim::RAdamOptions>(m, "RAdam");
  optimizer<optim::Rprop, optim::RpropOptions>(m, "Rprop");
  optimizer<optim::ASGD, optim::AsgdOptions>(m, "ASGD");
  bind_lbfgs(m);
  m.def(
      "clip_grad_norm_",
      [](const py::object& parameters, double max_norm, double p) {
        const std::vector<Tensor> all = tensors_from(parameters, "clip_grad_norm_");
        return unlocked(
            [&](const Loc& loc) { return optim::clip_grad_norm(all, max_norm, p, loc); });
      },
      py::arg("parameters"), py::arg("max_norm"), py::arg("norm_type") = 2.0);
  m.def(
      "clip_grad_value_",
      [](const py::object& parameters, double limit) {
        optim::clip_grad_value(tensors_from(parameters, "clip_grad_value_"), limit, python_line());
      },
      py::arg("parameters"), py::arg("clip_value"));
}

}  // namespace sardonyx::python::eager_layer
