// The library itself, options of sessions and runs, and execution providers.
#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

void entries_of(const OrtSessionOptions* of) {
  for (const char* key : {"a", "b", "none", "", "session.disable_prepacking"}) {
    int has = -1;
    answer(std::string("has ") + key, lib.api->HasSessionConfigEntry(of, key, &has));
    size_t size = 0;
    line("  it has", has);
    if (answer("  size", lib.api->GetSessionConfigEntry(of, key, nullptr, &size)))
      line("  size", size);
    char buffer[64] = "";
    size = 1;
    if (!answer("  short", lib.api->GetSessionConfigEntry(of, key, buffer, &size)))
      line("  size after", size);
    size = sizeof buffer;
    if (answer("  value", lib.api->GetSessionConfigEntry(of, key, buffer, &size)))
      line("  value", std::string(buffer) + " " + std::to_string(size));
  }
  OrtKeyValuePairs* pairs = nullptr;
  answer("entries", lib.api->GetSessionOptionsConfigEntries(of, &pairs));
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  lib.api->GetKeyValuePairs(pairs, &keys, &values, &count);
  for (size_t i = 0; i < count; ++i)
    line(std::string("  ") + keys[i], values[i]);
}

void settings(OrtSessionOptions* with) {
  for (const int level : {-1, 0, 1, 2, 3, 4, 98, 99, 100})
    answer("level " + std::to_string(level), lib.api->SetSessionGraphOptimizationLevel(
                                                 with, static_cast<GraphOptimizationLevel>(level)));
  for (const int mode : {-1, 0, 1, 2}) {
    ExecutionMode now{};
    answer("mode " + std::to_string(mode),
           lib.api->SetSessionExecutionMode(with, static_cast<ExecutionMode>(mode)));
    answer("mode now", lib.api->GetSessionExecutionMode(with, &now));
    line("  mode", now);
  }
  for (const int number : {-2, -1, 0, 1, 7, 1000000}) {
    const std::string text = std::to_string(number);
    answer("intra " + text, lib.api->SetIntraOpNumThreads(with, number));
    answer("inter " + text, lib.api->SetInterOpNumThreads(with, number));
    answer("severity " + text, lib.api->SetSessionLogSeverityLevel(with, number));
    answer("verbosity " + text, lib.api->SetSessionLogVerbosityLevel(with, number));
  }
  int pattern = -1;
  ANSWER(DisableMemPattern(with));
  ANSWER(GetMemPatternEnabled(with, &pattern));
  line("pattern", pattern);
  ANSWER(EnableMemPattern(with));
  ANSWER(GetMemPatternEnabled(with, &pattern));
  line("pattern", pattern);
  ANSWER(EnableCpuMemArena(with));
  ANSWER(DisableCpuMemArena(with));
  ANSWER(SetDeterministicCompute(with, true));
  ANSWER(DisablePerSessionThreads(with));
  ANSWER(EnableProfiling(with, "p"));
  ANSWER(DisableProfiling(with));
  ANSWER(SetSessionLogId(with, ""));
  ANSWER(SetSessionLogId(with, "id"));
  ANSWER(SetOptimizedModelFilePath(with, ""));
  ANSWER(EnableOrtCustomOps(with));
  ANSWER(AddFreeDimensionOverride(with, "DATA_BATCH", -1));
  ANSWER(AddFreeDimensionOverrideByName(with, "", 3));
  ANSWER(AddFreeDimensionOverrideByName(with, "n", 0));
  ANSWER(AddFreeDimensionOverrideByName(with, "n", 4));
  ANSWER(AddFreeDimensionOverrideByName(with, "n", 5));
}

void entries(OrtSessionOptions* with) {
  ANSWER(AddSessionConfigEntry(with, "", "v"));
  ANSWER(AddSessionConfigEntry(with, std::string(1024, 'k').c_str(), "v"));
  ANSWER(AddSessionConfigEntry(with, std::string(1025, 'k').c_str(), "v"));
  ANSWER(AddSessionConfigEntry(with, "long", std::string(8193, 'v').c_str()));
  ANSWER(AddSessionConfigEntry(with, "b", ""));
  ANSWER(AddSessionConfigEntry(with, "a", "first"));
  ANSWER(AddSessionConfigEntry(with, "a", "second"));
  entries_of(with);
  OrtSessionOptions* copy = nullptr;
  ANSWER(CloneSessionOptions(with, &copy));
  ANSWER(AddSessionConfigEntry(with, "a", "third"));
  entries_of(copy);
}

