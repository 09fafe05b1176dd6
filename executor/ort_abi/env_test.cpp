// Environments, logging, threads and devices.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "executor/ort_abi/api_for_test.h"
#include "executor/ort_abi/logging.h"

namespace sardonyx::ort_abi {
namespace {

class OrtEnvTest : public OrtApiTest {};

TEST_P(OrtEnvTest, there_is_one_and_it_is_counted) {
  OrtEnv* again = nullptr;
  ok(api->CreateEnv(ORT_LOGGING_LEVEL_VERBOSE, "another", &again));
  EXPECT_EQ(again, env);
  api->ReleaseEnv(again);
  ok(api->EnableTelemetryEvents(env));
  ok(api->DisableTelemetryEvents(env));
  ok(api->SetLanguageProjection(env, ORT_PROJECTION_NODEJS));
}

TEST_P(OrtEnvTest, creation_options_are_checked) {
  OrtEnv* made = nullptr;
  OrtEnvCreationOptions options{};
  refused(api->CreateEnvWithOptions(nullptr, &made), ORT_INVALID_ARGUMENT, "(non-null)");
  options.version = 23;
  refused(api->CreateEnvWithOptions(&options, &made), ORT_INVALID_ARGUMENT,
          "version set equal to ORT_API_VERSION");
  options.version = ORT_API_VERSION;
  refused(api->CreateEnvWithOptions(&options, &made), ORT_INVALID_ARGUMENT,
          "valid (non-null) log identifier string");
  options.log_id = "id";
  options.logging_severity_level = 5;
  refused(api->CreateEnvWithOptions(&options, &made), ORT_INVALID_ARGUMENT,
          "valid logging severity level");
  options.logging_severity_level = 2;
  ok(api->CreateEnvWithOptions(&options, &made));
  EXPECT_EQ(made, env);
  api->ReleaseEnv(made);
}

TEST_P(OrtEnvTest, threading_options_are_checked) {
  OrtThreadingOptions* options = nullptr;
  ok(api->CreateThreadingOptions(&options));
  own(options, api->ReleaseThreadingOptions);
  ok(api->SetGlobalIntraOpNumThreads(options, 2));
  ok(api->SetGlobalInterOpNumThreads(options, 0));
  ok(api->SetGlobalSpinControl(options, 0));
  ok(api->SetGlobalDenormalAsZero(options));
  refused(api->SetGlobalSpinControl(options, 2), ORT_INVALID_ARGUMENT, "Valid values are 0 or 1");
  refused(api->SetGlobalIntraOpThreadAffinity(options, ""), ORT_INVALID_ARGUMENT,
          "Size of affinity string must be between 1 and 4096");
  refused(api->SetGlobalIntraOpThreadAffinity(options, nullptr), ORT_INVALID_ARGUMENT,
          "Received null affinity_string");
}

TEST_P(OrtEnvTest, key_value_pairs_are_in_the_order_of_their_keys) {
  OrtKeyValuePairs* pairs = nullptr;
  api->CreateKeyValuePairs(&pairs);
  own(pairs, api->ReleaseKeyValuePairs);
  api->AddKeyValuePair(pairs, "b", "1");
  api->AddKeyValuePair(pairs, "a", "2");
  api->AddKeyValuePair(pairs, "", "no key");
  api->AddKeyValuePair(pairs, "no value", nullptr);
  api->AddKeyValuePair(pairs, "b", "3");
  EXPECT_STREQ(api->GetKeyValue(pairs, "b"), "3");
  EXPECT_EQ(api->GetKeyValue(pairs, "c"), nullptr);
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  api->GetKeyValuePairs(pairs, &keys, &values, &count);
  ASSERT_EQ(count, 2u);
  EXPECT_STREQ(keys[0], "a");
  EXPECT_STREQ(values[1], "3");
  api->RemoveKeyValuePair(pairs, "a");
  api->GetKeyValuePairs(pairs, &keys, &values, &count);
  EXPECT_EQ(count, 1u);
}

TEST_P(OrtEnvTest, the_cpu_is_the_device) {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  ok(api->GetEpDevices(env, &devices, &count));
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(api->EpDevice_EpName(devices[0]), "CPUExecutionProvider");
  EXPECT_STREQ(api->EpDevice_EpVendor(devices[0]), "Microsoft");
  EXPECT_STREQ(api->GetKeyValue(api->EpDevice_EpMetadata(devices[0]), "version"), "1.30.0");
  const OrtHardwareDevice* hardware = api->EpDevice_Device(devices[0]);
  EXPECT_EQ(api->HardwareDevice_Type(hardware), OrtHardwareDeviceType_CPU);
  EXPECT_NE(api->HardwareDevice_Vendor(hardware), nullptr);
  char** providers = nullptr;
  int length = 0;
  ok(api->GetAvailableProviders(&providers, &length));
  ASSERT_GE(length, 1);
  EXPECT_STREQ(providers[length - 1], "CPUExecutionProvider");
  ok(api->ReleaseAvailableProviders(providers, length));
}

TEST_P(OrtEnvTest, memory_infos) {
  OrtMemoryInfo* info = nullptr;
  ok(api->CreateMemoryInfo("WebGPU_Buffer", OrtDeviceAllocator, 0, OrtMemTypeDefault, &info));
  own(info, api->ReleaseMemoryInfo);
  OrtMemoryInfoDeviceType device{};
  api->MemoryInfoGetDeviceType(info, &device);
  EXPECT_EQ(device, OrtMemoryInfoDeviceType_GPU);
  const char* name = nullptr;
  ok(api->MemoryInfoGetName(info, &name));
  EXPECT_STREQ(name, "WebGPU_Buf");
  OrtMemoryInfo* none = nullptr;
  refused(api->CreateMemoryInfo("CPU", OrtDeviceAllocator, 0, OrtMemTypeDefault, &none),
          ORT_INVALID_ARGUMENT, "Specified device is not supported. Try CreateMemoryInfo_V2.");
  OrtMemoryInfo *first = nullptr, *second = nullptr;
  ok(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &first));
  ok(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &second));
  own(first, api->ReleaseMemoryInfo);
  own(second, api->ReleaseMemoryInfo);
  int differs = 1;
  ok(api->CompareMemoryInfo(first, cpu, &differs));
  EXPECT_EQ(differs, 0);
  ok(api->CompareMemoryInfo(first, second, &differs));
  EXPECT_EQ(differs, -1);
}

