#include "executor/c_api/options.h"

#include <limits>

#include "executor/c_api/cancellation.h"
#include "executor/c_api/profile.h"
#include "executor/c_api/value.h"
#include "ir/core/threading/thread_pool.h"

namespace sardonyx::c_api {
namespace {

std::vector<std::string> names_in(const char* list) {
  std::vector<std::string> names;
  const std::string_view text = list;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    names.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::optional<std::chrono::milliseconds> deadline_of(const char* name, int64_t milliseconds) {
  check_range<int64_t>(name, milliseconds, 0, kLongestDeadline);
  if (milliseconds == 0) return std::nullopt;
  return std::chrono::milliseconds(milliseconds);
}

// Sets `limit` unless 0 is given.
template <typename T>
void set_limit(const char* name, uint64_t given, T& limit) {
  check_range<uint64_t>(name, given, 0, static_cast<uint64_t>(std::numeric_limits<T>::max()));
  if (given > 0) limit = static_cast<T>(given);
}

void set_limits(const sx_session_options& given, LoadLimits& limits) {
  set_limit("max_file_bytes", given.max_file_bytes, limits.file_bytes);
  set_limit("max_nesting", given.max_nesting, limits.nesting);
  set_limit("max_nodes", given.max_nodes, limits.nodes);
  set_limit("max_rank", given.max_rank, limits.rank);
  set_limit("max_tensor_bytes", given.max_tensor_bytes, limits.tensor_bytes);
  set_limit("max_total_bytes", given.max_total_bytes, limits.total_bytes);
  set_limit("max_expanded_bytes", given.max_expanded_bytes, limits.expanded_bytes);
}

// In versions without a default, 0 meant no rewriting; callers built for those pass a shorter
// struct.
int optimization_level(int32_t given, size_t struct_size, int by_default) {
  const bool is_first_version = struct_size <= offsetof(sx_session_options, error);
  check_range<int32_t>("optimization_level", given, is_first_version ? 0 : SX_OPTIMIZATION_NONE,
                       SX_OPTIMIZATION_FULL);
  if (is_first_version) return given;
  if (given == SX_OPTIMIZATION_DEFAULT) return by_default;
  return given == SX_OPTIMIZATION_NONE ? 0 : given;
}

LogLevel log_level(int32_t given) {
  check_range<int32_t>("log_level", given, SX_LOG_OFF, SX_LOG_DEBUG);
  switch (given) {
    case SX_LOG_OFF:
      return LogLevel::kOff;
    case SX_LOG_ERROR:
      return LogLevel::kError;
    case SX_LOG_WARNING:
      return LogLevel::kWarning;
    case SX_LOG_INFO:
      return LogLevel::kInfo;
    case SX_LOG_DEBUG:
      return LogLevel::kDebug;
    default:
      return log_level_from_environment();
  }
}

int32_t number_of(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return SX_LOG_ERROR;
    case LogLevel::kWarning:
      return SX_LOG_WARNING;
    case LogLevel::kInfo:
      return SX_LOG_INFO;
    case LogLevel::kDebug:
      return SX_LOG_DEBUG;
    case LogLevel::kOff:
      break;
  }
  return SX_LOG_OFF;
}

LogSink log_sink(sx_log_function log, void* user) {
  return [log, user](LogLevel level, std::string_view line) {
    log(user, number_of(level), std::string(line).c_str());
  };
}

// Calls `take(name, tensor)` for each.
template <typename Take>
void each_tensor(const char* what, const sx_named_value* list, size_t count, const Take& take) {
  if (count > 0) require(list, what);
  for (size_t i = 0; i < count; ++i) {
    const char* name = &require(list[i].name, what);
    const Datum& datum = require(list[i].value, what).datum;
    if (!datum.is_tensor()) {
      fail(ErrorCode::kInvalidArgument, what, ": ", name, ": expected a tensor, got ",
           datum.type());
    }
    if (!take(name, datum.tensor()))
      fail(ErrorCode::kInvalidArgument, what, ": ", name, " comes twice");
  }
}

void set_sources(const sx_session_options& given, LoadOptions& load) {
  load.map_external_data = !flag("read_external_data", given.read_external_data);
  if (given.allowed_root) load.allowed_root = given.allowed_root;
  each_tensor("external_files", given.external_files, given.external_file_count,
              [&](const char* name, const Tensor& tensor) {
                return load.external_files.emplace(name, tensor).second;
              });
  each_tensor("initializers", given.initializers, given.initializer_count,
              [&](const char* name, const Tensor& tensor) {
                return load.initializers.emplace(name, tensor).second;
              });
}

// Null: the threads that all sessions share.
std::shared_ptr<ThreadPool> thread_pool(const sx_session_options& given) {
  const bool has_own = flag("own_threads", given.own_threads);
  if (!given.thread_source) return has_own ? make_thread_pool() : nullptr;
  const sx_threads source = read_struct(given.thread_source, sx_threads{}, "thread_source");
  if (!source.submit || !source.concurrency) {
    fail(ErrorCode::kInvalidArgument,
         "thread_source: expected functions for submit and concurrency, got NULL");
  }
  return make_thread_pool({source.user, source.submit, source.concurrency});
}

}  // namespace

sx_session_options default_session_options() {
  const SessionOptions options;
  sx_session_options made{};
  made.optimization_level = options.optimization_level;
  made.memory_limit = options.memory_limit;
  made.max_plans = options.max_plans;
  return made;
}

SessionOptions session_options(const sx_session_options& given, size_t struct_size) {
  SessionOptions options;
  check_range<int32_t>("threads", given.threads, 0, kMaxThreads);
  options.intra_op_threads = given.threads;
  options.thread_pool = thread_pool(given);
  options.optimization_level =
      optimization_level(given.optimization_level, struct_size, options.optimization_level);
  set_limit("memory_limit", given.memory_limit, options.memory_limit);
  set_limit("max_plans", given.max_plans, options.max_plans);
  options.load_deadline = deadline_of("load_deadline_ms", given.load_deadline_ms);
  if (given.providers) options.providers = names_in(given.providers);
  if (flag("bfloat16", given.bfloat16)) options.precision = Precision::kBFloat16;
  if (given.plan_cache) options.plan_cache = given.plan_cache;
  if (given.disabled_passes) options.disabled_passes = names_in(given.disabled_passes);
  options.log_level = log_level(given.log_level);
  if (given.log) options.log = log_sink(given.log, given.log_user);
  if (given.cancellation) options.cancel = given.cancellation->token();
  set_limits(given, options.load.limits);
  set_sources(given, options.load);
  options.load.strict = flag("strict", given.strict);
  return options;
}

sx_run_options read_run_options(const sx_run_options* given) {
  return read_struct(given, sx_run_options{}, "options");
}

RunOptions run_options(const sx_run_options& given) {
  RunOptions options;
  options.deadline = deadline_of("deadline_ms", given.deadline_ms);
  if (given.cancellation) options.cancel = given.cancellation->token();
  if (given.profile) options.profile = &given.profile->steps;
  options.strict_outputs = flag("strict_outputs", given.strict_outputs);
  return options;
}

}  // namespace sardonyx::c_api

using namespace sardonyx::c_api;  // NOLINT: the functions below are outside of every namespace

extern "C" {

sx_status sx_session_options_init(sx_session_options* options, size_t struct_size) {
  return guarded([&] {
    write_struct(require(options, "options"), struct_size, default_session_options(), "options");
  });
}

sx_status sx_run_options_init(sx_run_options* options, size_t struct_size) {
  return guarded(
      [&] { write_struct(require(options, "options"), struct_size, sx_run_options{}, "options"); });
}

}  // extern "C"
