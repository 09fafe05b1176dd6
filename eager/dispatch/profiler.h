// Where the time of eager code goes: each op that this thread runs, by kind, line or module.
//
//   const Profiler profiler;
//   train_step();
//   std::cout << profiler.table();
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "eager/trace/location.h"

namespace sardonyx::eager {

namespace detail {
struct ProfilerState;
}

// What the rows of a table stand for.
enum class ProfileBy {
  kOp,      // "MatMul", "gradient of MatMul"
  kLine,    // "model.cpp:12"
  kModule,  // "encoder.layers.0"; "" outside of modules
};

struct ProfileRow {
  std::string name;
  int64_t calls = 0;
  double seconds = 0;  // of the ops themselves, without what they are made of
};

// Ops of this thread are timed from the constructor to the destructor; where profilers are nested,
// by the inner one alone. Ops that are recorded in a trace are not run, and not timed; a call of a
// compiled function is one row. Events beyond kMaxEvents are counted in no row.
class Profiler {
 public:
  static constexpr size_t kMaxEvents = 1'000'000;

  Profiler();
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // The longest first.
  std::vector<ProfileRow> rows(ProfileBy by = ProfileBy::kOp) const;
  // The first `most` rows as text: calls, milliseconds, share of all that was timed.
  std::string table(ProfileBy by = ProfileBy::kOp, size_t most = 20) const;
  // All events in the format of Chrome's chrome://tracing and of Perfetto.
  void save_trace(const std::filesystem::path& path) const;

 private:
  std::unique_ptr<detail::ProfilerState> state_;
};

namespace detail {

// One op, timed where a profiler is at work. `name` must outlive the profiler.
class ProfiledCall {
 public:
  ProfiledCall(std::string_view name, const Loc& loc);
  ~ProfiledCall();
  ProfiledCall(const ProfiledCall&) = delete;
  ProfiledCall& operator=(const ProfiledCall&) = delete;

 private:
  ProfilerState* state_;
  std::string_view name_;
  const Loc& loc_;
  int64_t begin_ = 0;  // of a steady clock, in its ticks
};

// Ops are those of a backward pass until the scope ends.
class ProfiledBackward {
 public:
  ProfiledBackward();
  ~ProfiledBackward();
  ProfiledBackward(const ProfiledBackward&) = delete;
  ProfiledBackward& operator=(const ProfiledBackward&) = delete;

 private:
  bool previous_;
};

}  // namespace detail
}  // namespace sardonyx::eager
