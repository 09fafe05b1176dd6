// Modules: the base class of layers and of modules written in Python.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "eager/nn/init.h"
#include "eager/nn/parameters/functional_call.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/attributes.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {
namespace {

namespace nn = eager::nn;

// Tensors among what a module got or gave.
void collect(const py::handle& object, std::vector<Tensor>& into) {
  if (py::isinstance<Tensor>(object)) {
    into.push_back(object.cast<Tensor>());
  } else if (py::isinstance<py::tuple>(object) || py::isinstance<py::list>(object)) {
    for (const py::handle& one : object)
      collect(one, into);
  }
}

// The same with these tensors in their places.
py::object placed(const py::object& object, const std::vector<Tensor>& tensors, size_t& next) {
  if (py::isinstance<Tensor>(object)) return py::cast(tensors.at(next++));
  const bool is_tuple = py::isinstance<py::tuple>(object);
  if (!is_tuple && !py::isinstance<py::list>(object)) return object;
  py::list all;
  for (const py::handle& one : object)
    all.append(placed(py::reinterpret_borrow<py::object>(one), tensors, next));
  // A named tuple keeps its type.
  if (is_tuple && py::hasattr(object, "_make")) return object.attr("_make")(all);
  return is_tuple ? py::tuple(all) : py::object(all);
}

// What Python does with a module beyond what other C++ may.
class PythonModule : public nn::Module {
 public:
  explicit PythonModule(const nn::Module& module) : Module(module) {}
  explicit PythonModule(std::string type_name) : Module(std::move(type_name)) {}
  void set_is_container() const { Module::set_is_container(); }
  // forward(*args, **kwargs) as one call of the module.
  py::object call(const py::object& forward, const py::args& args, const py::kwargs& kwargs) const {
    const Call scope(*this, python_line());
    py::object taken = args;
    std::vector<Tensor> given, gave;
    size_t next = 0;
    if (scope.has_pre_hooks()) {
      collect(taken, given);
      scope.run_pre_hooks(given, /*are_fixed=*/false);
      taken = placed(taken, given, next);
    }
    py::object result = forward(*taken, **kwargs);
    if (!scope.has_hooks()) return result;
    given.clear();
    collect(taken, given);
    collect(result, gave);
    scope.run_hooks(given, gave);
    return placed(result, gave, next = 0);
  }
};

py::dict dict_of(const nn::NamedTensors& tensors) {
  py::dict all;
  for (const auto& [name, tensor] : tensors)
    all[py::str(name)] = tensor;
  return all;
}

// Parameters and buffers by name, for what Python does not find: layer.weight.
py::object attribute_of(const nn::Module& self, const std::string& name) {
  for (const bool is_buffer : {false, true}) {
    try {
      return python_or_none(is_buffer ? self.get_buffer(name) : self.get_parameter(name));
    } catch (const Error&) {
      continue;  // it may be the other
    }
  }
  throw py::attribute_error(self.type_name() + " has no attribute " + name);
}

// Of a module and what else it takes; with the lock of the interpreter.
const nn::Module& module_of(const py::object& self) {
  return self.cast<const nn::Module&>();
}

void bind_state_rows(RowDefiner& define) {
  define.method("state_dict(self, prefix='')",
                [](const py::object& self, const std::string& prefix) {
                  return py::object(dict_of(module_of(self).named_state(prefix)));
                },
                {"Values of parameters and persistent buffers as they are now, by name."});
  define.method("load_state_dict(self, state_dict, strict=True)",
                [](const py::object& self, const py::object& state, bool strict) {
                  nn::StateDict values;
                  for (const auto& [name, value] : py::dict(state))
                    values.emplace(name.cast<std::string>(),
                                   tensor_from(value, "load_state_dict(): state_dict"));
                  const nn::IncompatibleKeys keys = module_of(self).load_state_dict(values, strict);
                  return py::object(py::make_tuple(keys.missing, keys.unexpected));
                },
                {"Takes over values; (missing, unexpected) names."});
  define.method("get_parameter(self, target)", [](const py::object& self, const std::string& path) {
    return python_or_none(module_of(self).get_parameter(path));
  });
  define.method("get_buffer(self, target)", [](const py::object& self, const std::string& path) {
    return python_or_none(module_of(self).get_buffer(path));
  });
}

void bind_state(py::class_<nn::Module>& module) {
  module.def("parameters", &nn::Module::parameters)
      .def("named_parameters",
           [](const nn::Module& self) { return dict_of(self.named_parameters()).attr("items")(); })
      .def("buffers", &nn::Module::buffers)
      .def("named_buffers",
           [](const nn::Module& self) { return dict_of(self.named_buffers()).attr("items")(); })
      .def("parameter_count", &nn::Module::parameter_count);
}

void bind_mode(py::class_<nn::Module>& module, RowDefiner& define) {
  module
      .def("eval",
           [](const py::object& self) {
             module_of(self).eval();
             return self;
           })
      .def_property_readonly("training", &nn::Module::is_training)
      .def("zero_grad", &nn::Module::zero_grad);
  define.method("train(self, mode=True)", [](const py::object& self, bool mode) {
    module_of(self).train(mode);
    return self;
  });
  define.method("to(self, dtype)", [](const py::object& self, DType dtype) {
    module_of(self).to(dtype);
    return self;
  });
  define.method("requires_grad_(self, requires_grad=True)",
                [](const py::object& self, bool wanted) {
                  module_of(self).set_requires_grad(wanted);
                  return self;
                });
}

// hook(module, inputs, output): what it gives other than None takes the output's place.
eager::RemovableHandle register_hook(const py::object& self, const py::object& hook) {
  const SharedObject module = shared_object(py::weakref(self)), function = shared_object(hook);
  return self.cast<const nn::Module&>().register_forward_hook(
      [module, function](const nn::Module&, const std::vector<Tensor>& inputs,
                         std::vector<Tensor>& outputs) {
        const LockedInterpreter locked;
        const py::object output =
            outputs.size() == 1 ? py::cast(outputs[0]) : python_from_tensors(outputs);
        const py::object given =
            call_python(*function, (*module)(), python_from_tensors(inputs), output);
        if (!given.is_none()) outputs = tensors_from(given, "forward hook");
      });
}

// hook(module, inputs): what it gives other than None takes the inputs' place.
eager::RemovableHandle register_pre_hook(const py::object& self, const py::object& hook) {
  const SharedObject module = shared_object(py::weakref(self)), function = shared_object(hook);
  return self.cast<const nn::Module&>().register_forward_pre_hook(
      [module, function](const nn::Module&, std::vector<Tensor>& inputs) {
        const LockedInterpreter locked;
        const py::object given = call_python(*function, (*module)(), python_from_tensors(inputs));
        if (!given.is_none()) inputs = tensors_from(given, "forward pre-hook");
      });
}

// Module of Python and what derives from it; layers have constructors of their own.
void construct(py::detail::value_and_holder& self) {
  const py::handle type(reinterpret_cast<PyObject*>(Py_TYPE(self.inst)));
  self.value_ptr() = new nn::Module(PythonModule(type.attr("__name__").cast<std::string>()));
}

// Registration; nn.py says under which names, and keeps the objects themselves.
void bind_registration(py::class_<nn::Module>& module) {
  module
      .def("_add_parameter", [](nn::Module& self, const std::string& name,
                                const Tensor& value) { return self.parameter(name, value); })
      .def("_add_buffer", [](nn::Module& self, const std::string& name, const Tensor& value,
                             bool persistent) { return self.buffer(name, value, persistent); })
      .def("_replace_parameter",
           [](nn::Module& self, const std::string& name, const Tensor& value) {
             return self.replace_parameter(name, value);
           })
      .def("_replace_buffer", [](nn::Module& self, const std::string& name,
                                 const Tensor& value) { return self.replace_buffer(name, value); })
      .def("_set_module", [](nn::Module& self, const std::string& name,
                             const nn::Module& child) { self.replace(name, child); })
      .def("_remove", &nn::Module::remove)
      .def("_set_is_container",
           [](const nn::Module& self) { PythonModule(self).set_is_container(); })
      .def("_named_children", &nn::Module::named_children);
}

// `with` of nn::UseTensors.
class TensorsInUse {
 public:
  TensorsInUse(nn::Module module, const py::dict& tensors) : module_(std::move(module)) {
    for (const auto& [path, tensor] : tensors)
      tensors_.emplace(path.cast<std::string>(), tensor_from(tensor, "functional_call()"));
  }
  void enter() {
    scopes_.push_back(std::make_unique<nn::UseTensors>(module_, tensors_, python_line()));
  }
  void exit() { scopes_.pop_back(); }

