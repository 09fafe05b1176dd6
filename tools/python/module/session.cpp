#include "tools/python/module/session.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "executor/ort_abi/load/load_errors.h"
#include "executor/ort_abi/load/model_rewrite.h"
#include "onnx_io/dim_names.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/interpreter_lock.h"
#include "tools/python/module/ort_value.h"

namespace sardonyx::python {

namespace {

// The bytes stay the caller's.
ort_abi::ModelSource source_of(const py::object& model) {
  ort_abi::ModelSource source;
  if (PyBytes_Check(model.ptr())) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    PyBytes_AsStringAndSize(model.ptr(), &data, &size);
    source.bytes = std::as_bytes(std::span(data, static_cast<size_t>(size)));
  } else {
    source.path = model.cast<std::string>();
  }
  return source;
}

Session load_session(const py::object& model, const PySessionOptions& options,
                     ort_abi::SessionCustomOps& library_ops) {
  const SessionOptions made = options.made();
  const ort_abi::ModelSource source = source_of(model);
  const auto level = static_cast<::GraphOptimizationLevel>(options.graph_optimization_level);
  const OrtKeyValuePairs config({options.config.begin(), options.config.end()});
  const UnlockedInterpreter unlocked;
  const CustomOpScope scope(&library_ops);
  try {
    ort_abi::save_optimized(
        source, {options.optimized_model_filepath, level, options.fixed_dims, config}, made.load);
    if (!options.fixed_dims.empty())
      return Session(ort_abi::with_fixed_dims(source, options.fixed_dims, made.load), made);
    return source.path ? Session(*source.path, made) : Session(source.bytes, made);
  } catch (const Error& error) {
    ort_abi::refuse_load(source, error);
  }
}

PySession::Nodes nodes_of(const Graph& graph) {
  PySession::Nodes nodes;
  for (const auto& node : graph.nodes())
    nodes.emplace_back(node->name, node->op->domain, node->op->name);
  return nodes;
}

// Nodes of the model as it is optimised, before kernels take several of them as one.
PySession::Nodes assigned_nodes(const py::object& model, const PySessionOptions& options,
                                ort_abi::SessionCustomOps& library_ops) {
  const auto asked = options.config.find("session.record_ep_graph_assignment_info");
  if (asked == options.config.end() || asked->second != "1") return {};
  const auto level = static_cast<::GraphOptimizationLevel>(options.graph_optimization_level);
  const ort_abi::ModelSource source = source_of(model);
  const LoadOptions load = options.made().load;
  const UnlockedInterpreter unlocked;
  const CustomOpScope scope(&library_ops);
  return nodes_of(*ort_abi::optimized_model(source, level, load).graph);
}

std::vector<const OrtCustomOpDomain*> domains_of(const PySessionOptions& options) {
  if (!options.op_libraries) return {};
  return options.op_libraries->custom_domains;
}

// Dims as onnxruntime gives them: int, the symbol's name, or None.
py::object shape_object(const Type& type) {
  py::list dims;
  if (!type.is_tensor() || !type.shape) return dims;
  for (const Dim& dim : *type.shape) {
    const std::string text = dim.is_known() ? "" : dim.text();
    const std::string name(name_in_file(text));
    if (dim.is_known())
      dims.append(dim.value());
    else if (name.empty())
      dims.append(py::none());
    else
      dims.append(name);
  }
  return dims;
}

struct NodeArg {
  ValueInfo info;
};

std::vector<NodeArg> node_args(std::span<const ValueInfo> infos) {
  std::vector<NodeArg> args;
  for (const ValueInfo& info : infos)
    args.push_back({info});
  return args;
}

}  // namespace

PySession::PySession(const py::object& model, const PySessionOptions& options)
    : options_(options),
      logger_({}, ORT_LOGGING_LEVEL_WARNING, options.logid),
      config_({options.config.begin(), options.config.end()}),
      library_ops_(domains_of(options), logger_, config_),
      session_(load_session(model, options, library_ops_)),
      nodes_(assigned_nodes(model, options, library_ops_)) {
  if (options_.enable_profiling)
    profile_.begin(options_.profile_file_prefix, ort_abi::Profile::Clock::now());
  required_ = session_.inputs().size();
  const auto add = [&](std::span<const ValueInfo> infos, bool is_optional) {
    for (const ValueInfo& info : infos) {
      PyObject* name = PyUnicode_InternFromString(info.name.c_str());
      if (!name) throw py::error_already_set();
      inputs_.push_back({py::reinterpret_steal<py::object>(name), &info, is_optional});
    }
  };
  add(session_.inputs(), false);
  add(session_.optional_inputs(), true);
}