// What these say is known only when a session is made.
void settings_at_load() {
  struct Entry {
    const char *key, *value;
  };
  for (const Entry& entry : std::initializer_list<Entry>{
           {"session.intra_op_thread_affinities", "nonsense"},
           {"session.intra_op_thread_affinities", "1"},
           {"session.intra_op_thread_affinities", "1;2"},
           {"session.intra_op_thread_affinities", ";1-2;"},
           {"session.intra_op_thread_affinities", "0"},
           {"session.qdq_matmulnbits_accuracy_level", "4"},
           {"session.qdq_matmulnbits_accuracy_level", "5"},
           {"session.qdq_matmulnbits_accuracy_level", ""},
           {"session.qdq_matmulnbits_block_size", "nonsense"},
           {"session.layer_assignment_settings", "cpu(a,b);cpu()"},
           {"session.layer_assignment_settings", "nonsense"},
           {"session.layer_assignment_settings", "(a)"},
           {"session.name_based_layer_assignment", "cpu(a"},
           {"session.max_shape_override", ""},
           {"session.max_shape_override", "nonsense"},
           {"session.max_shape_override", ":[1]"},
           {"session.max_shape_override", "x:1"},
           {"session.max_shape_override", "x:[0]"},
           {"session.load_model_format", "nonsense"},
           {"session.load_model_format", "ONNX"},
           {"session.load_model_format", "ORT"},
           {"session.intra_op.allow_spinning", "nonsense"},
           {"session.inter_op.allow_spinning", "0"},
           {"session.dynamic_block_base", "nonsense"},
           {"session.dynamic_block_base", "4"},
           {"session.set_denormal_as_zero", "1"},
           {"session.disable_prepacking", "1"},
           {"session.use_env_allocators", "1"},
           {"session.graph_optimizations_loop_level", "nonsense"},
           {"session.strict_shape_type_inference", "1"},
           {"session.allow_released_opsets_only", "0"},
           {"session.disable_cpu_ep_fallback", "1"},
           {"session.disable_model_compile", "1"},
           {"session.record_ep_graph_assignment_info", "1"},
           {"session.qdqisint8allowed", "0"},
           {"optimization.disable_specified_optimizers", "ConstantFolding;Nonsense"},
           {"optimization.minimal_build_optimizations", "nonsense"},
           {"optimization.minimal_build_optimizations", "save"},
           {"optimization.enable_gelu_approximation", "1"},
           {"ep.context_enable", "1"},
           {"ep.context_enable", "nonsense"},
           {"ep.share_ep_contexts", "1"},
           {"mlas.enable_gemm_fastmath_arm64_bfloat16", "1"},
           {"session.unheard_of", "x"}}) {
    OrtSessionOptions* with = options();
    // Affinities are read for threads beyond the first alone, and their number depends on the
    // machine.
    (void)lib.api->SetIntraOpNumThreads(with, 2);
    answer("entry", lib.api->AddSessionConfigEntry(with, entry.key, entry.value));
    loads(std::string(entry.key) + "=" + entry.value, relu(), with);
  }
  for (const int threads : {-2, -1, 0, 1, 5}) {
    OrtSessionOptions* with = options();
    (void)lib.api->SetIntraOpNumThreads(with, threads);
    (void)lib.api->SetInterOpNumThreads(with, threads);
    (void)lib.api->SetSessionExecutionMode(with, ORT_PARALLEL);
    loads("with threads " + std::to_string(threads), relu(), with);
  }
  for (const int severity : {-2, -1, 0, 4, 5}) {
    OrtSessionOptions* with = options();
    (void)lib.api->SetSessionLogSeverityLevel(with, severity);
    if (severity != 0) loads("with severity " + std::to_string(severity), relu(), with);
  }
}

