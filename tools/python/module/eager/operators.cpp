// Every ONNX op, and those that the program registered, by name.
#include <pybind11/stl.h>

#include "eager/custom_op.h"
#include "ir/op_def.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/eager/arguments.h"
#include "tools/python/module/eager/bindings.h"

namespace sardonyx::python::eager_layer {
namespace {

constexpr const char* kNoPython = "can't be given in Python";

// An attribute's value as the kind that its op wants.
template <size_t kind = 0>
AttrValue attribute_of_kind(const AttrField& field, const py::handle& given) {
  if constexpr (kind == std::variant_size_v<AttrKinds>) {
    throw py::type_error(field.name + kNoPython);
  } else {
    using Kind = std::variant_alternative_t<kind, AttrKinds>;
    if (field.kind != kind) return attribute_of_kind<kind + 1>(field, given);
    if constexpr (std::is_same_v<Kind, int64_t>) {
      if (py::isinstance<DType>(given)) return static_cast<int64_t>(given.cast<DType>());
      return given.cast<int64_t>();
    } else if constexpr (std::is_same_v<Kind, sardonyx::Tensor>) {
      return tensor_from_array(py::module_::import("numpy").attr("asarray")(given), field.name)
          .clone();
    } else if constexpr (std::is_same_v<Kind, float> || std::is_same_v<Kind, std::string> ||
                         std::is_same_v<Kind, std::vector<int64_t>> ||
                         std::is_same_v<Kind, std::vector<float>> ||
                         std::is_same_v<Kind, std::vector<std::string>>) {
      return given.cast<Kind>();
    } else {
      throw py::type_error(
          text("attribute ", field.name, " (a graph, type or sparse tensor) ", kNoPython));
    }
  }
}

AttrMap attributes_from(const OpDef& op, const py::kwargs& kwargs) {
  AttrMap attributes;
  for (const auto& [key, value] : kwargs) {
    const auto name = key.cast<std::string>();
    const AttrField* const field = op.attrs->find(name);
    if (!field) {
      std::string known;
      for (const AttrField& one : op.attrs->fields)
        known += (known.empty() ? "" : ", ") + one.name;
      throw py::type_error(text(full_name(op), " has no attribute ", name, "; there are: ", known));
    }
    if (value.is_none()) continue;
    try {
      attributes.emplace(name, attribute_of_kind(*field, value));
    } catch (const py::cast_error&) {
      throw py::type_error(
          text(full_name(op), ": attribute ", name, ": got ", std::string(py::repr(value))));
    }
  }
  return attributes;
}

py::object call_operator(const std::string& name, const py::args& inputs, size_t outputs,
                         const py::kwargs& kwargs) {
  const AttrMap attributes = attributes_from(op_named(name), kwargs);
  std::vector<Tensor> given;
  for (const py::handle& input : inputs)
    given.push_back(input.is_none() ? Tensor() : tensor_from(input, name.c_str()));
  const std::vector<Tensor> results = unlocked(
      [&](const Loc& loc) { return eager::op::call_many(outputs, name, given, attributes, loc); });
  if (outputs == 1) return py::cast(results[0]);
  py::tuple all(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    all[i] = results[i].defined() ? py::cast(results[i]) : py::none();
  return all;
}

}  // namespace

void bind_operators(py::module_& module) {
  module.def("_call_operator", &call_operator, py::arg("name"), py::pos_only(),
             py::arg("outputs") = 1);
  module.def("_operator_names", [] {
    std::vector<std::string> names;
    for (const OpDef* op : all_ops()) {
      if (op->domain != "sardonyx") names.push_back(full_name(*op));
    }
    return names;
  });
  module.def("_operator_signature", [](const std::string& name) {
    const OpDef& op = op_named(name);
    std::string attributes;
    for (const AttrField& field : op.attrs->fields)
      attributes += (attributes.empty() ? "" : ", ") + field.name;
    return text(full_name(op), std::string(op.signature),
                attributes.empty() ? "" : "\nattributes: " + attributes);
  });
}

}  // namespace sardonyx::python::eager_layer
