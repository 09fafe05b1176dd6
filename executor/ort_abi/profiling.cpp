#include "executor/ort_abi/profiling.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include "executor/ort_abi/profile_arguments.h"
#include "executor/ort_abi/session.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"

namespace sardonyx::ort_abi {
namespace {

constexpr size_t kMaxEvents = 1'000'000;  // as ONNX Runtime; later ones are let go

std::string file_name(const std::string& prefix) {
  const auto now = std::chrono::system_clock::now();
  const time_t seconds = std::chrono::system_clock::to_time_t(now);
  tm parts{};
  localtime_r(&seconds, &parts);
  char time[32], name[64];
  std::strftime(time, sizeof time, "%Y-%m-%d_%H-%M-%S", &parts);
  const auto since = now.time_since_epoch() / std::chrono::milliseconds(1) % 1000;
  std::snprintf(name, sizeof name, "_%s_%03d.json", time, static_cast<int>(since));
  return prefix + name;
}

}  // namespace

void Profile::begin(const std::string& prefix, Clock::time_point start) {
  path_ = file_name(prefix);
  start_ = start;
  start_nanoseconds_ = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count());
  is_on_ = true;
}

int64_t Profile::since_start(Clock::time_point time) const {
  return std::chrono::duration_cast<std::chrono::microseconds>(time - start_).count();
}

void Profile::push(Event event) {
  if (events_.size() < kMaxEvents) events_.push_back(std::move(event));
}

void Profile::add(const char* category, const std::string& name, Clock::time_point begin,
                  Clock::time_point end) {
  const std::lock_guard lock(mutex_);
  push({category, name, since_start(begin), since_start(end) - since_start(begin), "{}"});
}

void Profile::add_run(Clock::time_point begin, Clock::time_point end,
                      const std::vector<NodeTiming>& steps) {
  const std::lock_guard lock(mutex_);
  double at = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const NodeTiming& step = steps[i];
    const std::string name = step.name.empty() ? text(step.op, "_", i) : step.name;
    push({"Node", name + "_kernel_time", since_start(begin) + static_cast<int64_t>(at * 1e6),
          static_cast<int64_t>(step.seconds * 1e6), arguments_of(step, i)});
    at += step.seconds;
  }
  const int64_t from = since_start(begin), duration = since_start(end) - from;
  push({"Session", "SequentialExecutor::Execute", from, duration, "{}"});
  push({"Session", "model_run", from, duration, "{}"});
}

std::string Profile::end() {
  const std::lock_guard lock(mutex_);
  if (!is_on_) return "";
  is_on_ = false;
  is_ended_ = true;
  std::ofstream file(path_);
  const pid_t process = getpid();
  file << "[\n";
  for (size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    file << "{\"cat\" : " << json_text(event.category) << ",\"pid\" :" << process
         << ",\"tid\" :" << process << ",\"dur\" :" << event.duration_us
         << ",\"ts\" :" << event.begin_us << ",\"ph\" : \"X\",\"name\" :" << json_text(event.name)
         << ",\"args\" : " << event.arguments << "}" << (i + 1 < events_.size() ? ",\n" : "\n");
  }
  file << "]\n";
  file.close();
  events_.clear();
  if (!file)
    fail(ErrorCode::kInvalidArgument, path_,
         ": the profile can't be written: ", std::strerror(errno));
  return path_;
}

OrtStatus* Functions::SessionEndProfiling(OrtSession* session, OrtAllocator* allocator,
                                          char** out) {
  return guarded([&] {
    char*& place = require_place(out, "out");
    require(allocator, "allocator");
    place = copied_string(allocator, require(session, "session").profile.end().c_str());
  });
}

OrtStatus* Functions::SessionGetProfilingStartTimeNs(const OrtSession* session, uint64_t* out) {
  return guarded(
      [&] { require(out, "out") = require(session, "session").profile.start_nanoseconds(); });
}

}  // namespace sardonyx::ort_abi
