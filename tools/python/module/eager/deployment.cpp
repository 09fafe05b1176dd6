// From Python functions to compiled ones and to .onnx files.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "eager/export/export.h"
#include "eager/trace/compile.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/frame.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {
namespace {

using Tensors = std::vector<Tensor>;
using eager::TensorFunction;

// A function of Python, of tensors as arguments, that gives tensors.
TensorFunction function_from(const py::object& function) {
  return [held = shared_object(function)](const Tensors& inputs) {
    const LockedInterpreter locked;
    return tensors_from(call_python(*held, py::tuple(py::cast(inputs))), "result of the function");
  };
}

std::string export_model(const py::object& function, const py::object& examples,
                         const py::object& path, eager::ExportOptions options) {
  const TensorFunction traced = [plain = function_from(function)](const Tensors& inputs) {
    try {
      return plain(inputs);
    } catch (py::error_already_set& error) {
      if (eager::TraceContext::active()) throw;
      // The file is compared at sizes that the function need not take.
      const LockedInterpreter locked;
      const auto message = std::string(py::str(error.value()));
      fail(ErrorCode::kInvalidArgument, message);
    }
  };
  const Tensors inputs = tensors_from(examples, "args");
  const std::filesystem::path file = path_from(path);
  return unlocked([&](const Loc& loc) {
    return eager::export_onnx(traced, inputs, file, options, loc).text();
  });
}

void bind_export(py::module_& module) {
  py::class_<eager::ExportOptions>(module, "_ExportOptions")
      .def(py::init<>())
      .def_readwrite("input_names", &eager::ExportOptions::input_names)
      .def_readwrite("output_names", &eager::ExportOptions::output_names)
      .def_readwrite("dynamic_axes", &eager::ExportOptions::dynamic_axes)
      .def_readwrite("opset", &eager::ExportOptions::opset)
      .def_readwrite("external_data", &eager::ExportOptions::external_data)
      .def_readwrite("metadata", &eager::ExportOptions::metadata)
      .def_readwrite("graph_name", &eager::ExportOptions::graph_name)
      .def_readwrite("names", &eager::ExportOptions::names)
      .def_readwrite("training_step", &eager::ExportOptions::training_step)
      .def_readwrite("verify", &eager::ExportOptions::verify)
      .def_readwrite("tolerance", &eager::ExportOptions::tolerance);
  module.def("_export", &export_model);
}

void bind_compile(py::module_& module) {
  py::class_<eager::Compiled>(module, "_Compiled")
      .def(py::init([](const py::object& function, int optimization_level, int threads,
                       size_t max_traces) {
        return eager::compile(function_from(function), {.optimization_level = optimization_level,
                                                        .threads = threads,
                                                        .max_traces = max_traces});
      }))
      .def(
          "__call__",
          [](const eager::Compiled& self, const py::args& args) {
            const Tensors inputs = tensors_from(args, "argument");
            return python_from_tensors(unlocked([&](const Loc& loc) { return self(inputs, loc); }));
          })
      .def_property_readonly("traces", &eager::Compiled::traces)
      .def_property_readonly("trace_log", &eager::Compiled::trace_log)
      .def("plan_text", &eager::Compiled::plan_text);
}

eager::Branch branch_from(const py::object& function, const Tensors& operands) {
  return [held = shared_object(function), operands] {
    const LockedInterpreter locked;
    return tensors_from(call_python(*held, py::tuple(py::cast(operands))), "branch");
  };
}

void bind_control_flow(py::module_& module) {
  module.def("_cond", [](const Tensor& predicate, const py::object& yes, const py::object& no,
                         const py::object& operands) {
    const Tensors given = tensors_from(operands, "cond");
    const eager::Branch then_branch = branch_from(yes, given), else_branch = branch_from(no, given);
    return python_from_tensors(unlocked(
        [&](const Loc& loc) { return eager::cond(predicate, then_branch, else_branch, loc); }));
  });
  module.def("_while_loop",
             [](const py::object& condition, const py::object& body, const py::object& initial) {
               const SharedObject keeps_on = shared_object(condition);
               const auto go_on = [keeps_on](const Tensors& state) {
                 const LockedInterpreter locked;
                 return tensor_from(call_python(*keeps_on, py::tuple(py::cast(state))),
                                    "condition of while_loop");
               };
               const TensorFunction step = function_from(body);
               const Tensors begin = tensors_from(initial, "while_loop");
               return python_from_tensors(unlocked(
                   [&](const Loc& loc) { return eager::while_loop(go_on, step, begin, loc); }));
             });
}

}  // namespace

void bind_deployment(py::module_& module) {
  bind_export(module);
  bind_compile(module);
  bind_control_flow(module);
}

}  // namespace sardonyx::python::eager_layer
