#include "tools/python/module/models.h"

#include <pybind11/stl.h>

#include <optional>
#include <type_traits>

#include "executor/ort_abi/devices.h"
#include "executor/ort_abi/load/model_fields.h"
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

std::optional<std::string> metadata_prop(const py::object& model, const std::string& key) {
  return with_model(model, [&](const auto& source) {
    ort_abi::ModelSource of;
    if constexpr (std::is_same_v<std::decay_t<decltype(source)>, std::filesystem::path>)
      of.path = source;
    else
      of.bytes = source;
    return ort_abi::metadata_prop(of, key);
  });
}

py::tuple cpu() {
  const OrtHardwareDevice& device = *ort_abi::cpu_device().device;
  return py::make_tuple(device.vendor, device.vendor_id, device.device_id);
}

}  // namespace

void bind_models(py::module_& module) {
  module.def("_metadata_prop", &metadata_prop, py::arg("model"), py::arg("key"),
             "The value of a key in the model's metadata; None where it has none.");
  module.def("_cpu", &cpu, "Vendor's name and number of the CPU, and the number of its kind.");
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
