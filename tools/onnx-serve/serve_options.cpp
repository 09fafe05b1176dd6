#include "tools/onnx-serve/serve_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "executor/serving/json_text.h"
#include "ir/core/threading/cpu_limits.h"

namespace sardonyx::serve {
namespace {

using Root = serving::RepositoryOptions::Root;

// A path, or NAME=PATH.
Root root_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::exists(text)) return {text, ""};
  return {text.substr(equals + 1), text.substr(0, equals)};
}

struct Raw {
  std::vector<std::string> repositories, models;
  std::string model_name, control = "none", metrics = "sardonyx";
  double poll_seconds = 15, drain_delay = 5, drain_timeout = 20, request_timeout = 0;
  std::optional<double> total_memory_gb;
  double memory_gb = 64, idle_seconds = 75, header_seconds = 10;
  std::vector<std::string> trace;
  uint64_t max_body_mb = 1024, max_bodies_mb = 4096;
};

constexpr double kMostSeconds = 1e9, kShortestPoll = 0.1;

// NaN is between nothing, which CLI::Range takes.
CLI::Validator is_between(double least, double most) {
  const auto problem_of = [least, most](const std::string& given) {
    double value = 0;
    const bool is_number = CLI::detail::lexical_cast(given, value);
    if (is_number && value >= least && value <= most) return std::string();
    return text("expected a number from ", least, " to ", most, ", got '", given, "'");
  };
  return CLI::Validator(problem_of, "");
}

void add_models(CLI::App& app, Raw& raw, ServeOptions& options) {
  app.add_option("MODEL", raw.models,
                 "a model, PATH or NAME=PATH: an .onnx file, or a folder with model.onnx, "
                 "N/model.onnx or config.pbtxt");
  app.add_option("--model-repository", raw.repositories,
                 "a folder of models, each NAME/N/model.onnx with or without NAME/config.pbtxt");
  app.add_option("--model-name", raw.model_name, "the name of the one model that is given");
  app.add_option("--model-control-mode", raw.control,
                 "none: what is there at the start; poll: and what changes; explicit: what clients "
                 "ask for")
      ->check(CLI::IsMember({"none", "poll", "explicit"}));
  app.add_option("--load-model", options.repository.startup_models,
                 "with explicit: load this one at the start; * for all");
  app.add_option("--repository-poll-secs", raw.poll_seconds,
                 "with poll: how often, at least 0.1; 15 by default")
      ->check(is_between(kShortestPoll, kMostSeconds));
  app.add_option("--exit-on-error", options.exits_on_error,
                 "end where a model can't be loaded at the start (default true)");
  app.add_option(
         "--default-max-batch-size", options.repository.default_max_batch,
         "batch size of models without configuration whose first dims are named as a batch; "
         "0: none; 16 by default")
      ->check(is_between(0, 1 << 24));
  app.add_flag(
      "--wait-for-delay", options.repository.waits_for_delay,
      "wait max_queue_delay_microseconds for a fuller batch even while an instance is idle");
}

void add_runtime(CLI::App& app, Raw& raw, ServeOptions& options) {
  app.add_option("--threads", options.repository.session.intra_op_threads,
                 "threads of one run; 0, the default: what the machine has")
      ->check(is_between(0, 4096));
  app.add_option("--io-threads", options.http.threads, "threads that serve connections")
      ->check(CLI::Range(1, 256));
  app.add_option("--memory-limit-gb", raw.memory_gb,
                 "memory of one model, 64 by default; 0: no limit")
      ->check(is_between(0, 1e6));
  app.add_option(
         "--total-memory-gb", raw.total_memory_gb,
         "memory of all models with their runs; 9 tenths of the container's or machine's by "
         "default, 0: no limit")
      ->check(is_between(0, 1e6));
  app.add_option("--request-timeout", raw.request_timeout,
                 "seconds after which a request without a timeout of its own ends; 0: never")
      ->check(is_between(0, kMostSeconds));
  app.add_option(
         "--drain-delay", raw.drain_delay,
         "seconds from SIGTERM, with which readiness ends, to the last connection taken; 5 by "
         "default")
      ->check(is_between(0, kMostSeconds));
  app.add_option("--drain-timeout", raw.drain_timeout,
                 "seconds for running requests after that; 20 by default")
      ->check(is_between(0, kMostSeconds));
}

