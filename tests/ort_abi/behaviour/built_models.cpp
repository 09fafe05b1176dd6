// Models that a program builds, adds to, and has compiled: what is taken, what is refused, and in
// which words.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

// Flags of the interface.
constexpr uint32_t kRefuseWithoutCompiledNodes = 1, kRefuseExistingFile = 2;

const OrtModelEditorApi* editor() {
  return lib.api->GetModelEditorApi();
}
const OrtCompileApi* compiler() {
  return lib.api->GetCompileApi();
}

OrtTypeInfo* tensor_info(const std::vector<int64_t>& dims,
                         ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
  OrtTensorTypeAndShapeInfo* shape = nullptr;
  (void)lib.api->CreateTensorTypeAndShapeInfo(&shape);
  (void)lib.api->SetTensorElementType(shape, element);
  (void)lib.api->SetDimensions(shape, dims.data(), dims.size());
  OrtTypeInfo* type = nullptr;
  if (OrtStatus* status = editor()->CreateTensorTypeInfo(shape, &type)) answer("type", status);
  lib.api->ReleaseTensorTypeAndShapeInfo(shape);
  return type;
}

OrtValueInfo* named_value(const char* name, const std::vector<int64_t>& dims,
                          ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
  OrtTypeInfo* type = tensor_info(dims, element);
  OrtValueInfo* made = nullptr;
  if (OrtStatus* status = editor()->CreateValueInfo(name, type, &made)) answer("value", status);
  lib.api->ReleaseTypeInfo(type);
  return made;
}

OrtNode* built_node(const char* op, const Names& inputs, const Names& outputs,
                    std::vector<OrtOpAttr*> attributes = {}, const char* domain = "") {
  OrtNode* made = nullptr;
  answer(std::string("CreateNode ") + op,
         editor()->CreateNode(op, domain, (std::string("the ") + op).c_str(), inputs.data(),
                              inputs.size(), outputs.data(), outputs.size(), attributes.data(),
                              attributes.size(), &made));
  return made;
}

OrtOpAttr* real(const char* name, float number, int length) {
  OrtOpAttr* made = nullptr;
  answer("CreateOpAttr", lib.api->CreateOpAttr(name, &number, length, ORT_OP_ATTR_FLOAT, &made));
  return made;
}
OrtOpAttr* whole(const char* name, int64_t number) {
  OrtOpAttr* made = nullptr;
  answer("CreateOpAttr", lib.api->CreateOpAttr(name, &number, 1, ORT_OP_ATTR_INT, &made));
  return made;
}

OrtGraph* empty_graph() {
  OrtGraph* made = nullptr;
  if (OrtStatus* status = editor()->CreateGraph(&made)) answer("CreateGraph", status);
  return made;
}

OrtGraph* graph_of(OrtValueInfo* input, OrtValueInfo* output, const std::vector<OrtNode*>& nodes) {
  OrtGraph* graph = empty_graph();
  answer("SetGraphInputs", editor()->SetGraphInputs(graph, &input, 1));
  answer("SetGraphOutputs", editor()->SetGraphOutputs(graph, &output, 1));
  for (OrtNode* node : nodes)
    answer("AddNodeToGraph", editor()->AddNodeToGraph(graph, node));
  return graph;
}

OrtModel* model_of(OrtGraph* graph, const char* domain = "", int version = 18) {
  OrtModel* made = nullptr;
  answer("CreateModel", editor()->CreateModel(&domain, &version, version > 0 ? 1 : 0, &made));
  if (graph) answer("AddGraphToModel", editor()->AddGraphToModel(made, graph));
  return made;
}

OrtValue* iota(size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.f);
  return tensor<float>({4, static_cast<int64_t>(count) / 4}, numbers);
}

// z = 2 * x y, where y is an initializer; with a Clip behind it, whose limits are Constant nodes.
OrtModel* product(bool is_clipped, const char* domain = "") {
  OrtGraph* graph = graph_of(named_value("x", {3, 4}), named_value("z", {3, 8}), {});
  answer("AddInitializerToGraph",
         editor()->AddInitializerToGraph(graph, "y", iota(32), /*data_is_external=*/false));
  const char* out = is_clipped ? "all" : "z";
  std::vector<OrtNode*> nodes{built_node("Gemm", {"x", "y"}, {out}, {real("alpha", 2, 1)})};
  if (is_clipped) {
    nodes.push_back(built_node("Constant", {}, {"least"}, {real("value", 400, sizeof(float))}));
    nodes.push_back(built_node("Constant", {}, {"most"}, {real("value", 900, sizeof(float))}));
    nodes.push_back(built_node("Clip", {"all", "least", "most"}, {"z"}));
  }
  for (OrtNode* node : nodes)
    answer("AddNodeToGraph", editor()->AddNodeToGraph(graph, node));
  return model_of(graph, domain);
}

