// What the nodes and values of a graph are, as a program that built it, or was given it, asks.
#include <algorithm>

#include "executor/ort_abi/model_editor/editor_types.h"
#include "executor/ort_abi/model_editor/external_info.h"
#include "executor/ort_abi/model_editor/listing.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

const OrtGraph& graph_of(const OrtValueInfo* info) {
  const OrtValueInfo& value = require(info, "value_info");
  if (!value.graph)
    refuse(ORT_INVALID_ARGUMENT, "value ", value.name, " is part of no graph so far");
  return *value.graph;
}

const OrtGraph& graph_of(const OrtNode* node) {
  const OrtNode& of = require(node, "node");
  if (!of.graph) refuse(ORT_INVALID_ARGUMENT, "node ", of.node.name, " is part of no graph so far");
  return *of.graph;
}

struct ConsumerInput {
  const OrtNode* node;
  int64_t index;
};

std::vector<ConsumerInput> uses_of(const OrtValueInfo* info) {
  std::vector<ConsumerInput> uses;
  for (const auto& node : graph_of(info).nodes) {
    const std::vector<std::string>& inputs = node->node.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == info->name) uses.push_back({node.get(), static_cast<int64_t>(i)});
    }
  }
  return uses;
}

bool is_among(const std::vector<std::unique_ptr<OrtValueInfo>>& infos, const OrtValueInfo& info) {
  return std::ranges::any_of(infos, [&](const auto& one) { return one->name == info.name; });
}

OrtStatus* ask(const OrtValueInfo* info, bool* out, const auto& question) {
  return guarded([&] {
    const OrtGraph& graph = graph_of(info);
    require(out, "out") = question(graph, *info);
  });
}

OrtStatus* list_names(const OrtNode* node, const std::vector<std::string> AddedNode::*names,
                      const OrtValueInfo** out, size_t size, const char* what) {
  return guarded([&] {
    const OrtGraph& graph = graph_of(node);
    list(node->node.*names, out, size, what,
         [&](const std::string& name) { return name.empty() ? nullptr : graph.value_named(name); });
  });
}

OrtStatus* node_text(const OrtNode* node, const char** out, std::string AddedNode::*member) {
  return guarded([&] {
    const char*& place = require_place(out, "out");
    place = (require(node, "node").node.*member).c_str();
  });
}

// A node of the editor's has no graphs of its own, and what it reads is what it names.
OrtStatus* count_none(const OrtNode* node, size_t* out) {
  return guarded([&] {
    require(node, "node");
    require(out, "out") = 0;
  });
}

}  // namespace

// ---- values

OrtStatus* Functions::ValueInfo_GetValueProducer(const OrtValueInfo* value_info,
                                                 const OrtNode** producer_node,
                                                 size_t* producer_output_index) {
  return guarded([&] {
    const OrtNode*& place = require_place(producer_node, "producer_node");
    if (producer_output_index) *producer_output_index = 0;
    for (const auto& node : graph_of(value_info).nodes) {
      const auto at = std::ranges::find(node->node.outputs, value_info->name);
      if (at == node->node.outputs.end()) continue;
      place = node.get();
      if (producer_output_index)
        *producer_output_index = static_cast<size_t>(at - node->node.outputs.begin());
    }
  });
}

OrtStatus* Functions::ValueInfo_GetValueNumConsumers(const OrtValueInfo* value_info,
                                                     size_t* num_consumers) {
  return guarded([&] { require(num_consumers, "num_consumers") = uses_of(value_info).size(); });
}

OrtStatus* Functions::ValueInfo_GetValueConsumers(const OrtValueInfo* value_info,
                                                  const OrtNode** nodes, int64_t* input_indices,
                                                  size_t num_consumers) {
  return guarded([&] {
    const std::vector<ConsumerInput> uses = uses_of(value_info);
    list(uses, nodes, num_consumers, "nodes", [](const ConsumerInput& use) { return use.node; });
    list(uses, input_indices, num_consumers, "input_indices",
         [](const ConsumerInput& use) { return use.index; });
  });
}

