// Options and sessions: what is loaded, refused, and known of a model.
#include <filesystem>
#include <fstream>

#include "executor/ort_abi/api_for_test.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::ort_abi {
namespace {

class OrtSessionTest : public OrtApiTest {
 protected:
  OrtStatus* load(const std::string& path) {
    OrtSession* made = nullptr;
    OrtStatus* status = api->CreateSession(env, path.c_str(), options(), &made);
    if (!status) api->ReleaseSession(made);
    return status;
  }
  OrtStatus* load_bytes(const std::string& bytes, const OrtSessionOptions* with = nullptr) {
    OrtSession* made = nullptr;
    OrtStatus* status = api->CreateSessionFromArray(env, bytes.data(), bytes.size(),
                                                    with ? with : options(), &made);
    if (!status) api->ReleaseSession(made);
    return status;
  }
};

TEST_P(OrtSessionTest, what_is_no_model_is_refused) {
  const TemporaryFolder folder;
  const std::string junk = folder.path() / "junk", empty = folder.path() / "empty";
  std::ofstream(junk) << "this is no model, whatever else it is";
  std::ofstream{empty};
  const std::string none = folder.path() / "none";
  refused(load(none), ORT_NO_SUCHFILE,
          "Load model from " + none + " failed:Load model " + none + " failed. File doesn't exist");
  refused(load(junk), ORT_INVALID_PROTOBUF,
          "Load model from " + junk + " failed:Protobuf parsing failed.");
  refused(load(empty), ORT_FAIL, "ModelProto does not have a graph.");
  refused(load(folder.path()), ORT_INVALID_ARGUMENT, "The model path is a directory.");
  refused(load_bytes("junkjunkjunk"), ORT_INVALID_PROTOBUF,
          "Failed to load model because protobuf parsing failed.");
  refused(load_bytes(""), ORT_INVALID_ARGUMENT, "No graph was found in the protobuf.");
  OrtSession* made = nullptr;
  refused(api->CreateSessionFromArray(env, nullptr, 0, options(), &made), ORT_INVALID_ARGUMENT,
          "Model data pointer is null.");
}

TEST_P(OrtSessionTest, a_load_can_be_cancelled) {
  OrtSessionOptions* with = options();
  ok(api->SessionOptionsSetLoadCancellationFlag(with, true));
  refused(load_bytes(doubling_model(), with), ORT_MODEL_LOAD_CANCELED,
          "canceled due to user request");
  ok(api->SessionOptionsSetLoadCancellationFlag(with, false));
  ok(load_bytes(doubling_model(), with));
}

TEST_P(OrtSessionTest, settings_are_checked_and_kept) {
  OrtSessionOptions* with = options();
  refused(api->SetSessionGraphOptimizationLevel(with, static_cast<GraphOptimizationLevel>(7)),
          ORT_INVALID_ARGUMENT, "graph_optimization_level is not valid");
  refused(api->SetSessionExecutionMode(with, static_cast<ExecutionMode>(7)), ORT_INVALID_ARGUMENT,
          "execution_mode is not valid");
  refused(api->AddSessionConfigEntry(with, "", "v"), ORT_INVALID_ARGUMENT,
          "Config key is empty or longer than maximum length 1024");
  refused(api->AddSessionConfigEntry(with, "k", std::string(8193, 'v').c_str()),
          ORT_INVALID_ARGUMENT, "Config value is longer than maximum length: 8192");
  ok(api->AddSessionConfigEntry(with, "k", "value"));
  OrtSessionOptions* copy = nullptr;
  ok(api->CloneSessionOptions(with, &copy));
  own(copy, api->ReleaseSessionOptions);
  size_t size = 0;
  ok(api->GetSessionConfigEntry(copy, "k", nullptr, &size));
  ASSERT_EQ(size, 6u);
  char value[6];
  ok(api->GetSessionConfigEntry(copy, "k", value, &size));
  EXPECT_STREQ(value, "value");
  size = 5;
  refused(api->GetSessionConfigEntry(copy, "k", value, &size), ORT_INVALID_ARGUMENT,
          "Output buffer is not large enough for session config entry");
  refused(api->GetSessionConfigEntry(copy, "none", value, &size), ORT_INVALID_ARGUMENT,
          "Session config entry 'none' was not found.");
  int has = 1;
  ok(api->HasSessionConfigEntry(copy, "none", &has));
  EXPECT_EQ(has, 0);
  ok(api->DisableMemPattern(with));
  ok(api->GetMemPatternEnabled(with, &has));
  EXPECT_EQ(has, 0);
  ok(api->SetSessionExecutionMode(with, ORT_PARALLEL));
  ExecutionMode mode{};
  ok(api->GetSessionExecutionMode(with, &mode));
  EXPECT_EQ(mode, ORT_PARALLEL);
  OrtKeyValuePairs* entries = nullptr;
  ok(api->GetSessionOptionsConfigEntries(with, &entries));
  EXPECT_STREQ(api->GetKeyValue(entries, "k"), "value");
  api->ReleaseKeyValuePairs(entries);
}

// They set what the setters set, and are no entries.
TEST_P(OrtSessionTest, entries_may_stand_for_setters) {
  OrtSessionOptions* with = options();
  const auto set = [&](const char* key, const char* value) {
    return api->AddSessionConfigEntry(with, key, value);
  };
  ok(set("session.execution_mode", "Parallel"));
  ok(set("session.enable_mem_pattern", "FALSE"));
  ok(set("session.graph_optimization_level", "enable_basic"));
  ok(set("session.intra_op_num_threads", " +1"));
  ok(set("session.log_id", "a log"));
  ExecutionMode mode{};
  int pattern = -1, has = -1;
  ok(api->GetSessionExecutionMode(with, &mode));
  ok(api->GetMemPatternEnabled(with, &pattern));
  ok(api->HasSessionConfigEntry(with, "session.execution_mode", &has));
  EXPECT_TRUE(mode == ORT_PARALLEL && pattern == 0 && has == 0);
  refused(set("session.graph_optimization_level", "5"), ORT_INVALID_ARGUMENT,
          "must be one of disable_all/enable_basic/enable_extended/enable_layout/enable_all; got "
          "'5'");
  refused(set("session.execution_mode", "7"), ORT_INVALID_ARGUMENT,
          "must be 'sequential' or 'parallel'; got '7'");
  refused(set("session.use_deterministic_compute", "2"), ORT_INVALID_ARGUMENT,
          "must be a boolean ('0'/'1' or 'true'/'false'); got '2'");
  refused(set("session.inter_op_num_threads", "3 "), ORT_INVALID_ARGUMENT,
          "must be a base-10 int32; got '3 '");
  // Of one thread's pool nobody looks at affinities.
  ok(set("session.intra_op_thread_affinities", "1;2;3"));
  ok(load_bytes(doubling_model(), with));
  ok(set("session.intra_op_num_threads", "3"));
  refused(load_bytes(doubling_model(), with), ORT_FAIL,
          "Number of affinities does not equal to thread_pool_size minus one, affinities: 3, "
          "thread_pool_size: 3");
  ok(set("session.use_per_session_threads", "0"));
  refused(set("session.use_per_session_threads", "1"), ORT_INVALID_ARGUMENT,
          "cannot set 'use_per_session_threads' back to true");
}

TEST_P(OrtSessionTest, entries_are_checked_where_they_count) {
  const auto load_with = [&](const char* key, const char* value) {
    OrtSessionOptions* with = options();
    ok(api->SetIntraOpNumThreads(with, 2));  // affinities are read for a second thread alone
    ok(api->AddSessionConfigEntry(with, key, value));
    return load_bytes(doubling_model(), with);
  };
  refused(load_with("session.intra_op_thread_affinities", "nonsense"), ORT_FAIL,
          "Processor id must consist of only digits: nonsense");
  refused(load_with("session.load_model_format", "ORT"), ORT_FAIL,
          "ORT model verification failed.");
  refused(load_with("session.dynamic_block_base", "nonsense"), ORT_RUNTIME_EXCEPTION, "stoi");
  refused(load_with("optimization.minimal_build_optimizations", "nonsense"), ORT_INVALID_ARGUMENT,
          "Invalid value for optimization.minimal_build_optimizations: nonsense");
  refused(load_with("session.disable_cpu_ep_fallback", "1"), ORT_FAIL,
          "fallback to CPU EP has been explicitly disabled by the user.");
  OrtSessionOptions* with = options();
  ok(api->SetSessionLogSeverityLevel(with, 5));
  refused(load_bytes(doubling_model(), with), ORT_FAIL, "Invalid session log severity level.");
}

TEST_P(OrtSessionTest, a_file_without_a_version_has_the_highest) {
  const std::string bytes = doubling_model();
  const std::string versioned = bytes + std::string("\x28\x00", 2);  // model_version: 0
  for (const auto& [model, expected] :
       {std::pair(bytes, INT64_MAX), std::pair(versioned, int64_t{0})}) {
    OrtModelMetadata* metadata = nullptr;
    ok(api->SessionGetModelMetadata(session(model), &metadata));
    own(metadata, api->ReleaseModelMetadata);
    int64_t version = -1;
    ok(api->ModelMetadataGetVersion(metadata, &version));
    EXPECT_EQ(version, expected);
  }
}

TEST_P(OrtSessionTest, providers_by_name) {
  OrtSessionOptions* with = options();
  const auto append = [&](const char* name) {
    return api->SessionOptionsAppendExecutionProvider(with, name, nullptr, nullptr, 0);
  };
  ok(append("CPU"));
  ok(append("CPUExecutionProvider"));
  refused(append("XNNPACK"), ORT_INVALID_ARGUMENT,
          "XNNPACK execution provider is not supported in this build. ");
  for (const char* name : {"CUDA", "DNNL", "", "cpu"}) {
    refused(append(name), ORT_INVALID_ARGUMENT,
            text("Unknown provider name '", name, "'. Currently supported values are "));
  }
  refused(api->SessionOptionsAppendExecutionProvider_V2(with, env, nullptr, 0, nullptr, nullptr, 0),
          ORT_INVALID_ARGUMENT, "Must provide one or more OrtEpDevice instances.");
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  ok(api->GetEpDevices(env, &devices, &count));
  ok(api->SessionOptionsAppendExecutionProvider_V2(with, env, devices, 1, nullptr, nullptr, 0));
  ok(api->SessionOptionsSetEpSelectionPolicy(with, OrtExecutionProviderDevicePolicy_PREFER_CPU));
  const void* none = nullptr;
  refused(api->GetExecutionProviderApi("CPU", 0, &none), ORT_INVALID_ARGUMENT,
          "Specified provider is not supported.");
  ok(load_bytes(doubling_model(), with));
}

TEST_P(OrtSessionTest, threads_of_the_environment_need_an_environment_with_threads) {
  OrtSessionOptions* with = options();
  ok(api->DisablePerSessionThreads(with));
  refused(load_bytes(doubling_model(), with), ORT_FAIL,
          "the env must be created with the the CreateEnvWithGlobalThreadPools API.");
}

TEST_P(OrtSessionTest, inputs_and_outputs_are_described) {
  OrtSession* loaded = session(doubling_model());
  size_t inputs = 0, outputs = 0;
  ok(api->SessionGetInputCount(loaded, &inputs));
  ok(api->SessionGetOutputCount(loaded, &outputs));
  ASSERT_TRUE(inputs == 1 && outputs == 1);
  char* name = nullptr;
  ok(api->SessionGetInputName(loaded, 0, allocator, &name));
  EXPECT_EQ(text_of(name), "x");
  OrtTypeInfo* type = nullptr;
  ok(api->SessionGetInputTypeInfo(loaded, 0, &type));
  own(type, api->ReleaseTypeInfo);
  ONNXType kind{};
  ok(api->GetOnnxTypeFromTypeInfo(type, &kind));
  EXPECT_EQ(kind, ONNX_TYPE_TENSOR);
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  ok(api->CastTypeInfoToTensorInfo(type, &tensor));
  ASSERT_NE(tensor, nullptr);
  int64_t dims[2];
  const char* names[2];
  ok(api->GetDimensions(tensor, dims, 2));
  ok(api->GetSymbolicDimensions(tensor, names, 2));
  EXPECT_TRUE(dims[0] == -1 && dims[1] == 3);
  EXPECT_STREQ(names[0], "n");
  EXPECT_STREQ(names[1], "");
  const OrtSequenceTypeInfo* sequence = reinterpret_cast<const OrtSequenceTypeInfo*>(1);
  ok(api->CastTypeInfoToSequenceTypeInfo(type, &sequence));
  EXPECT_EQ(sequence, nullptr);
  const char* denotation = nullptr;
  size_t length = 1;
  ok(api->GetDenotationFromTypeInfo(type, &denotation, &length));
  EXPECT_EQ(length, 0u);
  refused(api->SessionGetInputName(loaded, 1, allocator, &name), ORT_FAIL, "index out of range");
  refused(api->SessionGetOutputTypeInfo(loaded, 1, &type), ORT_FAIL, "out of index");
  const OrtMemoryInfo* memory[1];
  ok(api->SessionGetMemoryInfoForInputs(loaded, memory, 1));
  refused(api->SessionGetMemoryInfoForInputs(loaded, memory, 0), ORT_INVALID_ARGUMENT,
          "Number of inputs 1 exceeds the provided size of 0");
  const OrtEpDevice* device[1] = {};
  ok(api->SessionGetEpDeviceForOutputs(loaded, device, 1));
  EXPECT_STREQ(api->EpDevice_EpName(device[0]), "CPUExecutionProvider");
}

TEST_P(OrtSessionTest, dims_are_given_their_sizes_by_name) {
  OrtSessionOptions* with = options();
  ok(api->AddFreeDimensionOverrideByName(with, "n", 2));
  OrtSession* loaded = session(doubling_model(), with);
  std::vector<OrtValue*> results(1);
  refused(run(loaded, {"x"}, {tensor<float>({1, 2, 3}, {1, 3})}, {"y"}, results),
          ORT_INVALID_ARGUMENT, "index: 0 Got: 1 Expected: 2");
  output_of(loaded, {"x"}, {tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3})}, "y");
}

