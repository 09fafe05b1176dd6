// Graphs of the model editor's, read back.
#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

OrtValueInfo* value_info(const char* name) {
  const OrtModelEditorApi* editor = lib.api->GetModelEditorApi();
  OrtTensorTypeAndShapeInfo* shape = nullptr;
  const int64_t dims[] = {2};
  (void)lib.api->CreateTensorTypeAndShapeInfo(&shape);
  (void)lib.api->SetTensorElementType(shape, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  (void)lib.api->SetDimensions(shape, dims, 1);
  OrtTypeInfo* type = nullptr;
  OrtValueInfo* made = nullptr;
  (void)editor->CreateTensorTypeInfo(shape, &type);
  answer(std::string("value ") + name, editor->CreateValueInfo(name, type, &made));
  return made;
}

OrtNode* node(const char* op, const Names& inputs, const Names& outputs) {
  OrtNode* made = nullptr;
  const int64_t number = 3;
  OrtOpAttr* attributes[1] = {};
  (void)lib.api->CreateOpAttr("number", &number, 1, ORT_OP_ATTR_INT, &attributes[0]);
  answer(std::string("node ") + op,
         lib.api->GetModelEditorApi()->CreateNode(op, "", (std::string("the ") + op).c_str(),
                                                  inputs.data(), inputs.size(), outputs.data(),
                                                  outputs.size(), attributes, 1, &made));
  return made;
}

void told(const OrtValueInfo* info) {
  if (!info) return line("value", "NULL");
  const char* name = nullptr;
  const OrtTypeInfo* type = nullptr;
  if (ANSWER(GetValueInfoName(info, &name))) line("name", name);
  if (ANSWER(GetValueInfoTypeInfo(info, &type)) && type) line("type", described(type));
  const OrtNode* producer = nullptr;
  size_t index = 99;
  if (ANSWER(ValueInfo_GetValueProducer(info, &producer, &index)))
    line("producer", producer ? std::to_string(index) : "NULL");
  if (ANSWER(ValueInfo_GetValueNumConsumers(info, &index))) line("consumers", index);
  const OrtValue* value = nullptr;
  if (ANSWER(ValueInfo_GetInitializerValue(info, &value))) line("value", described(value));
  OrtExternalInitializerInfo* external = nullptr;
  if (ANSWER(ValueInfo_GetExternalInitializerInfo(info, &external)))
    line("external", external ? "there" : "NULL");
  bool is = false;
  if (ANSWER(ValueInfo_IsRequiredGraphInput(info, &is))) line("required", is);
  if (ANSWER(ValueInfo_IsOptionalGraphInput(info, &is))) line("optional", is);
  if (ANSWER(ValueInfo_IsGraphOutput(info, &is))) line("output", is);
  if (ANSWER(ValueInfo_IsConstantInitializer(info, &is))) line("constant", is);
  if (ANSWER(ValueInfo_IsFromOuterScope(info, &is))) line("outer", is);
}

void told(const OrtNode* node) {
  const char* text = nullptr;
  size_t count = 99;
  int version = 0;
  if (ANSWER(Node_GetId(node, &count))) line("id", count);
  if (ANSWER(Node_GetName(node, &text))) line("name", text);
  if (ANSWER(Node_GetOperatorType(node, &text))) line("op", text);
  if (ANSWER(Node_GetDomain(node, &text))) line("domain", text);
  if (ANSWER(Node_GetSinceVersion(node, &version))) line("since", version);
  if (ANSWER(Node_GetNumInputs(node, &count))) line("inputs", count);
  const OrtValueInfo* infos[3] = {};
  if (ANSWER(Node_GetInputs(node, infos, 2))) told(infos[0]);
  if (ANSWER(Node_GetNumOutputs(node, &count))) line("outputs", count);
  if (ANSWER(Node_GetOutputs(node, infos, 1))) told(infos[0]);
  if (ANSWER(Node_GetNumImplicitInputs(node, &count))) line("implicit", count);
  if (ANSWER(Node_GetNumAttributes(node, &count))) line("attributes", count);
  const OrtOpAttr* attribute = nullptr;
  if (ANSWER(Node_GetAttributes(node, &attribute, 1)) && attribute) {
    (void)lib.api->OpAttr_GetName(attribute, &text);
    line("attribute", text);
  }
  ANSWER(Node_GetAttributeByName(node, "number", &attribute));
  ANSWER(Node_GetAttributeByName(node, "none", &attribute));
  if (ANSWER(Node_GetNumSubgraphs(node, &count))) line("subgraphs", count);
  const OrtGraph* graph = nullptr;
  if (ANSWER(Node_GetGraph(node, &graph))) line("graph", graph ? "there" : "NULL");
  if (ANSWER(Node_GetEpName(node, &text))) line("ep", text ? text : "NULL");
}

}  // namespace