// NULL for what is no initializer.
OrtStatus* Functions::ValueInfo_GetInitializerValue(const OrtValueInfo* value_info,
                                                    const OrtValue** initializer_value) {
  return guarded([&] {
    const OrtValue*& place = require_place(initializer_value, "initializer_value");
    const OrtGraph& graph = graph_of(value_info);
    for (size_t i = 0; i < graph.constants.size(); ++i) {
      if (graph.constants[i]->name == value_info->name) place = graph.values[i].get();
    }
  });
}

// The editor's initializers are in memory.
OrtStatus* Functions::ValueInfo_GetExternalInitializerInfo(const OrtValueInfo* value_info,
                                                           OrtExternalInitializerInfo** info) {
  return guarded([&] {
    require_place(info, "info");
    require(value_info, "value_info");
  });
}

OrtStatus* Functions::ValueInfo_IsRequiredGraphInput(const OrtValueInfo* value_info,
                                                     bool* is_required_graph_input) {
  return ask(value_info, is_required_graph_input,
             [](const OrtGraph& graph, const OrtValueInfo& of) {
               return is_among(graph.inputs, of) && !graph.initializers.contains(of.name);
             });
}
OrtStatus* Functions::ValueInfo_IsOptionalGraphInput(const OrtValueInfo* value_info,
                                                     bool* is_optional_graph_input) {
  return ask(value_info, is_optional_graph_input,
             [](const OrtGraph& graph, const OrtValueInfo& of) {
               return is_among(graph.inputs, of) && graph.initializers.contains(of.name);
             });
}
OrtStatus* Functions::ValueInfo_IsGraphOutput(const OrtValueInfo* value_info,
                                              bool* is_graph_output) {
  return ask(value_info, is_graph_output, [](const OrtGraph& graph, const OrtValueInfo& of) {
    return is_among(graph.outputs, of);
  });
}
OrtStatus* Functions::ValueInfo_IsConstantInitializer(const OrtValueInfo* value_info,
                                                      bool* is_constant_initializer) {
  return ask(value_info, is_constant_initializer,
             [](const OrtGraph& graph, const OrtValueInfo& of) {
               return graph.initializers.contains(of.name) && !is_among(graph.inputs, of);
             });
}
OrtStatus* Functions::ValueInfo_IsFromOuterScope(const OrtValueInfo* value_info,
                                                 bool* is_from_outer_scope) {
  return ask(value_info, is_from_outer_scope,
             [](const OrtGraph&, const OrtValueInfo&) { return false; });
}

// ---- nodes

OrtStatus* Functions::Node_GetId(const OrtNode* node, size_t* node_id) {
  return guarded([&] { require(node_id, "node_id") = require(node, "node").id; });
}
OrtStatus* Functions::Node_GetName(const OrtNode* node, const char** node_name) {
  return node_text(node, node_name, &AddedNode::name);
}
OrtStatus* Functions::Node_GetOperatorType(const OrtNode* node, const char** operator_type) {
  return node_text(node, operator_type, &AddedNode::op);
}
OrtStatus* Functions::Node_GetDomain(const OrtNode* node, const char** domain_name) {
  return node_text(node, domain_name, &AddedNode::domain);
}
// Of a model, the version that it has of the operator's domain: -1 where there is none so far.
OrtStatus* Functions::Node_GetSinceVersion(const OrtNode* node, int* since_version) {
  return guarded([&] {
    const OrtModel* model = graph_of(node).model;
    require(since_version, "since_version") = -1;
    if (!model) return;
    const auto at = model->opsets.find(node->node.domain);
    if (at != model->opsets.end()) *since_version = static_cast<int>(at->second);
  });
}

