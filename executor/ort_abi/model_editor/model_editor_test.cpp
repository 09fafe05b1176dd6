// Models that a program builds, or adds to, and models that are compiled ahead.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "executor/ort_abi/api_for_test.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::ort_abi {
namespace {

class OrtModelEditorTest : public OrtApiTest {
 protected:
  const OrtModelEditorApi& editor() { return *api->GetModelEditorApi(); }
  const OrtCompileApi& compiler() { return *api->GetCompileApi(); }

  OrtValueInfo* value(const char* name, const std::vector<int64_t>& dims,
                      std::vector<const char*> names = {}) {
    OrtTensorTypeAndShapeInfo* shape = nullptr;
    ok(api->CreateTensorTypeAndShapeInfo(&shape));
    ok(api->SetTensorElementType(shape, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT));
    ok(api->SetDimensions(shape, dims.data(), dims.size()));
    if (!names.empty()) ok(api->SetSymbolicDimensions(shape, names.data(), names.size()));
    OrtTypeInfo* type = nullptr;
    ok(editor().CreateTensorTypeInfo(shape, &type));
    api->ReleaseTensorTypeAndShapeInfo(shape);
    OrtValueInfo* made = nullptr;
    ok(editor().CreateValueInfo(name, type, &made));
    api->ReleaseTypeInfo(type);
    return made;
  }
  OrtNode* node(const char* op, const Names& inputs, const Names& outputs,
                std::vector<OrtOpAttr*> attributes = {}) {
    OrtNode* made = nullptr;
    ok(editor().CreateNode(op, "", (std::string("the ") + op).c_str(), inputs.data(), inputs.size(),
                           outputs.data(), outputs.size(), attributes.data(), attributes.size(),
                           &made));
    for (const OrtOpAttr* attribute : attributes)
      EXPECT_EQ(attribute, nullptr);
    return made;
  }
  OrtOpAttr* float_attribute(const char* name, float number) {
    OrtOpAttr* made = nullptr;
    ok(api->CreateOpAttr(name, &number, 1, ORT_OP_ATTR_FLOAT, &made));
    return made;
  }
  OrtGraph* graph(std::vector<OrtValueInfo*> inputs, std::vector<OrtValueInfo*> outputs) {
    OrtGraph* made = nullptr;
    ok(editor().CreateGraph(&made));
    if (!inputs.empty()) ok(editor().SetGraphInputs(made, inputs.data(), inputs.size()));
    if (!outputs.empty()) ok(editor().SetGraphOutputs(made, outputs.data(), outputs.size()));
    for (const auto& list : {inputs, outputs}) {
      for (const OrtValueInfo* given : list)
        EXPECT_EQ(given, nullptr);
    }
    return made;
  }
  OrtModel* model(OrtGraph* of, int opset = 18) {
    const char* domain = "";
    OrtModel* made = nullptr;
    ok(editor().CreateModel(&domain, &opset, 1, &made));
    ok(editor().AddGraphToModel(made, of));
    return own(made, api->ReleaseModel);
  }
  // y = 2 * x * w + b, x: float[batch, 8], w: float[8, 8] of ones outside of the model, b = 1.
  OrtModel* gemm_model() {
    OrtGraph* made = graph({value("x", {-1, 8}, {"batch", ""})}, {value("y", {-1, 8})});
    weights_.assign(64, 1.0f);
    const int64_t dims[] = {8, 8};
    OrtValue* w = nullptr;
    ok(api->CreateTensorWithDataAsOrtValue(cpu, weights_.data(), sizeof(float) * 64, dims, 2,
                                           ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &w));
    ok(editor().AddInitializerToGraph(made, "w", w, /*data_is_external=*/true));
    const int64_t one = 1;
    OrtValue* b = nullptr;
    ok(api->CreateTensorAsOrtValue(allocator, &one, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &b));
    void* data = nullptr;
    ok(api->GetTensorMutableData(b, &data));
    *static_cast<float*>(data) = 1;
    ok(editor().AddInitializerToGraph(made, "b", b, /*data_is_external=*/false));
    ok(editor().AddNodeToGraph(
        made, node("Gemm", {"x", "w", "b"}, {"y"}, {float_attribute("alpha", 2)})));
    return model(made);
  }
  void expect_gemm(OrtSession* with) {
    for (const int64_t batch : {1, 3}) {
      const std::vector<float> ones(static_cast<size_t>(8 * batch), 1.0f);
      OrtValue* y = output_of(with, {"x"}, {tensor<float>(ones, {batch, 8})}, "y");
      ASSERT_NE(y, nullptr);
      EXPECT_EQ(elements_of<float>(y), std::vector<float>(static_cast<size_t>(8 * batch), 17.0f));
    }
  }
  std::string input_name(const OrtSession* of) {
    char* name = nullptr;
    ok(api->SessionGetInputName(of, 0, allocator, &name));
    return text_of(name);
  }
  OrtModelCompilationOptions* compilation() {
    OrtModelCompilationOptions* made = nullptr;
    ok(compiler().CreateModelCompilationOptionsFromSessionOptions(env, options(), &made));
    return own(made, compiler().ReleaseModelCompilationOptions);
  }
  void expect_doubling(const std::string& bytes) {
    OrtValue* y = output_of(session(bytes), {"x"}, {tensor<float>({1, 2, 3}, {1, 3})}, "y");
    ASSERT_NE(y, nullptr);
    EXPECT_EQ(elements_of<float>(y), (std::vector<float>{2, 4, 6}));
  }