OrtSession* session_of(const std::string& label, const OrtModel* model,
                       const OrtSessionOptions* with = nullptr) {
  OrtSession* made = nullptr;
  answer("session of " + label,
         editor()->CreateSessionFromModel(lib.env, model, with ? with : options(), &made));
  return made;
}

void run_product(const std::string& label, OrtSession* session) {
  if (session)
    run(label, session, {"x"}, {tensor<float>({3, 4}, std::vector<float>(12, 4.f))}, {"z"});
}

bool has(const std::string& path, const char* text) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.find(text) != std::string::npos;
}

void built() {
  for (const bool is_clipped : {false, true}) {
    const std::string path = lib.folder + "/built.onnx";
    OrtSessionOptions* with = options();
    (void)lib.api->SetOptimizedModelFilePath(with, path.c_str());
    OrtModel* model = product(is_clipped, is_clipped ? "ai.onnx" : "");
    OrtSession* session = session_of("product", model, with);
    lib.api->ReleaseModel(model);
    run_product("product", session);
    // Programs look for the sets of operators that an optimised model is saved with.
    line("internal domain", has(path, "com.ms.internal.nhwc"));
    line("blocked domain", has(path, "com.microsoft.nchwc"));
    OrtSession* again = nullptr;
    answer("saved", lib.api->CreateSession(lib.env, path.c_str(), options(), &again));
    run_product("saved", again);
  }
}

void badly_built() {
  const auto of = [](const Names& inputs, const char* domain = "") {
    return graph_of(named_value("x", {4}), named_value("z", {4}),
                    {built_node("Add", inputs, {"z"}, {}, domain)});
  };
  session_of("no opsets", model_of(of({"x", "x"}), "", 0));
  session_of("no such value", model_of(of({"x", "missing"})));
  session_of("no such domain", model_of(of({"x", "x"}, "invalid_domain")));
  (void)tensor_info({-2, 2});
}

