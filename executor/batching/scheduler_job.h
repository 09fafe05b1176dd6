// What a scheduler knows of a request and of a dynamic batch.
#pragma once

#include <atomic>

#include "executor/batching/scheduler.h"

namespace sardonyx::serving {

class Scheduler::Job {
 public:
  enum class State { kWaiting, kRunning, kDone };

  InferRequest request;
  InferDone done;
  std::string key;     // of requests that may run as one batch
  std::string shapes;  // batch_key, where requests of other shapes have the same key
  int64_t items = 1;
  int64_t elements = 0;  // of inputs that may be padded
  uint64_t level = 0;
  uint64_t ordinal = 0;
  bool can_join = false;
  bool was_delayed = false;
  std::optional<Clock::time_point> deadline;       // of queue and run
  std::optional<Clock::time_point> queue_timeout;  // of the queue alone
  Clock::time_point started{};

  int64_t length() const { return elements / items; }  // of an item

  // Guarded by the scheduler's mutex.
  State state = State::kWaiting;
  Level::iterator place;
  bool is_linked = false;
  std::optional<RunThreads::Timer> timer;
  std::weak_ptr<Batch> batch;  // that it runs in
};

struct Scheduler::Batch {
  std::vector<JobPointer> jobs;
  int64_t items = 0;
  std::stop_source stop;
  std::atomic<size_t> awaited = 0;  // jobs that nobody has ended yet
};

// The last level, of requests that waited too long and are served all the same.
inline constexpr uint64_t kDelayedLevel = UINT64_MAX;

}  // namespace sardonyx::serving
