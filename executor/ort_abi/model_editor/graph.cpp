// Parts of a model, and the model of them.
#include <algorithm>

#include "executor/ort_abi/custom_ops/op_attr.h"
#include "executor/ort_abi/model_editor/editor_types.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/element_type.h"
#include "ir/op_def.h"

namespace sardonyx::ort_abi {
namespace {

OrtStatus* create_type(OrtTypeInfo** out, const auto& make) {
  return guarded([&] {
    OrtTypeInfo*& place = require_place(out, "type_info");
    place = new OrtTypeInfo(make());
  });
}

std::shared_ptr<const OrtTypeInfo> copied_type(const OrtTypeInfo* type, const char* name) {
  return std::make_shared<const OrtTypeInfo>(require(type, name));
}

std::shared_ptr<const OrtTensorTypeAndShapeInfo> copied_tensor_type(
    const OrtTensorTypeAndShapeInfo* info) {
  const OrtTensorTypeAndShapeInfo& given = require(info, "tensor_info");
  dtype_of_element(given.type);  // throws where there is no such type
  return std::make_shared<const OrtTensorTypeAndShapeInfo>(given);
}

std::string required_name(const char* name) {
  const std::string given = &require(name, "name");
  if (given.empty()) refuse(ORT_INVALID_ARGUMENT, "name: expected a name, got an empty string");
  return given;
}

std::vector<std::string> copied_names(const char* const* names, size_t count, const char* what) {
  std::vector<std::string> copies;
  if (count > 0) require(names, what);
  for (size_t i = 0; i < count; ++i)
    copies.emplace_back(names[i] ? names[i] : "");
  return copies;
}

OrtGraph& changed_graph(OrtGraph* graph) {
  if (!graph) refuse(ORT_INVALID_ARGUMENT, "graph: the pointer is null");
  return *graph;
}

// Takes the values over, all of them or none.
OrtStatus* set_values(OrtGraph* graph, OrtValueInfo** given, size_t count, const char* what,
                      std::vector<std::unique_ptr<OrtValueInfo>> OrtGraph::*member) {
  return guarded([&] {
    auto& list = changed_graph(graph).*member;
    if (count > 0) require(given, what);
    std::set<const OrtValueInfo*> seen;
    for (size_t i = 0; i < count; ++i) {
      const OrtValueInfo& info = require(given[i], what);
      if (!seen.insert(&info).second)
        refuse(ORT_INVALID_ARGUMENT, what, ": Duplicate value ", info.name);
      if (info.is_owned)
        refuse(ORT_INVALID_ARGUMENT, what, ": ", info.name, " has already been added to a graph");
    }
    list.clear();
    list.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      given[i]->is_owned = true;
      given[i]->graph = graph;
      list.emplace_back(std::exchange(given[i], nullptr));
    }
  });
}

std::vector<AddedValue> added_values(const std::vector<std::unique_ptr<OrtValueInfo>>& infos) {
  std::vector<AddedValue> values;
  for (const auto& info : infos)
    values.push_back({info->name, type_of(info->type)});
  return values;
}

// Values that were not heard of before.
void name_values(OrtGraph& graph, const AddedNode& node) {
  for (const auto* names : {&node.inputs, &node.outputs}) {
    for (const std::string& name : *names) {
      if (name.empty() || graph.value_named(name)) continue;
      graph.others.push_back(
          std::make_unique<OrtValueInfo>(OrtValueInfo{name, {}, /*is_owned=*/true, &graph}));
    }
  }
}

}  // namespace

ModelAddition addition_of(const OrtModel& model) {
  if (!model.graph) {
    refuse(ORT_INVALID_ARGUMENT, "the model has no graph: add one with AddGraphToModel");
  }
  ModelAddition addition{.opsets = model.opsets,
                         .initializers = model.graph->initializers,
                         .inputs = added_values(model.graph->inputs),
                         .outputs = added_values(model.graph->outputs)};
  for (const auto& node : model.graph->nodes)
    addition.nodes.push_back(node->node);
  return addition;
}

