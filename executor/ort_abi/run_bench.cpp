// What a run over ONNX Runtime's interface costs beyond one over our own, on models that compute
// next to nothing. SARDONYX_ONNXRUNTIME names another library to be measured beside; a model file
// in SARDONYX_BENCH_MODEL, whose inputs are tensors of float, is measured as well.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/graph.h"
#include "onnx_io/save.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::ort_abi {
namespace {

std::string relu_of_ten() {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x =
      GraphEmitter::wrap(model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{1, 10})));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Relu", {x})));
  return model_bytes(model);
}

// Three inputs and two outputs, of which the sizes are not known ahead.
std::string sums_of_three() {
  Model model;
  GraphEmitter e(*model.graph);
  Vals inputs;
  for (const char* name : {"first", "second", "third"}) {
    const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), 16});
    inputs.push_back(GraphEmitter::wrap(model.graph->add_input(name, type)));
  }
  const Val sum = e.call("Add", {inputs[0], inputs[1]});
  model.graph->add_output(GraphEmitter::unwrap(sum));
  model.graph->add_output(GraphEmitter::unwrap(e.call("Mul", {sum, inputs[2]})));
  return model_bytes(model);
}

std::string file_of_environment() {
  std::ifstream file(std::getenv("SARDONYX_BENCH_MODEL"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct BenchModel {
  const char* name;
  std::string (*bytes)();
};

std::vector<BenchModel> bench_models() {
  std::vector<BenchModel> models{{"relu", relu_of_ten}, {"sums", sums_of_three}};
  if (std::getenv("SARDONYX_BENCH_MODEL")) models.push_back({"file", file_of_environment});
  return models;
}

void require_ok(sx_status status) {
  if (status != SX_OK) std::fprintf(stderr, "%s\n", sx_last_error()), std::exit(1);
}

// Over our own interface: a session of one thread, a binding, and memory for what it reads.
struct OwnRun {
  sx_session* session = nullptr;
  sx_binding* binding = nullptr;
  std::vector<std::vector<float>> inputs, outputs;
  std::vector<std::vector<int64_t>> dims;

  explicit OwnRun(const BenchModel& model) {
    sx_session_options options{};
    options.struct_size = sizeof options;
    options.threads = 1;
    const std::string bytes = model.bytes();
    require_ok(sx_session_create_from_bytes(bytes.data(), bytes.size(), &options, &session));
    require_ok(sx_binding_create(session, &binding));
    for (size_t i = 0; i < sx_session_input_count(session); ++i) {
      sx_value_info info{};
      info.struct_size = sizeof info;
      require_ok(sx_session_input(session, i, &info));
      std::vector<int64_t> shape(info.dims, info.dims + info.rank);
      size_t count = 1;
      for (int64_t& dim : shape)
        count *= static_cast<size_t>(dim = std::max<int64_t>(dim, 1));
      dims.push_back(shape);
      inputs.emplace_back(count, 0.5f);
    }
    bind_inputs();
    require_ok(sx_binding_run(binding, nullptr));
  }
  ~OwnRun() {
    sx_binding_destroy(binding);
    sx_session_destroy(session);
  }
  OwnRun(const OwnRun&) = delete;
  OwnRun& operator=(const OwnRun&) = delete;

  void bind_inputs() {
    for (size_t i = 0; i < inputs.size(); ++i)
      sx_binding_set_input(binding, i, SX_FLOAT, dims[i].data(), dims[i].size(), inputs[i].data(),
                           inputs[i].size() * sizeof(float));
  }
};

void BM_OwnBinding(benchmark::State& state, const BenchModel& model) {
  const OwnRun run(model);
  for (auto _ : state)
    require_ok(sx_binding_run(run.binding, nullptr));
}

// Over the table of a library.
struct TableRun {
  const OrtApi* api;
  OrtEnv* env = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
  OrtAllocator* allocator = nullptr;
  std::vector<char*> input_names, output_names;
  std::vector<OrtValue*> inputs, outputs;
  std::vector<std::vector<float>> memory;

  TableRun(const OrtApi* of, const BenchModel& model) : api(of) {
    check(api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "bench", &env));
    check(api->CreateSessionOptions(&options));
    check(api->SetIntraOpNumThreads(options, 1));
    const std::string bytes = model.bytes();
    check(api->CreateSessionFromArray(env, bytes.data(), bytes.size(), options, &session));
    check(api->GetAllocatorWithDefaultOptions(&allocator));
    size_t input_count = 0, output_count = 0;
    check(api->SessionGetInputCount(session, &input_count));
    check(api->SessionGetOutputCount(session, &output_count));
    input_names.resize(input_count);
    output_names.resize(output_count);
    for (size_t i = 0; i < input_count; ++i) {
      check(api->SessionGetInputName(session, i, allocator, &input_names[i]));
      add_input(i);
    }
    for (size_t i = 0; i < output_count; ++i)
      check(api->SessionGetOutputName(session, i, allocator, &output_names[i]));
    outputs.resize(output_count);
    run();
  }
  ~TableRun() {
    release_outputs();
    for (OrtValue* value : inputs)
      api->ReleaseValue(value);
    for (const auto& names : {input_names, output_names}) {
      for (char* name : names)
        check(api->AllocatorFree(allocator, name));
    }
    api->ReleaseSession(session);
    api->ReleaseSessionOptions(options);
    api->ReleaseEnv(env);
  }
  TableRun(const TableRun&) = delete;
  TableRun& operator=(const TableRun&) = delete;

  void check(OrtStatus* status) const {
    if (status) std::fprintf(stderr, "%s\n", api->GetErrorMessage(status)), std::exit(1);
  }
  void add_input(size_t index) {
    OrtTypeInfo* type = nullptr;
    const OrtTensorTypeAndShapeInfo* info = nullptr;
    OrtMemoryInfo* place = nullptr;
    size_t rank = 0, count = 1;
    check(api->SessionGetInputTypeInfo(session, index, &type));
    check(api->CastTypeInfoToTensorInfo(type, &info));
    check(api->GetDimensionsCount(info, &rank));
    std::vector<int64_t> dims(rank);
    check(api->GetDimensions(info, dims.data(), rank));
    for (int64_t& dim : dims)
      count *= static_cast<size_t>(dim = std::max<int64_t>(dim, 1));
    std::vector<float>& elements = memory.emplace_back(count, 0.5f);
    check(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &place));
    check(api->CreateTensorWithDataAsOrtValue(
        place, elements.data(), count * sizeof(float), dims.data(), rank,
        ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &inputs.emplace_back()));
    api->ReleaseMemoryInfo(place);
    api->ReleaseTypeInfo(type);
  }
  void run() {
    check(api->Run(session, nullptr, input_names.data(), inputs.data(), inputs.size(),
                   output_names.data(), outputs.size(), outputs.data()));
  }
  void release_outputs() {
    for (OrtValue*& value : outputs)
      api->ReleaseValue(std::exchange(value, nullptr));
  }
};

// Results are made by each run, and released.
void BM_TableRun(benchmark::State& state, const OrtApi* api, const BenchModel& model) {
  TableRun run(api, model);
  for (auto _ : state) {
    run.release_outputs();
    run.run();
  }
}

// Results are written over those of the run before.
void BM_TableRunInPlace(benchmark::State& state, const OrtApi* api, const BenchModel& model) {
  TableRun run(api, model);
  for (auto _ : state)
    run.run();
}

void BM_TableRunWithBinding(benchmark::State& state, const OrtApi* api, const BenchModel& model) {
  TableRun run(api, model);
  OrtIoBinding* binding = nullptr;
  run.check(api->CreateIoBinding(run.session, &binding));
  for (size_t i = 0; i < run.inputs.size(); ++i)
    run.check(api->BindInput(binding, run.input_names[i], run.inputs[i]));
  for (size_t i = 0; i < run.outputs.size(); ++i)
    run.check(api->BindOutput(binding, run.output_names[i], run.outputs[i]));
  for (auto _ : state)
    run.check(api->RunWithBinding(run.session, nullptr, binding));
  api->ReleaseIoBinding(binding);
}

const OrtApi* other_library() {
  const char* path = std::getenv("SARDONYX_ONNXRUNTIME");
  void* library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) return nullptr;
  const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  return base()->GetApi(ORT_API_VERSION);
}

[[maybe_unused]] const bool kAreRegistered = [] {
  const auto add = [](const std::string& name, const BenchModel& model, const auto& run) {
    benchmark::RegisterBenchmark((name + "/" + model.name).c_str(), run);
  };
  struct Library {
    const char* name;
    const OrtApi* api;
  };
  const Library libraries[] = {{"", OrtGetApiBase()->GetApi(ORT_API_VERSION)},
                               {"other", other_library()}};
  for (const BenchModel& model : bench_models()) {
    add("BM_OwnBinding", model, [=](benchmark::State& state) { BM_OwnBinding(state, model); });
    for (const auto& [library, api] : libraries) {
      if (!api) continue;
      const std::string name = library;
      add("BM_TableRun" + name, model,
          [=](benchmark::State& state) { BM_TableRun(state, api, model); });
      add("BM_TableRunInPlace" + name, model,
          [=](benchmark::State& state) { BM_TableRunInPlace(state, api, model); });
      add("BM_TableRunWithBinding" + name, model,
          [=](benchmark::State& state) { BM_TableRunWithBinding(state, api, model); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace sardonyx::ort_abi
