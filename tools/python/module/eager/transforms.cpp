// Functions of functions, for sardonyx/eager/func.py: Jacobians and functions on batches.
#include "eager/autograd/jacobian.h"

#include <pybind11/stl.h>

#include "tools/python/module/eager/bindings.h"
#include "tools/python/module/eager/function_rows.h"

namespace sardonyx::python::eager_layer {
namespace {

using Tensors = std::vector<Tensor>;

Tensors results_of(const SharedObject& function, const Tensors& inputs) {
  const LockedInterpreter locked;
  return tensors_from(call_python(*function, py::tuple(py::cast(inputs))),
                      "result of the function");
}
eager::TensorsMap map_from(const py::object& function) {
  return [held = shared_object(function)](const Tensors& in) { return results_of(held, in); };
}
// A function of one result.
eager::Function scalar_function_from(const py::object& function) {
  return [held = shared_object(function)](const Tensors& in) {
    const Tensors results = results_of(held, in);
    if (results.size() != 1)
      throw py::type_error(text("a function of one tensor as result was expected, got ",
                                results.size(), " tensors"));
    return results[0];
  };
}

py::object jacobian(const py::object& function, const Tensors& inputs, bool is_reverse) {
  const eager::Function map = scalar_function_from(function);
  return python_from([&] {
    const UnlockedInterpreter released;
    return (is_reverse ? eager::jacrev(map) : eager::jacfwd(map))(inputs);
  }());
}

py::object hessian(const py::object& function, const Tensors& inputs) {
  const eager::Function map = scalar_function_from(function);
  const std::vector<Tensors> found = [&] {
    const UnlockedInterpreter released;
    return eager::hessian(map)(inputs);
  }();
  py::list rows;
  for (const Tensors& row : found)
    rows.append(python_from_tensors(row));
  return py::tuple(rows);
}

py::object vjp(const py::object& function, const Tensors& inputs, Loc loc) {
  const eager::Function map = scalar_function_from(function);
  const auto found = [&] {
    const UnlockedInterpreter released;
    return eager::vjp(map, inputs, loc);
  }();
  const auto pullback = [pull = found.second](const Tensor& v) {
    return python_from_tensors([&] {
      const UnlockedInterpreter released;
      return pull(v);
    }());
  };
  return py::make_tuple(found.first, py::cpp_function(pullback, py::arg("cotangents")));
}

py::object jvp(const py::object& function, const Tensors& inputs, const Tensors& tangents,
               Loc loc) {
  const eager::Function map = scalar_function_from(function);
  const auto found = [&] {
    const UnlockedInterpreter released;
    return eager::jvp(map, inputs, tangents, loc);
  }();
  return python_from(found);
}

py::object hvp(const py::object& function, const Tensors& inputs, const Tensors& tangents,
               Loc loc) {
  const eager::Function map = scalar_function_from(function);
  return python_from([&] {
    const UnlockedInterpreter released;
    return eager::hvp(map, inputs, tangents, loc);
  }());
}

// in_axes: None for an argument that each sample gets whole.
py::object vmap(const py::object& function, const Tensors& inputs, const py::object& in_axes,
                int64_t out_axis) {
  const eager::TensorsMap map = map_from(function);
  const eager::VmapOptions options{in_axes.cast<std::vector<std::optional<int64_t>>>(), out_axis};
  return python_from([&] {
    const UnlockedInterpreter released;
    return eager::vmap(map, options)(inputs);
  }());
}

}  // namespace

void bind_transforms(py::module_& module) {
  py::module_ m = module.def_submodule("_func");
  RowDefiner define(m);
  define("jacobian(function, inputs, is_reverse)", &jacobian);
  define("hessian(function, inputs)", &hessian);
  define("vjp(function, inputs)", &vjp);
  define("jvp(function, inputs, tangents)", &jvp);
  define("hvp(function, inputs, tangents)", &hvp);
  define("vmap(function, inputs, in_axes, out_axis)", &vmap);
}

}  // namespace sardonyx::python::eager_layer
