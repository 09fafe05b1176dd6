// Traces to an OpenTelemetry collector: OTLP over HTTP, in JSON.
#include <openssl/rand.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <condition_variable>
#include <deque>
#include <thread>

#include "executor/batching/serving_error.h"
#include "executor/serving/json_text.h"
#include "tools/onnx-serve/tracing/tracer.h"

namespace sardonyx::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using serving::json_string;
using serving::refuse;
using serving::Status;

struct CollectorUrl {
  std::string host, port, target;
};

CollectorUrl parse_url(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) {
    refuse(Status::kInvalidArgument, "opentelemetry,url '", url,
           "': expected http://HOST[:PORT]/PATH; for https, send to a collector on this machine");
  }
  const std::string rest = url.substr(kScheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string place = rest.substr(0, slash);
  const size_t bracket = place.rfind(']');
  const size_t colon = place.find(':', bracket == std::string::npos ? 0 : bracket);
  CollectorUrl parsed{place.substr(0, colon), "80", rest.substr(slash)};
  if (colon != std::string::npos) parsed.port = place.substr(colon + 1);
  if (parsed.target.empty()) parsed.target = "/v1/traces";
  if (parsed.host.starts_with('[') && parsed.host.ends_with(']'))
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  if (parsed.host.empty() || parsed.port.empty() ||
      parsed.port.find_first_not_of("0123456789") != std::string::npos)
    refuse(Status::kInvalidArgument, "opentelemetry,url '", url, "' has no host or port");
  return parsed;
}

std::string random_hex(size_t bytes) {
  std::vector<unsigned char> values(bytes);
  if (RAND_bytes(values.data(), static_cast<int>(bytes)) != 1) return std::string(2 * bytes, '1');
  values[0] |= 1;  // an id of zeros is none
  std::string hex;
  for (const unsigned char value : values) {
    hex += "0123456789abcdef"[value >> 4];
    hex += "0123456789abcdef"[value & 15];
  }
  return hex;
}

// One span, in which the steady clock's times become the calendar's.
class SpanText {
 public:
  explicit SpanText(const Trace& trace)
      : trace_(trace),
        trace_id_(trace.parent ? trace.parent->trace_id : random_hex(16)),
        offset_(std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()) -
                std::chrono::nanoseconds(TraceClock::now().time_since_epoch())) {}

  // The request, the time of its model within that, and the run within that.
  std::string json() const {
    const std::string root = random_hex(8), request = random_hex(8);
    std::string out = span("InferRequest", root, trace_.parent ? trace_.parent->parent_id : "", 2,
                           trace_.events.front().time, trace_.events.back().time, true);
    const auto* begin = event("REQUEST_START");
    const auto* end = event("REQUEST_END");
    if (begin && end)
      out += ',' + span(trace_.model, request, root, 1, begin->time, end->time, false);
    const auto* run_begin = event("COMPUTE_START");
    const auto* run_end = event("COMPUTE_END");
    if (run_begin && run_end)
      out +=
          ',' + span("compute", random_hex(8), request, 1, run_begin->time, run_end->time, false);
    return out;
  }

 private:
  const Trace::Event* event(std::string_view name) const {
    for (const Trace::Event& one : trace_.events) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }
  std::string time(TraceClock::time_point when) const {
    return std::to_string((std::chrono::nanoseconds(when.time_since_epoch()) + offset_).count());
  }
  static std::string attribute(std::string_view name, const std::string& value) {
    return "{\"key\":\"" + std::string(name) +
           "\",\"value\":{\"stringValue\":" + json_string(value) + "}}";
  }
  std::string span(const std::string& name, const std::string& id, const std::string& parent,
                   int kind, TraceClock::time_point begin, TraceClock::time_point end,
                   bool is_root) const {
    std::string out = "{\"traceId\":\"" + trace_id_ + "\",\"spanId\":\"" + id + '"';
    if (!parent.empty()) out += ",\"parentSpanId\":\"" + parent + '"';
    out += ",\"name\":" + json_string(name) + ",\"kind\":" + std::to_string(kind) +
           ",\"startTimeUnixNano\":\"" + time(begin) + "\",\"endTimeUnixNano\":\"" + time(end) +
           "\",\"attributes\":[" + attribute("model.name", trace_.model) + ',' +
           attribute("model.version", std::to_string(trace_.version));
    if (!trace_.request_id.empty()) out += ',' + attribute("request.id", trace_.request_id);
    out += ']';
    if (is_root) {
      out += ",\"events\":[";
      for (size_t i = 0; i < trace_.events.size(); ++i) {
        out += std::string(i > 0 ? "," : "") + "{\"timeUnixNano\":\"" +
               time(trace_.events[i].time) + "\",\"name\":\"" + trace_.events[i].name + "\"}";
      }
      out += "],\"status\":";
      out += trace_.error.empty() ? "{\"code\":1}"
                                  : "{\"code\":2,\"message\":" + json_string(trace_.error) + '}';
    }
    return out + '}';
  }

  const Trace& trace_;
  const std::string trace_id_;
  const std::chrono::nanoseconds offset_;
};