OrtStatus* Functions::Node_GetNumInputs(const OrtNode* node, size_t* num_inputs) {
  return guarded(
      [&] { require(num_inputs, "num_inputs") = require(node, "node").node.inputs.size(); });
}
OrtStatus* Functions::Node_GetInputs(const OrtNode* node, const OrtValueInfo** inputs,
                                     size_t num_inputs) {
  return list_names(node, &AddedNode::inputs, inputs, num_inputs, "inputs");
}
OrtStatus* Functions::Node_GetNumOutputs(const OrtNode* node, size_t* num_outputs) {
  return guarded(
      [&] { require(num_outputs, "num_outputs") = require(node, "node").node.outputs.size(); });
}
OrtStatus* Functions::Node_GetOutputs(const OrtNode* node, const OrtValueInfo** outputs,
                                      size_t num_outputs) {
  return list_names(node, &AddedNode::outputs, outputs, num_outputs, "outputs");
}
OrtStatus* Functions::Node_GetNumImplicitInputs(const OrtNode* node, size_t* num_implicit_inputs) {
  return count_none(node, num_implicit_inputs);
}
OrtStatus* Functions::Node_GetImplicitInputs(const OrtNode* node, const OrtValueInfo**, size_t) {
  return guarded([&] { require(node, "node"); });
}

OrtStatus* Functions::Node_GetNumAttributes(const OrtNode* node, size_t* num_attributes) {
  return guarded(
      [&] { require(num_attributes, "num_attributes") = require(node, "node").attributes.size(); });
}
OrtStatus* Functions::Node_GetAttributes(const OrtNode* node, const OrtOpAttr** attributes,
                                         size_t num_attributes) {
  return guarded([&] {
    list(require(node, "node").attributes, attributes, num_attributes, "attributes",
         [](const OrtOpAttr& attribute) { return &attribute; });
  });
}
OrtStatus* Functions::Node_GetAttributeByName(const OrtNode* node, const char* attribute_name,
                                              const OrtOpAttr** attribute) {
  return guarded([&] {
    const OrtOpAttr*& place = require_place(attribute, "attribute");
    const auto& attributes = require(node, "node").attributes;
    const auto at =
        std::ranges::find(attributes, &require(attribute_name, "attribute_name"), &OrtOpAttr::name);
    if (at == attributes.end())
      refuse(ORT_NOT_FOUND, "node ", node->node.name, ": no attribute is named ", attribute_name);
    place = &*at;
  });
}

OrtStatus* Functions::Node_GetNumSubgraphs(const OrtNode* node, size_t* num_subgraphs) {
  return count_none(node, num_subgraphs);
}
OrtStatus* Functions::Node_GetSubgraphs(const OrtNode* node, const OrtGraph**, size_t,
                                        const char**) {
  return guarded([&] { require(node, "node"); });
}
OrtStatus* Functions::Node_GetGraph(const OrtNode* node, const OrtGraph** graph) {
  return guarded([&] {
    const OrtGraph*& place = require_place(graph, "graph");
    place = require(node, "node").graph;
  });
}
// No provider has it so far.
OrtStatus* Functions::Node_GetEpName(const OrtNode* node, const char** out) {
  return guarded([&] {
    const char*& place = require_place(out, "out");
    require(node, "node");
    place = "";
  });
}

// ---- where an initializer is in a file

OrtStatus* Functions::CreateExternalInitializerInfo(const char* filepath, int64_t file_offset,
                                                    size_t byte_size,
                                                    OrtExternalInitializerInfo** out) {
  return guarded([&] {
    OrtExternalInitializerInfo*& place = require_place(out, "out");
    place = new OrtExternalInitializerInfo{&require(filepath, "filepath"), file_offset, byte_size};
  });
}
void Functions::ReleaseExternalInitializerInfo(OrtExternalInitializerInfo* input) {
  delete input;
}
const char* Functions::ExternalInitializerInfo_GetFilePath(const OrtExternalInitializerInfo* info) {
  return info ? info->path.c_str() : nullptr;
}
int64_t Functions::ExternalInitializerInfo_GetFileOffset(const OrtExternalInitializerInfo* info) {
  return info ? info->offset : 0;
}
size_t Functions::ExternalInitializerInfo_GetByteSize(const OrtExternalInitializerInfo* info) {
  return info ? info->bytes : 0;
}

}  // namespace sardonyx::ort_abi
