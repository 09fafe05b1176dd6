#include "executor/ort_abi/env.h"

#include <cstdlib>
#include <cstring>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/table/version.h"

namespace sardonyx::ort_abi {
namespace {

// The environment there is, and how often it was asked for. Never destroyed: programs release their
// last one while the process ends.
struct CountedEnv {
  std::mutex mutex;
  OrtEnv* env = nullptr;
  size_t count = 0;
};

CountedEnv& counted() {
  static CountedEnv* const env = new CountedEnv;
  return *env;
}

// What the first one is made of; the arguments of later ones are not looked at.
struct EnvRequest {
  LogDestination destination;
  OrtLoggingLevel level;
  const char* id;
  const OrtThreadingOptions* threading = nullptr;
  const OrtKeyValuePairs* config = nullptr;
};

int threads_of(int asked) {
  const int count = thread_count(asked);
  return count > 0 ? count : process_thread_pool()->concurrency();
}

// Nodes run one after another: what a program makes threads for several at a time for helps the
// loops of one.
void set_pool(OrtEnv& env, const OrtThreadingOptions& threading) {
  env.has_pool = true;
  env.pool_threads = thread_count(threading.intra_op_threads);
  if (threading.custom.create) env.pool_threads = threads_of(env.pool_threads);
  env.pool = made_pool(threading.custom, env.pool_threads,
                       threads_of(threading.inter_op_threads) - 1, /*is_apart=*/true);
}

OrtEnv* made_env(const EnvRequest& request) {
  auto env = std::make_unique<OrtEnv>(request.destination, request.level, request.id);
  if (request.config) env->config = *request.config;
  if (request.threading) set_pool(*env, *request.threading);
  return env.release();
}

OrtStatus* create_env(const EnvRequest& request, OrtEnv** out) {
  return guarded([&] {
    OrtEnv*& place = require_place(out, "out");
    require(request.id, "logid");
    CountedEnv& known = counted();
    const std::lock_guard lock(known.mutex);
    if (!known.env) known.env = made_env(request);
    ++known.count;
    place = known.env;
  });
}

EnvRequest read_options(const OrtEnvCreationOptions* options) {
  constexpr uint32_t kFirst = 24;
  const char* const takes = "CreateEnvWithOptions requires a";
  if (!options) {
    refuse(ORT_INVALID_ARGUMENT, takes, " valid (non-null) OrtEnvCreationOptions argument");
  }
  if (options->version < kFirst) {
    refuse(ORT_INVALID_ARGUMENT, takes,
           " OrtEnvCreationOptions argument with the version set equal to ORT_API_VERSION");
  }
  if (!options->log_id) {
    refuse(ORT_INVALID_ARGUMENT, takes,
           " OrtEnvCreationOptions argument with a valid (non-null) log identifier string");
  }
  const int level = options->logging_severity_level;
  if (level < ORT_LOGGING_LEVEL_VERBOSE || level > ORT_LOGGING_LEVEL_FATAL) {
    refuse(ORT_INVALID_ARGUMENT, takes,
           " OrtEnvCreationOptions argument with a valid logging severity level value from the "
           "OrtLoggingLevel enumeration");
  }
  return {{options->custom_logging_function, options->custom_logging_param},
          static_cast<OrtLoggingLevel>(level),
          options->log_id,
          options->threading_options,
          options->config_entries};
}

}  // namespace

OrtKeyValuePairs::Entries env_config_entries() {
  CountedEnv& known = counted();
  const std::lock_guard lock(known.mutex);
  if (!known.env) refuse(ORT_FAIL, "there is no environment: make one with CreateEnv");
  return known.env->config.entries;
}

OrtStatus* Functions::CreateEnv(OrtLoggingLevel log_severity_level, const char* logid,
                                OrtEnv** out) {
  return create_env({{}, log_severity_level, logid}, out);
}

OrtStatus* Functions::CreateEnvWithCustomLogger(OrtLoggingFunction logging_function,
                                                void* logger_param,
                                                OrtLoggingLevel log_severity_level,
                                                const char* logid, OrtEnv** out) {
  return create_env({{logging_function, logger_param}, log_severity_level, logid}, out);
}

OrtStatus* Functions::CreateEnvWithGlobalThreadPools(OrtLoggingLevel log_severity_level,
                                                     const char* logid,
                                                     const OrtThreadingOptions* tp_options,
                                                     OrtEnv** out) {
  return CreateEnvWithCustomLoggerAndGlobalThreadPools(nullptr, nullptr, log_severity_level, logid,
                                                       tp_options, out);
}

OrtStatus* Functions::CreateEnvWithCustomLoggerAndGlobalThreadPools(
    OrtLoggingFunction logging_function, void* logger_param, OrtLoggingLevel log_severity_level,
    const char* logid, const OrtThreadingOptions* tp_options, OrtEnv** out) {
  OrtStatus* refused = guarded([&] { require_place(out, "out"); });
  if (refused) return refused;
  return create_env({{logging_function, logger_param}, log_severity_level, logid, tp_options}, out);
}

OrtStatus* Functions::CreateEnvWithOptions(const OrtEnvCreationOptions* options, OrtEnv** out) {
  EnvRequest request{};
  OrtStatus* refused = guarded([&] {
    require_place(out, "out");
    request = read_options(options);
  });
  return refused ? refused : create_env(request, out);
}

void Functions::ReleaseEnv(OrtEnv* input) {
  if (!input) return;
  CountedEnv& known = counted();
  const std::lock_guard lock(known.mutex);
  if (input != known.env || --known.count > 0) return;
  delete known.env;
  known.env = nullptr;
}

// Nothing is ever reported to anybody.
OrtStatus* Functions::EnableTelemetryEvents(const OrtEnv* env) {
  return guarded([&] { require(env, "env"); });
}
OrtStatus* Functions::DisableTelemetryEvents(const OrtEnv* env) {
  return guarded([&] { require(env, "env"); });
}
OrtStatus* Functions::SetLanguageProjection(const OrtEnv* ort_env, OrtLanguageProjection) {
  return guarded([&] { require(ort_env, "env"); });
}

OrtStatus* Functions::UpdateEnvWithCustomLogLevel(OrtEnv* ort_env,
                                                  OrtLoggingLevel log_severity_level) {
  return guarded([&] { require(ort_env, "env").logger.level = log_severity_level; });
}

// One block, as ReleaseAvailableProviders wants it back.
OrtStatus* Functions::GetAvailableProviders(char*** out_ptr, int* provider_length) {
  return guarded([&] {
    static constexpr char kName[] = "CPUExecutionProvider";
    char**& place = require_place(out_ptr, "out");
    require(provider_length, "provider_length") = 0;
    auto* block = static_cast<char**>(std::malloc(sizeof(char*) + sizeof kName));
    if (!block) throw std::bad_alloc();
    block[0] = reinterpret_cast<char*>(block + 1);
    std::memcpy(block[0], kName, sizeof kName);
    place = block;
    *provider_length = 1;
  });
}

OrtStatus* Functions::ReleaseAvailableProviders(char** ptr, int) {
  std::free(ptr);
  return nullptr;
}

const char* Functions::GetBuildInfoString() {
  return "ORT Build Info: sardonyx " SARDONYX_VERSION ", which stands in for ONNX Runtime";
}

OrtStatus* Functions::SetPerSessionThreadPoolCallbacks(OrtEnv* env,
                                                       const OrtThreadPoolCallbacksConfig* config) {
  return guarded([&] {
    constexpr uint32_t kFirst = 25;
    require(env, "env");
    if (!config) refuse(ORT_INVALID_ARGUMENT, "config must not be null");
    if (config->version < kFirst) {
      refuse(ORT_INVALID_ARGUMENT,
             "OrtThreadPoolCallbacksConfig requires version set to ORT_API_VERSION");
    }
    refuse(ORT_NOT_IMPLEMENTED,
           "SetPerSessionThreadPoolCallbacks requires ORT built with "
           "--enable_session_threadpool_callbacks");
  });
}

}  // namespace sardonyx::ort_abi

std::shared_ptr<OrtAllocator> OrtEnv::cpu_allocator() const {
  const std::lock_guard lock(mutex);
  for (const SharedAllocator& shared : allocators) {
    const OrtMemoryInfo& info = shared.info;
    const bool is_ordinary = info.device_type == OrtMemoryInfoDeviceType_CPU &&
                             info.device_mem_type == OrtDeviceMemoryType_DEFAULT;
    if (is_ordinary) return shared.allocator;
  }
  return nullptr;
}