OrtStatus* ModelEditorFunctions::CreateTensorTypeInfo(const OrtTensorTypeAndShapeInfo* tensor_info,
                                                      OrtTypeInfo** type_info) {
  return create_type(type_info, [&] {
    return OrtTypeInfo{.kind = ONNX_TYPE_TENSOR, .tensor = copied_tensor_type(tensor_info)};
  });
}
OrtStatus* ModelEditorFunctions::CreateSparseTensorTypeInfo(
    const OrtTensorTypeAndShapeInfo* tensor_info, OrtTypeInfo** type_info) {
  return create_type(type_info, [&] {
    return OrtTypeInfo{.kind = ONNX_TYPE_SPARSETENSOR, .tensor = copied_tensor_type(tensor_info)};
  });
}
OrtStatus* ModelEditorFunctions::CreateMapTypeInfo(ONNXTensorElementDataType map_key_type,
                                                   const OrtTypeInfo* map_value_type,
                                                   OrtTypeInfo** type_info) {
  return create_type(type_info, [&] {
    dtype_of_element(map_key_type);
    const OrtMapTypeInfo map{map_key_type, copied_type(map_value_type, "map_value_type")};
    return OrtTypeInfo{.kind = ONNX_TYPE_MAP, .map = std::make_shared<const OrtMapTypeInfo>(map)};
  });
}
OrtStatus* ModelEditorFunctions::CreateSequenceTypeInfo(const OrtTypeInfo* sequence_type,
                                                        OrtTypeInfo** type_info) {
  return create_type(type_info, [&] {
    const OrtSequenceTypeInfo sequence{copied_type(sequence_type, "sequence_type")};
    return OrtTypeInfo{.kind = ONNX_TYPE_SEQUENCE,
                       .sequence = std::make_shared<const OrtSequenceTypeInfo>(sequence)};
  });
}
OrtStatus* ModelEditorFunctions::CreateOptionalTypeInfo(const OrtTypeInfo* contained_type,
                                                        OrtTypeInfo** type_info) {
  return create_type(type_info, [&] {
    const OrtOptionalTypeInfo optional{copied_type(contained_type, "contained_type")};
    return OrtTypeInfo{.kind = ONNX_TYPE_OPTIONAL,
                       .optional = std::make_shared<const OrtOptionalTypeInfo>(optional)};
  });
}

OrtStatus* ModelEditorFunctions::CreateValueInfo(const char* name, const OrtTypeInfo* type_info,
                                                 OrtValueInfo** value_info) {
  return guarded([&] {
    OrtValueInfo*& place = require_place(value_info, "value_info");
    place = new OrtValueInfo{required_name(name), require(type_info, "type_info")};
  });
}

// The attributes are the node's from then on, and their places NULL.
namespace {

// ONNX has an attribute of Constant for each kind of value; ONNX Runtime takes `value` for them
// all.
std::string name_of(const OrtOpAttr& attribute, std::string_view op) {
  if (op != op_named("Constant").name || attribute.name != "value") return attribute.name;
  const AttrValue& value = attribute.value;
  if (std::holds_alternative<float>(value)) return "value_float";
  if (std::holds_alternative<std::vector<float>>(value)) return "value_floats";
  if (std::holds_alternative<int64_t>(value)) return "value_int";
  if (std::holds_alternative<std::vector<int64_t>>(value)) return "value_ints";
  if (std::holds_alternative<std::string>(value)) return "value_string";
  return std::holds_alternative<std::vector<std::string>>(value) ? "value_strings" : "value";
}

}  // namespace

OrtStatus* ModelEditorFunctions::CreateNode(const char* operator_name, const char* domain_name,
                                            const char* node_name, const char* const* input_names,
                                            size_t input_names_len, const char* const* output_names,
                                            size_t output_names_len, OrtOpAttr** attributes,
                                            size_t attribs_len, OrtNode** node) {
  return guarded([&] {
    OrtNode*& place = require_place(node, "node");
    auto made = std::make_unique<OrtNode>();
    made->node = {&require(operator_name, "operator_name"), &require(domain_name, "domain_name"),
                  &require(node_name, "node_name"),
                  copied_names(input_names, input_names_len, "input_names"),
                  copied_names(output_names, output_names_len, "output_names")};
    const size_t count = attributes ? attribs_len : 0;
    for (size_t i = 0; i < count; ++i) {
      const OrtOpAttr& attribute = require(attributes[i], "attributes");
      if (!made->node.attrs.emplace(name_of(attribute, made->node.op), attribute.value).second)
        refuse(ORT_INVALID_ARGUMENT, "attributes: two are named ", attribute.name);
      made->attributes.push_back(attribute);
    }
    for (size_t i = 0; i < count; ++i)
      delete std::exchange(attributes[i], nullptr);
    place = made.release();
  });
}

OrtStatus* ModelEditorFunctions::CreateGraph(OrtGraph** graph) {
  return guarded([&] { make_at(graph, "graph"); });
}

OrtStatus* ModelEditorFunctions::SetGraphInputs(OrtGraph* graph, OrtValueInfo** inputs,
                                                size_t inputs_len) {
  return set_values(graph, inputs, inputs_len, "inputs", &OrtGraph::inputs);
}
OrtStatus* ModelEditorFunctions::SetGraphOutputs(OrtGraph* graph, OrtValueInfo** outputs,
                                                 size_t outputs_len) {
  return set_values(graph, outputs, outputs_len, "outputs", &OrtGraph::outputs);
}

