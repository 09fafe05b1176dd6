#include "executor/ort_abi/session_options.h"

#include <cstring>

#include "executor/ort_abi/config_entries.h"
#include "executor/ort_abi/config_mirrors.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

template <typename T>
OrtStatus* set_option(OrtSessionOptions* options, T OrtSessionOptions::*member, T value) {
  return guarded([&] { require(options, "options").*member = std::move(value); });
}

OrtStatus* set_text(OrtSessionOptions* options, std::string OrtSessionOptions::*member,
                    const char* value, const char* name) {
  return guarded([&] { require(options, "options").*member = &require(value, name); });
}

bool is_level(int level) {
  switch (level) {
    case ORT_DISABLE_ALL:
    case ORT_ENABLE_BASIC:
    case ORT_ENABLE_EXTENDED:
    case ORT_ENABLE_LAYOUT:
    case ORT_ENABLE_ALL:
      return true;
  }
  return false;
}

OrtStatus* fix_dim(OrtSessionOptions* options, std::map<std::string, int64_t> FixedDims::*member,
                   const char* name, int64_t value) {
  return guarded([&] {
    auto& dims = require(options, "options").fixed_dims.*member;
    dims.insert_or_assign(&require(name, "name"), value);
  });
}

}  // namespace

OrtStatus* Functions::CreateSessionOptions(OrtSessionOptions** options) {
  return guarded([&] { make_at(options, "options"); });
}

OrtStatus* Functions::CloneSessionOptions(const OrtSessionOptions* in_options,
                                          OrtSessionOptions** out_options) {
  return guarded([&] {
    OrtSessionOptions*& place = require_place(out_options, "out_options");
    place = new OrtSessionOptions(require(in_options, "in_options"));
  });
}

void Functions::ReleaseSessionOptions(OrtSessionOptions* input) {
  delete input;
}

OrtStatus* Functions::SetOptimizedModelFilePath(OrtSessionOptions* options,
                                                const char* optimized_model_filepath) {
  return set_text(options, &OrtSessionOptions::optimized_model_path, optimized_model_filepath,
                  "optimized_model_filepath");
}

OrtStatus* Functions::SetSessionExecutionMode(OrtSessionOptions* options,
                                              ExecutionMode execution_mode) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    const int mode = number_of(execution_mode);
    if (mode != ORT_SEQUENTIAL && mode != ORT_PARALLEL)
      refuse(ORT_INVALID_ARGUMENT, "execution_mode is not valid");
    changed.execution_mode = execution_mode;
  });
}

OrtStatus* Functions::GetSessionExecutionMode(const OrtSessionOptions* options,
                                              ExecutionMode* out) {
  return guarded([&] { require(out, "out") = require(options, "options").execution_mode; });
}

OrtStatus* Functions::EnableProfiling(OrtSessionOptions* options, const char* profile_file_prefix) {
  return guarded([&] {
    require(options, "options").profile_prefix =
        &require(profile_file_prefix, "profile_file_prefix");
  });
}
OrtStatus* Functions::DisableProfiling(OrtSessionOptions* options) {
  return guarded([&] { require(options, "options").profile_prefix.reset(); });
}

OrtStatus* Functions::EnableMemPattern(OrtSessionOptions* options) {
  return set_option(options, &OrtSessionOptions::uses_memory_pattern, true);
}
OrtStatus* Functions::DisableMemPattern(OrtSessionOptions* options) {
  return set_option(options, &OrtSessionOptions::uses_memory_pattern, false);
}
OrtStatus* Functions::GetMemPatternEnabled(const OrtSessionOptions* options, int* out) {
  return guarded(
      [&] { require(out, "out") = require(options, "options").uses_memory_pattern ? 1 : 0; });
}
OrtStatus* Functions::EnableCpuMemArena(OrtSessionOptions* options) {
  return set_option(options, &OrtSessionOptions::uses_arena, true);
}
OrtStatus* Functions::DisableCpuMemArena(OrtSessionOptions* options) {
  return set_option(options, &OrtSessionOptions::uses_arena, false);
}

OrtStatus* Functions::SetSessionLogId(OrtSessionOptions* options, const char* logid) {
  return set_text(options, &OrtSessionOptions::log_id, logid, "logid");
}
OrtStatus* Functions::SetSessionLogVerbosityLevel(OrtSessionOptions* options,
                                                  int session_log_verbosity_level) {
  return set_option(options, &OrtSessionOptions::log_verbosity, session_log_verbosity_level);
}
OrtStatus* Functions::SetSessionLogSeverityLevel(OrtSessionOptions* options,
                                                 int session_log_severity_level) {
  return set_option(options, &OrtSessionOptions::log_severity, session_log_severity_level);
}

OrtStatus* Functions::SetSessionGraphOptimizationLevel(
    OrtSessionOptions* options, GraphOptimizationLevel graph_optimization_level) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    if (!is_level(number_of(graph_optimization_level)))
      refuse(ORT_INVALID_ARGUMENT, "graph_optimization_level is not valid");
    changed.optimization_level = graph_optimization_level;
  });
}