void add_http(CLI::App& app, Raw& raw, ServeOptions& options) {
  app.add_option("--http-address", options.http.address,
                 "where to listen; 127.0.0.1 by default, 0.0.0.0 or :: for all");
  app.add_option("--http-port", options.http.port, "8000 by default; 0: one that is free");
  app.add_option("--server-name", options.api.server_name,
                 "what the server's metadata say, sardonyx by default");
  app.add_option("--port-file", options.port_file,
                 "write the ports of HTTP and gRPC there once requests are taken");
#ifdef SARDONYX_GRPC
  app.add_option("--grpc-address", options.grpc_address,
                 "where to listen; as --http-address by default");
  app.add_option("--grpc-port", options.grpc_port, "8001 by default; 0: one that is free");
  app.add_flag("--grpc,!--no-grpc", options.has_grpc, "serve gRPC, on by default");
#endif
  app.add_option("--max-body-mb", raw.max_body_mb, "of one request, 1024 by default")
      ->check(is_between(1, 1 << 24));
  app.add_option(
         "--max-bodies-mb", raw.max_bodies_mb,
         "of all requests at once, over HTTP and gRPC, with answers over gRPC until they are sent; "
         "4096 by default")
      ->check(is_between(1, 1 << 24));
  app.add_option("--max-header-bytes", options.http.limits.header_bytes, "65536 by default")
      ->check(is_between(256, 1 << 30));
  app.add_option("--max-connections", options.http.limits.connections, "20000 by default")
      ->check(is_between(1, 1 << 24));
  app.add_option("--idle-timeout", raw.idle_seconds, "seconds between requests of a connection")
      ->check(is_between(1, kMostSeconds));
  app.add_option("--header-timeout", raw.header_seconds, "seconds for the header of a request")
      ->check(is_between(1, kMostSeconds));
}

void add_access(CLI::App& app, ServeOptions& options) {
  app.add_option("--tls-cert", options.tls.certificate,
                 "certificate chain (PEM); read anew when it changes");
  app.add_option("--tls-key", options.tls.key, "its key (PEM)");
  app.add_option("--tls-client-ca", options.tls.client_authority,
                 "clients need a certificate of this authority (PEM)");
  app.add_option("--tokens", options.tokens,
                 "GROUP=FILE: lines of the file are bearer tokens of infer, control or metrics");
  app.add_flag("--allow-client-shm", options.api.allows_shared_memory,
               "clients may register POSIX shared memory");
}

void add_reports(CLI::App& app, Raw& raw, ServeOptions& options) {
  app.add_flag("--metrics,!--no-metrics", options.api.has_metrics, "/metrics, on by default");
  app.add_option("--metrics-port", options.metrics_port,
                 "serve /metrics and health at this port as well; 0: one that is free");
  app.add_option("--metrics-names", raw.metrics, "sardonyx, or triton for those names beside them")
      ->check(CLI::IsMember({"sardonyx", "triton"}));
  app.add_option("--trace-config", raw.trace,
                 "SETTING=VALUE, as Triton's: level=TIMESTAMPS, rate=N, count=N, "
                 "mode=triton with triton,file=FILE, or mode=opentelemetry with "
                 "opentelemetry,url=URL");
  app.add_option("--log-file", options.log.file, "stderr by default");
  app.add_option("--log-format", options.log.format, "default or json");
  app.add_option("--log-verbose", options.log.verbose_level, "1: a line for each request")
      ->check(is_between(0, 100));
}

template <typename Duration>
Duration seconds(double value) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::clamp(value, 0.0, 1e9)));
}

