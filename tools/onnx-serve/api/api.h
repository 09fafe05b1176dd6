// The Open Inference Protocol over HTTP: which request asks for what, and the answers.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/serving/repository.h"
#include "tools/onnx-serve/access.h"
#include "tools/onnx-serve/api/infer_request.h"
#include "tools/onnx-serve/api/shared_memory.h"
#include "tools/onnx-serve/http/connection.h"
#include "tools/onnx-serve/server_log.h"
#include "tools/onnx-serve/tracing/tracer.h"

namespace sardonyx::serve {

inline constexpr std::string_view kNotExplicit =
    "explicit model load / unload is not allowed: start the server with "
    "--model-control-mode=explicit";

inline constexpr const char* kIsEnding = "the server is shutting down";

struct ApiOptions {
  std::string server_name = "sardonyx";
  bool has_metrics = true;
  bool triton_metrics = false;
  bool allows_shared_memory = false;
  // A request without a timeout of its own ends after this; 0: never.
  std::chrono::microseconds request_timeout{0};
};

// The state of the server that probes ask for.
struct ServerState {
  std::atomic<bool> is_live = true;
  // Not ready, and serving all the same; connections end after their current request.
  std::atomic<bool> is_draining = false;
  std::atomic<bool> is_closing = false;  // takes no more connections
};

class Api : public HttpHandler {
 public:
  Api(serving::ModelRepository& repository, const AccessControl& access, ServerLog& log,
      Tracer& tracer, ServerState& state, ApiOptions options);

  asio::awaitable<HttpAnswer> handle(HttpRequest& request, IoThread& thread,
                                     Watched& connection) override;
  std::optional<HttpAnswer> refusal(const HttpRequest& request) override;
  void report_defect(const std::exception_ptr& error) override;
  void report(std::string_view remark) override { log_.write(LogLevel::kWarning, remark); }
  bool ends_connections() const override { return state_.is_draining || state_.is_closing; }

  // What the protocol's extensions are called.
  std::vector<std::string_view> extensions() const;
  SharedMemory& regions() { return shared_memory_; }
  Tracer& tracer() { return tracer_; }

 private:
  using Path = std::vector<std::string>;
  asio::awaitable<HttpAnswer> route(HttpRequest& request, const Path& path, IoThread& thread,
                                    Watched& connection);
  asio::awaitable<HttpAnswer> route_model(HttpRequest& request, const Path& path, IoThread& thread,
                                          Watched& connection);
  asio::awaitable<HttpAnswer> infer(HttpRequest& request,
                                    const serving::ModelRepository::ModelPointer& model,
                                    IoThread& thread, Watched& connection);
  // What the model's runs spend their time on in the seconds that the query asks for. Lets go of
  // the model before it waits for them.
  asio::awaitable<HttpAnswer> profile(const HttpRequest& request,
                                      serving::ModelRepository::ModelPointer& model,
                                      IoThread& thread, Watched& connection);
  asio::awaitable<HttpAnswer> control(HttpRequest& request, const Path& path);
  // Does work that may take long in a thread of its own. What gcc 12 makes of a co_await destroys a
  // lambda or std::function among its temporaries twice: callers give `work` a name.
  asio::awaitable<HttpAnswer> elsewhere(const std::function<HttpAnswer()>& work);

  HttpAnswer server_metadata() const;
  HttpAnswer model_names() const;
  HttpAnswer health(bool ready) const;
  HttpAnswer model_ready(const std::string& name, const std::string& version) const;
  HttpAnswer model_metadata(const serving::ServedModel& model) const;
  HttpAnswer statistics(std::string_view name, std::string_view version) const;
  HttpAnswer index(const HttpRequest& request) const;
  HttpAnswer load(const std::string& name, const HttpRequest& request);
  HttpAnswer unload(const std::string& name, const HttpRequest& request);
  HttpAnswer logging(const HttpRequest& request);
  HttpAnswer trace_setting(const HttpRequest& request, const std::string& model);
  HttpAnswer shared_memory(const HttpRequest& request, const Path& path);

  serving::ModelRepository& repository_;
  const AccessControl& access_;
  ServerLog& log_;
  Tracer& tracer_;
  ServerState& state_;
  const ApiOptions options_;
  SharedMemory shared_memory_;
  asio::thread_pool control_threads_{2};
};

// The part of it that is at a port of its own: metrics and health, and nothing else.
class MetricsApi : public HttpHandler {
 public:
  explicit MetricsApi(Api& api) : api_(api) {}
  asio::awaitable<HttpAnswer> handle(HttpRequest& request, IoThread& thread,
                                     Watched& connection) override {
    return api_.handle(request, thread, connection);
  }
  std::optional<HttpAnswer> refusal(const HttpRequest& request) override;
  void report_defect(const std::exception_ptr& error) override { api_.report_defect(error); }
  void report(std::string_view remark) override { api_.report(remark); }
  bool ends_connections() const override { return api_.ends_connections(); }

 private:
  Api& api_;
};

}  // namespace sardonyx::serve