OrtStatus* Functions::SetIntraOpNumThreads(OrtSessionOptions* options, int intra_op_num_threads) {
  return set_option(options, &OrtSessionOptions::intra_op_threads, intra_op_num_threads);
}
OrtStatus* Functions::SetInterOpNumThreads(OrtSessionOptions* options, int inter_op_num_threads) {
  return set_option(options, &OrtSessionOptions::inter_op_threads, inter_op_num_threads);
}
OrtStatus* Functions::DisablePerSessionThreads(OrtSessionOptions* options) {
  return set_option(options, &OrtSessionOptions::has_own_threads, false);
}
OrtStatus* Functions::SetDeterministicCompute(OrtSessionOptions* options, bool value) {
  return set_option(options, &OrtSessionOptions::is_deterministic, value);
}

OrtStatus* Functions::AddFreeDimensionOverride(OrtSessionOptions* options,
                                               const char* dim_denotation, int64_t dim_value) {
  return fix_dim(options, &FixedDims::by_denotation, dim_denotation, dim_value);
}
OrtStatus* Functions::AddFreeDimensionOverrideByName(OrtSessionOptions* options,
                                                     const char* dim_name, int64_t dim_value) {
  return fix_dim(options, &FixedDims::by_name, dim_name, dim_value);
}

OrtStatus* Functions::AddSessionConfigEntry(OrtSessionOptions* options, const char* config_key,
                                            const char* config_value) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    const char *key = &require(config_key, "config_key"),
               *value = &require(config_value, "config_value");
    if (!set_mirrored(changed, key, value)) add_config_entry(changed.config, key, value);
  });
}

OrtStatus* Functions::HasSessionConfigEntry(const OrtSessionOptions* options,
                                            const char* config_key, int* out) {
  return guarded([&] {
    const auto& entries = require(options, "options").config.entries;
    require(out, "out") = entries.contains(&require(config_key, "config_key")) ? 1 : 0;
  });
}

OrtStatus* Functions::GetSessionConfigEntry(const OrtSessionOptions* options,
                                            const char* config_key, char* config_value,
                                            size_t* size) {
  return guarded([&] {
    const auto& entries = require(options, "options").config.entries;
    const auto at = entries.find(&require(config_key, "config_key"));
    if (at == entries.end()) {
      refuse(ORT_INVALID_ARGUMENT, "Session config entry '", config_key, "' was not found.");
    }
    const size_t needed = at->second.size() + 1;
    const size_t given = std::exchange(require(size, "size"), needed);
    if (!config_value) return;
    if (given < needed) {
      refuse(ORT_INVALID_ARGUMENT, "Output buffer is not large enough for session config entry");
    }
    std::memcpy(config_value, at->second.c_str(), needed);
  });
}

OrtStatus* Functions::GetSessionOptionsConfigEntries(const OrtSessionOptions* options,
                                                     OrtKeyValuePairs** out) {
  return guarded([&] {
    OrtKeyValuePairs*& place = require_place(out, "out");
    place = new OrtKeyValuePairs(require(options, "options").config.entries);
  });
}

OrtStatus* Functions::SetUserLoggingFunction(OrtSessionOptions* options,
                                             OrtLoggingFunction user_logging_function,
                                             void* user_logging_param) {
  return guarded([&] {
    auto& logging = require(options, "options").logging;
    logging.reset();
    if (user_logging_function) logging = LogDestination{user_logging_function, user_logging_param};
  });
}

// A flag that was taken back counts for sessions that are made from then on.
OrtStatus* Functions::SessionOptionsSetLoadCancellationFlag(OrtSessionOptions* options,
                                                            bool cancel) {
  return guarded([&] {
    OrtSessionOptions& changed = require(options, "options");
    if (cancel)
      changed.load_cancellation->request_stop();
    else if (changed.load_cancellation->stop_requested())
      changed.load_cancellation = std::make_shared<std::stop_source>();
  });
}

OrtStatus* Functions::SessionOptionsSetCustomCreateThreadFn(
    OrtSessionOptions* options, OrtCustomCreateThreadFn ort_custom_create_thread_fn) {
  return guarded(
      [&] { require(options, "options").custom_threads.create = ort_custom_create_thread_fn; });
}
OrtStatus* Functions::SessionOptionsSetCustomThreadCreationOptions(
    OrtSessionOptions* options, void* ort_custom_thread_creation_options) {
  return guarded([&] {
    require(options, "options").custom_threads.creation_options =
        ort_custom_thread_creation_options;
  });
}
OrtStatus* Functions::SessionOptionsSetCustomJoinThreadFn(
    OrtSessionOptions* options, OrtCustomJoinThreadFn ort_custom_join_thread_fn) {
  return guarded(
      [&] { require(options, "options").custom_threads.join = ort_custom_join_thread_fn; });
}

}  // namespace sardonyx::ort_abi