std::string described_model() {
  Model model;
  GraphEmitter emitter(*model.graph);
  Value* x = model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{1}));
  model.graph->add_output(GraphEmitter::unwrap(emitter.call("Abs", {GraphEmitter::wrap(x)})));
  model.graph->name = "the graph";
  model.graph->doc = "what it is";
  model.producer_name = "a test";
  model.domain = "example";
  model.doc = "words";
  model.model_version = 7;
  model.metadata = {{"key", "value"}, {"other", ""}};
  return model_bytes(model);
}

TEST_P(OrtSessionTest, metadata) {
  OrtModelMetadata* metadata = nullptr;
  ok(api->SessionGetModelMetadata(session(described_model()), &metadata));
  own(metadata, api->ReleaseModelMetadata);
  const auto read = [&](auto member) {
    char* value = nullptr;
    ok(member(metadata, allocator, &value));
    return text_of(value);
  };
  EXPECT_EQ(read(api->ModelMetadataGetProducerName), "a test");
  EXPECT_EQ(read(api->ModelMetadataGetGraphName), "the graph");
  EXPECT_EQ(read(api->ModelMetadataGetDomain), "example");
  EXPECT_EQ(read(api->ModelMetadataGetDescription), "words");
  EXPECT_EQ(read(api->ModelMetadataGetGraphDescription), "what it is");
  int64_t version = 0;
  ok(api->ModelMetadataGetVersion(metadata, &version));
  EXPECT_EQ(version, 7);
  char* value = nullptr;
  ok(api->ModelMetadataLookupCustomMetadataMap(metadata, allocator, "key", &value));
  EXPECT_EQ(text_of(value), "value");
  ok(api->ModelMetadataLookupCustomMetadataMap(metadata, allocator, "none", &value));
  EXPECT_EQ(value, nullptr);
  char** keys = nullptr;
  int64_t count = 0;
  ok(api->ModelMetadataGetCustomMetadataMapKeys(metadata, allocator, &keys, &count));
  ASSERT_EQ(count, 2);
  for (int64_t i = 0; i < count; ++i)
    text_of(keys[i]);
  ok(api->AllocatorFree(allocator, keys));
}