// A session whose input becomes another, by a node before its own.
void edit(const std::string& label, bool has_input, const char* domain) {
  const std::string bytes = relu();
  OrtSession* session = nullptr;
  answer(label, editor()->CreateModelEditorSessionFromArray(lib.env, bytes.data(), bytes.size(),
                                                            options(), &session));
  int version = 0;
  if (answer("opset", editor()->SessionGetOpsetForDomain(session, "", &version)))
    line("opset", version);
  answer("opset of none", editor()->SessionGetOpsetForDomain(session, "none", &version));
  OrtGraph* graph = empty_graph();
  answer("AddNodeToGraph", editor()->AddNodeToGraph(graph, built_node("Cast", {"whole"}, {"x"},
                                                                      {whole("to", 1)}, domain)));
  OrtValueInfo* input = named_value("whole", {2, 3}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  if (has_input) answer("SetGraphInputs", editor()->SetGraphInputs(graph, &input, 1));
  OrtModel* model = model_of(graph, "", 0);
  answer("apply", editor()->ApplyModelToModelEditorSession(session, model));
  answer("finalize", editor()->FinalizeModelEditorSession(session, options(), nullptr));
  if (has_input && !*domain)
    run(label, session, {"whole"}, {tensor<int64_t>({2, 3}, {-2, -1, 0, 1, 2, 3})}, {"y"});
}

OrtModelCompilationOptions* compile_options(const OrtSessionOptions* with = nullptr) {
  OrtModelCompilationOptions* made = nullptr;
  answer("compilation", compiler()->CreateModelCompilationOptionsFromSessionOptions(
                            lib.env, with ? with : options(), &made));
  return made;
}

struct Compiled {
  void* data = nullptr;
  size_t size = 0;
};

void compile_to_buffer(const std::string& label, OrtModelCompilationOptions* with) {
  Compiled made;
  answer("buffer", compiler()->ModelCompilationOptions_SetOutputModelBuffer(
                       with, lib.allocator, &made.data, &made.size));
  answer("compile " + label, compiler()->CompileModel(lib.env, with));
  line("compiled", made.data && made.size > 0);
  if (!made.data) return;
  OrtSession* session = nullptr;
  answer("load compiled",
         lib.api->CreateSessionFromArray(lib.env, made.data, made.size, options(), &session));
  run_product(label, session);
  lib.api->ReleaseSession(session);
  (void)lib.allocator->Free(lib.allocator, made.data);
}

void compiled() {
  OrtModel* model = product(true);
  for (int i = 0; i < 2; ++i) {
    OrtModelCompilationOptions* with = compile_options();
    answer("model", compiler()->ModelCompilationOptions_SetInputModel(with, model));
    answer("embed", compiler()->ModelCompilationOptions_SetEpContextEmbedMode(with, true));
    compile_to_buffer("built", with);
    compiler()->ReleaseModelCompilationOptions(with);
  }
  run_product("still the model", session_of("compiled model", model));

  OrtModelCompilationOptions* with = compile_options();
  answer("path", compiler()->ModelCompilationOptions_SetInputModelPath(with, "none.onnx"));
  answer("model", compiler()->ModelCompilationOptions_SetInputModel(with, model));
  answer("embed", compiler()->ModelCompilationOptions_SetEpContextEmbedMode(with, true));
  compile_to_buffer("model behind a path", with);
  answer("path", compiler()->ModelCompilationOptions_SetInputModelPath(with, "none.onnx"));
  compile_to_buffer("path behind a model", with);

  const std::string path = lib.folder + "/compiled.onnx";
  with = compile_options();
  answer("model", compiler()->ModelCompilationOptions_SetInputModel(with, model));
  answer("compile to nowhere", compiler()->CompileModel(lib.env, with));
  answer("path", compiler()->ModelCompilationOptions_SetOutputModelPath(with, path.c_str()));
  answer("compile to file", compiler()->CompileModel(lib.env, with));
  line("file", std::filesystem::exists(path));
  answer("flags", compiler()->ModelCompilationOptions_SetFlags(with, kRefuseExistingFile));
  answer("compile to the file again", compiler()->CompileModel(lib.env, with));
  answer("flags", compiler()->ModelCompilationOptions_SetFlags(with, kRefuseWithoutCompiledNodes));
  answer("compile no nodes", compiler()->CompileModel(lib.env, with));
  answer("flags", compiler()->ModelCompilationOptions_SetFlags(with, 128));
  answer("compile with unknown flags", compiler()->CompileModel(lib.env, with));
}

void badly_compiled() {
  OrtModelCompilationOptions* with = compile_options();
  answer("no model", compiler()->ModelCompilationOptions_SetInputModel(with, nullptr));
  answer("empty path", compiler()->ModelCompilationOptions_SetInputModelPath(with, ""));
  answer("bytes of none",
         compiler()->ModelCompilationOptions_SetInputModelFromBuffer(with, "x", 0));
  answer("empty output", compiler()->ModelCompilationOptions_SetOutputModelPath(with, ""));
  answer("level", compiler()->ModelCompilationOptions_SetGraphOptimizationLevel(
                      with, static_cast<GraphOptimizationLevel>(55)));
  answer("external",
         compiler()->ModelCompilationOptions_SetOutputModelExternalInitializersFile(with, "", 10));
  answer("context information",
         compiler()->ModelCompilationOptions_SetEpContextBinaryInformation(with, "", "model"));
  compile_to_buffer("nothing", with);
  answer("bytes", compiler()->ModelCompilationOptions_SetInputModelFromBuffer(with, "abc", 3));
  compile_to_buffer("no model's bytes", with);
  answer("model", compiler()->ModelCompilationOptions_SetInputModel(with, model_of(nullptr)));
  compile_to_buffer("a model without graph", with);
  answer("model", compiler()->ModelCompilationOptions_SetInputModel(with, model_of(empty_graph())));
  compile_to_buffer("an empty graph", with);
}

}  // namespace

void built_model_chapter() {
  built();
  badly_built();
  edit("edited", true, "");
  edit("edited without its input", false, "");
  edit("edited with an unknown domain", true, "invalid_domain");
}

void compilation_chapter() {
  compiled();
  badly_compiled();
}

}  // namespace behaviour