std::string problem(const Raw& raw, const ServeOptions& options) {
  if (raw.repositories.empty() && raw.models.empty())
    return "no model: give one, or a folder of them with --model-repository";
  if (!raw.model_name.empty() && raw.models.size() + raw.repositories.size() != 1)
    return "--model-name names one model, and several are given";
  const auto is_nameless = [](const std::string& model) {
    return model.starts_with('=') && !std::filesystem::exists(model);
  };
  if (std::any_of(raw.models.begin(), raw.models.end(), is_nameless))
    return "MODEL as NAME=PATH needs a name before the =";
  if (!serving::is_utf8(options.api.server_name)) return "--server-name is not UTF-8";
  if (!options.repository.startup_models.empty() && raw.control != "explicit")
    return "--load-model needs --model-control-mode=explicit; other modes load what is there";
  if (options.tls.certificate.empty() != options.tls.key.empty())
    return "--tls-cert needs --tls-key, and the other way round";
  if (!options.tls.client_authority.empty() && options.tls.certificate.empty())
    return "--tls-client-ca needs --tls-cert";
  return "";
}

void finish(const Raw& raw, ServeOptions& options) {
  for (const std::string& path : raw.repositories)
    options.repository.roots.push_back({path, raw.model_name});
  for (const std::string& model : raw.models) {
    Root root = root_of(model);
    if (!raw.model_name.empty()) root.name = raw.model_name;
    options.repository.roots.push_back(std::move(root));
  }
  using serving::ControlMode;
  options.repository.control = raw.control == "poll"       ? ControlMode::kPoll
                               : raw.control == "explicit" ? ControlMode::kExplicit
                                                           : ControlMode::kNone;
  options.repository.session.memory_limit =
      raw.memory_gb > 0 ? static_cast<size_t>(raw.memory_gb * 1e9) : size_t{1} << 60;
  options.repository.total_memory =
      raw.total_memory_gb ? static_cast<uint64_t>(std::clamp(*raw.total_memory_gb, 0.0, 1e6) * 1e9)
                          : serving::machine_memory() / 10 * 9;
  options.api.triton_metrics = raw.metrics == "triton";
  options.api.request_timeout = seconds<std::chrono::microseconds>(raw.request_timeout);
  options.http.limits.decompression = options.api.request_timeout;
  options.poll_period = seconds<std::chrono::milliseconds>(raw.poll_seconds);
  options.drain_delay = seconds<std::chrono::milliseconds>(raw.drain_delay);
  options.drain_timeout = seconds<std::chrono::milliseconds>(raw.drain_timeout);
  options.http.limits.idle = seconds<std::chrono::seconds>(raw.idle_seconds);
  options.http.limits.header = seconds<std::chrono::seconds>(raw.header_seconds);
  options.http.limits.body_bytes = std::min<uint64_t>(raw.max_body_mb, 1 << 24) << 20;
  // What is more than all may have is too large, and not to be tried again.
  options.http.limits.body_bytes =
      std::min<uint64_t>(raw.max_bodies_mb << 20, options.http.limits.body_bytes);
  options.http.limits.all_body_bytes = std::min<uint64_t>(raw.max_bodies_mb, 1 << 24) << 20;
}

}  // namespace

ParsedOptions parse_options(int count, const char* const* values) {
  CLI::App app("Serves ONNX models over the Open Inference Protocol.", "onnx-serve");
  app.set_version_flag("--version", "onnx-serve " SARDONYX_VERSION);
  ServeOptions options;
  options.http.threads = std::clamp(default_thread_count() / 2, 1, 4);
  Raw raw;
  add_models(app, raw, options);
  add_runtime(app, raw, options);
  add_http(app, raw, options);
  add_access(app, options);
  add_reports(app, raw, options);
  try {
    app.parse(count, values);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {{}, app.exit(error)};
    std::cerr << "onnx-serve: " << error.what() << " (--help lists what there is)\n";
    return {{}, 2};
  }
  if (const std::string wrong = problem(raw, options); !wrong.empty()) {
    std::cerr << "onnx-serve: " << wrong << '\n';
    return {{}, 2};
  }
  try {
    for (const std::string& setting : raw.trace)
      apply_trace_option(setting, options.trace, options.trace_target);
  } catch (const ServingError& error) {
    std::cerr << "onnx-serve: " << error.message() << '\n';
    return {{}, 2};
  }
  finish(raw, options);
  return {std::move(options), 0};
}

}  // namespace sardonyx::serve
