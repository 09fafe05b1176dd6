// Traces of requests: samples them, and hands them to where they are written.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "executor/batching/infer_request.h"
#include "tools/onnx-serve/server_log.h"
#include "tools/onnx-serve/tracing/trace_settings.h"

namespace sardonyx::serve {

using TraceClock = std::chrono::steady_clock;

// The place of a request in a distributed trace, as W3C's header traceparent has it.
struct TraceParent {
  std::string trace_id;   // 32 hex digits
  std::string parent_id;  // 16 hex digits
  bool is_sampled = false;
};
// nullopt: the header is none.
std::optional<TraceParent> parse_traceparent(std::string_view header);

class Tracer;

// One request that is traced; written when it is destroyed.
class Trace {
 public:
  struct Event {
    const char* name;
    TraceClock::time_point time;
  };
  struct TracedTensor {
    const char* activity;
    std::string name;
    Tensor tensor;
  };

  ~Trace();
  // Events come in any order.
  void add(const char* name, TraceClock::time_point time) { events.push_back({name, time}); }
  // What the scheduler tells of the run.
  void add_run(const serving::InferResult& result);

  uint64_t id = 0;
  TraceSettings settings;
  std::string model, request_id;
  int64_t version = 0;
  std::optional<TraceParent> parent;
  std::string error;
  std::vector<Event> events;
  std::vector<TracedTensor> tensors;

 private:
  friend class Tracer;
  Tracer* tracer_ = nullptr;
};

// Takes finished traces; called by many threads.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void write(const Trace& trace) = 0;
};

class Tracer {
 public:
  Tracer(const TraceSettings& settings, TraceTarget target, ServerLog& log);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // The trace of a request, or null: it is none of those that are traced. In mode kOtlp, the
  // decision of the caller is followed where there is one.
  std::shared_ptr<Trace> sample(const std::string& model, int64_t version,
                                std::string_view traceparent);

  // Of a model, or (model "") of the server. update() throws ServingError, and changes nothing
  // then.
  std::vector<std::pair<std::string, std::vector<std::string>>> settings(
      const std::string& model) const;
  void update(const std::string& model, const TraceValues& changes);

  void write(const Trace& trace) { sink_->write(trace); }

 private:
  struct State {
    PartialTraceSettings given;
    TraceSettings all;
    uint64_t seen = 0;
  };
  std::string why_not(const TraceSettings& settings) const;
  void set(State& state, const TraceSettings& above) const;

  const TraceSettings at_start_;
  const TraceTarget target_;
  std::unique_ptr<TraceSink> sink_;
  std::atomic<bool> may_trace_ = false;
  std::atomic<uint64_t> next_id_ = 1;
  mutable std::mutex mutex_;
  State server_;
  std::map<std::string, State> models_;
};

// The two sinks. Each throws ServingError where the target makes no sense.
std::unique_ptr<TraceSink> make_file_sink(const std::string& file, ServerLog& log);
std::unique_ptr<TraceSink> make_otlp_sink(const std::string& url, ServerLog& log);

}  // namespace sardonyx::serve
