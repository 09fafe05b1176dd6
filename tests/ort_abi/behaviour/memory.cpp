// Memory infos, allocators, arenas, devices and environments.
#include <atomic>
#include <thread>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

void told(const OrtMemoryInfo* info) {
  const char* name = nullptr;
  int id = -1;
  OrtMemType memory{};
  OrtAllocatorType type{};
  OrtMemoryInfoDeviceType device{};
  ANSWER(MemoryInfoGetName(info, &name));
  ANSWER(MemoryInfoGetId(info, &id));
  ANSWER(MemoryInfoGetMemType(info, &memory));
  ANSWER(MemoryInfoGetType(info, &type));
  lib.api->MemoryInfoGetDeviceType(info, &device);
  line("info", std::string(name) + " " + std::to_string(id) + " " + std::to_string(memory) + " " +
                   std::to_string(type) + " " + std::to_string(device) + " " +
                   std::to_string(lib.api->MemoryInfoGetDeviceMemType(info)) + " " +
                   std::to_string(lib.api->MemoryInfoGetVendorId(info)));
}

void infos() {
  for (const char* name : {"Cpu",
                           "CPU",
                           "cpu",
                           "Cuda",
                           "CudaPinned",
                           "DML",
                           "Hip",
                           "HipPinned",
                           "OpenVINO_CPU",
                           "OpenVINO_GPU",
                           "OpenVINO_RT_NPU",
                           "WebGPU_Buffer",
                           "WebGPU_Buf",
                           "WebNN_Tensor",
                           "WebNN_Ten",
                           "QnnHtpShared",
                           "Cann",
                           "CannPinned",
                           "",
                           "Nonsense"}) {
    for (const int type : {-1, 0, 1, 2}) {
      OrtMemoryInfo* info = nullptr;
      if (answer(std::string(name) + " " + std::to_string(type),
                 lib.api->CreateMemoryInfo(name, static_cast<OrtAllocatorType>(type), 2,
                                           OrtMemTypeCPUInput, &info)))
        told(info);
    }
  }
  for (const int memory : {-3, -2, -1, 0, 1}) {
    OrtMemoryInfo* info = nullptr;
    if (answer("cpu " + std::to_string(memory),
               lib.api->CreateCpuMemoryInfo(OrtDeviceAllocator, static_cast<OrtMemType>(memory),
                                            &info)))
      told(info);
  }
  OrtMemoryInfo* info = nullptr;
  for (const size_t alignment : {0, 1, 3, 64, 4096}) {
    if (answer("v2 " + std::to_string(alignment),
               lib.api->CreateMemoryInfo_V2("Mine", OrtMemoryInfoDeviceType_GPU, 0x10de, 1,
                                            OrtDeviceMemoryType_HOST_ACCESSIBLE, alignment,
                                            OrtArenaAllocator, &info)))
      told(info);
  }
  ANSWER(CreateMemoryInfo_V2("", OrtMemoryInfoDeviceType_CPU, 0, 0, OrtDeviceMemoryType_DEFAULT, 0,
                             OrtDeviceAllocator, &info));
  ANSWER(CreateMemoryInfo_V2("Cpu", OrtMemoryInfoDeviceType_CPU, 0, 0, OrtDeviceMemoryType_DEFAULT,
                             0, OrtDeviceAllocator, &info));
  OrtMemoryInfo* device = nullptr;
  ANSWER(CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &device));
  int compared = 9;
  ANSWER(CompareMemoryInfo(info, device, &compared));
  line("compared", compared);
  ANSWER(CompareMemoryInfo(lib.cpu, device, &compared));
  line("compared", compared);
  ANSWER(CompareMemoryInfo(lib.cpu, lib.cpu, &compared));
  line("compared", compared);
}

void allocations(const std::string& label, OrtAllocator* allocator) {
  const OrtMemoryInfo* info = nullptr;
  answer(label, lib.api->AllocatorGetInfo(allocator, &info));
  told(info);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{1} << 62}) {
    void* memory = &memory;
    answer("  allocate " + std::to_string(size), lib.api->AllocatorAlloc(allocator, size, &memory));
    line("  memory", memory == nullptr ? "NULL" : memory == &memory ? "untouched" : "there");
    if (memory && memory != &memory) {
      line("  alignment", reinterpret_cast<uintptr_t>(memory) % 64);
      ANSWER(AllocatorFree(allocator, memory));
    }
  }
  ANSWER(AllocatorFree(allocator, nullptr));
  OrtKeyValuePairs* stats = nullptr;
  answer("  stats", lib.api->AllocatorGetStats(allocator, &stats));
  line("  stats", stats ? "there" : "NULL");
  line("  version", allocator->version);
  line("  reserve", allocator->version >= 18 && allocator->Reserve ? "there" : "NULL");
}