TEST_P(OrtEnvTest, the_default_allocator) {
  OrtAllocator* again = nullptr;
  ok(api->GetAllocatorWithDefaultOptions(&again));
  EXPECT_EQ(again, allocator);
  EXPECT_EQ(allocator->version, uint32_t{ORT_API_VERSION});
  void* memory = nullptr;
  ok(api->AllocatorAlloc(allocator, 0, &memory));
  EXPECT_EQ(memory, nullptr);
  ok(api->AllocatorAlloc(allocator, 100, &memory));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  ok(api->AllocatorFree(allocator, memory));
  const OrtMemoryInfo* info = nullptr;
  ok(api->AllocatorGetInfo(allocator, &info));
  OrtAllocatorType type{};
  ok(api->MemoryInfoGetType(info, &type));
  EXPECT_EQ(type, OrtDeviceAllocator);
  OrtKeyValuePairs* stats = nullptr;
  ok(api->AllocatorGetStats(allocator, &stats));
  api->ReleaseKeyValuePairs(stats);
}

TEST_P(OrtEnvTest, allocators_are_registered_once_and_taken_back) {
  OrtMemoryInfo* device = nullptr;
  ok(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &device));
  own(device, api->ReleaseMemoryInfo);
  OrtArenaCfg* arena = nullptr;
  refused(api->CreateArenaCfg(0, 7, -1, -1, &arena), ORT_INVALID_ARGUMENT,
          "Invalid configuration value was provided.");
  const char* key = "foo";
  const size_t value = 1;
  refused(api->CreateArenaCfgV2(&key, &value, 1, &arena), ORT_INVALID_ARGUMENT,
          "Invalid key found: foo");
  ok(api->CreateArenaCfg(0, -1, -1, -1, &arena));
  own(arena, api->ReleaseArenaCfg);
  ok(api->CreateAndRegisterAllocator(env, cpu, arena));
  ok(api->UnregisterAllocator(env, cpu));
  refused(api->UnregisterAllocator(env, cpu), ORT_INVALID_ARGUMENT,
          "No allocator for this device has been registered for sharing.");
  OrtAllocator* shared = nullptr;
  ok(api->GetSharedAllocator(env, device, &shared));
  EXPECT_NE(shared, nullptr);
}