// Entries that stand for setters.
void mirrored_settings() {
  for (const char* key :
       {"graph_optimization_level", "execution_mode", "enable_mem_pattern", "enable_cpu_mem_arena",
        "use_deterministic_compute", "use_per_session_threads", "intra_op_num_threads",
        "inter_op_num_threads", "log_severity_level", "log_verbosity_level", "log_id"}) {
    OrtSessionOptions* with = options();
    const std::string full = std::string("session.") + key;
    for (const char* value : {"", "0", "1", "True", "FALSE", "nonsense", "+2", " 3", "3 ", "+-3",
                              "2147483648", "disable_all", "ENABLE_Extended", "Parallel"}) {
      answer(full + "=" + value, lib.api->AddSessionConfigEntry(with, full.c_str(), value));
    }
    int has = -1, pattern = -1;
    ExecutionMode mode{};
    ANSWER(HasSessionConfigEntry(with, full.c_str(), &has));
    ANSWER(GetSessionExecutionMode(with, &mode));
    ANSWER(GetMemPatternEnabled(with, &pattern));
    line("  now", std::to_string(has) + " " + std::to_string(mode) + " " + std::to_string(pattern));
  }
  OrtSessionOptions* with = options();
  ANSWER(AddSessionConfigEntry(with, "session.intra_op_num_threads", "1"));
  ANSWER(AddSessionConfigEntry(with, "session.intra_op_thread_affinities", "nonsense"));
  loads("affinities of one thread", relu(), with);
  ANSWER(AddSessionConfigEntry(with, "session.log_severity_level", "9"));
  loads("severity by an entry", relu(), with);
  OrtSessionOptions* fixed = options();
  ANSWER(AddFreeDimensionOverrideByName(fixed, "n", -5));
  loads("a negative size for a dim",
        unary("Relu", tensor_type(1, {"n", "2"}), tensor_type(1, {"n", "2"})), fixed);
}

void settings_of_runs() {
  OrtRunOptions* with = run_options();
  int number = -7;
  const char* tag = nullptr;
  ANSWER(RunOptionsGetRunLogSeverityLevel(with, &number));
  line("severity", number);
  ANSWER(RunOptionsGetRunLogVerbosityLevel(with, &number));
  line("verbosity", number);
  ANSWER(RunOptionsGetRunTag(with, &tag));
  line("tag", tag ? tag : "NULL");
  for (const int level : {-3, 0, 4, 9}) {
    answer("severity " + std::to_string(level),
           lib.api->RunOptionsSetRunLogSeverityLevel(with, level));
    answer("verbosity " + std::to_string(level),
           lib.api->RunOptionsSetRunLogVerbosityLevel(with, level));
  }
  ANSWER(RunOptionsSetRunTag(with, nullptr));
  ANSWER(RunOptionsSetRunTag(with, "a tag"));
  ANSWER(RunOptionsGetRunTag(with, &tag));
  line("tag", tag ? tag : "NULL");
  ANSWER(AddRunConfigEntry(with, "", "v"));
  ANSWER(AddRunConfigEntry(with, "k", ""));
  ANSWER(AddRunConfigEntry(with, "k", std::string(9000, 'v').c_str()));
  ANSWER(AddRunConfigEntry(with, "k", "v"));
  const char* value = lib.api->GetRunConfigEntry(with, "k");
  line("entry", value ? value : "NULL");
  value = lib.api->GetRunConfigEntry(with, "none");
  line("entry", value ? value : "NULL");
  ANSWER(RunOptionsEnableProfiling(with, "prefix"));
  ANSWER(RunOptionsDisableProfiling(with));
}

}  // namespace

void library_chapter() {
  line("version", lib.base->GetVersionString());
  line("build", std::string(lib.api->GetBuildInfoString()).substr(0, 16));
  for (uint32_t version = 0; version < 33; ++version) {
    const OrtApi* table = version == 0 || version > ORT_API_VERSION ? nullptr : lib.api;
    line("table of version " + std::to_string(version),
         lib.base->GetApi(version) == table ? "as expected" : "another");
  }
  for (int code = 0; code < 18; ++code) {
    OrtStatus* status = lib.api->CreateStatus(static_cast<OrtErrorCode>(code), "words");
    line("status " + std::to_string(code), status ? "made" : "NULL");
    if (status) answer("  it says", status);
  }
  answer("status with no words", lib.api->CreateStatus(ORT_FAIL, ""));
  line("training", lib.api->GetTrainingApi(30) ? "there" : "NULL");
  line("editor", lib.api->GetModelEditorApi() ? "there" : "NULL");
  line("compile", lib.api->GetCompileApi() ? "there" : "NULL");
  ANSWER(EnableTelemetryEvents(lib.env));
  ANSWER(DisableTelemetryEvents(lib.env));
  for (const int language : {-1, 0, 1, 4, 6, 7, 100})
    answer("language " + std::to_string(language),
           lib.api->SetLanguageProjection(lib.env, static_cast<OrtLanguageProjection>(language)));
  for (const int level : {-1, 0, 2, 4, 5, 100})
    answer("level " + std::to_string(level),
           lib.api->UpdateEnvWithCustomLogLevel(lib.env, static_cast<OrtLoggingLevel>(level)));
  line("experimental", lib.api->GetExperimentalFunction("none") ? "there" : "NULL");
}

