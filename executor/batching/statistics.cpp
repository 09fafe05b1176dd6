#include "executor/batching/statistics.h"

#include <algorithm>

namespace sardonyx::serving {

void Histogram::add(Nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  const auto at = std::lower_bound(kTimeBuckets.begin(), kTimeBuckets.end(), seconds);
  ++counts[static_cast<size_t>(at - kTimeBuckets.begin())];
  sum += seconds;
}

void Statistics::add_success(Nanoseconds total, Nanoseconds queued, int64_t items,
                             const RunTimes& times) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::lock_guard lock(mutex_);
  sums_.success.add(total);
  sums_.queue.add(queued);
  sums_.compute_input.add(times.input);
  sums_.compute_infer.add(times.infer);
  sums_.compute_output.add(times.output);
  sums_.inference_count += static_cast<uint64_t>(items);
  sums_.last_inference_ms =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  sums_.request_time.add(total);
  sums_.queue_time.add(queued);
}

void Statistics::add_failure(Nanoseconds total, Failure kind) {
  const std::lock_guard lock(mutex_);
  sums_.fail.add(total);
  ++sums_.failures[static_cast<size_t>(kind)];
  sums_.request_time.add(total);
}

void Statistics::add_run(int64_t items, const RunTimes& times) {
  const std::lock_guard lock(mutex_);
  ++sums_.execution_count;
  sums_.run_time.add(times.infer);
  StatisticsSnapshot::Batch& batch = sums_.batches[items];
  batch.compute_input.add(times.input);
  batch.compute_infer.add(times.infer);
  batch.compute_output.add(times.output);
}

StatisticsSnapshot Statistics::snapshot() const {
  const std::lock_guard lock(mutex_);
  StatisticsSnapshot copy = sums_;
  copy.pending = pending_.load(std::memory_order_relaxed);
  return copy;
}

}  // namespace sardonyx::serving
