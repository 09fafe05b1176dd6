#include "tools/onnx-run/commands/bench_run.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <future>
#include <numeric>
#include <optional>
#include <sstream>
#include <thread>

#include "ir/core/memory/block_allocator.h"
#include "onnx_io/load.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/machine.h"
#include "tools/onnx-run/ort/ort_bridge.h"
#include "tools/onnx-run/process_pool.h"
#include "tools/onnx-run/statistics.h"

namespace sardonyx::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTurn = std::chrono::milliseconds(250);
// Threads of a runtime that has just run spin for a while before they sleep.
constexpr auto kPause = std::chrono::milliseconds(20);
constexpr auto kChildLimit = std::chrono::minutes(10);
constexpr int kChildRuns = 3;  // memory may still grow in the second run
constexpr int kColdRounds = 3;

double seconds_of(const std::function<void()>& action) {
  const Clock::time_point begin = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The largest resident size that this process ever had.
double peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

// A model that is loaded and given its inputs, in either runtime.
using Once = std::function<void()>;
using Load = std::function<Once()>;

Load our_load(const BenchOptions& options, const NamedData& feeds) {
  return [&options, &feeds]() -> Once {
    const std::shared_ptr<Runner> runner = load_runner(options.model, options.loading);
    return [runner, &feeds] { runner->run(feeds, {}); };
  };
}

Load other_load(const BenchOptions& options, const NamedData& feeds) {
  return [&options, &feeds]() -> Once {
    const auto session = std::make_shared<OtherSession>(
        options.other_library, options.model, OtherOptions{.threads = options.loading.threads});
    const auto bound = std::make_shared<OtherSession::Bound>(session->bind(feeds));
    return [session, bound] { bound->run(); };
  };
}

struct Cold {
  double load_s = 0, first_s = 0, peak_bytes = 0;
  std::string error;
  ErrorCode code = ErrorCode::kInternal;
  bool at_load = false;
};

// Loads and runs in a new process, which answers with three numbers, or with '!' for an
// error while loading and '?' for one of a run, its code and its message.
Cold measure_cold(const Load& load) {
  const auto child = [&](size_t) -> std::string {
    try {
      Once once;
      const double load_s = seconds_of([&] { once = load(); });
      const double first_s = seconds_of(once);
      for (int i = 1; i < kChildRuns; ++i)
        once();
      std::ostringstream out;
      out.precision(17);
      out << load_s << ' ' << first_s << ' ' << peak_resident_bytes();
      return out.str();
    } catch (const LoadError& error) {
      return text("!", static_cast<int>(error.error().code()), " ", error.what());
    } catch (const Error& error) {
      return text("?", static_cast<int>(error.code()), " ", error.what());
    } catch (const std::exception& error) {
      return text("?", static_cast<int>(ErrorCode::kInternal), " ", error.what());
    }
  };
  Cold cold;
  const ProcessPool pool{.jobs = 1, .limit = kChildLimit};
  pool.run(1, child, [&](size_t, const TaskOutcome& outcome) {
    if (!outcome.failure.empty()) {
      cold.error = "the process that loaded it: " + outcome.failure;
      return;
    }
    cold.at_load = outcome.answer.starts_with('!');
    const bool failed = cold.at_load || outcome.answer.starts_with('?');
    std::istringstream in(outcome.answer.substr(failed ? 1 : 0));
    if (failed) {
      int code = 0;
      in >> code;
      cold.code = static_cast<ErrorCode>(code);
      std::getline(in >> std::ws, cold.error);
    } else {
      in >> cold.load_s >> cold.first_s >> cold.peak_bytes;
    }
  });
  return cold;
}

// Medians of each.
void take_cold(BenchResult& result, const std::vector<Cold>& colds) {
  const auto median = [&](double Cold::*which) {
    std::vector<double> values;
    for (const Cold& cold : colds)
      values.push_back(cold.*which);
    return statistics_of(values).p50;
  };
  result.load_s = median(&Cold::load_s);
  result.first_s = median(&Cold::first_s);
  result.peak_bytes = median(&Cold::peak_bytes);
}

// In turns: what a process pays for memory depends on what the one before gave back.
void measure_loads(const BenchOptions& options, BenchReport& report) {
  const bool has_other = !options.other_library.empty();
  std::vector<Cold> ours, others;
  for (int round = 0; round < (has_other ? kColdRounds : 1); ++round) {
    const Cold& cold = ours.emplace_back(measure_cold(our_load(options, report.feeds)));
    if (!cold.error.empty()) {
      const Error error(cold.code, cold.error);
      if (cold.at_load) throw LoadError(error);
      throw error;
    }
    if (!has_other || !report.other_error.empty()) continue;
    others.push_back(measure_cold(other_load(options, report.feeds)));
    report.other_error = others.back().error;
  }
  take_cold(report.ours, ours);
  if (has_other) take_cold(report.other, others);
}

// One runtime in the measurement: the function that each of its threads calls repeatedly.
struct Contender {
  std::vector<Once> threads;
  BenchResult* result;
  double spent = 0;  // seconds of counted runs, by thread
};

// The threads of one turn begin to count together, and none rests before all have counted: what is
// counted was run beside as many others as there are threads.
struct Turn {
  explicit Turn(size_t threads) : start(static_cast<std::ptrdiff_t>(threads)), counting(threads) {}
  std::barrier<> start;
  std::atomic<size_t> counting;
};

// The runs of one thread in one turn. The first brings caches and threads back and does not count.
std::vector<double> runs_of_turn(const Once& once, const BenchOptions& options, size_t before,
                                 double spent, Turn& turn) {
  std::vector<double> seconds;
  std::exception_ptr failure;
  const auto guarded = [&](const auto& action) {
    try {
      if (!failure) action();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  guarded(once);
  turn.start.arrive_and_wait();
  guarded([&] {
    const Clock::time_point end = Clock::now() + kTurn;
    do {
      seconds.push_back(seconds_of(once));
      spent += seconds.back();
    } while (Clock::now() < end &&
             before + seconds.size() < static_cast<size_t>(options.iterations) &&
             spent < options.duration_s);
  });
  for (--turn.counting; turn.counting > 0 && !failure;)
    guarded(once);
  if (failure) std::rethrow_exception(failure);
  return seconds;
}

// All threads of the runtime for one turn; what one of them throws is thrown when all are done.
void take_turn(Contender& contender, const BenchOptions& options) {
  std::this_thread::sleep_for(kPause);
  std::vector<double>& seconds = contender.result->seconds;
  const size_t before = seconds.size(), threads = contender.threads.size();
  Turn turn(threads);
  std::vector<std::future<std::vector<double>>> others;
  const auto run = [&](const Once& once) {
    return runs_of_turn(once, options, before, contender.spent, turn);
  };
  for (size_t i = 1; i < threads; ++i)
    others.push_back(std::async(std::launch::async, run, std::cref(contender.threads[i])));
  const auto add = [&](const std::vector<double>& counted) {
    const double sum = std::accumulate(counted.begin(), counted.end(), 0.0);
    contender.spent += sum / static_cast<double>(threads);
    seconds.insert(seconds.end(), counted.begin(), counted.end());
  };
  add(run(contender.threads[0]));
  for (auto& other : others)
    add(other.get());
}

void measure_in_turns(const BenchOptions& options, std::vector<Contender>& contenders) {
  for (const Contender& contender : contenders) {
    for (const Once& once : contender.threads) {
      for (int i = 0; i < options.warmup; ++i)
        once();
    }
  }
  const auto is_done = [&](const Contender& contender) {
    return contender.spent >= options.duration_s ||
           contender.result->seconds.size() >= static_cast<size_t>(options.iterations);
  };
  for (bool again = true; again;) {
    again = false;
    for (Contender& contender : contenders) {
      if (is_done(contender)) continue;
      take_turn(contender, options);
      again = true;
    }
  }
  for (const Contender& contender : contenders) {
    BenchResult& result = *contender.result;
    const Statistics statistics = statistics_of(result.seconds);
    result.min_s = statistics.min;
    result.median_s = statistics.p50;
    result.p90_s = statistics.p90;
    result.runs_per_s = static_cast<double>(result.seconds.size()) / contender.spent;
  }
}

// The inputs alone stay in memory, so that the processes that follow start from little.
NamedData inputs_for(const BenchOptions& options) {
  NamedData feeds;
  {
    const std::unique_ptr<Runner> runner =
        loading([&] { return make_reference_runner(load_model(options.model)); });
    feeds = gather_inputs(options.inputs, *runner);
  }
  release_kept_blocks();
  malloc_trim(0);
  return feeds;
}

}  // namespace

BenchReport bench(const BenchOptions& given) {
  BenchOptions options = given;
  if (options.loading.threads == 0) options.loading.threads = static_cast<int>(usable_cores());
  BenchReport report;
  report.threads = options.loading.threads;
  report.feeds = inputs_for(options);
  const bool has_other = !options.other_library.empty();
  measure_loads(options, report);

  const std::shared_ptr<Runner> runner = load_runner(options.model, options.loading);
  std::optional<OtherSession> other;  // outlives its bindings
  const Once ours = [&] { runner->run(report.feeds, {}); };
  const auto concurrency = static_cast<size_t>(options.concurrency);
  std::vector<Contender> contenders = {{std::vector<Once>(concurrency, ours), &report.ours}};
  if (has_other && report.other_error.empty()) {
    other.emplace(options.other_library, options.model,
                  OtherOptions{.threads = options.loading.threads});
    report.other_version = other->version();
    report.comparisons = compare_all(runner->outputs(), runner->run(report.feeds, {}),
                                     other->run(report.feeds), options.tolerance);
    Contender& contender = contenders.emplace_back();
    contender.result = &report.other;
    for (size_t i = 0; i < concurrency; ++i) {
      const auto bound = std::make_shared<OtherSession::Bound>(other->bind(report.feeds));
      contender.threads.emplace_back([bound] { bound->run(); });
    }
  }
  measure_in_turns(options, contenders);
  return report;
}

}  // namespace sardonyx::tool