// Sends what has come, at most once in a second, by a thread of its own: a collector that is slow
// or down costs requests nothing. What it can't take in time is dropped, and the log says so.
class OtlpSink : public TraceSink {
 public:
  OtlpSink(const std::string& url, ServerLog& log) : url_(parse_url(url)), log_(log) {
    thread_ = std::thread([this] { work(); });
  }
  ~OtlpSink() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void write(const Trace& trace) override {
    if (trace.events.empty()) return;
    std::string spans = SpanText(trace).json();
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(spans));
    if (waiting_.size() >= kBatch) changed_.notify_all();
  }

 private:
  static constexpr size_t kMaxWaiting = 4096, kBatch = 256;

  void work() {
    std::unique_lock lock(mutex_);
    bool is_over = false;
    while (!is_over) {
      changed_.wait_for(lock, std::chrono::seconds(1),
                        [&] { return ends_ || waiting_.size() >= kBatch; });
      is_over = ends_;
      while (!waiting_.empty()) {
        std::string spans;
        size_t count = 0;
        for (; count < kBatch && !waiting_.empty(); ++count) {
          spans += (count > 0 ? "," : "") + waiting_.front();
          waiting_.pop_front();
        }
        const size_t dropped = std::exchange(dropped_, 0);
        lock.unlock();
        if (dropped > 0) log_.write(LogLevel::kWarning, text(dropped, " traces were dropped"));
        const bool was_taken = send(spans, count);
        lock.lock();
        if (is_over && !was_taken) waiting_.clear();
      }
    }
  }

  bool send(const std::string& spans, size_t count) {
    const std::string body =
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
        "{\"stringValue\":\"onnx-serve\"}},{\"key\":\"service.version\",\"value\":"
        "{\"stringValue\":\"" SARDONYX_VERSION
        "\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"onnx-serve\"},\"spans\":[" +
        spans + "]}]}]}";
    std::string problem;
    try {
      problem = post(body);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    // Said once, until it works again.
    if (!problem.empty() && !is_failing_) {
      log_.write(LogLevel::kWarning, text("the collector at ", url_.host, ':', url_.port,
                                          " did not take ", count, " traces: ", problem));
    }
    is_failing_ = !problem.empty();
    return problem.empty();
  }

  // What went wrong; "" where nothing did.
  std::string post(const std::string& body) {
    asio::io_context context;
    beast::tcp_stream stream(context);
    stream.expires_after(std::chrono::seconds(5));
    std::string problem = "no answer in 5 s";
    namespace http = beast::http;
    http::request<http::string_body> request(http::verb::post, url_.target, 11, body);
    request.set(http::field::host, url_.host + ':' + url_.port);
    request.set(http::field::content_type, "application/json");
    request.set(http::field::connection, "close");
    request.prepare_payload();
    http::response<http::string_body> response;
    beast::flat_buffer buffer;
    const auto read = [&](error_code error, size_t) {
      const auto status = static_cast<unsigned>(response.result_int());
      problem = error ? error.message() : status / 100 == 2 ? "" : text("status ", status);
    };
    const auto write = [&](error_code error, size_t) {
      if (error) {
        problem = error.message();
      } else {
        http::async_read(stream, buffer, response, read);
      }
    };
    const auto connect = [&](error_code error, const asio::ip::tcp::endpoint&) {
      if (error) {
        problem = error.message();
      } else {
        http::async_write(stream, request, write);
      }
    };
    asio::ip::tcp::resolver resolver(context);
    stream.async_connect(resolver.resolve(url_.host, url_.port), connect);
    context.run();
    return problem;
  }

  const CollectorUrl url_;
  ServerLog& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;
  size_t dropped_ = 0;
  bool ends_ = false;
  bool is_failing_ = false;  // of the thread alone
  std::thread thread_;
};

}  // namespace

std::unique_ptr<TraceSink> make_otlp_sink(const std::string& url, ServerLog& log) {
  return std::make_unique<OtlpSink>(url, log);
}

}  // namespace sardonyx::serve