void allocators() {
  allocations("default", lib.allocator);
  OrtAllocator* again = nullptr;
  ANSWER(GetAllocatorWithDefaultOptions(&again));
  line("the same", again == lib.allocator);
  OrtSession* session = load("relu", relu());
  for (const int type : {0, 1}) {
    OrtMemoryInfo* info = nullptr;
    ANSWER(CreateCpuMemoryInfo(static_cast<OrtAllocatorType>(type), OrtMemTypeDefault, &info));
    OrtAllocator* made = nullptr;
    if (ANSWER(CreateAllocator(session, info, &made))) allocations("of the session", made);
    lib.api->ReleaseAllocator(made);
  }
  OrtMemoryInfo* gpu = nullptr;
  ANSWER(CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, &gpu));
  OrtAllocator* made = nullptr;
  ANSWER(CreateAllocator(session, gpu, &made));
  OrtSessionOptions* plain = options();
  (void)lib.api->DisableCpuMemArena(plain);
  OrtSession* other = load("without an arena", relu(), plain);
  if (ANSWER(CreateAllocator(other, lib.cpu, &made))) allocations("without an arena", made);
}

void shared() {
  OrtArenaCfg* arena = nullptr;
  for (const int strategy : {-2, -1, 0, 1, 2})
    answer("arena " + std::to_string(strategy),
           lib.api->CreateArenaCfg(0, strategy, -1, -1, &arena));
  for (const char* key : {"max_mem", "arena_extend_strategy", "initial_chunk_size_bytes",
                          "max_dead_bytes_per_chunk", "initial_growth_chunk_size_bytes",
                          "max_power_of_two_extend_bytes", "use_cuda_mempool", "odd"}) {
    const size_t value = 1;
    answer(std::string("arena key ") + key, lib.api->CreateArenaCfgV2(&key, &value, 1, &arena));
  }
  ANSWER(CreateArenaCfgV2(nullptr, nullptr, 0, &arena));
  ANSWER(CreateArenaCfg(0, -1, -1, -1, &arena));
  ANSWER(CreateAndRegisterAllocator(lib.env, lib.cpu, arena));
  ANSWER(CreateAndRegisterAllocator(lib.env, lib.cpu, arena));
  ANSWER(UnregisterAllocator(lib.env, lib.cpu));
  ANSWER(UnregisterAllocator(lib.env, lib.cpu));
  ANSWER(CreateAndRegisterAllocatorV2(lib.env, "CPUExecutionProvider", lib.cpu, nullptr, nullptr,
                                      nullptr, 0));
  ANSWER(CreateAndRegisterAllocatorV2(lib.env, "Nonsense", lib.cpu, nullptr, nullptr, nullptr, 0));
  OrtMemoryInfo* gpu = nullptr;
  ANSWER(CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, &gpu));
  ANSWER(CreateAndRegisterAllocator(lib.env, gpu, arena));
  ANSWER(UnregisterAllocator(lib.env, gpu));
  OrtAllocator* made = nullptr;
  ANSWER(GetSharedAllocator(lib.env, lib.cpu, &made));
  line("shared", made ? "there" : "NULL");
  ANSWER(GetSharedAllocator(lib.env, gpu, &made));
  line("shared", made ? "there" : "NULL");
}