void option_chapter() {
  OrtSessionOptions* with = options();
  settings(with);
  entries(with);
  settings_at_load();
  mirrored_settings();
  settings_of_runs();
}

void provider_chapter() {
  for (const char* name : {"CPU",
                           "CPUExecutionProvider",
                           "cpu",
                           "",
                           "CUDA",
                           "CUDAExecutionProvider",
                           "TensorRT",
                           "TensorrtExecutionProvider",
                           "DML",
                           "QNN",
                           "QNNExecutionProvider",
                           "OpenVINO",
                           "SNPE",
                           "XNNPACK",
                           "XnnpackExecutionProvider",
                           "WEBNN",
                           "AZURE",
                           "JS",
                           "VitisAI",
                           "CoreML",
                           "CoreMLExecutionProvider",
                           "NvTensorRtRtx",
                           "MIGraphX",
                           "ROCM",
                           "DNNL",
                           "ACL",
                           "ArmNN",
                           "NNAPI",
                           "CANN",
                           "Nonsense"}) {
    OrtSessionOptions* with = options();
    answer(std::string("append ") + name,
           lib.api->SessionOptionsAppendExecutionProvider(with, name, nullptr, nullptr, 0));
  }
  const char *key = "k", *value = "v", *empty = "";
  const std::string long_text(5000, 'x');
  const char* longest = long_text.c_str();
  ANSWER(SessionOptionsAppendExecutionProvider(options(), "CPU", &key, &value, 1));
  ANSWER(SessionOptionsAppendExecutionProvider(options(), "XNNPACK", &empty, &value, 1));
  ANSWER(SessionOptionsAppendExecutionProvider(options(), "XNNPACK", &longest, &value, 1));
  ANSWER(SessionOptionsAppendExecutionProvider(options(), "XNNPACK", &key, &longest, 1));
  alignas(16) char zeros[256] = {};
  ANSWER(SessionOptionsAppendExecutionProvider_ROCM(
      options(), reinterpret_cast<OrtROCMProviderOptions*>(zeros)));
  ANSWER(SessionOptionsAppendExecutionProvider_CUDA(
      options(), reinterpret_cast<OrtCUDAProviderOptions*>(zeros)));
  ANSWER(SessionOptionsAppendExecutionProvider_TensorRT(
      options(), reinterpret_cast<OrtTensorRTProviderOptions*>(zeros)));
  ANSWER(SessionOptionsAppendExecutionProvider_OpenVINO(
      options(), reinterpret_cast<OrtOpenVINOProviderOptions*>(zeros)));
  ANSWER(SessionOptionsAppendExecutionProvider_MIGraphX(
      options(), reinterpret_cast<OrtMIGraphXProviderOptions*>(zeros)));
  ANSWER(SessionOptionsAppendExecutionProvider_OpenVINO_V2(options(), &key, &value, 1));
  ANSWER(SessionOptionsAppendExecutionProvider_VitisAI(options(), &key, &value, 1));
  OrtCANNProviderOptions* cann = nullptr;
  OrtDnnlProviderOptions* dnnl = nullptr;
  OrtROCMProviderOptions* rocm = nullptr;
  ANSWER(CreateCANNProviderOptions(&cann));
  ANSWER(CreateDnnlProviderOptions(&dnnl));
  ANSWER(CreateROCMProviderOptions(&rocm));
  ANSWER(SetCurrentGpuDeviceId(0));
  int device = 0;
  ANSWER(GetCurrentGpuDeviceId(&device));
  const void* table = nullptr;
  ANSWER(GetExecutionProviderApi("DML", 1, &table));
  ANSWER(GetExecutionProviderApi("", 1, &table));
  char** providers = nullptr;
  int count = 0;
  ANSWER(GetAvailableProviders(&providers, &count));
  line("the last one", providers[count - 1]);
  ANSWER(ReleaseAvailableProviders(providers, count));
  ANSWER(RegisterExecutionProviderLibrary(lib.env, "reg", "/none/of.so"));
  ANSWER(UnregisterExecutionProviderLibrary(lib.env, "reg"));
}

}  // namespace behaviour