TEST_P(OrtSessionTest, the_optimised_model_is_written) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "optimised.onnx";
  OrtSessionOptions* with = options();
  ok(api->SetOptimizedModelFilePath(with, path.c_str()));
  ok(api->SetSessionGraphOptimizationLevel(with, ORT_ENABLE_BASIC));
  session(doubling_model(), with);
  ok(load(path));
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(OrtSessionTest, the_written_model_has_the_sizes_that_dims_were_given) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "optimised.onnx";
  OrtSessionOptions* with = options();
  ok(api->SetOptimizedModelFilePath(with, path.c_str()));
  ok(api->AddFreeDimensionOverrideByName(with, "n", 2));
  session(doubling_model(), with);
  std::vector<OrtValue*> results(1);
  refused(run(session(content_of(path)), {"x"}, {tensor<float>({1, 2, 3}, {1, 3})}, {"y"}, results),
          ORT_INVALID_ARGUMENT, "index: 0 Got: 1 Expected: 2");
}

// The domains that ONNX Runtime's own operators have are imported, as programs expect.
TEST_P(OrtSessionTest, optimised_models_import_the_runtimes_domains) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "optimised.onnx";
  OrtSessionOptions* with = options();
  ok(api->SetOptimizedModelFilePath(with, path.c_str()));
  session(doubling_model(), with);
  EXPECT_NE(content_of(path).find("com.microsoft.nchwc"), std::string::npos);
}

