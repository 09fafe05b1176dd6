// The queue of one model: which requests run next, and which of them as one batch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "executor/batching/infer_request.h"
#include "executor/batching/padding.h"
#include "executor/batching/padding_gain.h"
#include "executor/session_options.h"

namespace sardonyx::serving {

struct QueuePolicy {
  bool delays_after_timeout = false;  // instead of refusing; delayed requests are served last
  std::chrono::microseconds default_timeout{0};  // 0: none
  bool allows_timeout_override = false;          // a request's own timeout counts if it is shorter
  size_t max_size = 0;                           // requests that wait; 0: no limit
};

struct SchedulingPolicy {
  bool has_batch_dim = false;  // the first dim of every tensor
  bool batches = false;        // requests of several clients may run as one batch
  int64_t max_batch = 1;       // items of a dynamic batch; a larger request runs alone
  std::vector<int64_t> preferred;
  // How long a request may wait for others to join it while an instance is free. By default it
  // never does: batches are made of what came while all instances were busy.
  std::chrono::microseconds delay{0};
  bool waits_for_delay = false;
  bool preserves_order = false;  // answers are given in the order of requests
  // An answer does not depend on which requests came at the same time, to the last bit: kernels
  // may sum in another order for another batch size, so each request of a batch is run by itself.
  bool deterministic = false;
  std::shared_ptr<const Padding> padding;  // null: requests that run as one batch are of one shape
  uint64_t priority_levels = 0;
  uint64_t default_priority = 0;
  QueuePolicy default_queue;
  std::map<uint64_t, QueuePolicy> queues;  // by level
  int instances = 1;                       // runs at the same time
  // A run that takes less is made by the thread that submits the request, if that allows it: a
  // hand-over to another thread takes some 20 us.
  std::chrono::microseconds inline_below{200};
};

// Runs a model; outputs that options.outputs does not list are undefined.
using RunBatch =
    std::function<std::vector<Datum>(std::span<const Datum> inputs, const RunOptions& options)>;

// Held by shared pointers alone.
class Scheduler : public std::enable_shared_from_this<Scheduler> {
 public:
  class Job;
  // A request on its way. May be dropped at any time.
  using Ticket = std::weak_ptr<Job>;

  // `threads` and `statistics` outlive it.
  Scheduler(SchedulingPolicy policy, std::vector<std::string> input_names,
            std::vector<std::string> output_names, RunBatch run, RunThreads& threads,
            std::shared_ptr<Statistics> statistics);
  ~Scheduler() { close(); }
  // Refuses what waits, and what comes from now on (kUnavailable).
  void stop();
  // The same, and waits for what runs. Not to be called by a thread of `threads` that runs a
  // request of this model.
  void close();

  // `done` is called once, perhaps before this returns: where the request is refused, and, with
  // `may_run_here`, where the model is so quick that it is run by this thread.
  Ticket submit(InferRequest request, InferDone done, bool may_run_here = false);
  // Ends the request with kCancelled, unless it is done. A run that no other request takes part in
  // is stopped.
  void cancel(const Ticket& ticket);

  // When a request has to be answered: by its own timeout, where its queue lets that end a run.
  std::optional<Clock::time_point> deadline_of(const InferRequest& request) const;
  size_t waiting() const;
  const SchedulingPolicy& policy() const { return policy_; }

 private:
  struct Batch;
  using JobPointer = std::shared_ptr<Job>;
  using Level = std::list<JobPointer>;

  uint64_t level_of(const InferRequest& request) const;
  const QueuePolicy& policy_of(uint64_t level) const;
  void set_timeouts(Job& job, const QueuePolicy& policy) const;
  bool is_free_for(const Job& job) const;
  void enqueue(const JobPointer& job);
  void unlink(Job& job);
  void set_timer(const JobPointer& job, Clock::time_point time);
  // What runs next, taken from the queue; null where nothing does. With the lock held.
  std::shared_ptr<Batch> next_batch();
  std::vector<JobPointer> joinable(Level& level, const JobPointer& head, bool pads, int64_t& items);
  void count_padding(std::span<const JobPointer> jobs, Nanoseconds took);
  bool has_to_wait(const Batch& batch);
  void start_free_instances(std::unique_lock<std::mutex>& lock);
  void run(const std::shared_ptr<Batch>& batch);
  void run_until_empty(std::shared_ptr<Batch> batch);
  void run_batch(Batch& batch);
  void run_alone(Batch& batch, const JobPointer& job);
  // When the model was run, within the time that its instance was taken.
  struct Computed {
    Clock::time_point begin, end;
    RunTimes times(Clock::time_point from, Clock::time_point to) const {
      return {begin - from, end - begin, to - end};
    }
  };
  std::vector<Datum> execute(Batch& batch, std::span<const Datum> inputs,
                             std::span<const JobPointer> jobs, Computed& computed);
  void expire(const JobPointer& job);
  void end(const JobPointer& job, ServingError error, Failure kind);
  void finish(const JobPointer& job, InferResult result, std::optional<Failure> failure);
  void deliver(const JobPointer& job, InferResult result);
  void wait_for_delivery();

  const SchedulingPolicy policy_;
  const std::vector<std::string> input_names_, output_names_;
  const RunBatch run_;
  RunThreads& threads_;
  const std::shared_ptr<Statistics> statistics_;
  int reserved_;  // of the threads

  mutable std::mutex mutex_;
  std::condition_variable all_free_;
  std::map<uint64_t, Level> levels_;
  size_t waiting_ = 0;
  int free_;
  bool is_closed_ = false;
  std::optional<RunThreads::Timer> wake_;
  PaddingGain padding_gain_;
  std::atomic<int64_t> typical_ns_ = -1;  // of a run, of late; -1: there was none

  std::mutex order_mutex_;
  std::condition_variable delivered_;
  bool is_delivering_ = false;  // one thread gives answers at a time, without the lock
  uint64_t next_ordinal_ = 0, next_to_deliver_ = 0;
  std::map<uint64_t, std::pair<JobPointer, InferResult>> out_of_order_;
};

}  // namespace sardonyx::serving
