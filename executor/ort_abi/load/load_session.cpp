#include "executor/ort_abi/load/load_session.h"

#include <algorithm>

#include "executor/ort_abi/config_checks.h"
#include "executor/ort_abi/config_entries.h"
#include "executor/ort_abi/load/load_errors.h"
#include "executor/ort_abi/load/model_fields.h"
#include "executor/ort_abi/load/model_rewrite.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/values/allocator.h"

namespace sardonyx::ort_abi {
namespace {

int run_threads(const OrtSessionOptions& options, const OrtEnv& env) {
  const int asked = options.has_own_threads ? options.intra_op_threads : env.pool_threads;
  return asked > 0 ? asked : process_thread_pool()->concurrency();
}

int optimization_level_of(GraphOptimizationLevel level) {
  if (level == ORT_DISABLE_ALL) return 0;
  return level == ORT_ENABLE_BASIC ? 1 : 2;
}

void set_threads(const OrtEnv& env, const OrtSessionOptions& given, SessionOptions& options) {
  options.intra_op_threads = thread_count(given.intra_op_threads);
  if (given.has_own_threads) {
    // Nodes run one after another: threads for several at a time help the loops of one.
    const bool is_parallel = given.execution_mode == ORT_PARALLEL && given.inter_op_threads > 1;
    options.thread_pool =
        made_pool(given.custom_threads, options.intra_op_threads,
                  is_parallel ? given.inter_op_threads - 1 : 0, /*is_apart=*/false);
    return;
  }
  if (!env.has_pool) {
    refuse(ORT_FAIL,
           "When the session is not configured to use per session threadpools, the env must be "
           "created with the the CreateEnvWithGlobalThreadPools API.");
  }
  options.thread_pool = env.pool;
  options.intra_op_threads = env.pool_threads;
}

std::shared_ptr<OrtAllocator> env_allocator_of(const OrtEnv& env, const OrtSessionOptions& given) {
  const bool is_asked = config_value(given.config, "session.use_env_allocators") == "1";
  return is_asked ? env.cpu_allocator() : nullptr;
}

SessionOptions session_options_of(const OrtEnv& env, const OrtSessionOptions& given,
                                  const OrtLogger& logger, const ModelSource& source) {
  check_session_options(given, given.has_own_threads ? run_threads(given, env) : 1);
  SessionOptions options;
  set_threads(env, given, options);
  options.optimization_level = optimization_level_of(given.optimization_level);
  options.cancel = given.load_cancellation->get_token();
  options.log_level = log_level_of(logger.level);
  options.log = sink_to(logger);
  options.load = load_options_of(given, source);
  if (auto allocator = env_allocator_of(env, given))
    options.memory_source = memory_from(std::move(allocator));
  return options;
}

Session loaded_session(const ModelSource& source, const OrtSessionOptions& given,
                       SessionOptions options) {
  save_optimized(
      source,
      {given.optimized_model_path, given.optimization_level, given.fixed_dims, given.config},
      options.load);
  if (!given.fixed_dims.empty())
    return Session(with_fixed_dims(source, given.fixed_dims, options.load), std::move(options));
  return source.path ? Session(*source.path, std::move(options))
                     : Session(source.bytes, std::move(options));
}

// An initializer that the model has not is passed over, as ONNX Runtime does.
Session made_session(const ModelSource& source, const OrtSessionOptions& given,
                     SessionOptions options, SessionCustomOps& custom_ops) {
  check_source(source, config_value(given.config, "session.load_model_format"));
  const CustomOpScope scope(&custom_ops);
  while (true) {
    try {
      return loaded_session(source, given, options);
    } catch (const Error& error) {
      const std::optional<std::string> unknown = unknown_initializer(error);
      if (!unknown || options.load.initializers.erase(*unknown) == 0) refuse_load(source, error);
    }
  }
}

std::unique_ptr<EpAssignment> assignment_of(const ModelSource& source,
                                            const OrtSessionOptions& given,
                                            SessionCustomOps& custom_ops) {
  if (!is_assignment_asked_for(given.config)) return nullptr;
  const CustomOpScope scope(&custom_ops);
  const Model model =
      optimized_model(source, given.optimization_level, load_options_of(given, source));
  return std::make_unique<EpAssignment>(*model.graph);
}

LogDestination destination_of(const OrtEnv& env, const OrtSessionOptions& options) {
  return options.logging ? *options.logging : env.logger.destination;
}

OrtLoggingLevel level_of(const OrtEnv& env, const OrtSessionOptions& options) {
  if (options.log_severity < 0) return env.logger.level;
  return static_cast<OrtLoggingLevel>(std::min<int>(options.log_severity, ORT_LOGGING_LEVEL_FATAL));
}

std::vector<Port> ports_of(std::span<const ValueInfo> first, std::span<const ValueInfo> second) {
  std::vector<Port> ports;
  for (const auto& values : {first, second}) {
    for (const ValueInfo& value : values)
      ports.emplace_back(value);
  }
  return ports;
}

}  // namespace

Port::Port(const ValueInfo& value)
    : name(value.name), type(value.type), is_tensor(value.type.is_tensor()) {
  has_rank = is_tensor && type.has_rank();
  if (!has_rank) return;
  for (const Dim& dim : *type.shape)
    dims.push_back(dim.try_value().value_or(-1));
}

LoadOptions load_options_of(const OrtSessionOptions& options, const ModelSource& source) {
  LoadOptions load;
  load.initializers = options.initializers;
  load.external_files = options.external_files;
  const std::string_view folder =
      config_value(options.config, "session.model_external_initializers_file_folder_path");
  load.allowed_root = folder.empty() ? source.folder : std::filesystem::path(folder);
  // Bytes have no folder: external data are beneath the one that the program is in.
  if (!source.path && load.allowed_root.empty()) load.allowed_root = ".";
  return load;
}

std::unique_ptr<OrtSession> load_session(const OrtEnv& env, const ModelSource& source,
                                         const OrtSessionOptions& options) {
  auto made = std::make_unique<OrtSession>(env, source, options);
  // Providers that were appended by name are the program's choice already.
  if (options.selection.delegate && !options.appends_cpu) {
    ModelMetadata metadata = made->session.metadata();
    if (!made->names_version) metadata.model_version = INT64_MAX;
    select_devices(options.selection, metadata);
  }
  return made;
}

}  // namespace sardonyx::ort_abi