void inspection_chapter() {
  const OrtModelEditorApi* editor = lib.api->GetModelEditorApi();
  OrtGraph* graph = nullptr;
  answer("graph", editor->CreateGraph(&graph));
  OrtValueInfo *x = value_info("x"), *y = value_info("y");
  answer("inputs", editor->SetGraphInputs(graph, &x, 1));
  answer("outputs", editor->SetGraphOutputs(graph, &y, 1));
  answer("initializer",
         editor->AddInitializerToGraph(graph, "w", tensor<float>({2}, {5, 6}), false));
  OrtNode *add = node("Add", {"x", "w"}, {"a"}), *abs = node("Abs", {"a"}, {"y"});
  answer("add", editor->AddNodeToGraph(graph, add));
  answer("add", editor->AddNodeToGraph(graph, abs));
  const char* text = nullptr;
  size_t count = 99;
  int64_t version = 0;
  if (ANSWER(Graph_GetName(graph, &text))) line("name", text);
  if (ANSWER(Graph_GetModelPath(graph, &text))) line("path", text);
  if (ANSWER(Graph_GetOnnxIRVersion(graph, &version))) line("version", version > 0);
  if (ANSWER(Graph_GetNumOperatorSets(graph, &count))) line("sets", count);
  if (ANSWER(Graph_GetNumInputs(graph, &count))) line("inputs", count);
  const OrtValueInfo* infos[3] = {};
  if (ANSWER(Graph_GetInputs(graph, infos, 1))) told(infos[0]);
  if (ANSWER(Graph_GetNumOutputs(graph, &count))) line("outputs", count);
  if (ANSWER(Graph_GetOutputs(graph, infos, 1))) told(infos[0]);
  if (ANSWER(Graph_GetNumInitializers(graph, &count))) line("initializers", count);
  if (ANSWER(Graph_GetInitializers(graph, infos, 1))) told(infos[0]);
  if (ANSWER(Graph_GetNumNodes(graph, &count))) line("nodes", count);
  const OrtNode* nodes[3] = {};
  ANSWER(Graph_GetNodes(graph, nodes, 1));
  if (ANSWER(Graph_GetNodes(graph, nodes, 2))) told(nodes[0]);
  const OrtNode* parent = nullptr;
  if (ANSWER(Graph_GetParentNode(graph, &parent))) line("parent", parent ? "there" : "NULL");
  OrtModelMetadata* metadata = nullptr;
  if (ANSWER(Graph_GetModelMetadata(graph, &metadata)))
    line("metadata", metadata ? "there" : "NULL");
  OrtExternalInitializerInfo* external = nullptr;
  ANSWER(CreateExternalInitializerInfo("file.bin", 16, 64, &external));
  if (!external) return;
  line("file", lib.api->ExternalInitializerInfo_GetFilePath(external));
  line("offset", lib.api->ExternalInitializerInfo_GetFileOffset(external));
  line("bytes", lib.api->ExternalInitializerInfo_GetByteSize(external));
  lib.api->ReleaseExternalInitializerInfo(external);
}

}  // namespace behaviour