 private:
  nn::Module module_;
  nn::StateDict tensors_;
  std::vector<std::unique_ptr<nn::UseTensors>> scopes_;
};

py::object call_module(const py::object& self, const py::args& args, const py::kwargs& kwargs) {
  return PythonModule(self.cast<const nn::Module&>()).call(self.attr("forward"), args, kwargs);
}

// As torch's, they give the tensor.
template <void (*function)(const Tensor&)>
Tensor initialized(const Tensor& x) {
  function(x);
  return x;
}
template <void (*function)(const Tensor&, double, double)>
Tensor initialized_by(const Tensor& x, double a, double b) {
  function(x, a, b);
  return x;
}
template <void (*function)(const Tensor&, double)>
Tensor initialized_with_gain(const Tensor& x, double gain) {
  function(x, gain);
  return x;
}
template <void (*function)(const Tensor&, nn::init::Kaiming)>
Tensor initialized_for(const Tensor& x, double slope, const std::string& mode,
                       const std::string& nonlinearity) {
  if (mode != "fan_in" && mode != "fan_out")
    throw py::type_error("mode: expected 'fan_in' or 'fan_out', got '" + mode + "'");
  function(x, {slope, mode == "fan_out", nonlinearity});
  return x;
}

void bind_init(py::module_& nn_module) {
  namespace init = nn::init;
  py::module_ module = nn_module.def_submodule("init", "Initial values of parameters.");
  RowDefiner define(module);
  define("constant_(tensor, val)", [](const Tensor& x, const eager::Number& value) {
    init::constant(x, value);
    return x;
  });
  define("calculate_gain(nonlinearity, param=None)",
         [](const std::string& nonlinearity, const std::optional<double>& slope) {
           return init::gain(nonlinearity, slope.value_or(0.01));
         },
         {"The factor that keeps variances through a nonlinearity."});
  define("zeros_(tensor)", &initialized<init::zeros>);
  define("ones_(tensor)", &initialized<init::ones>);
  define("eye_(tensor)", &initialized<init::eye>);
  define("dirac_(tensor)", &initialized<init::dirac>);
  define("uniform_(tensor, a=0.0, b=1.0)", &initialized_by<init::uniform>);
  define("normal_(tensor, mean=0.0, std=1.0)", &initialized_by<init::normal>);
  define("trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0)",
         [](const Tensor& x, double mean, double deviation, double low, double high) {
           init::trunc_normal(x, mean, deviation, low, high);
           return x;
         });
  define("xavier_uniform_(tensor, gain=1.0)", &initialized_with_gain<init::xavier_uniform>);
  define("xavier_normal_(tensor, gain=1.0)", &initialized_with_gain<init::xavier_normal>);
  define("orthogonal_(tensor, gain=1.0)", &initialized_with_gain<init::orthogonal>);
  define("kaiming_uniform_(tensor, a=0.0, mode='fan_in', nonlinearity='leaky_relu')",
         &initialized_for<init::kaiming_uniform>);
  define("kaiming_normal_(tensor, a=0.0, mode='fan_in', nonlinearity='leaky_relu')",
         &initialized_for<init::kaiming_normal>);
}

}  // namespace