void devices() {
  const OrtEpDevice* const* all = nullptr;
  size_t count = 0;
  ANSWER(GetEpDevices(lib.env, &all, &count));
  for (size_t i = 0; i < count; ++i) {
    const OrtEpDevice* device = all[i];
    if (std::string(lib.api->EpDevice_EpName(device)) != "CPUExecutionProvider") continue;
    line("vendor", lib.api->EpDevice_EpVendor(device));
    const OrtHardwareDevice* hardware = lib.api->EpDevice_Device(device);
    line("type", lib.api->HardwareDevice_Type(hardware));
    line("hardware", lib.api->HardwareDevice_Vendor(hardware));
    line("vendor id", lib.api->HardwareDevice_VendorId(hardware));
    const OrtMemoryInfo* info = lib.api->EpDevice_MemoryInfo(device, OrtDeviceMemoryType_DEFAULT);
    line("memory", info ? "there" : "NULL");
    const OrtKeyValuePairs* pairs = lib.api->EpDevice_EpMetadata(device);
    const char* const* keys = nullptr;
    const char* const* values = nullptr;
    size_t entries = 0;
    if (pairs) lib.api->GetKeyValuePairs(pairs, &keys, &values, &entries);
    for (size_t k = 0; k < entries; ++k)
      line(std::string("metadata ") + keys[k], values[k]);
    ANSWER(SessionOptionsAppendExecutionProvider_V2(options(), lib.env, &device, 1, nullptr,
                                                    nullptr, 0));
    const char *key = "k", *value = "v";
    ANSWER(
        SessionOptionsAppendExecutionProvider_V2(options(), lib.env, &device, 1, &key, &value, 1));
  }
  size_t hardware_count = 0;
  ANSWER(GetNumHardwareDevices(lib.env, &hardware_count));
  line("some hardware", hardware_count > 0);
  OrtSession* session = load("relu", relu());
  const OrtEpDevice* of[2] = {};
  const OrtMemoryInfo* memory[2] = {};
  ANSWER(SessionGetEpDeviceForInputs(session, of, 1));
  line("device", of[0] ? lib.api->EpDevice_EpName(of[0]) : "NULL");
  ANSWER(SessionGetEpDeviceForInputs(session, of, 2));
  ANSWER(SessionGetEpDeviceForOutputs(session, of, 1));
  ANSWER(SessionGetMemoryInfoForInputs(session, memory, 1));
  told(memory[0]);
  ANSWER(SessionGetMemoryInfoForInputs(session, memory, 0));
  ANSWER(SessionGetMemoryInfoForInputs(session, memory, 2));
  ANSWER(SessionGetMemoryInfoForOutputs(session, memory, 1));
  told(memory[0]);
  const char *key = "ep.dynamic.workload_type", *value = "Efficient";
  ANSWER(SetEpDynamicOptions(session, &key, &value, 1));
  ANSWER(SetEpDynamicOptions(session, &key, &value, 0));
  const OrtValue* from[] = {tensor<float>({2}, {1, 2})};
  OrtValue* to[] = {tensor<float>({2}, {0, 0})};
  OrtValue* shorter[] = {tensor<float>({1}, {0})};
  OrtValue* other[] = {tensor<double>({2}, {0, 0})};
  ANSWER(CopyTensors(lib.env, from, to, nullptr, 1));
  line("copied", described(to[0]));
  ANSWER(CopyTensors(lib.env, from, to, nullptr, 0));
  ANSWER(CopyTensors(lib.env, from, shorter, nullptr, 1));
  ANSWER(CopyTensors(lib.env, from, other, nullptr, 1));
}

std::atomic<int> g_messages = 0;
std::atomic<void*> g_param = nullptr;
std::string g_id;

void count_message(void* param, OrtLoggingLevel, const char*, const char* id, const char*,
                   const char*) {
  g_param = param;
  if (g_messages++ == 0) g_id = id;
}

void logged(const std::string& label, int level, int session_level, bool of_session) {
  OrtEnv* env = nullptr;
  int here = 0;
  g_messages = 0;
  g_id = "";
  answer(label, lib.api->CreateEnvWithCustomLogger(
                    count_message, &here, static_cast<OrtLoggingLevel>(level), "the id", &env));
  OrtSessionOptions* with = options();
  (void)lib.api->SetSessionLogSeverityLevel(with, session_level);
  (void)lib.api->SetSessionLogId(with, "the session");
  int there = 0;
  if (of_session) (void)lib.api->SetUserLoggingFunction(with, count_message, &there);
  const std::string bytes = relu();
  OrtSession* session = nullptr;
  answer("  session",
         lib.api->CreateSessionFromArray(env, bytes.data(), bytes.size(), with, &session));
  line("  messages", g_messages > 0 ? "some" : "none");
  line("  param", g_messages == 0    ? "none"
                  : g_param == &here ? "the environment's"
                                     : "the session's");
  g_messages = 0;
  run("logged", session, {"x"}, {tensor<float>({1, 3}, {1, 2, 3})}, {"y"});
  line("  messages", g_messages > 0 ? "some" : "none");
  lib.api->ReleaseSession(session);
  lib.api->ReleaseEnv(env);
}

}  // namespace

void memory_chapter() {
  infos();
  allocators();
  shared();
  devices();
}

std::atomic<int> threads_made = 0, threads_joined = 0;