// Counts what it gives, at addresses that are aligned for no vector, and may refuse.
struct CountingAllocator : OrtAllocator {
  explicit CountingAllocator(const OrtMemoryInfo* of) : OrtAllocator{}, info(of) {
    version = ORT_API_VERSION;
    Alloc = Reserve = [](OrtAllocator* self, size_t size) -> void* {
      auto& counting = *static_cast<CountingAllocator*>(self);
      if (size > counting.limit) return nullptr;
      ++counting.given;
      return static_cast<std::byte*>(std::malloc(size + 16)) + 16;
    };
    Free = [](OrtAllocator* self, void* block) {
      if (!block) return;
      ++static_cast<CountingAllocator*>(self)->taken_back;
      std::free(static_cast<std::byte*>(block) - 16);
    };
    Info = [](const OrtAllocator* self) {
      return static_cast<const CountingAllocator*>(self)->info;
    };
  }

  const OrtMemoryInfo* info;
  std::atomic<size_t> limit = SIZE_MAX;
  std::atomic<int> given = 0, taken_back = 0;
};

TEST_P(OrtEnvTest, sessions_take_all_memory_from_an_allocator_of_the_environment) {
  OrtMemoryInfo* device = nullptr;
  ok(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &device));
  own(device, api->ReleaseMemoryInfo);
  CountingAllocator counting(device);
  ok(api->RegisterAllocator(env, &counting));
  OrtSessionOptions* with = options();
  ok(api->AddSessionConfigEntry(with, "session.use_env_allocators", "1"));
  ok(api->SetIntraOpNumThreads(with, 1));
  OrtSession* made = nullptr;
  const std::string model = doubling_model();
  ok(api->CreateSessionFromArray(env, model.data(), model.size(), with, &made));
  OrtValue* x = tensor<float>({1, 2, 3}, {1, 3});
  const int before = counting.given;
  const char *input = "x", *output = "y";
  OrtValue* y = nullptr;
  ok(api->Run(made, nullptr, &input, &x, 1, &output, 1, &y));
  EXPECT_EQ(elements_of<float>(y), (std::vector<float>{2, 4, 6}));
  EXPECT_GT(counting.given, before);
  OrtAllocator* of_session = nullptr;
  ok(api->CreateAllocator(made, device, &of_session));
  const int given = counting.given;
  void* block = of_session->Alloc(of_session, 10);
  EXPECT_EQ(counting.given, given + 1);
  of_session->Free(of_session, block);
  api->ReleaseAllocator(of_session);
  if (!is_real()) {  // which writes to the null pointer
    counting.limit = 16;
    OrtValue *large = tensor<float>(std::vector<float>(3000), {1000, 3}), *none = nullptr;
    refused(api->Run(made, nullptr, &input, &large, 1, &output, 1, &none), ORT_RUNTIME_EXCEPTION,
            "out of memory");
  }
  // What it gave is used as long as the output is there.
  api->ReleaseSession(made);
  EXPECT_LT(counting.taken_back, counting.given);
  EXPECT_EQ(elements_of<float>(y), (std::vector<float>{2, 4, 6}));
  api->ReleaseValue(y);
  EXPECT_EQ(counting.taken_back, counting.given);
  ok(api->UnregisterAllocator(env, device));
}