size_t PySession::output_index(std::string_view name) const {
  const std::span<const ValueInfo> outputs = session_.outputs();
  const auto found = std::ranges::find(outputs, name, &ValueInfo::name);
  if (found == outputs.end()) fail(ErrorCode::kInvalidArgument, "Invalid output name: ", name);
  return static_cast<size_t>(found - outputs.begin());
}

std::vector<size_t> PySession::output_indices(const py::object& names) const {
  std::vector<size_t> indices;
  if (names.is_none()) return indices;
  for (const py::handle& name : py::reinterpret_borrow<py::iterable>(names))
    indices.push_back(output_index(name.cast<std::string_view>()));
  return indices;
}

void PySession::refuse_feed(const py::dict& feed) const {
  for (const auto& [name, value] : feed) {
    const bool is_known = std::ranges::any_of(
        inputs_, [&, name = name](const Input& input) { return input.name.equal(name); });
    if (!is_known)
      fail(ErrorCode::kInvalidArgument, "Invalid input name: ", std::string(py::str(name)));
  }
  py::list missing;
  for (const Input& input : inputs_) {
    if (!input.is_optional && !feed.contains(input.name)) missing.append(input.name);
  }
  const std::string given = py::str(py::list(feed.attr("keys")()));
  throw py::value_error(text("Required inputs (", std::string(py::str(missing)),
                             ") are missing from input feed (", given, ")."));
}

Datum PySession::input_value(const std::string& name, const py::object& object) const {
  for (const Input& input : inputs_) {
    if (input.info->name == name) return datum_from_python(object, input.info->type, name);
  }
  fail(ErrorCode::kInvalidArgument, "Invalid input name: ", name);
}

std::vector<Datum> PySession::inputs_from(const py::object& object, bool are_values) const {
  if (!PyDict_Check(object.ptr()))
    throw py::type_error("input_feed: expected a dict of names and values");
  const py::dict feed = py::reinterpret_borrow<py::dict>(object);
  std::vector<Datum> datums(inputs_.size());
  size_t given = 0;
  bool has_optional = false;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    PyObject* value = PyDict_GetItemWithError(feed.ptr(), input.name.ptr());
    if (!value) {
      if (!input.is_optional && !input.info->type.is_optional()) refuse_feed(feed);
      if (input.info->type.is_optional())
        datums[i] = OptionalDatum{.element = *input.info->type.element, .items = {}};
      continue;
    }
    ++given;
    if (input.is_optional && value == Py_None) continue;  // its default then
    has_optional |= input.is_optional;
    datums[i] = are_values ? py::handle(value).cast<const PyOrtValue&>().datum
                           : datum_from_python(value, input.info->type, input.info->name);
  }
  if (given != feed.size()) refuse_feed(feed);
  if (!has_optional) datums.resize(required_);
  return datums;
}

// Required inputs are given by now: adapters replace what the model has of its own.
void PySession::add_adapted(std::vector<Datum>& inputs, const py::object& options) const {
  if (options.is_none()) return;
  for (const auto& adapter : options.cast<const PyRunOptions&>().adapters) {
    inputs.resize(inputs_.size());
    for (const auto& [name, tensor] : adapter->parameters) {
      const auto at = std::ranges::find(inputs_, std::string_view(name),
                                        [](const Input& input) { return input.info->name; });
      if (at == inputs_.end()) fail(ErrorCode::kInvalidArgument, "Invalid input name: ", name);
      Datum& place = inputs[static_cast<size_t>(at - inputs_.begin())];
      if (!place.defined()) place = tensor;
    }
  }
}

void PySession::run_into(std::span<const Datum> inputs, std::span<OutputSlot> slots,
                         std::span<const size_t> wanted, const py::object& options,
                         bool are_outputs_strict) {
  RunOptions made;
  std::shared_ptr<PyRunOptions> held;
  if (!options.is_none()) {
    held = options.cast<std::shared_ptr<PyRunOptions>>();
    made = held->made();
  }
  made.outputs = wanted;
  made.strict_outputs = are_outputs_strict;
  std::vector<NodeTiming> steps;
  if (profile_.is_on()) made.profile = &steps;
  const auto begin = ort_abi::Profile::Clock::now();
  {
    const UnlockedInterpreter unlocked;
    session_.run_into(inputs, slots, made);
  }
  if (made.profile) profile_.add_run(begin, ort_abi::Profile::Clock::now(), steps);
}

