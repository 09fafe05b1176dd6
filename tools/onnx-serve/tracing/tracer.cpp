#include "tools/onnx-serve/tracing/tracer.h"

#include <algorithm>

#include "executor/batching/serving_error.h"

namespace sardonyx::serve {

using serving::refuse;
using serving::Status;

std::optional<TraceParent> parse_traceparent(std::string_view header) {
  const auto is_hex = [](std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  };
  const auto is_zero = [](std::string_view text) {
    return text.find_first_not_of('0') == std::string_view::npos;
  };
  if (header.size() < 55 || header[2] != '-' || header[35] != '-' || header[52] != '-') return {};
  const std::string_view version = header.substr(0, 2), trace = header.substr(3, 32),
                         parent = header.substr(36, 16), flags = header.substr(53, 2);
  if (!is_hex(version) || !is_hex(trace) || !is_hex(parent) || !is_hex(flags)) return {};
  if (version == "ff" || is_zero(trace) || is_zero(parent)) return {};
  if (header.size() > 55 && (version == "00" || header[55] != '-')) return {};
  const bool is_sampled = std::string_view("13579bdf").find(flags[1]) != std::string_view::npos;
  return TraceParent{std::string(trace), std::string(parent), is_sampled};
}

Trace::~Trace() {
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  tracer_->write(*this);
}

void Trace::add_run(const serving::InferResult& result) {
  add("REQUEST_START", result.received);
  add("QUEUE_START", result.received);
  if (!result.error) {
    add("COMPUTE_START", result.started);
    add("COMPUTE_INPUT_END", result.started + result.times.input);
    add("COMPUTE_OUTPUT_START", result.started + result.times.input + result.times.infer);
    add("COMPUTE_END", result.finished);
  } else {
    error = result.error->message();
  }
  add("REQUEST_END", result.finished);
}

Tracer::Tracer(const TraceSettings& settings, TraceTarget target, ServerLog& log)
    : at_start_(settings), target_(std::move(target)) {
  server_.all = at_start_;
  const bool is_on = settings.timestamps || settings.tensors;
  if (const std::string why = why_not(settings); is_on && !why.empty())
    refuse(Status::kInvalidArgument, "--trace-config: ", why);
  sink_ = target_.mode == TraceMode::kFile ? make_file_sink(target_.file, log)
                                           : make_otlp_sink(target_.url, log);
  may_trace_ = is_on;
}

Tracer::~Tracer() = default;

// Why nothing could be traced with these settings; "" where it can.
std::string Tracer::why_not(const TraceSettings& settings) const {
  if (settings.rate == 0) return "sample rate must be non-zero";
  if (target_.mode == TraceMode::kFile && target_.file.empty())
    return "trace file name is not given (--trace-config triton,file=FILE)";
  if (target_.mode == TraceMode::kOtlp && settings.tensors)
    return "TENSORS are traced in mode triton alone";
  return "";
}

std::shared_ptr<Trace> Tracer::sample(const std::string& model, int64_t version,
                                      std::string_view traceparent) {
  if (!may_trace_.load(std::memory_order_relaxed)) return nullptr;
  std::optional<TraceParent> parent = parse_traceparent(traceparent);
  TraceSettings taken;
  {
    const std::lock_guard lock(mutex_);
    const auto found = models_.find(model);
    State& state = found == models_.end() ? server_ : found->second;
    TraceSettings& settings = state.all;
    if (!(settings.timestamps || settings.tensors) || settings.count == 0) return nullptr;
    const bool follows = target_.mode == TraceMode::kOtlp && parent;
    if (follows ? !parent->is_sampled : ++state.seen % std::max(settings.rate, 1u) != 0)
      return nullptr;
    if (settings.count > 0) --settings.count;
    taken = settings;
  }
  const auto trace = std::make_shared<Trace>();
  trace->tracer_ = this;
  trace->settings = taken;
  trace->id = next_id_++;
  trace->model = model;
  trace->version = version;
  trace->parent = std::move(parent);
  return trace;
}

std::vector<std::pair<std::string, std::vector<std::string>>> Tracer::settings(
    const std::string& model) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(model);
  return as_values(found == models_.end() ? server_.all : found->second.all, target_);
}

// With the lock held. What is left of `count` begins anew.
void Tracer::set(State& state, const TraceSettings& above) const {
  const TraceSettings all = state.given.over(above);
  if (all.timestamps || all.tensors) {
    if (const std::string why = why_not(all); !why.empty())
      refuse(Status::kInvalidArgument, "Attempting to set invalid trace setting :", why);
  }
  state.all = all;
}

void Tracer::update(const std::string& model, const TraceValues& changes) {
  const std::lock_guard lock(mutex_);
  if (model.empty()) {
    State now{changed(server_.given, changes), {}, 0};
    set(now, at_start_);
    auto models = models_;
    for (auto& [name, state] : models)
      set(state, now.all);
    server_ = std::move(now);
    models_ = std::move(models);
  } else {
    const auto found = models_.find(model);
    State now{
        changed(found == models_.end() ? PartialTraceSettings() : found->second.given, changes),
        {},
        0};
    if (now.given.is_empty()) {
      models_.erase(model);
    } else {
      set(now, server_.all);
      models_[model] = std::move(now);
    }
  }
  const auto is_on = [](const TraceSettings& one) { return one.timestamps || one.tensors; };
  may_trace_ =
      is_on(server_.all) || std::any_of(models_.begin(), models_.end(),
                                        [&](const auto& one) { return is_on(one.second.all); });
}

}  // namespace sardonyx::serve
