// Gradients, generators of random numbers, mixed precision.
#include "eager/autograd/autograd.h"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "eager/autograd/gradcheck.h"
#include "eager/autograd/post_accumulate.h"
#include "eager/autograd/tape.h"
#include "eager/dispatch/autocast.h"
#include "eager/generator.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {
namespace {

using eager::RemovableHandle;

py::list maybe_all(const std::vector<Tensor>& tensors) {
  py::list all;
  for (const Tensor& one : tensors)
    all.append(python_or_none(one));
  return all;
}

// A guard of C++'s scopes for Python's `with`.
template <typename Guard>
struct WithScope {
  std::function<std::unique_ptr<Guard>()> make;
  std::vector<std::unique_ptr<Guard>> open;
};

template <typename Guard, typename... CallArguments>
void bind_scope(py::module_& module, const char* name, const char* doc) {
  using Scope = WithScope<Guard>;
  py::class_<Scope>(module, name, doc)
      .def(py::init([](CallArguments... arguments) {
        return Scope{[=] { return std::make_unique<Guard>(arguments...); }, {}};
      }))
      .def("__enter__", [](Scope& self) { self.open.push_back(self.make()); })
      .def("__exit__", [](Scope& self, const py::args&) { self.open.pop_back(); });
}

void bind_handles(py::module_& module) {
  py::class_<RemovableHandle>(module, "RemovableHandle",
                              "Of a hook: remove() takes it out. `with handle:` does at the end.")
      .def("remove", &RemovableHandle::remove,
           "From then on the hook isn't called; harmless the second time.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](const RemovableHandle& self, const py::args&) { self.remove(); });
}

const py::object& require_callable(const char* function, const py::object& hook) {
  if (PyCallable_Check(hook.ptr())) return hook;
  throw py::type_error(
      text(function, "(): hook: expected a function, got ", std::string(py::repr(hook))));
}

RemovableHandle register_post_accumulate(const Tensor& leaf, const py::object& hook) {
  const auto held = shared_object(require_callable("register_post_accumulate_grad_hook", hook));
  const size_t number = eager::register_post_accumulate_hook(leaf, [held](const Tensor& whole) {
    const LockedInterpreter locked;
    call_python(*held, whole);
  });
  return RemovableHandle([of = std::weak_ptr(leaf.impl()), number] {
    if (const auto impl = of.lock()) eager::remove_post_accumulate_hook(Tensor(impl), number);
  });
}

void bind_hooks(RowDefiner& define) {
  define.method(
      "register_hook(self, hook)",
      [](const Tensor& x, const py::object& hook) {
        return x.register_hook([held = shared_object(require_callable("register_hook", hook))](
                                   const Tensor& gradient) {
          const LockedInterpreter locked;
          return tensor_or_undefined(call_python(*held, gradient), "gradient");
        });
      },
      {"hook(gradient) is called in each backward pass, until the handle that this gives is "
       "removed; what it gives replaces the gradient."});
  define.method(
      "register_post_accumulate_grad_hook(self, hook)", &register_post_accumulate,
      {"hook(leaf) is called once backward() has accumulated the leaf's whole .grad, until "
       "the handle that this gives is removed."});
}

void bind_gradients_of(py::module_& module, TensorClass& tensor) {
  RowDefiner define(module, &tensor);
  bind_hooks(define);
  tensor
      .def_property("requires_grad", &Tensor::requires_grad,
                    [](Tensor& x, bool wanted) { x.set_requires_grad(wanted, python_line()); })
      .def_property_readonly("is_leaf", [](const Tensor& self) { return self.is_leaf(); })
      .def_property(
          "grad", [](const Tensor& x) { return python_or_none(x.grad()); },
          [](const Tensor& x, const py::object& gradient) {
            x.set_grad(tensor_or_undefined(gradient, "gradient"), python_line());
          },
          "The sum of what backward() calls have brought; None before the first.")
      .def("retain_grad", [](Tensor& x) { x.retain_grad(); })
      .def("detach", &Tensor::detach, "The same value, cut from what it was computed from.");
  define.method("requires_grad_(self, requires_grad=True)",
                [](const Tensor& x, bool wanted, Loc loc) {
                  return Tensor(x).set_requires_grad(wanted, loc);
                });
  define.method(
      "backward(self, gradient=None, retain_graph=None, create_graph=False)",
      [](const Tensor& x, const Tensor& gradient, const std::optional<bool>& retain_graph,
         bool create_graph,
         Loc loc) { x.backward(gradient, retain_graph.value_or(create_graph), create_graph, loc); },
      {"Adds the gradient to .grad of every leaf that requires one. With create_graph a leaf and "
       "its gradient hold each other, so that their memory stays: eager.grad() leaves no such "
       "cycle; else set .grad to None after use."});
  define.method("assign(self, value)",
                [](const Tensor& x, const Tensor& value, Loc loc) { return x.assign(value, loc); },
                {"Gives this tensor and its handles another value; not recorded."});
}

py::list gradients(const py::object& outputs, const py::object& inputs,
                   const py::object& grad_outputs, const std::optional<bool>& retain_graph,
                   bool create_graph, bool only_inputs, bool allow_unused) {
  if (!only_inputs)
    throw py::type_error("grad(): only_inputs: expected True; backward() goes to all leaves");
  eager::GradOptions options{.create_graph = create_graph,
                             .retain_graph = retain_graph.value_or(create_graph),
                             .allow_unused = allow_unused};
  if (!grad_outputs.is_none()) options.grad_outputs = tensors_from(grad_outputs, "grad");
  const auto ys = tensors_from(outputs, "grad"), xs = tensors_from(inputs, "grad");
  return maybe_all(unlocked([&](const Loc& loc) { return eager::grad(ys, xs, options, loc); }));
}

void bind_grad(py::module_& module) {
  RowDefiner(module).function(
      "grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, "
      "only_inputs=True, allow_unused=False)",
      &gradients, {"d(sum of outputs)/d(inputs) as a list, without touching any .grad."});
  module.def(
      "custom_function",
      [](const py::object& forward, const py::object& backward, const py::object& inputs) {
        const eager::CustomFunction function{
            [held = shared_object(forward)](const std::vector<Tensor>& in) {
              const LockedInterpreter locked;
              return tensors_from(call_python(*held, py::tuple(py::cast(in))), "forward");
            },
            [held = shared_object(backward)](const std::vector<Tensor>& in,
                                             const std::vector<Tensor>& out,
                                             const std::vector<Tensor>& d_out) {
              const LockedInterpreter locked;
              py::object given = call_python(*held, in, out, maybe_all(d_out));
              if (py::isinstance<Tensor>(given)) given = py::make_tuple(given);
              std::vector<Tensor> gradients;
              for (const py::handle& one : given)
                gradients.push_back(tensor_or_undefined(one, "gradient"));
              return gradients;
            }};
        const std::vector<Tensor> given = tensors_from(inputs, "custom_function");
        return python_from_tensors(
            unlocked([&](const Loc& loc) { return eager::apply(function, given, loc); }));
      },
      py::arg("forward"), py::arg("backward"), py::arg("inputs"),
      "forward(*inputs) with a gradient of one's own: backward(inputs, outputs, grad_outputs) "
      "gives "
      "one for each input, or None.");
  module.def("_gradcheck", [](const py::object& function, const py::object& inputs, double eps,
                              double atol, double rtol, bool raises) {
    const auto called = [held = shared_object(function)](const std::vector<Tensor>& in) {
      const LockedInterpreter locked;
      py::object result = call_python(*held, py::tuple(py::cast(in)));
      if (py::isinstance<Tensor>(result)) result = py::make_tuple(result);
      return tensors_from(result, "gradcheck");
    };
    const std::vector<Tensor> given = tensors_from(inputs, "gradcheck");
    return unlocked([&](const Loc& loc) {
      return eager::gradcheck(called, given, {eps, atol, rtol, raises}, loc);
    });
  });
  module.def("is_grad_enabled", &eager::is_grad_enabled);
  module.def("_set_grad_enabled", &eager::detail::set_grad_enabled);
}

void bind_generators(py::module_& module) {
  py::class_<eager::Generator> generator(
      module, "Generator",
      "A sequence of random numbers (Philox 4x32-10), the same for any "
      "number of threads.");
  generator.def(py::init<uint64_t>(), py::arg("seed") = 0)
      .def("initial_seed", &eager::Generator::initial_seed)
      .def("get_state", &eager::Generator::get_state);
  RowDefiner define(module, &generator);
  define.method("manual_seed(self, seed)",
                [](const py::object& self, uint64_t seed) {
                  self.cast<const eager::Generator&>().manual_seed(seed);
                  return self;
                },
                {"Starts the sequence of a seed; gives the generator."});
  define.method("set_state(self, new_state)", [](const py::object& self, const Tensor& state) {
    self.cast<const eager::Generator&>().set_state(state);
  });
  define.function("manual_seed(seed)", eager::manual_seed);
  module.def("get_rng_state", &eager::get_rng_state);
  define.function("set_rng_state(new_state)", eager::set_rng_state);
}

}  // namespace

void bind_autograd(py::module_& module, TensorClass& tensor) {
  bind_handles(module);
  bind_gradients_of(module, tensor);
  bind_generators(module);
  bind_grad(module);
  bind_scope<eager::NoGrad>(module, "no_grad",
                            "with no_grad(): nothing is recorded for gradients.");
  bind_scope<eager::EnableGrad>(module, "enable_grad", "Recording again, within no_grad().");
  bind_scope<eager::DetectAnomaly>(module, "detect_anomaly",
                                   "The first NaN that an op gives is an error. Slow.");
  bind_scope<eager::UseGenerator, eager::Generator>(module, "use_generator",
                                                    "All draws of this thread come from it.");
  bind_scope<eager::Autocast, DType, bool>(module, "_autocast", "");
}

}  // namespace sardonyx::python::eager_layer