void bind_modules(py::module_& nn_module) {
  py::class_<nn::Module> module(nn_module, "Module", py::dynamic_attr(), attributes_are_collected(),
                                "What modules derive from: `forward` computes, parameters and "
                                "modules among the attributes are registered.");
  module.def("__init__", &construct, py::detail::is_new_style_constructor());
  RowDefiner define(nn_module, &module);
  bind_state(module);
  bind_state_rows(define);
  bind_mode(module, define);
  bind_registration(module);
  module.def("__call__", &call_module)
      .def("__getattr__", &attribute_of)
      .def("register_forward_hook", &register_hook, py::arg("hook"),
           "hook(module, inputs, output) after each call, until the handle that this gives is "
           "removed; what it gives takes the output's place. A hook that holds the module, as a "
           "method of it does, keeps it until then.")
      .def("register_forward_pre_hook", &register_pre_hook, py::arg("hook"),
           "hook(module, inputs) before each call, until the handle that this gives is removed; "
           "what it gives takes the inputs' place.")
      .def("summary", py::overload_cast<>(&nn::Module::summary, py::const_))
      .def("is_same", &nn::Module::is_same)
      .def_property_readonly("_type_name", &nn::Module::type_name)
      .def_property_readonly("_description", &nn::Module::description);
  py::class_<nn::EvalMode>(nn_module, "_EvalMode").def(py::init<const nn::Module&>());
  py::class_<TensorsInUse>(nn_module, "_UseTensors")
      .def(py::init<const nn::Module&, const py::dict&>())
      .def("__enter__", &TensorsInUse::enter)
      .def("__exit__", [](TensorsInUse& self, const py::args&) { self.exit(); });
  bind_init(nn_module);
}

}  // namespace sardonyx::python::eager_layer