OrtSession::OrtSession(const OrtEnv& env, const sardonyx::ort_abi::ModelSource& source,
                       const OrtSessionOptions& options)
    : logger(sardonyx::ort_abi::destination_of(env, options),
             sardonyx::ort_abi::level_of(env, options), options.log_id),
      begin(std::chrono::steady_clock::now()),
      libraries(options.libraries),
      config(options.config.entries),
      custom_ops(options.custom_domains, logger, config),
      session(sardonyx::ort_abi::made_session(
          source, options, sardonyx::ort_abi::session_options_of(env, options, logger, source),
          custom_ops)),
      names_version(sardonyx::ort_abi::names_model_version(source)),
      inputs(sardonyx::ort_abi::ports_of(session.inputs(), session.optional_inputs())),
      outputs(sardonyx::ort_abi::ports_of(session.outputs(), {})),
      required(session.inputs().size()),
      threads(sardonyx::ort_abi::run_threads(options, env)),
      uses_arena(options.uses_arena),
      env_allocator(sardonyx::ort_abi::env_allocator_of(env, options)),
      async(threads),
      assignment(sardonyx::ort_abi::assignment_of(source, options, custom_ops)) {
  if (!options.profile_prefix) return;
  profile.begin(*options.profile_prefix, begin);
  const auto now = std::chrono::steady_clock::now();
  profile.add("Session", source.path ? "model_loading_uri" : "model_loading_array", begin, now);
  profile.add("Session", "session_initialization", begin, now);
}

OrtSession::~OrtSession() {
  async.end();
  delete space.load();
}
