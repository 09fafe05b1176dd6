// Deadlines and memory limits of calls that are far too large for them, one or more of every row of
// the op table. CI asks for small figures generously; SARDONYX_LIMITS_REPORT=MIB makes the calls of
// up to MIB MiB instead and prints what is not kept closely.
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <thread>

#include "executor/session.h"
#include "ir/core/sanitizers.h"
#include "tests/limits/heavy_case.h"
#include "tests/support/expect_error.h"

namespace sardonyx::limits_test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kMiB = 1 << 20;

struct Setting {
  double most_bytes = 8 * kMiB;  // of a call
  std::chrono::milliseconds deadline{20};
  double late_ms = 500;  // more that is computed after the deadline fails
  bool reports = false;
};

Setting setting() {
  const char* const mib = std::getenv("SARDONYX_LIMITS_REPORT");
  Setting usual;
  if (kAddressSanitizer || kThreadSanitizer) usual.late_ms *= 10;
  if (!mib) return usual;
  return {std::atof(mib) * kMiB, std::chrono::milliseconds(500), 1e9, true};
}

// Calls `use(case)` with the largest case that grows from a row's samples, for each row.
template <typename Use>
size_t for_each_case(double most_bytes, const Use& use) {
  size_t cases = 0;
  const char* const only = std::getenv("SARDONYX_LIMITS_OP");
  for (const OpDef* op : all_ops()) {
    if (!op->samples || (only && full_name(*op) != only)) continue;
    uint64_t seed = 1;
    std::optional<HeavyCase> largest;
    for (const Sample& sample : op->samples()) {
      auto made = grown_case(*op, sample, most_bytes, seed++);
      if (made && (!largest || made->bytes > largest->bytes)) largest = std::move(made);
    }
    if (!largest) continue;
    ++cases;
    SCOPED_TRACE(largest->label());
    use(*largest);
  }
  return cases;
}

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Notes what the process has computed when the deadline comes, so that the time after it can be
// told in what was computed: time on the clock goes by on a busy machine, too.
class Lateness {
 public:
  explicit Lateness(std::chrono::milliseconds deadline)
      : end_(Clock::now() + deadline), watcher_([this](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          woken_.wait_until(lock, stop, end_, [] { return false; });
          at_deadline_ = cpu_milliseconds();
        }) {}

  struct Late {
    double computed_ms = 0, clock_ms = 0;
  };
  // To be called once.
  Late stop() {
    const double now = cpu_milliseconds();
    const std::chrono::duration<double, std::milli> late = Clock::now() - end_;
    watcher_.request_stop();
    watcher_.join();
    if (late.count() <= 0) return {};
    return {std::max(0.0, now - at_deadline_), late.count()};
  }

 private:
  Clock::time_point end_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  double at_deadline_ = 0;
  std::jthread watcher_;
};

// How the work ended, for the report. kInternal fails.
template <typename Work>
std::string outcome_of(const Work& work) {
  try {
    work();
    return "done";
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    return error.code() == ErrorCode::kDeadlineExceeded    ? "deadline"
           : error.code() == ErrorCode::kResourceExhausted ? "resources"
                                                           : std::string(error.what());
  }
}

void check_lateness(const Setting& setting, const char* what, const HeavyCase& heavy,
                    const Lateness::Late& late, const std::string& outcome) {
  EXPECT_LT(late.computed_ms, setting.late_ms) << what << ": " << outcome;
  if (setting.reports && (late.computed_ms > 20 || outcome == "deadline")) {
    std::printf("%8.1f ms late (%.1f by the clock), %s, %s: %s\n", late.computed_ms, late.clock_ms,
                what, outcome.substr(0, 60).c_str(), heavy.label().c_str());
    std::fflush(stdout);
  }
}