// As many blocks as ONNX Runtime takes: one for the weight, one for what a run gives.
TEST_P(OrtEnvTest, sessions_take_a_block_for_each_weight_and_each_output) {
  OrtMemoryInfo* device = nullptr;
  ok(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &device));
  own(device, api->ReleaseMemoryInfo);
  CountingAllocator counting(device);
  ok(api->RegisterAllocator(env, &counting));
  OrtSessionOptions* with = options();
  ok(api->AddSessionConfigEntry(with, "session.use_env_allocators", "1"));
  const std::string model = model_of([](Graph& graph) {
    Value* x = graph.add_input("X", Type::tensor(DType::kFloat, Dims{3, 2}));
    GraphEmitter emitter(graph);
    const Tensor weight = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2});
    Value* y = GraphEmitter::unwrap(
        emitter.call("Mul", {GraphEmitter::wrap(x), emitter.constant(weight)}));
    graph.rename(*y, "Y");
    graph.add_output(y);
  });
  OrtSession* made = nullptr;
  ok(api->CreateSessionFromArray(env, model.data(), model.size(), with, &made));
  OrtValue *x = tensor<float>({1, 2, 3, 4, 5, 6}, {3, 2}), *y = nullptr;
  const char *input = "X", *output = "Y";
  ok(api->Run(made, nullptr, &input, &x, 1, &output, 1, &y));
  EXPECT_EQ(elements_of<float>(y), (std::vector<float>{1, 4, 9, 16, 25, 36}));
  EXPECT_EQ(counting.given, 2);
  api->ReleaseValue(y);
  api->ReleaseSession(made);
  EXPECT_EQ(counting.taken_back, counting.given);
  ok(api->UnregisterAllocator(env, device));
}

TEST_P(OrtEnvTest, sessions_share_an_arena_of_the_environment_and_its_limit) {
  OrtArenaCfg* arena = nullptr;
  const char* key = "max_mem";
  const size_t limit = 48 << 20;
  ok(api->CreateArenaCfgV2(&key, &limit, 1, &arena));
  own(arena, api->ReleaseArenaCfg);
  ok(api->CreateAndRegisterAllocator(env, cpu, arena));
  OrtSessionOptions* with = options();
  ok(api->AddSessionConfigEntry(with, "session.use_env_allocators", "1"));
  ok(api->SetIntraOpNumThreads(with, 1));
  OrtSession* first = session(doubling_model(), with);
  OrtSession* second = session(doubling_model(), with);
  OrtAllocator* shared = nullptr;
  ok(api->CreateAllocator(first, cpu, &shared));
  own(shared, api->ReleaseAllocator);
  const auto in_use = [&] {
    OrtKeyValuePairs* stats = nullptr;
    ok(api->AllocatorGetStats(shared, &stats));
    const char* text = api->GetKeyValue(stats, "InUse");
    const size_t bytes = text ? std::stoull(text) : 0;
    api->ReleaseKeyValuePairs(stats);
    return bytes;
  };
  constexpr int64_t kCount = 3 << 20;
  OrtValue* x = tensor<float>(std::vector<float>(kCount, 1), {kCount / 3, 3});
  const char *input = "x", *output = "y";
  std::vector<OrtValue*> held;
  OrtStatus* refusal = nullptr;
  for (int i = 0; i < 8; ++i) {
    OrtValue* y = nullptr;
    refusal = api->Run(i % 2 ? first : second, nullptr, &input, &x, 1, &output, 1, &y);
    if (refusal) break;
    held.push_back(own(y, api->ReleaseValue));
    EXPECT_GE(in_use(), held.size() * kCount * sizeof(float));
  }
  EXPECT_NE(refusal, nullptr);
  EXPECT_GE(held.size(), 2u);
  api->ReleaseStatus(refusal);
  ok(api->UnregisterAllocator(env, cpu));
}

