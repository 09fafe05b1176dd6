#include "tools/onnx-serve/api/api.h"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "tools/onnx-serve/api/routes.h"
#include "tools/onnx-serve/metrics.h"
#include "tools/onnx-serve/page/page.h"

namespace sardonyx::serve {
namespace {

using beast::http::verb;
using serving::refuse;

// Which group a path belongs to; what is unknown is the most protected one's.
EndpointGroup group_of(const std::vector<std::string>& path) {
  if (path.empty()) return EndpointGroup::kHealth;  // a page that tells nothing by itself
  if (path[0] == "metrics") return EndpointGroup::kMetrics;
  if (path.size() >= 2 && path[1] == "health") return EndpointGroup::kHealth;
  if (path.size() == 1 || path[1] == "models") {
    if (path.size() > 3 && path.back() == "setting") return EndpointGroup::kControl;
    if (path.size() > 3 && path.back() == "profile") return EndpointGroup::kMetrics;
    return EndpointGroup::kInfer;
  }
  return EndpointGroup::kControl;
}

HttpAnswer not_found(std::string_view target) {
  return error_answer(404, text("there is nothing at '", target, "'"));
}

bool is_get(const HttpRequest& request) {
  return request.method == verb::get || request.method == verb::head;
}

// `methods`: as methods_of() gives them.
bool is_among(std::string_view methods, const HttpRequest& request) {
  return is_get(request) ? methods.starts_with("GET")
                         : request.method == verb::post && methods.ends_with("POST");
}

// Of the server as a whole (RFC 9110, 9.3.7).
HttpAnswer server_options() {
  HttpAnswer answer;
  answer.fields.emplace_back("Allow", "GET, HEAD, POST");
  return answer;
}

// A body that nobody asked for is not read.
std::optional<HttpAnswer> body_refusal(const HttpRequest& request,
                                       const std::vector<std::string>& path) {
  const std::string_view allowed = methods_of(path);
  if (allowed.empty()) return not_found(request.target);
  if (!is_among(allowed, request)) return wrong_method(allowed);
  if (!is_get(request)) return std::nullopt;
  return error_answer(413, text("a GET of '", request.target, "' takes no body"));
}

// Waits, in the thread of a connection, for an answer that may come from another one.
class PendingAnswer : public std::enable_shared_from_this<PendingAnswer> {
 public:
  explicit PendingAnswer(IoThread& thread) : thread_(thread), changed_(thread.context()) {
    changed_.expires_at(asio::steady_timer::time_point::max());
  }
  void set(serving::InferResult&& result) {
    if (thread_.is_current()) {
      result_ = std::move(result);
      changed_.cancel();
      return;
    }
    asio::post(thread_.context(), [self = shared_from_this(), moved = std::move(result)]() mutable {
      self->result_ = std::move(moved);
      self->changed_.cancel();
    });
  }
  bool is_there() const { return result_.has_value(); }
  asio::awaitable<void> wait() {
    boost::system::error_code ignored;
    while (!result_)
      co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  serving::InferResult& result() { return *result_; }

 private:
  IoThread& thread_;
  asio::steady_timer changed_;
  std::optional<serving::InferResult> result_;
};

}  // namespace

Api::Api(serving::ModelRepository& repository, const AccessControl& access, ServerLog& log,
         Tracer& tracer, ServerState& state, ApiOptions options)
    : repository_(repository),
      access_(access),
      log_(log),
      tracer_(tracer),
      state_(state),
      options_(std::move(options)) {}

std::vector<std::string_view> Api::extensions() const {
  std::vector<std::string_view> names = {
      "binary_tensor_data",  "parameters",      "model_repository", "statistics",
      "model_configuration", "schedule_policy", "sequence",         "sequence(string_id)",
      "classification",      "trace",           "logging"};
  if (options_.allows_shared_memory) names.emplace_back("system_shared_memory");
  return names;
}

std::optional<HttpAnswer> Api::refusal(const HttpRequest& request) {
  const auto& path = request.path;
  if (!path) return error_answer(400, "a broken escape in the path");
  switch (access_.check(group_of(*path), request.field("Authorization"))) {
    case Access::kNoToken: {
      HttpAnswer answer = error_answer(401, "this needs field Authorization: Bearer TOKEN");
      answer.fields.emplace_back("WWW-Authenticate", "Bearer");
      return answer;
    }
    case Access::kWrongToken:
      return error_answer(403, "the token is none of those that may ask for this");
    default:
      return request.has_body ? body_refusal(request, *path) : std::nullopt;
  }
}

void Api::report_defect(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    log_.write(LogLevel::kError, text("a connection was closed by an exception: ", known.what()));
  } catch (...) {
    log_.write(LogLevel::kError, "a connection was closed by an unknown exception");
  }
}

std::optional<HttpAnswer> MetricsApi::refusal(const HttpRequest& request) {
  const auto& path = request.path;
  if (path) {
    const EndpointGroup group = group_of(*path);
    const bool is_here = group == EndpointGroup::kMetrics || group == EndpointGroup::kHealth;
    if (!is_here || path->empty()) return not_found(request.target);
  }
  return api_.refusal(request);
}

asio::awaitable<HttpAnswer> Api::elsewhere(const std::function<HttpAnswer()>& work) {
  const auto home = co_await asio::this_coro::executor;
  auto there = asio::bind_executor(control_threads_.get_executor(), asio::use_awaitable);
  auto back = asio::bind_executor(home, asio::use_awaitable);
  co_await asio::post(std::move(there));
  HttpAnswer answer;
  try {
    answer = work();
  } catch (...) {
    answer = error_answer(serving::current_serving_error());
  }
  co_await asio::post(std::move(back));
  co_return answer;
}

asio::awaitable<HttpAnswer> Api::handle(HttpRequest& request, IoThread& thread,
                                        Watched& connection) {
  const auto begin = std::chrono::steady_clock::now();
  HttpAnswer answer;
  try {
    answer = co_await route(request, *request.path, thread, connection);
  } catch (...) {
    answer = error_answer(serving::current_serving_error());
  }
  if (log_.logs_requests()) {
    ServerLog::Fields fields = {{"method", std::string(beast::http::to_string(request.method))},
                                {"target", request.target},
                                {"status", std::to_string(answer.status)},
                                {"ms", text(milliseconds_since(begin))}};
    if (const auto parent = parse_traceparent(request.field("traceparent")))
      fields.emplace_back("trace_id", parent->trace_id);
    log_.write(LogLevel::kDebug, "request", fields);
  }
  co_return answer;
}

asio::awaitable<HttpAnswer> Api::route(HttpRequest& request, const Path& path, IoThread& thread,
                                       Watched& connection) {
  if (request.method == verb::options && request.target == "*") co_return server_options();
  if (path.size() == 1 && path[0] == "metrics" && !options_.has_metrics)
    co_return not_found(request.target);
  const std::string_view methods = methods_of(path);
  // Regions of memory say first whether they are served at all.
  const bool is_memory = path.size() > 1 && path[1].ends_with("sharedmemory");
  if (!methods.empty() && !is_memory && !is_among(methods, request))
    co_return wrong_method(methods);
  if (path.empty()) co_return page();
  if (path.size() == 1 && path[0] == "v2") co_return server_metadata();
  if (path.size() == 1 && path[0] == "metrics") {
    HttpAnswer answer;
    answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
    answer.text = metrics_text(repository_, options_.triton_metrics);
    co_return answer;
  }
  if (path[0] != "v2") co_return not_found(request.target);
  if (path[1] == "health" && path.size() == 3) {
    if (path[2] == "live") co_return health(false);
    if (path[2] == "ready") co_return health(true);
  }
  if (path[1] == "models") co_return co_await route_model(request, path, thread, connection);
  co_return co_await control(request, path);
}

asio::awaitable<HttpAnswer> Api::route_model(HttpRequest& request, const Path& path,
                                             IoThread& thread, Watched& connection) {
  if (path.size() == 3 && path[2] == "stats") co_return statistics("", "");
  if (path.size() == 2) co_return model_names();
  const std::string& name = path[2];
  std::string version;
  size_t at = 3;
  if (path.size() >= 5 && path[3] == "versions") {
    version = path[4];
    at = 5;
  }
  const std::string_view call = path.size() > at ? std::string_view(path[at]) : "";
  if (path.size() == 5 && call == "trace" && path[4] == "setting")
    co_return trace_setting(request, name);
  if (path.size() > at + 1) co_return not_found(request.target);
  if (call == "infer") {
    const auto model = repository_.find(name, version);
    co_return co_await infer(request, model, thread, connection);
  }
  const bool is_known =
      call.empty() || call == "ready" || call == "stats" || call == "config" || call == "profile";
  if (!is_known) co_return not_found(request.target);
  if (call == "profile") {
    auto model = repository_.find(name, version);
    co_return co_await profile(request, model, thread, connection);
  }
  if (call == "ready") co_return model_ready(name, version);
  if (call == "stats") co_return statistics(name, version);
  if (call.empty()) co_return model_metadata(*repository_.find(name, version));
  co_return json_answer(serving::config_as_json(repository_.find(name, version)->config()));
}

asio::awaitable<HttpAnswer> Api::control(HttpRequest& request, const Path& path) {
  if (path[1] == "repository") {
    if (path.size() == 3 && path[2] == "index") {
      const std::function<HttpAnswer()> work = [&] { return index(request); };
      co_return co_await elsewhere(work);
    }
    if (path.size() == 5 && path[2] == "models" && (path[4] == "load" || path[4] == "unload")) {
      const std::function<HttpAnswer()> work = [&] {
        return path[4] == "load" ? load(path[3], request) : unload(path[3], request);
      };
      co_return co_await elsewhere(work);
    }
  }
  if (path[1] == "logging" && path.size() == 2) co_return logging(request);
  if (path[1] == "trace" && path.size() == 3 && path[2] == "setting")
    co_return trace_setting(request, "");
  if (path[1] == "systemsharedmemory") co_return shared_memory(request, path);
  if (path[1] == "cudasharedmemory")
    co_return error_answer(501, "this server has no CUDA devices; see system_shared_memory");
  co_return not_found(request.target);
}

asio::awaitable<HttpAnswer> Api::infer(HttpRequest& request,
                                       const serving::ModelRepository::ModelPointer& model,
                                       IoThread& thread, Watched& connection) {
  const std::shared_ptr<Trace> trace =
      tracer_.sample(model->name(), model->version(), request.field("traceparent"));
  if (trace) {
    trace->add("HTTP_RECV_START", request.received);
    trace->add("HTTP_RECV_END", TraceClock::now());
  }
  serving::InferRequest infer;
  const bool is_raw = request.has_binary && request.text.empty();
  ParsedInfer parsed;
  OutputChoice choice;
  const SharedMemory* memory = options_.allows_shared_memory ? &shared_memory_ : nullptr;
  try {
    if (!is_raw) parsed = parse_infer(request.text);
    auto tensors =
        is_raw ? raw_tensors(request, *model) : request_tensors(request, parsed, *model, memory);
    choice = choose_outputs(parsed, *model);
    if (trace) trace->request_id = parsed.id.value_or("");
    if (trace && trace->settings.tensors) add_inputs(*trace, tensors);
    apply_parameters(parsed.parameters, infer);
    if (!infer.timeout && options_.request_timeout.count() > 0)
      infer.timeout = options_.request_timeout;
    model->fill(infer, std::move(tensors),
                parsed.outputs.empty() ? std::vector<size_t>() : choice.order);
  } catch (...) {
    // What comes to the queue is counted there.
    model->statistics().add_failure(std::chrono::steady_clock::now() - request.received,
                                    serving::Failure::kOther);
    throw;
  }
  // Tensors hold what they need of the body.
  request.binary.reset();

  const auto pending = std::make_shared<PendingAnswer>(thread);
  const auto ticket = model->submit(
      std::move(infer),
      [pending](serving::InferResult&& result) { pending->set(std::move(result)); },
      /*may_run_here=*/true);
  if (!pending->is_there()) {
    thread.begin_run(connection, [&model, ticket] { model->cancel(ticket); });
    co_await pending->wait();
    thread.end_run(connection);
  }
  serving::InferResult& result = pending->result();
  if (trace) trace->add_run(result);
  if (result.error) {
    // The client has not cancelled it: the server did, or nobody reads this.
    const bool is_cut_off = result.error->status() == Status::kCancelled && state_.is_closing;
    co_return is_cut_off ? error_answer(503, kIsEnding) : error_answer(*result.error);
  }
  if (trace && trace->settings.tensors) add_outputs(*trace, *model, choice, result.outputs);
  HttpAnswer answer = infer_answer(*model, parsed, choice, result.outputs, is_raw, memory);
  if (trace) {
    answer.on_sent = [trace](TraceClock::time_point begin) {
      trace->add("HTTP_SEND_START", begin);
      trace->add("HTTP_SEND_END", TraceClock::now());
    };
  }
  co_return answer;
}

}  // namespace sardonyx::serve
