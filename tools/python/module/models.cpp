#include "tools/python/module/models.h"

#include <pybind11/stl.h>

#include <optional>

#include "ir/pass.h"
#include "onnx_io/check.h"
#include "onnx_io/load.h"
#include "onnx_io/save.h"
#include "tools/python/module/interpreter_lock.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

// Calls use(path) or use(bytes) without the interpreter's lock.
template <typename Use>
auto with_model(const py::object& model, const Use& use) {
  if (PyBytes_Check(model.ptr())) {
    const std::string_view bytes = model.cast<std::string_view>();
    const UnlockedInterpreter unlocked;
    return use(std::as_bytes(std::span(bytes)));
  }
  const std::filesystem::path path = model.cast<std::string>();
  const UnlockedInterpreter unlocked;
  return use(path);
}

py::list check(const py::object& model, bool strict) {
  const std::vector<Problem> problems = with_model(model, [&](const auto& source) {
    LoadOptions options;
    options.strict = strict;
    return check_model(source, options);
  });
  py::list list;
  for (const Problem& problem : problems)
    list.append(py::make_tuple(problem.node, problem.message));
  return list;
}

py::bytes rewrite(const py::object& model, std::optional<int64_t> opset, bool optimize) {
  return py::bytes(with_model(model, [&](const auto& source) {
    Model loaded = load_model(source);
    if (optimize) run_passes(*loaded.graph, generic_passes(), {});
    SaveOptions options;
    options.opset = opset;
    return model_bytes(loaded, options);
  }));
}

}  // namespace

void bind_models(py::module_& module) {
  module.def("check_model", &check, py::arg("model"), py::arg("strict") = false,
             "All faults that keep a model (a path or bytes) from being loaded, as pairs of the "
             "node's name and the message; empty for a good one.");
  module.def(
      "infer_shapes", [](const py::object& model) { return rewrite(model, {}, false); },
      py::arg("model"), "The model with types and shapes of all values, as bytes.");
  module.def(
      "convert_version",
      [](const py::object& model, int64_t opset) { return rewrite(model, opset, false); },
      py::arg("model"), py::arg("target_version"), "The model at another opset, as bytes.");
  module.def(
      "optimize", [](const py::object& model) { return rewrite(model, {}, true); },
      py::arg("model"),
      "The model folded, merged and cleaned up, in standard operators, as bytes.");
}

}  // namespace sardonyx::python