struct LogLine {
  OrtLoggingLevel severity;
  std::string id, message;
};

void keep_line(void* lines, OrtLoggingLevel severity, const char*, const char* id, const char*,
               const char* message) {
  static_cast<std::vector<LogLine>*>(lines)->push_back({severity, id, message});
}

TEST_P(OrtEnvTest, a_session_tells_its_own_logger) {
  std::vector<LogLine> lines;
  OrtSessionOptions* with = options();
  ok(api->SetUserLoggingFunction(with, keep_line, &lines));
  ok(api->SetSessionLogId(with, "told"));
  ok(api->SetSessionLogSeverityLevel(with, ORT_LOGGING_LEVEL_VERBOSE));
  ok(api->SetIntraOpNumThreads(with, 1));
  session(doubling_model(), with);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back().id, "told");
  EXPECT_EQ(lines.back().severity >= ORT_LOGGING_LEVEL_VERBOSE, true);
}

TEST_P(OrtEnvTest, nothing_is_told_below_the_level) {
  std::vector<LogLine> lines;
  OrtSessionOptions* with = options();
  ok(api->SetUserLoggingFunction(with, keep_line, &lines));
  ok(api->SetSessionLogSeverityLevel(with, ORT_LOGGING_LEVEL_FATAL));
  ok(api->SetIntraOpNumThreads(with, 1));
  session(doubling_model(), with);
  EXPECT_TRUE(lines.empty());
}

TEST(OrtLogging, lines_to_stderr_have_the_form_of_onnx_runtime) {
  const OrtLogger logger({}, ORT_LOGGING_LEVEL_WARNING, "id");
  testing::internal::CaptureStderr();
  logger.write(ORT_LOGGING_LEVEL_WARNING, "file.cc:12 function", "the message");
  logger.write(ORT_LOGGING_LEVEL_INFO, "file.cc:12 function", "not told");
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(" [W:onnxruntime:id, file.cc:12 function] the message"), std::string::npos)
      << line;
  EXPECT_EQ(line.find("not told"), std::string::npos);
}

// Threads that the program makes, and how often.
struct OwnThreads {
  int created = 0, joined = 0;
  static OrtCustomThreadHandle create(void* self, OrtThreadWorkerFn work, void* argument) {
    ++static_cast<OwnThreads*>(self)->created;
    struct Handle {
      OwnThreads* owner;
      std::thread thread;
    };
    auto* handle = new Handle{static_cast<OwnThreads*>(self), std::thread(work, argument)};
    return reinterpret_cast<OrtCustomThreadHandle>(handle);
  }
  static void join(OrtCustomThreadHandle handle) {
    struct Handle {
      OwnThreads* owner;
      std::thread thread;
    };
    auto* joined = reinterpret_cast<Handle*>(handle);
    joined->thread.join();
    ++joined->owner->joined;
    delete joined;
  }
};

TEST_P(OrtEnvTest, a_session_runs_on_threads_of_the_program) {
  OwnThreads threads;
  OrtSessionOptions* with = options();
  ok(api->SetIntraOpNumThreads(with, 3));
  ok(api->SessionOptionsSetCustomCreateThreadFn(with, OwnThreads::create));
  ok(api->SessionOptionsSetCustomThreadCreationOptions(with, &threads));
  ok(api->SessionOptionsSetCustomJoinThreadFn(with, OwnThreads::join));
  const std::string model = doubling_model();
  OrtSession* made = nullptr;
  ok(api->CreateSessionFromArray(env, model.data(), model.size(), with, &made));
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(threads.created, 2);
  const OrtValue* x = tensor<float>(std::vector<float>(300'000, 1), {100'000, 3});
  EXPECT_EQ(elements_of<float>(output_of(made, {"x"}, {x}, "y"))[299'999], 2.0f);
  api->ReleaseSession(made);
  EXPECT_EQ(threads.joined, 2);
}

ORT_API_TESTS(OrtEnvTest);

}  // namespace
}  // namespace sardonyx::ort_abi
