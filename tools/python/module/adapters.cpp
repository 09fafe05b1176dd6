#include "tools/python/module/adapters.h"

#include <pybind11/stl.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "executor/ort_abi/lora.h"
#include "tools/python/module/options.h"
#include "tools/python/module/ort_value.h"

namespace sardonyx::python {

namespace py = pybind11;

namespace {

std::filesystem::path path_of(const py::object& file) {
  return py::module_::import("os").attr("fspath")(file).cast<std::string>();
}

OrtLoraAdapter read_file(const py::object& file) {
  const std::filesystem::path path = path_of(file);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(ErrorCode::kInvalidArgument, "Load LoRA adapter ", path.string(), " failed");
  const std::vector<char> content(std::istreambuf_iterator<char>(stream), {});
  return ort_abi::read_lora_adapter(std::as_bytes(std::span(content)));
}

void write_file(const OrtLoraAdapter& adapter, const py::object& file) {
  const std::filesystem::path path = path_of(file);
  const std::vector<std::byte> content = ort_abi::write_lora_adapter(adapter);
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  if (!stream.flush())
    fail(ErrorCode::kInvalidArgument, "export_adapter: ", path.string(), " can't be written");
}

// What a program makes a file of, or read from one.
struct AdapterFormat {
  OrtLoraAdapter adapter;
  py::dict parameters;  // OrtValues
};

AdapterFormat read_format(const py::object& file) {
  AdapterFormat format{read_file(file), {}};
  for (const auto& [name, tensor] : format.adapter.parameters)
    format.parameters[py::str(name)] = PyOrtValue{tensor};
  return format;
}

void export_format(const AdapterFormat& format, const py::object& file) {
  OrtLoraAdapter adapter{format.adapter.adapter_version, format.adapter.model_version, {}};
  for (const auto& [name, value] : format.parameters) {
    const Datum& datum = value.cast<const PyOrtValue&>().datum;
    if (!datum.is_tensor())
      fail(ErrorCode::kInvalidArgument, "export_adapter: parameter ", std::string(py::str(name)),
           ": expected a tensor, got ", datum.type());
    adapter.parameters.emplace(name.cast<std::string>(), datum.tensor());
  }
  write_file(adapter, file);
}

}  // namespace

void bind_adapters(py::module_& module) {
  using Adapter = OrtLoraAdapter;
  py::class_<Adapter, std::shared_ptr<Adapter>>(
      module, "LoraAdapter", "Weights from a file, for RunOptions.add_active_adapter.")
      .def(py::init<>())
      .def(
          "Load", [](Adapter& self, const py::object& file) { self = read_file(file); },
          py::arg("file_path"));

  using Format = AdapterFormat;
  const auto version = [](int32_t Adapter::*member) {
    return std::pair{[member](const Format& self) { return self.adapter.*member; },
                     [member](Format& self, int32_t value) { self.adapter.*member = value; }};
  };
  const auto [get_adapter, set_adapter] = version(&Adapter::adapter_version);
  const auto [get_model, set_model] = version(&Adapter::model_version);
  const auto get_format = [](const Format&) { return ort_abi::kLoraFormatVersion; };
  const auto get_parameters = [](const Format& self) { return self.parameters; };
  const auto set_parameters = [](Format& self, const py::dict& given) {
    self.parameters = py::dict(given.attr("copy")());
  };
  py::class_<Format>(module, "AdapterFormat", "A file of weights for LoraAdapter.Load.")
      .def(py::init<>())
      .def_static("read_adapter", &read_format, py::arg("file_path"))
      .def("export_adapter", &export_format, py::arg("file_path"))
      .def_property("adapter_version", get_adapter, set_adapter)
      .def_property("model_version", get_model, set_model)
      .def_property_readonly("format_version", get_format)
      .def_property("parameters", get_parameters, set_parameters)
      .def("get_format_version", get_format)
      .def("get_adapter_version", get_adapter)
      .def("set_adapter_version", set_adapter, py::arg("adapter_version"))
      .def("get_model_version", get_model)
      .def("set_model_version", set_model, py::arg("model_version"))
      .def("get_parameters", get_parameters)
      .def("set_parameters", set_parameters, py::arg("params"));
}

}  // namespace sardonyx::python
