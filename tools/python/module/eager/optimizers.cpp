// Optimisers, by torch.optim's names and arguments.
#include "eager/optim.h"
#include "eager/optim/averaged.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/attributes.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

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

// What take() takes, with the values that it has.
template <typename Options>
py::dict dict_of(const char* name, Options options) {
  std::vector<CallArguments::Parameter> notes;
  CallArguments arguments(name, &notes);
  try {
    take(arguments, options);
    arguments.finish();
  } catch (const CallArguments::Noted&) {
    // That was all of them.
  }
  const py::object value_of = py::module_::import("ast").attr("literal_eval");
  py::dict all;
  for (const auto& [option, type, value] : notes)
    all[py::str(option)] = value_of(value);
  return all;
}

// A group, and what Python reads of it: its tensors as they were given, and its options.
template <typename Options>
struct GivenGroup {
  optim::Group<Options> group;
  py::list params;
  py::dict options;
};

py::list tensors_as_given(const py::object& params) {
  if (py::isinstance<Tensor>(params)) return py::list(py::make_tuple(params));
  py::list all;
  for (const py::handle& one : params)  // pairs (name, tensor), too
    all.append(py::isinstance<py::tuple>(one) ? py::object(one[py::int_(1)]) : one);
  return all;
}

// params: tensors, or dicts of "params" and options that differ from the rest's.
template <typename Options>
std::vector<GivenGroup<Options>> groups_from(const char* name, const py::object& params,
                                             const Options& options) {
  if (!py::isinstance<Tensor>(params) && !py::isinstance<py::iterable>(params))
    throw py::type_error(text(name, "(): params: expected Tensors or dicts of them, got ",
                              std::string(py::repr(params))));
  const py::list all = tensors_as_given(params);
  std::vector<GivenGroup<Options>> groups;
  const auto add = [&](const py::list& tensors, const Options& own) {
    groups.push_back({{tensors_from(tensors, name), own}, tensors, dict_of(name, own)});
  };
  if (all.empty() || !py::isinstance<py::dict>(all[0])) {
    add(all, options);
    return groups;
  }
  for (const py::handle& one : all) {
    py::kwargs given;
    py::object parameters;
    for (const auto& [key, value] : one.cast<py::dict>()) {
      if (std::string(py::str(key)) == "params")
        parameters = py::reinterpret_borrow<py::object>(value);
      else
        given[key] = value;
    }
    if (!parameters) throw py::type_error(text(name, ": a group has no \"params\""));
    Options own = options;
    CallArguments a(name, py::args(), given);
    take(a, own);
    a.finish();
    add(tensors_as_given(parameters), own);
  }
  return groups;
}

// "_groups": what sardonyx/eager/optim.py shows as param_groups.
template <typename Options>
void note_groups(const py::handle& self, const std::vector<GivenGroup<Options>>& groups) {
  py::list noted;
  for (const GivenGroup<Options>& one : groups)
    noted.append(py::make_tuple(one.params, one.options));
  self.attr("_groups") = noted;
}
template <typename O, typename Options>
O made_of(const std::vector<GivenGroup<Options>>& given) {
  std::vector<optim::Group<Options>> groups;
  for (const GivenGroup<Options>& one : given)
    groups.push_back(one.group);
  return O(groups);
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
      .def(
          "__init__",
          [name](py::detail::value_and_holder& self, const py::object& params, const py::args& args,
                 const py::kwargs& kwargs) {
            CallArguments a(name, args, kwargs);
            Options options;
            take(a, options);
            a.finish();
            const auto groups = groups_from(name, params, options);
            self.value_ptr() = new O(made_of<O>(groups));
            const py::handle object(reinterpret_cast<PyObject*>(self.inst));
            note_groups(object, groups);
            object.attr("defaults") = dict_of(name, options);
          },
          py::detail::is_new_style_constructor(), py::arg("params"))
      .def("_set_groups", [name](const py::object& self, const py::object& groups) {
        const auto given = groups_from(name, groups, Options());
        O made = made_of<O>(given);
        O& before = self.cast<O&>();
        made.take_over(before);
        before = std::move(made);
        note_groups(self, given);
      });
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
      .def(
          "__init__",
          [take_options](py::detail::value_and_holder& self, const py::object& params,
                         const py::args& args, const py::kwargs& kwargs) {
            CallArguments a("LBFGS", args, kwargs);
            const optim::LbfgsOptions options = take_options(a);
            const py::list given = tensors_as_given(params);
            self.value_ptr() = new optim::LBFGS(tensors_from(given, "LBFGS"), options);
            py::dict noted;
            noted["lr"] = options.lr;
            const py::handle object(reinterpret_cast<PyObject*>(self.inst));
            object.attr("_groups") = py::list(py::make_tuple(py::make_tuple(given, noted)));
          },
          py::detail::is_new_style_constructor(), py::arg("params"));
}