std::vector<Datum> PySession::run_datums(const std::vector<size_t>& wanted,
                                         std::vector<Datum> inputs, const py::object& options) {
  add_adapted(inputs, options);
  std::vector<size_t> ascending = wanted;
  std::ranges::sort(ascending);
  ascending.erase(std::ranges::unique(ascending).begin(), ascending.end());
  std::vector<OutputSlot> slots(session_.outputs().size());
  run_into(inputs, slots, ascending, options);
  std::vector<Datum> results;
  if (wanted.empty()) {
    for (OutputSlot& slot : slots)
      results.push_back(slot.take());
    return results;
  }
  for (const size_t index : wanted)
    results.push_back(slots[index].value());
  return results;
}

py::list PySession::run(const py::object& names, const py::object& feed,
                        const py::object& options) {
  std::vector<Datum> results = run_datums(output_indices(names), inputs_from(feed, false), options);
  py::list list(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                    python_from_datum(std::move(results[i])).release().ptr());
  return list;
}

py::list PySession::run_values(const py::object& names, const py::dict& feed,
                               const py::object& options) {
  py::list list;
  for (Datum& result : run_datums(output_indices(names), inputs_from(feed, true), options))
    list.append(owned_value(std::move(result)));
  return list;
}

namespace {

void bind_metadata(py::module_& module) {
  py::class_<ModelMetadata>(module, "ModelMetadata", "What a file says of its model.")
      .def_readonly("producer_name", &ModelMetadata::producer_name)
      .def_readonly("graph_name", &ModelMetadata::graph_name)
      .def_readonly("domain", &ModelMetadata::domain)
      .def_readonly("description", &ModelMetadata::description)
      .def_readonly("graph_description", &ModelMetadata::graph_description)
      .def_readonly("version", &ModelMetadata::model_version)
      .def_property_readonly("custom_metadata_map", [](const ModelMetadata& self) {
        return std::map<std::string, std::string>(self.custom.begin(), self.custom.end());
      });
  py::class_<NodeArg>(module, "NodeArg", "The name, type and shape of an input or output.")
      .def_property_readonly("name", [](const NodeArg& self) { return self.info.name; })
      .def_property_readonly("type", [](const NodeArg& self) { return type_text(self.info.type); })
      .def_property_readonly("shape",
                             [](const NodeArg& self) { return shape_object(self.info.type); })
      .def("__repr__", [](const NodeArg& self) {
        return text("NodeArg(name='", self.info.name, "', type='", type_text(self.info.type),
                    "', shape=", std::string(py::str(shape_object(self.info.type))), ")");
      });
}

}  // namespace

void bind_session(py::module_& module) {
  bind_metadata(module);
  py::class_<PySession>(module, "Session")
      .def(py::init<const py::object&, const PySessionOptions&>())
      .def("run", &PySession::run, py::arg("output_names"), py::arg("input_feed"),
           py::arg("run_options") = py::none(),
           "Runs the model without the interpreter's lock.\n\n"
           "output_names: names, or None for all outputs.\n"
           "input_feed: a dict of input names and arrays; lists for sequences, dicts for maps.\n"
           "Returns a list of arrays (lists, dicts) in the order asked. Raises InvalidArgument "
           "where names, types or shapes do not fit.")
      .def("run_with_ort_values", &PySession::run_values, py::arg("output_names"),
           py::arg("input_dict_ort_values"), py::arg("run_options") = py::none(),
           "The same with OrtValues in and out.")
      .def(
          "get_inputs", [](const PySession& self) { return node_args(self.session().inputs()); },
          "The inputs that a run must be given.")
      .def("get_outputs", [](const PySession& self) { return node_args(self.session().outputs()); })
      .def(
          "get_overridable_initializers",
          [](const PySession& self) { return node_args(self.session().optional_inputs()); },
          "Inputs that have a default value in the model.")
      .def("get_modelmeta", [](const PySession& self) { return self.session().metadata(); })
      .def(
          "end_profiling", [](PySession& self) { return self.profile().end(); },
          "Writes what was measured as a Chrome trace; returns the file's name, \"\" where the "
          "options did not ask for it.")
      .def(
          "get_profiling_start_time_ns",
          [](PySession& self) { return self.profile().start_nanoseconds(); },
          "When measuring began, by the clock of time.monotonic_ns(); 0 where it did not.")
      .def("_nodes", &PySession::nodes);
}

}  // namespace sardonyx::python
