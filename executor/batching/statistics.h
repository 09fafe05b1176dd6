// What a server counts for each version of a model, from its start on.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

namespace sardonyx::serving {

using Nanoseconds = std::chrono::nanoseconds;

struct Durations {
  uint64_t count = 0;
  uint64_t ns = 0;  // their sum
  void add(Nanoseconds time, uint64_t times = 1) {
    count += times;
    ns += static_cast<uint64_t>(time.count()) * times;
  }
};

// Upper bounds of histograms, in seconds; the last bucket is open.
inline constexpr std::array<double, 14> kTimeBuckets = {
    50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 1, 5};

struct Histogram {
  std::array<uint64_t, kTimeBuckets.size() + 1> counts = {};
  double sum = 0;  // seconds
  void add(Nanoseconds time);
};

enum class Failure { kRejected, kCancelled, kBackend, kOther };
inline constexpr size_t kFailureKinds = 4;

struct StatisticsSnapshot {
  // The protocol's; times of a request that was run in a batch are those of the dynamic batch.
  Durations success, fail, queue, compute_input, compute_infer, compute_output;
  uint64_t inference_count = 0;    // a request with batch 64 counts as 64
  uint64_t execution_count = 0;    // a dynamic batch counts as 1
  uint64_t last_inference_ms = 0;  // since 1970
  struct Batch {
    Durations compute_input, compute_infer, compute_output;
  };
  std::map<int64_t, Batch> batches;  // by the number of items of a run
  std::array<uint64_t, kFailureKinds> failures = {};
  Histogram request_time, queue_time, run_time;
  int64_t pending = 0;  // waiting or running now
};

// Times of one dynamic batch.
struct RunTimes {
  Nanoseconds input{0}, infer{0}, output{0};
};

class Statistics {
 public:
  void begin_request() { pending_.fetch_add(1, std::memory_order_relaxed); }
  void end_request() { pending_.fetch_sub(1, std::memory_order_relaxed); }
  void add_success(Nanoseconds total, Nanoseconds queued, int64_t items, const RunTimes& times);
  void add_failure(Nanoseconds total, Failure kind);
  void add_run(int64_t items, const RunTimes& times);
  StatisticsSnapshot snapshot() const;

 private:
  mutable std::mutex mutex_;
  StatisticsSnapshot sums_;
  std::atomic<int64_t> pending_ = 0;
};

}  // namespace sardonyx::serving