// The value is the graph's from then on. What is external stays where it is, which must be there as
// long as sessions of the model are; else it is copied.
OrtStatus* ModelEditorFunctions::AddInitializerToGraph(OrtGraph* graph, const char* name,
                                                       OrtValue* tensor, bool data_is_external) {
  return guarded([&] {
    OrtGraph& changed = changed_graph(graph);
    const std::string key = required_name(name);
    require(tensor, "tensor");
    if (!tensor->datum.is_tensor())
      refuse(ORT_INVALID_ARGUMENT, "initializer ", key, ": expected a tensor");
    const Tensor& elements = tensor->datum.tensor();
    constexpr size_t kSmall = 128;
    if (data_is_external && elements.bytes() < kSmall) {
      refuse(ORT_INVALID_ARGUMENT, "initializer ", key,
             ": data_is_external=true takes a tensor larger than ", kSmall - 1, " bytes, got ",
             elements.bytes(), "; make the tensor with CreateTensorAsOrtValue");
    }
    if (std::ranges::find(changed.values, tensor, &std::unique_ptr<OrtValue>::get) !=
        changed.values.end())
      refuse(ORT_INVALID_ARGUMENT, "initializer ", key,
             ": the value has already been added to the graph");
    if (changed.initializers.contains(key))
      refuse(ORT_INVALID_ARGUMENT, "initializer ", key,
             ": one of this name has already been added to the graph");
    changed.values.reserve(changed.values.size() + 1);
    changed.constants.push_back(std::make_unique<OrtValueInfo>(
        OrtValueInfo{key, type_info_of(tensor->datum.type()), /*is_owned=*/true, graph}));
    changed.initializers.emplace(key, data_is_external ? elements : elements.clone());
    changed.values.emplace_back(tensor);
  });
}

OrtStatus* ModelEditorFunctions::AddNodeToGraph(OrtGraph* graph, OrtNode* node) {
  return guarded([&] {
    OrtGraph& changed = changed_graph(graph);
    if (require(node, "node").is_owned)
      refuse(ORT_INVALID_ARGUMENT, "node ", node->node.name, " has already been added to a graph");
    changed.nodes.reserve(changed.nodes.size() + 1);
    name_values(changed, node->node);
    node->graph = graph;
    node->id = changed.nodes.size();
    changed.nodes.emplace_back(node);
    node->is_owned = true;
  });
}

OrtStatus* ModelEditorFunctions::CreateModel(const char* const* domain_names,
                                             const int* opset_versions, size_t opset_entries_len,
                                             OrtModel** model) {
  return guarded([&] {
    OrtModel*& place = require_place(model, "model");
    auto made = std::make_unique<OrtModel>();
    if (opset_entries_len > 0) require(opset_versions, "opset_versions");
    const std::vector<std::string> domains =
        copied_names(domain_names, opset_entries_len, "domain_names");
    for (size_t i = 0; i < domains.size(); ++i)
      made->opsets[domains[i]] = opset_versions[i];
    place = made.release();
  });
}

OrtStatus* ModelEditorFunctions::AddGraphToModel(OrtModel* model, OrtGraph* graph) {
  return guarded([&] {
    OrtModel& changed = require(model, "model");
    require(graph, "graph");
    if (changed.graph) refuse(ORT_INVALID_ARGUMENT, "the model already has a graph");
    if (graph->is_owned)
      refuse(ORT_INVALID_ARGUMENT, "the graph has already been added to a model");
    graph->is_owned = true;
    graph->model = model;
    changed.graph.reset(graph);
  });
}

OrtStatus* Functions::GetValueInfoName(const OrtValueInfo* value_info, const char** name) {
  return guarded([&] {
    const char*& place = require_place(name, "name");
    place = require(value_info, "value_info").name.c_str();
  });
}
OrtStatus* Functions::GetValueInfoTypeInfo(const OrtValueInfo* value_info,
                                           const OrtTypeInfo** type_info) {
  return guarded([&] {
    const OrtTypeInfo*& place = require_place(type_info, "type_info");
    place = &require(value_info, "value_info").type;
  });
}

// What is part of something greater goes with that.
void Functions::ReleaseValueInfo(OrtValueInfo* input) {
  if (input && !input->is_owned) delete input;
}
void Functions::ReleaseNode(OrtNode* input) {
  if (input && !input->is_owned) delete input;
}
void Functions::ReleaseGraph(OrtGraph* input) {
  if (input && !input->is_owned) delete input;
}
void Functions::ReleaseModel(OrtModel* input) {
  delete input;
}

}  // namespace sardonyx::ort_abi

const OrtValueInfo* OrtGraph::value_named(std::string_view name) const {
  for (const auto* list : {&inputs, &outputs, &constants, &others}) {
    for (const auto& info : *list) {
      if (info->name == name) return info.get();
    }
  }
  return nullptr;
}