TEST_P(OrtSessionTest, models_in_the_runtimes_own_format_are_written_and_read) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "model.ort", other = folder.path() / "model.onnx";
  OrtSessionOptions* by_name = options();
  ok(api->SetOptimizedModelFilePath(by_name, path.c_str()));
  ok(api->SetSessionGraphOptimizationLevel(by_name, ORT_ENABLE_BASIC));
  session(doubling_model(), by_name);
  const std::string bytes = content_of(path);
  EXPECT_EQ(bytes.substr(4, 4), "ORTM");
  ok(load(path));
  OrtValue* x = tensor<float>({1, 2, 3}, {1, 3});
  EXPECT_EQ(elements_of<float>(output_of(session(bytes), {"x"}, {x}, "y")),
            (std::vector<float>{2, 4, 6}));

  OrtSessionOptions* by_entry = options();
  ok(api->SetOptimizedModelFilePath(by_entry, other.c_str()));
  ok(api->AddSessionConfigEntry(by_entry, "session.save_model_format", "ORT"));
  session(doubling_model(), by_entry);
  EXPECT_EQ(content_of(other).substr(4, 4), "ORTM");
  refused(load(other), ORT_INVALID_PROTOBUF, "Protobuf parsing failed.");
  OrtSessionOptions* as_ort = options();
  ok(api->AddSessionConfigEntry(as_ort, "session.load_model_format", "ORT"));
  ok(load_bytes(bytes, as_ort));
  refused(load_bytes(doubling_model(), as_ort), ORT_FAIL, "ORT model verification failed.");
  OrtSessionOptions* as_onnx = options();
  ok(api->AddSessionConfigEntry(as_onnx, "session.load_model_format", "ONNX"));
  refused(load_bytes(bytes, as_onnx), ORT_INVALID_PROTOBUF, "protobuf parsing failed.");
  refused(load_bytes(bytes.substr(0, bytes.size() / 2)), ORT_FAIL,
          "ORT model verification failed.");
}

