// Threads that load, run, cancel, replace and close sessions at once, for as long as wanted.
//
// usage: soak SECONDS MODEL...
// Prints resident memory and open descriptors now and then. Exit status 1 where either has grown at
// the end: memory by more than 1 % (and 1 MiB) over what it was after the first fifth of the time.
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "executor/session.h"
#include "ir/core/sanitizers.h"
#include "ir/op_samples.h"

namespace {

using namespace sardonyx;
using Clock = std::chrono::steady_clock;

struct Counts {
  std::atomic<uint64_t> loads{0}, runs{0}, errors{0}, stopped{0};
  std::atomic<bool> is_broken{false};
};

NamedData drawn_inputs(const Session& session, uint64_t seed) {
  NamedData feeds;
  const auto size = static_cast<int64_t>(1 + seed % 4);
  for (const ValueInfo& input : session.inputs()) {
    if (!input.type.is_tensor() || !input.type.shape) continue;
    Shape shape;
    for (const Dim& dim : *input.type.shape)
      shape.push_back(dim.is_known() ? dim.value() : size);
    feeds[input.name] = drawn_tensor(input.type.dtype, shape, 0, 2, seed);
  }
  return feeds;
}

// Errors that a caller asked for, or that drawn inputs bring about, are part of it.
template <typename Work>
void attempt(Counts& counts, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    const bool was_stopped =
        error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeadlineExceeded;
    ++(was_stopped ? counts.stopped : counts.errors);
    if (error.code() != ErrorCode::kInternal) return;
    counts.is_broken = true;
    std::fprintf(stderr, "%s\n", error.what());
  }
}

// ThreadSanitizer keeps a history of what was freed.
constexpr uint64_t kMaxThreads = kThreadSanitizer ? 1 : 2;

// One session shared by four threads, one of which is cancelled at some time; then it is closed.
void one_session(const std::filesystem::path& model, uint64_t seed, Counts& counts) {
  attempt(counts, [&] {
    const Session session(model, {.intra_op_threads = 1 + static_cast<int>(seed % kMaxThreads),
                                  .memory_limit = size_t{256} << 20,
                                  .max_plans = 2});
    ++counts.loads;
    std::stop_source stop;
    std::vector<std::jthread> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (uint64_t i = 0; i < 8; ++i) {
          RunOptions options;
          if (t == 0) options.cancel = stop.get_token();
          if (t == 1) options.deadline = std::chrono::milliseconds(i % 2);
          attempt(counts, [&] { session.run(drawn_inputs(session, seed + i), options); });
          ++counts.runs;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(seed % 2000));
    stop.request_stop();
  });
}

// The session that a service answers with now, and how runs of it are cancelled.
class Service {
 public:
  static constexpr size_t kRunners = 3;

  std::shared_ptr<const Session> current() {
    const std::lock_guard lock(mutex_);
    return session_;
  }
  void replace(std::shared_ptr<const Session> session) {
    const std::lock_guard lock(mutex_);
    session_.swap(session);
  }
  std::stop_token begin_run(size_t runner) {
    const std::lock_guard lock(mutex_);
    stops_[runner] = std::stop_source();
    return stops_[runner].get_token();
  }
  void cancel(size_t runner) {
    const std::lock_guard lock(mutex_);
    stops_[runner].request_stop();
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const Session> session_;
  std::array<std::stop_source, kRunners> stops_;
};

// Loads models one after the other, some under a deadline or a small limit; each one that loads is
// what is run from then on.
void load_and_replace(Service& service, const std::vector<std::filesystem::path>& models,
                      uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < 4; ++i) {
    SessionOptions options;
    options.intra_op_threads = 1 + static_cast<int>(random() % kMaxThreads);
    options.memory_limit = size_t{4} << (20 + 2 * (random() % 4));
    if (random() % 2) options.load_deadline = std::chrono::milliseconds(1 + random() % 50);
    attempt(counts, [&] {
      service.replace(std::make_shared<const Session>(models[random() % models.size()], options));
      ++counts.loads;
    });
  }
}

