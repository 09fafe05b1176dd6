// What a graph of the editor's has.
#include "executor/ort_abi/metadata.h"
#include "executor/ort_abi/model_editor/editor_types.h"
#include "executor/ort_abi/model_editor/listing.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "onnx_io/load.h"

namespace sardonyx::ort_abi {
namespace {

template <typename Part>
using Parts = std::vector<std::unique_ptr<Part>>;

template <typename Part>
OrtStatus* count_parts(const OrtGraph* graph, size_t* out, Parts<Part> OrtGraph::*member) {
  return guarded([&] { require(out, "out") = (require(graph, "graph").*member).size(); });
}

template <typename Part>
OrtStatus* list_parts(const OrtGraph* graph, const Part** out, size_t size, const char* what,
                      Parts<Part> OrtGraph::*member) {
  return guarded([&] {
    list(require(graph, "graph").*member, out, size, what,
         [](const std::unique_ptr<Part>& part) { return part.get(); });
  });
}

const OrtModel& model_of(const OrtGraph* graph) {
  const OrtModel* model = require(graph, "graph").model;
  if (!model) refuse(ORT_INVALID_ARGUMENT, "the graph is part of no model so far");
  return *model;
}

OrtStatus* graph_text(const OrtGraph* graph, const char** out, const char* text) {
  return guarded([&] {
    const char*& place = require_place(out, "out");
    require(graph, "graph");
    place = text;
  });
}

}  // namespace

OrtStatus* Functions::Graph_GetName(const OrtGraph* graph, const char** graph_name) {
  return graph_text(graph, graph_name, "ModelEditorGraph");
}
// It comes from no file.
OrtStatus* Functions::Graph_GetModelPath(const OrtGraph* graph, const char** model_path) {
  return graph_text(graph, model_path, "");
}
OrtStatus* Functions::Graph_GetOnnxIRVersion(const OrtGraph* graph, int64_t* onnx_ir_version) {
  return guarded([&] {
    require(graph, "graph");
    require(onnx_ir_version, "onnx_ir_version") = kNewestIrVersion;
  });
}

OrtStatus* Functions::Graph_GetNumOperatorSets(const OrtGraph* graph, size_t* num_operator_sets) {
  return guarded(
      [&] { require(num_operator_sets, "num_operator_sets") = model_of(graph).opsets.size(); });
}
OrtStatus* Functions::Graph_GetOperatorSets(const OrtGraph* graph, const char** domains,
                                            int64_t* opset_versions, size_t num_operator_sets) {
  return guarded([&] {
    const auto& opsets = model_of(graph).opsets;
    list(opsets, domains, num_operator_sets, "domains",
         [](const auto& opset) { return opset.first.c_str(); });
    list(opsets, opset_versions, num_operator_sets, "opset_versions",
         [](const auto& opset) { return opset.second; });
  });
}

OrtStatus* Functions::Graph_GetNumInputs(const OrtGraph* graph, size_t* num_inputs) {
  return count_parts(graph, num_inputs, &OrtGraph::inputs);
}
OrtStatus* Functions::Graph_GetInputs(const OrtGraph* graph, const OrtValueInfo** inputs,
                                      size_t num_inputs) {
  return list_parts(graph, inputs, num_inputs, "inputs", &OrtGraph::inputs);
}
OrtStatus* Functions::Graph_GetNumOutputs(const OrtGraph* graph, size_t* num_outputs) {
  return count_parts(graph, num_outputs, &OrtGraph::outputs);
}
OrtStatus* Functions::Graph_GetOutputs(const OrtGraph* graph, const OrtValueInfo** outputs,
                                       size_t num_outputs) {
  return list_parts(graph, outputs, num_outputs, "outputs", &OrtGraph::outputs);
}
OrtStatus* Functions::Graph_GetNumInitializers(const OrtGraph* graph, size_t* num_initializers) {
  return count_parts(graph, num_initializers, &OrtGraph::constants);
}
OrtStatus* Functions::Graph_GetInitializers(const OrtGraph* graph,
                                            const OrtValueInfo** initializers,
                                            size_t num_initializers) {
  return list_parts(graph, initializers, num_initializers, "initializers", &OrtGraph::constants);
}
OrtStatus* Functions::Graph_GetNumNodes(const OrtGraph* graph, size_t* num_nodes) {
  return count_parts(graph, num_nodes, &OrtGraph::nodes);
}
OrtStatus* Functions::Graph_GetNodes(const OrtGraph* graph, const OrtNode** nodes,
                                     size_t num_nodes) {
  return list_parts(graph, nodes, num_nodes, "nodes", &OrtGraph::nodes);
}

// It is no node's.
OrtStatus* Functions::Graph_GetParentNode(const OrtGraph* graph, const OrtNode** node) {
  return guarded([&] {
    require_place(node, "node");
    require(graph, "graph");
  });
}

OrtStatus* Functions::Graph_GetModelMetadata(const OrtGraph* graph, OrtModelMetadata** out) {
  return guarded([&] {
    OrtModelMetadata*& place = require_place(out, "out");
    require(graph, "graph");
    place = new OrtModelMetadata{{}, /*names_version=*/false};
  });
}

// Parts of graphs are for execution providers to look at; a graph that a program builds is none of
// theirs.
OrtStatus* Functions::Graph_GetGraphView(const OrtGraph* src_graph, const OrtNode** nodes, size_t,
                                         OrtGraph** dst_graph) {
  return guarded([&] {
    require_place(dst_graph, "dst_graph");
    require(src_graph, "src_graph");
    require(nodes, "nodes");
    refuse(
        ORT_INVALID_ARGUMENT,
        "src_graph is a graph of the model editor's: a view is made of the graphs that execution "
        "providers are given alone");
  });
}

}  // namespace sardonyx::ort_abi