TEST_P(OrtSessionTest, a_profile_is_written) {
  const TemporaryFolder folder;
  const std::string prefix = folder.path() / "profile";
  OrtSessionOptions* with = options();
  ok(api->EnableProfiling(with, prefix.c_str()));
  OrtSession* loaded = session(doubling_model(), with);
  output_of(loaded, {"x"}, {tensor<float>({1, 2, 3}, {1, 3})}, "y");
  uint64_t start = 0;
  ok(api->SessionGetProfilingStartTimeNs(loaded, &start));
  EXPECT_GT(start, 0u);
  char* name = nullptr;
  ok(api->SessionEndProfiling(loaded, allocator, &name));
  const std::string path = text_of(name);
  EXPECT_EQ(path.find(prefix), 0u);
  std::ifstream file(path);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(content.find("model_run"), std::string::npos);
  EXPECT_NE(content.find("_kernel_time"), std::string::npos);
  OrtSession* quiet = session(doubling_model());
  ok(api->SessionEndProfiling(quiet, allocator, &name));
  EXPECT_EQ(text_of(name), "");
}

std::string weighted_model() {
  return model_of([](Graph& graph) {
    Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{2}));
    Value* w = graph.add_constant("w", Tensor::vector<float>({10, 20}));
    GraphEmitter emitter(graph);
    Value* y =
        GraphEmitter::unwrap(emitter.call("Add", {GraphEmitter::wrap(x), GraphEmitter::wrap(w)}));
    graph.rename(*y, "y");
    graph.add_output(y);
  });
}

TEST_P(OrtSessionTest, weights_of_the_program) {
  OrtSessionOptions* with = options();
  float data[] = {1, 2};
  const int64_t shape[] = {2};
  OrtValue* weights = nullptr;  // in memory of the program's: ONNX Runtime wants no other
  ok(api->CreateTensorWithDataAsOrtValue(cpu, data, sizeof data, shape, 1,
                                         ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &weights));
  own(weights, api->ReleaseValue);
  ok(api->AddInitializer(with, "w", weights));
  refused(api->AddInitializer(with, "w", weights), ORT_INVALID_ARGUMENT,
          "An OrtValue for this name has already been added: w");
  OrtSession* loaded = session(weighted_model(), with);
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"x"}, {tensor<float>({1, 1}, {2})}, "y")),
            (std::vector<float>{2, 3}));
}

TEST_P(OrtSessionTest, prepacked_weights_may_be_shared) {
  OrtPrepackedWeightsContainer* container = nullptr;
  ok(api->CreatePrepackedWeightsContainer(&container));
  const std::string model = weighted_model();
  OrtSession* loaded = nullptr;
  ok(api->CreateSessionFromArrayWithPrepackedWeightsContainer(env, model.data(), model.size(),
                                                              options(), container, &loaded));
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"x"}, {tensor<float>({1, 1}, {2})}, "y")),
            (std::vector<float>{11, 21}));
  api->ReleaseSession(loaded);
  api->ReleasePrepackedWeightsContainer(container);
}

ORT_API_TESTS(OrtSessionTest);

}  // namespace
}  // namespace sardonyx::ort_abi