TEST(Limits, DeadlinesOfRunsAreKept) {
  const Setting given = setting();
  const size_t cases = for_each_case(given.most_bytes, [&](const HeavyCase& heavy) {
    Lateness::Late late;
    const std::string outcome = outcome_of([&] {
      const Session session(heavy.model(), {.intra_op_threads = 1});
      const std::vector<Datum> feeds = heavy.feeds();
      Lateness lateness(given.deadline);
      const std::string end = outcome_of([&] { session.run(feeds, {.deadline = given.deadline}); });
      late = lateness.stop();
      if (end != "done") fail(ErrorCode::kDeadlineExceeded, end);
    });
    check_lateness(given, "run", heavy, late, outcome);
  });
  EXPECT_GT(cases, 200u);
}

TEST(Limits, DeadlinesOfLoadsAreKept) {
  const Setting given = setting();
  for_each_case(given.most_bytes, [&](const HeavyCase& heavy) {
    Lateness::Late late;
    const std::string outcome = outcome_of([&] {
      Model model = heavy.model(/*folded=*/true);
      Lateness lateness(given.deadline);
      const std::string end = outcome_of([&] {
        const Session session(std::move(model),
                              {.intra_op_threads = 1, .load_deadline = given.deadline});
      });
      late = lateness.stop();
      if (end != "done") fail(ErrorCode::kDeadlineExceeded, end);
    });
    check_lateness(given, "load", heavy, late, outcome);
  });
}

// Each is one line, tile or row for its kernel, and takes dozens of milliseconds.
TEST(Limits, DeadlinesAreKeptWithinALine) {
  struct Call {
    const char* op;
    AttrMap attrs;
    DType dtype;
    std::vector<Shape> inputs;
  };
  const AttrMap first{{"axis", int64_t{0}}};
  const std::vector<Call> calls{
      {"Softmax", first, DType::kDouble, {{1 << 22, 2}}},
      {"Softmax", first, DType::kFloat, {{1 << 22, 2}}},
      {"LpNormalization", first, DType::kFloat, {{4096, 2048}}},
      {"Gemm", {}, DType::kInt32, {{1, 4096}, {4096, 4096}}},
  };
  for (const Call& call : calls) {
    HeavyCase heavy;
    heavy.op = find_op(call.op);
    heavy.attrs = call.attrs;
    for (const Shape& shape : call.inputs)
      heavy.inputs.emplace_back(Tensor::zeros(call.dtype, shape));
    heavy.is_constant.assign(heavy.inputs.size(), false);
    const Session session(heavy.model(), {.intra_op_threads = 1});
    expect_refusal(ErrorCode::kDeadlineExceeded, "deadline",
                   [&] { session.run(heavy.feeds(), {.deadline = std::chrono::milliseconds(3)}); });
  }
}

double status_mib(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::atof(line.c_str() + std::strlen(field)) / 1024;
  }
  return 0;
}

// What is resident at most while `work` runs, over what is before, in MiB.
template <typename Work>
double peak_mib(const Work& work) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  const double before = status_mib("VmRSS:");
  work();
  return status_mib("VmHWM:") - before;
}

// Calls that need much more than the limit, and such as need about half of it, whose kernels may
// want as much besides.
TEST(Limits, MemoryLimitsAreKept) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "a sanitizer takes memory as well";
  const Setting given = setting();
  const double limit = std::max(16.0, given.most_bytes / kMiB / 4);
  for (const double part : {4.0, 0.7}) {
    for_each_case(part * limit * kMiB, [&](const HeavyCase& heavy) {
      std::string outcome;
      const double peak = peak_mib([&] {
        outcome = outcome_of([&] {
          const Session session(heavy.model(), {.intra_op_threads = 2,
                                                .memory_limit = static_cast<size_t>(limit * kMiB),
                                                .load_deadline = std::chrono::seconds(10)});
          session.run(heavy.feeds(), {.deadline = given.reports ? std::chrono::milliseconds(5000)
                                                                : std::chrono::milliseconds(100)});
        });
      });
      EXPECT_LT(peak, 1.1 * limit + (given.reports ? 1e9 : 32)) << outcome;
      if (given.reports && peak > 1.1 * limit + 2) {
        std::printf("%8.1f MiB of %.0f, %s: %s\n", peak, limit, outcome.substr(0, 60).c_str(),
                    heavy.label().c_str());
        std::fflush(stdout);
      }
    });
  }
}

}  // namespace
}  // namespace sardonyx::limits_test
