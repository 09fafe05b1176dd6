#include "executor/ort_abi/load_session.h"

#include <algorithm>

#include "executor/ort_abi/config_entries.h"
#include "executor/ort_abi/model_rewrite.h"
#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {
namespace {

// Of errors in files and bytes that are no models, what the message begins with differs.
std::string load_prefix(const ModelSource& source) {
  return source.path ? text("Load model from ", source.path->native(), " failed:") : "";
}

void check_source(const ModelSource& source) {
  if (!source.path) {
    if (source.bytes.empty()) refuse(ORT_INVALID_ARGUMENT, "No graph was found in the protobuf.");
    return;
  }
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(*source.path, ignored);
  if (!std::filesystem::exists(status)) {
    refuse(ORT_NO_SUCHFILE, load_prefix(source), "Load model ", source.path->native(),
           " failed. File doesn't exist");
  }
  if (std::filesystem::is_directory(status)) {
    refuse(ORT_INVALID_ARGUMENT, "The model path is a directory. Give the path of a model file.");
  }
  if (std::filesystem::is_regular_file(status) &&
      std::filesystem::file_size(*source.path, ignored) == 0)
    refuse(ORT_FAIL, load_prefix(source), "ModelProto does not have a graph.");
}

// The text between the quotes that follow `before`.
std::string quoted_after(std::string_view message, std::string_view before) {
  const size_t at = message.find(before);
  if (at == std::string_view::npos) return "";
  const size_t begin = at + before.size();
  return std::string(message.substr(begin, message.find('"', begin) - begin));
}

[[noreturn]] void refuse_load(const ModelSource& source, const Error& error) {
  const std::string prefix = load_prefix(source);
  const std::string_view message = error.what();
  const auto says = [&](std::string_view part) {
    return message.find(part) != std::string_view::npos;
  };
  if (error.code() == ErrorCode::kCancelled)
    refuse(ORT_MODEL_LOAD_CANCELED, prefix, "Graph loading canceled due to user request.");
  if (says("is no valid protobuf of ONNX")) {
    refuse(ORT_INVALID_PROTOBUF, source.path ? prefix + "Protobuf parsing failed."
                                             : "Failed to load model because protobuf parsing "
                                               "failed.");
  }
  if (says("the file is no ONNX model: it has no graph")) {
    if (!source.path) refuse(ORT_INVALID_ARGUMENT, "No graph was found in the protobuf.");
    refuse(ORT_FAIL, prefix, "ModelProto does not have a graph.");
  }
  const std::string op = quoted_after(message, "there is no operator \"");
  if (!op.empty()) {
    const std::string domain = quoted_after(message, "\" in domain \"");
    refuse(ORT_FAIL, prefix, "Fatal error: ", domain, ":", op,
           "(-1) is not a registered function/op (", message, ")");
  }
  refuse(code_of(error.code()), prefix, message);
}

int optimization_level_of(GraphOptimizationLevel level) {
  if (level == ORT_DISABLE_ALL) return 0;
  return level == ORT_ENABLE_BASIC ? 1 : 2;
}

void set_threads(const OrtEnv& env, const OrtSessionOptions& given, SessionOptions& options) {
  options.intra_op_threads = thread_count(given.intra_op_threads);
  const bool has_own =
      given.has_own_threads && config_value(given.config, "session.use_per_session_threads") != "0";
  if (has_own) {
    options.thread_pool =
        made_pool(given.custom_threads, options.intra_op_threads, /*is_apart=*/false);
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

SessionOptions session_options_of(const OrtEnv& env, const OrtSessionOptions& given,
                                  const OrtLogger& logger, const ModelSource& source) {
  SessionOptions options;
  set_threads(env, given, options);
  options.optimization_level = optimization_level_of(given.optimization_level);
  options.cancel = given.load_cancellation->get_token();
  options.log_level = log_level_of(logger.level);
  options.log = sink_to(logger);
  options.load = load_options_of(given, source);
  return options;
}

Session made_session(const ModelSource& source, const OrtSessionOptions& given,
                     SessionOptions options, SessionCustomOps& custom_ops) {
  check_source(source);
  const CustomOpScope scope(&custom_ops);
  try {
    save_optimized(source, given, options.load);
    if (!given.dims_by_name.empty())
      return Session(with_fixed_dims(source, given.dims_by_name, options.load), std::move(options));
    return source.path ? Session(*source.path, std::move(options))
                       : Session(source.bytes, std::move(options));
  } catch (const Error& error) {
    refuse_load(source, error);
  }
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

int run_threads(const OrtSessionOptions& options, const OrtEnv& env) {
  const int asked = options.has_own_threads ? options.intra_op_threads : env.pool_threads;
  return asked > 0 ? asked : process_thread_pool()->concurrency();
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
  return load;
}

std::unique_ptr<OrtSession> load_session(const OrtEnv& env, const ModelSource& source,
                                         const OrtSessionOptions& options) {
  return std::make_unique<OrtSession>(env, source, options);
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
      inputs(sardonyx::ort_abi::ports_of(session.inputs(), session.optional_inputs())),
      outputs(sardonyx::ort_abi::ports_of(session.outputs(), {})),
      required(session.inputs().size()),
      threads(sardonyx::ort_abi::run_threads(options, env)),
      async(threads) {
  if (!options.profile_prefix) return;
  profile.begin(*options.profile_prefix, begin);
  const auto now = std::chrono::steady_clock::now();
  profile.add("Session", source.path ? "model_loading_uri" : "model_loading_array", begin, now);
  profile.add("Session", "session_initialization", begin, now);
}

OrtSession::~OrtSession() {
  delete space.load();
}
