// Profiles of models that serve.
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>
#include <cstdlib>

#include "executor/serving/json_text.h"
#include "tools/onnx-serve/api/api.h"
#include "tools/onnx-serve/http/target.h"

namespace sardonyx::serve {
namespace {

using serving::refuse;
using serving::RunProfile;
using Clock = std::chrono::steady_clock;

// As the query says it; 1 s where it says nothing.
Clock::duration time_of(const HttpRequest& request) {
  constexpr double kLongest = 300;
  const std::string given = query_value(request.target, "seconds").value_or("1");
  char* end = nullptr;
  const double seconds = std::strtod(given.c_str(), &end);
  const bool is_number = !given.empty() && *end == '\0' && std::isfinite(seconds);
  if (!is_number || seconds <= 0 || seconds > kLongest) {
    refuse(Status::kInvalidArgument, "seconds: expected a number over 0 and up to ", kLongest,
           ", got '", given, "'");
  }
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += ",\"";
  out += name;
  out += "\":";
  serving::append_json_string(out, value);
}

template <typename Number>
void append_field(std::string& out, std::string_view name,
                  Number value) requires std::is_arithmetic_v<Number> {
  out += ",\"";
  out += name;
  out += "\":";
  serving::append_number(out, value);
}

void append_step(std::string& out, const RunProfile::Step& step) {
  const NodeTiming& timing = step.slowest;
  out += "{\"node\":";
  serving::append_json_string(out, timing.name);
  append_field(out, "op", timing.op);
  append_field(out, "implementation", timing.implementation);
  append_field(out, "scope", timing.scope);
  append_field(out, "source", timing.source);
  append_field(out, "types", timing.types);
  append_field(out, "count", step.count);
  append_field(out, "seconds", step.seconds);
  append_field(out, "slowest_seconds", timing.seconds);
  append_field(out, "bytes", step.bytes);
  out += '}';
}

HttpAnswer profile_json(const std::string& name, int64_t version, double seconds,
                        const RunProfile::Sums& sums) {
  std::string out = "{\"model_name\":";
  serving::append_json_string(out, name);
  append_field(out, "model_version", std::to_string(version));
  append_field(out, "seconds", seconds);
  append_field(out, "runs", sums.runs);
  append_field(out, "run_seconds", sums.seconds);
  out += ",\"steps\":[";
  bool is_first = true;
  for (const RunProfile::Step& step : sums.steps) {
    if (!is_first) out += ',';
    is_first = false;
    append_step(out, step);
  }
  return json_answer(out + "]}");
}

}  // namespace

asio::awaitable<HttpAnswer> Api::profile(const HttpRequest& request,
                                         serving::ModelRepository::ModelPointer& model,
                                         IoThread& thread, Watched& connection) {
  constexpr std::chrono::milliseconds kLook(100);
  const Clock::duration time = time_of(request);
  const std::string name = model->name();
  const int64_t version = model->version();
  const std::shared_ptr<RunProfile> profile = model->begin_profile();
  model.reset();  // it may be unloaded meanwhile
  bool is_gone = false;
  asio::steady_timer timer(thread.context());
  thread.begin_run(connection, [&] {
    is_gone = true;
    timer.cancel();
  });
  const Clock::time_point begin = Clock::now();
  while (!is_gone && !state_.is_closing) {
    const Clock::duration left = begin + time - Clock::now();
    if (left <= Clock::duration::zero()) break;
    timer.expires_after(std::min<Clock::duration>(left, kLook));
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  thread.end_run(connection);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  co_return profile_json(name, version, seconds, profile->sums());
}

}  // namespace sardonyx::serve