// How many threads a program is asked for by pools that all sessions share.
void own_threads(int intra, int inter) {
  threads_made = threads_joined = 0;
  OrtThreadingOptions* threading = nullptr;
  ANSWER(CreateThreadingOptions(&threading));
  ANSWER(SetGlobalIntraOpNumThreads(threading, intra));
  ANSWER(SetGlobalInterOpNumThreads(threading, inter));
  ANSWER(
      SetGlobalCustomCreateThreadFn(threading, [](void*, OrtThreadWorkerFn work, void* argument) {
        ++threads_made;
        return reinterpret_cast<OrtCustomThreadHandle>(new std::thread(work, argument));
      }));
  ANSWER(SetGlobalCustomJoinThreadFn(threading, [](OrtCustomThreadHandle handle) {
    ++threads_joined;
    auto* thread = reinterpret_cast<std::thread*>(const_cast<OrtCustomHandleType*>(handle));
    thread->join();
    delete thread;
  }));
  OrtEnv* env = nullptr;
  ANSWER(CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_FATAL, "own", threading, &env));
  line("threads of " + std::to_string(intra) + " and " + std::to_string(inter),
       threads_made.load());
  lib.api->ReleaseEnv(env);
  line("joined", threads_joined.load());
  lib.api->ReleaseThreadingOptions(threading);
}

void env_chapter() {
  OrtEnv* again = nullptr;
  ANSWER(CreateEnv(ORT_LOGGING_LEVEL_FATAL, "other", &again));
  line("the same", again == lib.env);
  OrtThreadingOptions* threads = nullptr;
  ANSWER(CreateThreadingOptions(&threads));
  for (const int count : {-1, 0, 1, 3}) {
    answer("intra " + std::to_string(count), lib.api->SetGlobalIntraOpNumThreads(threads, count));
    answer("inter " + std::to_string(count), lib.api->SetGlobalInterOpNumThreads(threads, count));
    answer("spin " + std::to_string(count), lib.api->SetGlobalSpinControl(threads, count));
  }
  ANSWER(SetGlobalDenormalAsZero(threads));
  for (const char* affinity : {"", "1", "nonsense", "1;2", "1-2;3-4"})
    answer(std::string("affinity ") + affinity,
           lib.api->SetGlobalIntraOpThreadAffinity(threads, affinity));
  ANSWER(CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_FATAL, "pools", nullptr, &again));
  lib.api->ReleaseEnv(lib.env);
  lib.api->ReleaseEnv(lib.env);
  lib.api->ReleaseEnv(lib.env);  // as often as it was made
  OrtThreadingOptions* two = nullptr;
  ANSWER(CreateThreadingOptions(&two));
  ANSWER(SetGlobalIntraOpNumThreads(two, 2));
  ANSWER(CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_FATAL, "pools", two, &lib.env));
  OrtSessionOptions* with = options();
  ANSWER(DisablePerSessionThreads(with));
  OrtSession* session = load("with pools", relu(), with);
  run("with pools", session, {"x"}, {tensor<float>({1, 3}, {-1, 2, 3})}, {"y"});
  lib.api->ReleaseSession(session);
  lib.api->ReleaseEnv(lib.env);
  for (const int intra : {0, 1, 2, 3}) {
    for (const int inter : {0, 1, 4})
      own_threads(intra, inter);
  }
  for (const int level : {0, 2, 3}) {
    for (const int session_level : {-1, 0, 3}) {
      const std::string label =
          "logger " + std::to_string(level) + " " + std::to_string(session_level);
      logged(label, level, session_level, false);
      logged(label + " of the session", level, session_level, true);
    }
  }
  OrtEnvCreationOptions creation{ORT_API_VERSION, 4, "made", nullptr, nullptr, nullptr, nullptr};
  for (const int level : {-1, 0, 4, 5}) {
    creation.logging_severity_level = level;
    OrtEnv* env = nullptr;
    answer("environment of level " + std::to_string(level),
           lib.api->CreateEnvWithOptions(&creation, &env));
    if (env) lib.api->ReleaseEnv(env);
  }
  creation = {1, 4, "made", nullptr, nullptr, nullptr, nullptr};
  OrtEnv* env = nullptr;
  ANSWER(CreateEnvWithOptions(&creation, &env));
  creation = {ORT_API_VERSION, 4, nullptr, nullptr, nullptr, nullptr, nullptr};
  ANSWER(CreateEnvWithOptions(&creation, &env));
}

}  // namespace behaviour