void run_current(Service& service, size_t runner, uint64_t seed, Counts& counts) {
  const std::shared_ptr<const Session> session = service.current();
  if (!session) return std::this_thread::yield();
  RunOptions options;
  options.cancel = service.begin_run(runner);
  if (seed % 3 == 0) options.deadline = std::chrono::milliseconds(seed % 20);
  attempt(counts, [&] { session->run(drawn_inputs(*session, seed), options); });
  ++counts.runs;
}

// Two threads load and replace sessions, three run the current one, and one cancels their runs.
void replaced_sessions(const std::vector<std::filesystem::path>& models, uint64_t seed,
                       Counts& counts) {
  Service service;
  std::vector<std::jthread> others;
  for (size_t runner = 0; runner < Service::kRunners; ++runner) {
    others.emplace_back([&, runner](const std::stop_token& ended) {
      for (uint64_t i = 0; !ended.stop_requested(); ++i)
        run_current(service, runner, seed + i, counts);
    });
  }
  others.emplace_back([&](const std::stop_token& ended) {
    std::mt19937_64 random(seed);
    while (!ended.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
      service.cancel(random() % Service::kRunners);
    }
  });
  {
    const std::jthread loader([&] { load_and_replace(service, models, seed, counts); });
    load_and_replace(service, models, seed + 1, counts);
  }
  for (std::jthread& thread : others)
    thread.request_stop();
}

// What the process has in memory, and how much of that are pages of files: its own code, as far as
// it has been run, and models.
struct Resident {
  double mib = 0, of_files = 0;
};

Resident resident() {
  malloc_trim(0);  // what the allocator only keeps is not lost
  long pages = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident >> shared;
  const double page_mib = static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
  return {static_cast<double>(resident) * page_mib, static_cast<double>(shared) * page_mib};
}

// ThreadSanitizer and valgrind keep what was freed.
bool keeps_freed_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/vgpreload_") != std::string::npos) return true;
  return kThreadSanitizer;
}

size_t descriptors() {
  namespace fs = std::filesystem;
  return static_cast<size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return std::fprintf(stderr, "usage: soak SECONDS MODEL...\n"), 2;
  const double seconds = std::atof(words[1]);
  const std::vector<std::filesystem::path> models(words + 2, words + count);
  Counts counts;
  std::mt19937_64 random(1);
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  double settled = 0, last_report = 0;
  size_t settled_files = 0;
  const auto report = [&] {
    const Resident now = resident();
    std::printf(
        "%6.0f s: %llu loads, %llu runs, %llu errors, %llu stopped; %.2f MiB resident (%.2f of "
        "files), %zu descriptors\n",
        elapsed(), static_cast<unsigned long long>(counts.loads),
        static_cast<unsigned long long>(counts.runs),
        static_cast<unsigned long long>(counts.errors),
        static_cast<unsigned long long>(counts.stopped), now.mib, now.of_files, descriptors());
    std::fflush(stdout);
  };
  while (elapsed() < seconds && !counts.is_broken) {
    {
      std::vector<std::jthread> sessions;
      sessions.emplace_back([&, seed = random()] { replaced_sessions(models, seed, counts); });
      for (int i = 0; i < 2; ++i) {
        sessions.emplace_back(
            [&, seed = random()] { one_session(models[seed / 64 % models.size()], seed, counts); });
      }
    }
    if (settled == 0 && elapsed() > seconds / 5) {
      settled = resident().mib;
      settled_files = descriptors();
      report();
    }
    if (elapsed() - last_report > seconds / 10) {
      last_report = elapsed();
      report();
    }
  }
  report();
  const double drift = resident().mib - settled;
  const bool grew = !keeps_freed_memory() && drift > 1 && drift > 0.01 * settled;
  std::printf("drift %.2f MiB (%.2f %%), descriptors %+ld\n", drift, 100 * drift / settled,
              static_cast<long>(descriptors()) - static_cast<long>(settled_files));
  return counts.is_broken || grew || descriptors() > settled_files;
}
