#include "eager/dispatch/profiler.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "eager/trace/frame.h"
#include "eager/trace/scope_name.h"
#include "onnx_io/file_write.h"

namespace sardonyx::eager {

using Clock = std::chrono::steady_clock;

namespace detail {

struct ProfiledEvent {
  std::string_view name;
  bool is_backward;
  Loc loc;
  std::string module;
  Clock::time_point begin;
  double seconds;
};

struct ProfilerState {
  ProfilerState* outer;
  Clock::time_point begin = Clock::now();
  std::vector<ProfiledEvent> events;
};

namespace {
thread_local ProfilerState* profiler = nullptr;
thread_local bool is_backward = false;
}  // namespace

ProfiledCall::ProfiledCall(std::string_view name, const Loc& loc)
    : state_(profiler), name_(name), loc_(loc) {
  if (state_) begin_ = Clock::now().time_since_epoch().count();
}
ProfiledCall::~ProfiledCall() {
  if (!state_ || state_->events.size() >= Profiler::kMaxEvents) return;
  const Clock::time_point begin{Clock::duration(begin_)};
  const std::chrono::duration<double> taken = Clock::now() - begin;
  state_->events.push_back({name_, is_backward, loc_, ScopeName::current(), begin, taken.count()});
}

ProfiledBackward::ProfiledBackward() : previous_(std::exchange(is_backward, true)) {}
ProfiledBackward::~ProfiledBackward() {
  is_backward = previous_;
}

}  // namespace detail

namespace {

std::string op_text(const detail::ProfiledEvent& event) {
  return text(event.is_backward ? "backward " : "", event.name);
}

std::string name_of(const detail::ProfiledEvent& event, ProfileBy by) {
  switch (by) {
    case ProfileBy::kOp:
      return op_text(event);
    case ProfileBy::kLine:
      return text_of(event.loc);
    default:
      return event.module;
  }
}

}  // namespace

Profiler::Profiler() : state_(std::make_unique<detail::ProfilerState>()) {
  state_->outer = std::exchange(detail::profiler, state_.get());
}
Profiler::~Profiler() {
  detail::profiler = state_->outer;
}

std::vector<ProfileRow> Profiler::rows(ProfileBy by) const {
  std::map<std::string, ProfileRow> by_name;
  for (const detail::ProfiledEvent& event : state_->events) {
    std::string name = name_of(event, by);
    ProfileRow& row = by_name[name];
    row.name = std::move(name);
    ++row.calls;
    row.seconds += event.seconds;
  }
  std::vector<ProfileRow> rows;
  for (auto& [name, row] : by_name)
    rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, std::greater(), &ProfileRow::seconds);
  return rows;
}

std::string Profiler::table(ProfileBy by, size_t most) const {
  const std::vector<ProfileRow> all = rows(by);
  double total = 0;
  for (const ProfileRow& row : all)
    total += row.seconds;
  std::string table = "   calls          ms   share  what\n";
  for (size_t i = 0; i < std::min(most, all.size()); ++i) {
    const ProfileRow& row = all[i];
    char line[64];
    std::snprintf(line, sizeof line, "%8lld %11.3f %6.1f%%  ", static_cast<long long>(row.calls),
                  1e3 * row.seconds, total > 0 ? 100 * row.seconds / total : 0);
    table += text(line, row.name, '\n');
  }
  if (all.size() > most) table += text("and ", all.size() - most, " more\n");
  return table;
}

void Profiler::save_trace(const std::filesystem::path& path) const {
  nlohmann::json events = nlohmann::json::array();
  for (const detail::ProfiledEvent& event : state_->events) {
    const std::chrono::duration<double, std::micro> since = event.begin - state_->begin;
    events.push_back({{"name", op_text(event)},
                      {"ph", "X"},
                      {"pid", 0},
                      {"tid", 0},
                      {"ts", since.count()},
                      {"dur", 1e6 * event.seconds},
                      {"args", {{"line", text_of(event.loc)}, {"module", event.module}}}});
  }
  write_atomically(path, nlohmann::json{{"traceEvents", events}}.dump());
}

}  // namespace sardonyx::eager