  std::vector<float> weights_;
  TemporaryFolder folder_;
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(OrtModelEditorTest, a_model_of_parts_runs_and_outlives_them) {
  OrtModel* made = gemm_model();
  OrtSession* with = nullptr;
  ok(editor().CreateSessionFromModel(env, made, options(), &with));
  ASSERT_NE(with, nullptr);
  own(with, api->ReleaseSession);
  EXPECT_EQ(input_name(with), "x");
  int opset = 0;
  ok(editor().SessionGetOpsetForDomain(with, "", &opset));
  EXPECT_EQ(opset, 18);
  refused(editor().SessionGetOpsetForDomain(with, "nobody's", &opset), ORT_FAIL,
          "Domain not used by model.");
  expect_gemm(with);
}

TEST_P(OrtModelEditorTest, values_tell_their_names_and_types) {
  OrtValueInfo* made = own(value("x", {2, -1}, {"", "n"}), api->ReleaseValueInfo);
  const char* name = nullptr;
  ok(api->GetValueInfoName(made, &name));
  EXPECT_STREQ(name, "x");
  const OrtTypeInfo* type = nullptr;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  ok(api->GetValueInfoTypeInfo(made, &type));
  ok(api->CastTypeInfoToTensorInfo(type, &tensor));
  int64_t dims[2] = {};
  ok(api->GetDimensions(tensor, dims, 2));
  EXPECT_TRUE(dims[0] == 2 && dims[1] == -1);
}

TEST_P(OrtModelEditorTest, what_does_not_fit_is_refused_and_stays_the_callers) {
  OrtGraph* made = own(graph({}, {}), api->ReleaseGraph);
  OrtValueInfo* info = nullptr;
  refused(editor().CreateValueInfo("", nullptr, &info), ORT_INVALID_ARGUMENT, "name");
  refused(editor().CreateValueInfo("x", nullptr, &info), ORT_INVALID_ARGUMENT, "type_info");
  const OrtValue* small = tensor<float>({1}, {1});
  refused(editor().AddInitializerToGraph(made, "w", const_cast<OrtValue*>(small), true),
          ORT_INVALID_ARGUMENT, "larger than 127 bytes");
  refused(editor().AddInitializerToGraph(made, "", const_cast<OrtValue*>(small), false),
          ORT_INVALID_ARGUMENT, "empty");
  refused(editor().AddNodeToGraph(made, nullptr), ORT_INVALID_ARGUMENT, "node");
  refused(editor().AddGraphToModel(nullptr, made), ORT_INVALID_ARGUMENT, "model");
}

// The real library frees twice what this test gives it twice.
TEST_P(OrtModelEditorTest, a_part_is_of_one_whole_which_releases_it) {
  if (is_real()) GTEST_SKIP() << "the real one takes a part twice";
  OrtGraph *first = graph({}, {}), *second = own(graph({}, {}), api->ReleaseGraph);
  OrtNode* relu = node("Relu", {"x"}, {"y"});
  ok(editor().AddNodeToGraph(first, relu));
  for (OrtGraph* again : {first, second}) {
    refused(editor().AddNodeToGraph(again, relu), ORT_INVALID_ARGUMENT,
            "has already been added to a graph");
  }
  api->ReleaseNode(relu);  // which stays, as part of the graph
  OrtNode* other = own(node("Abs", {"x"}, {"y"}), api->ReleaseNode);
  refused(editor().AddNodeToGraph(nullptr, other), ORT_INVALID_ARGUMENT, "null");
  OrtValueInfo* x = value("x", {3, 4});
  OrtValueInfo* twice[] = {x, x};
  refused(editor().SetGraphInputs(first, twice, 2), ORT_INVALID_ARGUMENT, "Duplicate");
  refused(editor().SetGraphOutputs(first, twice, 2), ORT_INVALID_ARGUMENT, "Duplicate");
  OrtValueInfo* once[] = {x};
  ok(editor().SetGraphInputs(first, once, 1));
  EXPECT_EQ(once[0], nullptr);
  api->ReleaseValueInfo(x);
  OrtValueInfo* again[] = {x};
  refused(editor().SetGraphInputs(second, again, 1), ORT_INVALID_ARGUMENT,
          "has already been added");
  OrtModel *with_graph = model(first), *without = nullptr;
  ok(editor().CreateModel(nullptr, nullptr, 0, &without));
  own(without, api->ReleaseModel);
  refused(editor().AddGraphToModel(with_graph, second), ORT_INVALID_ARGUMENT,
          "already has a graph");
  refused(editor().AddGraphToModel(without, first), ORT_INVALID_ARGUMENT, "already been added");
  api->ReleaseGraph(first);
}

TEST_P(OrtModelEditorTest, an_initializer_is_added_once) {
  OrtGraph* made = own(graph({}, {}), api->ReleaseGraph);
  const std::vector<int64_t> shape{2};
  OrtValue* values[2] = {};
  for (OrtValue*& value : values) {
    ok(api->CreateTensorAsOrtValue(allocator, shape.data(), shape.size(),
                                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  }
  own(values[1], api->ReleaseValue);
  ok(editor().AddInitializerToGraph(made, "w", values[0], false));
  if (is_real()) return;  // which takes them twice
  refused(editor().AddInitializerToGraph(made, "w", values[1], false), ORT_INVALID_ARGUMENT,
          "already been added");
  refused(editor().AddInitializerToGraph(made, "v", values[0], false), ORT_INVALID_ARGUMENT,
          "already been added");
}

TEST_P(OrtModelEditorTest, a_model_with_an_unknown_operator_is_refused) {
  OrtGraph* made = graph({value("x", {2})}, {value("y", {2})});
  ok(editor().AddNodeToGraph(made, node("Nonsense", {"x"}, {"y"})));
  OrtSession* with = nullptr;
  refused(editor().CreateSessionFromModel(env, model(made), options(), &with), ORT_INVALID_GRAPH,
          "This is an invalid model.");
  EXPECT_EQ(with, nullptr);
}

TEST_P(OrtModelEditorTest, a_session_takes_further_nodes_until_it_is_finalized) {
  const std::string bytes = doubling_model();
  OrtSession* with = nullptr;
  ok(editor().CreateModelEditorSessionFromArray(env, bytes.data(), bytes.size(), options(), &with));
  ASSERT_NE(with, nullptr);
  own(with, api->ReleaseSession);
  EXPECT_EQ(input_name(with), "x");
  int opset = 0;
  ok(editor().SessionGetOpsetForDomain(with, "", &opset));
  EXPECT_GE(opset, 7);
  std::vector<OrtValue*> results(1);
  const OrtValue* x = tensor<float>({1, 2, 3}, {1, 3});
  refused(run(with, {"x"}, {x}, {"y"}, results), ORT_FAIL, "Session not initialized");

  OrtGraph* added = graph({}, {value("z", {-1, 3})});
  ok(editor().AddNodeToGraph(added, node("Neg", {"y"}, {"z"})));
  ok(editor().ApplyModelToModelEditorSession(with, model(added, opset)));
  ok(editor().FinalizeModelEditorSession(with, options(), nullptr));
  OrtValue* z = output_of(with, {"x"}, {x}, "z");
  ASSERT_NE(z, nullptr);
  EXPECT_EQ(elements_of<float>(z), (std::vector<float>{-2, -4, -6}));
}

TEST_P(OrtModelEditorTest, a_session_of_a_file_takes_a_new_input) {
  const std::filesystem::path path = folder_.path() / "doubling.onnx";
  std::ofstream(path, std::ios::binary) << doubling_model();
  OrtSession* with = nullptr;
  ok(editor().CreateModelEditorSession(env, path.c_str(), options(), &with));
  ASSERT_NE(with, nullptr);
  own(with, api->ReleaseSession);
  int opset = 0;
  ok(editor().SessionGetOpsetForDomain(with, "", &opset));
  OrtGraph* added = graph({value("first", {-1, 3})}, {});
  ok(editor().AddNodeToGraph(added, node("Abs", {"first"}, {"x"})));
  ok(editor().ApplyModelToModelEditorSession(with, model(added, opset)));
  ok(editor().FinalizeModelEditorSession(with, options(), nullptr));
  EXPECT_EQ(input_name(with), "first");
  OrtValue* y = output_of(with, {"first"}, {tensor<float>({-1, 2, -3}, {1, 3})}, "y");
  ASSERT_NE(y, nullptr);
  EXPECT_EQ(elements_of<float>(y), (std::vector<float>{2, 4, 6}));
}

TEST_P(OrtModelEditorTest, an_ordinary_session_takes_nothing) {
  if (is_real()) GTEST_SKIP() << "the real one adds to it";
  OrtGraph* added = graph({}, {value("z", {-1, 3})});
  refused(editor().ApplyModelToModelEditorSession(session(doubling_model()), model(added)),
          ORT_FAIL, "not one of the model editor's");
}

TEST_P(OrtModelEditorTest, a_model_is_compiled_to_memory_a_file_and_a_function) {
  const std::string bytes = doubling_model();
  OrtModelCompilationOptions* with = compilation();
  ok(compiler().ModelCompilationOptions_SetInputModelFromBuffer(with, bytes.data(), bytes.size()));
  ok(compiler().ModelCompilationOptions_SetGraphOptimizationLevel(with, ORT_ENABLE_BASIC));
  void* buffer = nullptr;
  size_t size = 0;
  ok(compiler().ModelCompilationOptions_SetOutputModelBuffer(with, allocator, &buffer, &size));
  ok(compiler().CompileModel(env, with));
  ASSERT_NE(buffer, nullptr);
  expect_doubling({static_cast<const char*>(buffer), size});
  ok(api->AllocatorFree(allocator, buffer));

  const std::filesystem::path path = folder_.path() / "compiled.onnx";
  ok(compiler().ModelCompilationOptions_SetOutputModelPath(with, path.c_str()));
  ok(compiler().CompileModel(env, with));
  expect_doubling(content_of(path));
  ok(compiler().ModelCompilationOptions_SetFlags(with, 2));
  refused(compiler().CompileModel(env, with), ORT_FAIL, "exists");
  ok(compiler().ModelCompilationOptions_SetFlags(with, 0));

  std::string written;
  ok(compiler().ModelCompilationOptions_SetOutputModelWriteFunc(
      with,
      [](void* state, const void* data, size_t count) -> OrtStatus* {
        static_cast<std::string*>(state)->append(static_cast<const char*>(data), count);
        return nullptr;
      },
      &written));
  ok(compiler().CompileModel(env, with));
  expect_doubling(written);
}

// Large initializers go to a file of the program's.
struct Placing {
  const OrtApi* api;
  std::string content;
  std::vector<std::string> before;  // where they were
};

OrtStatus* place(void* state, const char*, const OrtValue* value,
                 const OrtExternalInitializerInfo* before, OrtExternalInitializerInfo** after) {
  auto& placing = *static_cast<Placing*>(state);
  *after = nullptr;
  if (before) placing.before.push_back(placing.api->ExternalInitializerInfo_GetFilePath(before));
  size_t size = 0;
  const void* data = nullptr;
  if (OrtStatus* status = placing.api->GetTensorSizeInBytes(value, &size)) return status;
  if (size < 64) return nullptr;
  if (OrtStatus* status = placing.api->GetTensorData(value, &data)) return status;
  const auto offset = static_cast<int64_t>(placing.content.size());
  placing.content.append(static_cast<const char*>(data), size);
  return placing.api->CreateExternalInitializerInfo("placed.bin", offset, size, after);
}

TEST_P(OrtModelEditorTest, a_program_says_where_initializers_are) {
  const std::filesystem::path first = folder_.path() / "first.onnx",
                              second = folder_.path() / "second.onnx";
  Placing placing{api, {}, {}};
  OrtModelCompilationOptions* with = compilation();
  ok(compiler().ModelCompilationOptions_SetInputModel(with, gemm_model()));
  ok(compiler().ModelCompilationOptions_SetOutputModelPath(with, first.c_str()));
  ok(compiler().ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(with, place,
                                                                                 &placing));
  ok(compiler().CompileModel(env, with));
  ASSERT_FALSE(placing.content.empty());
  EXPECT_TRUE(placing.before.empty());
  std::ofstream(folder_.path() / "placed.bin", std::ios::binary) << placing.content;
  OrtSession* loaded = nullptr;
  ok(api->CreateSession(env, first.c_str(), options(), &loaded));
  ASSERT_NE(loaded, nullptr);
  expect_gemm(own(loaded, api->ReleaseSession));

  with = compilation();
  ok(compiler().ModelCompilationOptions_SetInputModelPath(with, first.c_str()));
  ok(compiler().ModelCompilationOptions_SetOutputModelPath(with, second.c_str()));
  ok(compiler().ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(with, place,
                                                                                 &placing));
  ok(compiler().CompileModel(env, with));
  EXPECT_EQ(placing.before, std::vector<std::string>{"placed.bin"});
}

TEST_P(OrtModelEditorTest, sizes_below_none_are_refused) {
  OrtTensorTypeAndShapeInfo* shape = nullptr;
  ok(api->CreateTensorTypeAndShapeInfo(&shape));
  const int64_t dims[] = {-2, 2};
  refused(api->SetDimensions(shape, dims, 2), ORT_INVALID_ARGUMENT,
          "dim_values must be -1 (symbolic dimension) or larger.");
  api->ReleaseTensorTypeAndShapeInfo(shape);
}

TEST_P(OrtModelEditorTest, the_file_of_a_compiled_model_is_named_after_its_own) {
  const std::filesystem::path path = folder_.path() / "doubling.onnx";
  std::ofstream(path, std::ios::binary) << doubling_model();
  OrtModelCompilationOptions* with = compilation();
  ok(compiler().ModelCompilationOptions_SetInputModelPath(with, path.c_str()));
  ok(compiler().CompileModel(env, with));
  expect_doubling(content_of(folder_.path() / "doubling_ctx.onnx"));
}

TEST_P(OrtModelEditorTest, a_model_of_parts_is_compiled) {
  OrtModelCompilationOptions* with = compilation();
  ok(compiler().ModelCompilationOptions_SetInputModel(with, gemm_model()));
  const std::filesystem::path path = folder_.path() / "gemm.onnx";
  ok(compiler().ModelCompilationOptions_SetOutputModelPath(with, path.c_str()));
  ok(compiler().CompileModel(env, with));
  expect_gemm(session(content_of(path)));
}

TEST_P(OrtModelEditorTest, compilations_without_what_they_need_are_refused) {
  OrtModelCompilationOptions* with = compilation();
  refused(compiler().CompileModel(env, with), ORT_INVALID_ARGUMENT,
          "Input model to compile must be specified");
  const std::string bytes = doubling_model();
  refused(compiler().ModelCompilationOptions_SetInputModelFromBuffer(with, bytes.data(), 0),
          ORT_INVALID_ARGUMENT, "size is 0");
  ok(compiler().ModelCompilationOptions_SetInputModelFromBuffer(with, bytes.data(), bytes.size()));
  refused(compiler().CompileModel(env, with), ORT_FAIL, "without a valid location");
  refused(compiler().ModelCompilationOptions_SetInputModelPath(with, ""), ORT_INVALID_ARGUMENT,
          "empty");
  refused(compiler().ModelCompilationOptions_SetGraphOptimizationLevel(
              with, static_cast<GraphOptimizationLevel>(42)),
          ORT_INVALID_ARGUMENT, "graph_optimization_level with value 42 is invalid");
  ok(compiler().ModelCompilationOptions_SetInputModelPath(with, "/no/such/model.onnx"));
  refused(compiler().CompileModel(env, with), ORT_INVALID_ARGUMENT,
          "Input model path does not exist");
}

TEST_P(OrtModelEditorTest, a_graph_of_parts_is_read_back) {
  OrtGraph* made = graph({value("x", {2})}, {value("y", {2})});
  OrtValue* w = nullptr;
  const int64_t two = 2;
  ok(api->CreateTensorAsOrtValue(allocator, &two, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &w));
  ok(editor().AddInitializerToGraph(made, "w", w, /*data_is_external=*/false));
  ok(editor().AddNodeToGraph(made, node("Add", {"x", "w"}, {"sum"})));
  ok(editor().AddNodeToGraph(made, node("Elu", {"sum"}, {"y"}, {float_attribute("alpha", 2)})));
  model(made);
  size_t count = 0;
  ok(api->Graph_GetNumNodes(made, &count));
  EXPECT_EQ(count, 2u);
  ok(api->Graph_GetNumInitializers(made, &count));
  EXPECT_EQ(count, 1u);
  if (is_real()) return;  // which tells no more

  const OrtNode* nodes[2] = {};
  refused(api->Graph_GetNodes(made, nodes, 1), ORT_INVALID_ARGUMENT, "2 elements");
  ok(api->Graph_GetNodes(made, nodes, 2));
  const char* name = nullptr;
  ok(api->Node_GetOperatorType(nodes[1], &name));
  EXPECT_STREQ(name, "Elu");
  int version = 0;
  ok(api->Node_GetSinceVersion(nodes[0], &version));
  EXPECT_EQ(version, 18);
  const OrtOpAttr* alpha = nullptr;
  ok(api->Node_GetAttributeByName(nodes[1], "alpha", &alpha));
  float number = 0;
  ok(api->ReadOpAttr(alpha, ORT_OP_ATTR_FLOAT, &number, sizeof number, &count));
  EXPECT_EQ(number, 2);
  refused(api->Node_GetAttributeByName(nodes[1], "none", &alpha), ORT_NOT_FOUND, "none");

  const OrtValueInfo* inputs[2] = {};
  ok(api->Node_GetInputs(nodes[0], inputs, 2));
  bool is = false;
  ok(api->ValueInfo_IsRequiredGraphInput(inputs[0], &is));
  EXPECT_TRUE(is);
  ok(api->ValueInfo_IsConstantInitializer(inputs[1], &is));
  EXPECT_TRUE(is);
  const OrtValue* weights = nullptr;
  ok(api->ValueInfo_GetInitializerValue(inputs[1], &weights));
  EXPECT_EQ(weights, w);

  const OrtValueInfo* sum = nullptr;
  ok(api->Node_GetOutputs(nodes[0], &sum, 1));
  const OrtNode* producer = nullptr;
  ok(api->ValueInfo_GetValueProducer(sum, &producer, &count));
  EXPECT_EQ(producer, nodes[0]);
  const OrtNode* consumer = nullptr;
  int64_t index = -1;
  ok(api->ValueInfo_GetValueConsumers(sum, &consumer, &index, 1));
  EXPECT_EQ(consumer, nodes[1]);
  EXPECT_EQ(index, 0);
  ok(api->ValueInfo_IsGraphOutput(sum, &is));
  EXPECT_FALSE(is);
}

ORT_API_TESTS(OrtModelEditorTest);

}  // namespace
}  // namespace sardonyx::ort_abi