// An optimiser that Python derives from Optimizer: its step() is Python's. Rates are kept here, so
// that schedulers and GradScaler serve it as well.
class PythonOptimizer : public optim::Optimizer {
 public:
  PythonOptimizer(const std::string& name, SharedObject self)
      : Optimizer(name), self_(std::move(self)) {}
  void add(const std::vector<Tensor>& parameters, double lr) {
    add_group_without_states(parameters, lr);
  }

 protected:
  Tensor step_all(const optim::Closure*, const Loc&) override {
    const LockedInterpreter locked;
    if (condition().defined() && !condition().item<bool>()) return {};
    const py::object self = (*self_)();
    const py::object own = py::type::of(self).attr("step");
    if (own.is(py::type::of<optim::Optimizer>().attr("step"))) {
      PyErr_SetString(PyExc_NotImplementedError, text(name(), " has no step() of its own").c_str());
      throw py::error_already_set();
    }
    const py::object loss = call_python(self.attr("step"));
    return py::isinstance<Tensor>(loss) ? loss.cast<Tensor>() : Tensor();
  }

 private:
  SharedObject self_;  // a weak reference
};

void add_python_group(const py::object& self, const py::list& params, const py::dict& options) {
  auto& optimizer = dynamic_cast<PythonOptimizer&>(self.cast<optim::Optimizer&>());
  const py::object lr = options.attr("get")("lr", 0.0);
  optimizer.add(tensors_from(params, optimizer.name().c_str()), py::float_(lr));
  self.attr("_groups").attr("append")(py::make_tuple(params, options));
}

// Optimizer(params, defaults), as torch's.
void construct_base(py::detail::value_and_holder& self, const py::object& params,
                    const py::dict& defaults) {
  const auto object = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(self.inst));
  const auto name = py::type::of(object).attr("__name__").cast<std::string>();
  self.value_ptr() = new PythonOptimizer(name, shared_object(py::weakref(object)));
  object.attr("defaults") = defaults;
  object.attr("_given") = params;
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
        return call_python(closure).cast<Tensor>();
      },
      loc));
}

void bind_base(py::module_& m) {
  py::class_<optim::Optimizer> optimizer(
      m, "Optimizer", py::dynamic_attr(), attributes_are_collected(),
      "What optimisers derive from: Optimizer(params, defaults), step().");
  optimizer
      .def("__init__", &construct_base, py::detail::is_new_style_constructor(), py::arg("params"),
           py::arg("defaults"))
      .def("_add_group", &add_python_group)
      .def_property_readonly("_is_of_python",
                             [](const optim::Optimizer& self) {
                               return dynamic_cast<const PythonOptimizer*>(&self) != nullptr;
                             })
      .def("step", &step, py::arg("closure") = py::none())
      .def(
          "zero_grad", [](const optim::Optimizer& self, bool) { self.zero_grad(); },
          py::arg("set_to_none") = true)
      .def("parameters", &optim::Optimizer::parameters)
      .def_property(
          "lr", [](const optim::Optimizer& self) { return self.lr(); },
          [](const optim::Optimizer& self, double lr) { self.set_lr(lr); },
          "The learning rate; setting it sets that of all groups.")
      .def("state_dict", &optim::Optimizer::state_dict)
      .def("load_state_dict", &optim::Optimizer::load_state_dict, py::arg("state_dict"))
      .def("named_states", &optim::Optimizer::named_states);
  RowDefiner define(m, &optimizer);
  define.method("get_lr(self, group=0)", [](const py::object& self, uint64_t group) {
    return self.cast<const optim::Optimizer&>().lr(group);
  });
  define.method("get_momentum(self, group=0)", [](const py::object& self, uint64_t group) {
    const std::optional<double> momentum = self.cast<const optim::Optimizer&>().momentum(group);
    return momentum ? py::object(py::float_(*momentum)) : py::object(py::none());
  });
  define.method("set_momentum(self, momentum, group)",
                [](const py::object& self, double momentum, uint64_t group) {
                  self.cast<const optim::Optimizer&>().set_momentum(momentum, group);
                });
  define.method("set_lr(self, lr, group)", [](const py::object& self, double lr, uint64_t group) {
    self.cast<const optim::Optimizer&>().set_lr(lr, group);
  });
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
  RowDefiner define(m);
  define("clip_grad_norm_(parameters, max_norm, norm_type=2.0)", optim::clip_grad_norm);
  define("clip_grad_value_(parameters, clip_value)", optim::clip_grad_value);
  m.def("_update_bn", [](const eager::nn::Module& model, const py::object& pass) {
    optim::update_bn(model, [&] { pass(); });
  });
}

}  // namespace sardonyx::python::eager_layer
