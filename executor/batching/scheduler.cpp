#include "executor/batching/scheduler.h"

#include <algorithm>
#include <cstdlib>
#include <ranges>
#include <utility>

#include "executor/batching/batch.h"
#include "executor/batching/scheduler_job.h"

namespace sardonyx::serving {

Scheduler::Scheduler(SchedulingPolicy policy, std::vector<std::string> input_names,
                     std::vector<std::string> output_names, RunBatch run, RunThreads& threads,
                     std::shared_ptr<Statistics> statistics)
    : policy_(std::move(policy)),
      input_names_(std::move(input_names)),
      output_names_(std::move(output_names)),
      run_(std::move(run)),
      threads_(threads),
      statistics_(std::move(statistics)),
      reserved_(policy_.instances),
      free_(policy_.instances) {
  threads_.reserve(reserved_);
}

void Scheduler::stop() {
  std::vector<JobPointer> refused;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    for (auto& [number, level] : levels_) {
      for (const JobPointer& job : level) {
        job->is_linked = false;
        refused.push_back(job);
      }
      level.clear();
    }
    waiting_ = 0;
    if (wake_) threads_.cancel(*wake_);
    wake_.reset();
  }
  for (const JobPointer& job : refused)
    end(job, {Status::kUnavailable, "the model is being unloaded"}, Failure::kRejected);
}

void Scheduler::close() {
  stop();
  std::unique_lock lock(mutex_);
  if (reserved_ == 0) return;  // closed by then: the threads may be gone
  all_free_.wait(lock, [&] { return free_ == policy_.instances; });
  lock.unlock();
  wait_for_delivery();
  lock.lock();
  threads_.release(std::exchange(reserved_, 0));
}

uint64_t Scheduler::level_of(const InferRequest& request) const {
  const uint64_t level = request.priority > 0 ? request.priority : policy_.default_priority;
  return policy_.priority_levels == 0 ? 0 : std::min(level, policy_.priority_levels);
}

const QueuePolicy& Scheduler::policy_of(uint64_t level) const {
  const auto found = policy_.queues.find(level);
  return found == policy_.queues.end() ? policy_.default_queue : found->second;
}

std::optional<Clock::time_point> Scheduler::deadline_of(const InferRequest& request) const {
  const QueuePolicy& queue = policy_of(level_of(request));
  const bool has_own = request.timeout && request.timeout->count() > 0;
  // Where the queue has a timeout that clients may not override, it alone counts; where requests
  // are to be served however late they are, a timeout ends no run.
  const bool counts = queue.default_timeout.count() == 0 || queue.allows_timeout_override;
  if (!has_own || !counts || queue.delays_after_timeout) return std::nullopt;
  return request.received + *request.timeout;
}

void Scheduler::set_timeouts(Job& job, const QueuePolicy& policy) const {
  const auto& own = job.request.timeout;
  std::optional<std::chrono::microseconds> of_queue;
  if (policy.default_timeout.count() > 0) of_queue = policy.default_timeout;
  if (own && own->count() > 0 && policy.allows_timeout_override)
    of_queue = of_queue ? std::min(*of_queue, *own) : *own;
  if (of_queue) job.queue_timeout = job.request.received + *of_queue;
  job.deadline = deadline_of(job.request);
}

Scheduler::Ticket Scheduler::submit(InferRequest request, InferDone done, bool may_run_here) {
  statistics_->begin_request();
  const auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->done = std::move(done);
  if (policy_.preserves_order) {
    const std::lock_guard lock(order_mutex_);
    job->ordinal = next_ordinal_++;
  }
  try {
    if (policy_.has_batch_dim) job->items = batch_items(job->request.inputs, input_names_);
  } catch (const ServingError& error) {
    end(job, error, Failure::kOther);
    return job;
  }
  job->can_join = policy_.batches && job->items > 0 && job->items < policy_.max_batch;
  if (job->can_join && policy_.padding) {
    job->key = policy_.padding->key(job->request.inputs);
    job->elements = policy_.padding->elements(job->request.inputs);
  }
  job->level = level_of(job->request);
  const QueuePolicy& queue = policy_of(job->level);
  set_timeouts(*job, queue);

  std::unique_lock lock(mutex_);
  if (is_closed_) {
    lock.unlock();
    end(job, {Status::kUnavailable, "the model is being unloaded"}, Failure::kRejected);
    return job;
  }
  if (is_free_for(*job)) {
    --free_;
    const auto batch = std::make_shared<Batch>();
    batch->jobs = {job};
    batch->items = job->items;
    batch->awaited = 1;
    job->state = Job::State::kRunning;
    job->batch = batch;
    const int64_t typical = typical_ns_;
    const bool is_quick = typical >= 0 && std::chrono::nanoseconds(typical) < policy_.inline_below;
    if (may_run_here && is_quick) {
      lock.unlock();
      run(batch);
    } else {
      if (job->deadline) set_timer(job, *job->deadline);
      lock.unlock();
      threads_.post([this, batch] { run_until_empty(batch); });
    }
    return job;
  }
  if (queue.max_size > 0 && levels_[job->level].size() >= queue.max_size) {
    lock.unlock();
    end(job,
        {Status::kResourceExhausted,
         text("Exceeds maximum queue size: ", queue.max_size, " requests wait already")},
        Failure::kRejected);
    return job;
  }
  if (job->can_join) (policy_.padding ? job->shapes : job->key) = batch_key(job->request.inputs);
  enqueue(job);
  start_free_instances(lock);
  return job;
}

// Nobody is ahead, an instance is free, and the request is not to wait for others.
bool Scheduler::is_free_for(const Job& job) const {
  if (free_ == 0 || waiting_ > 0) return false;
  return !(job.can_join && policy_.waits_for_delay && policy_.delay.count() > 0);
}

void Scheduler::enqueue(const JobPointer& job) {
  Level& level = levels_[job->level];
  job->place = level.insert(level.end(), job);
  job->is_linked = true;
  ++waiting_;
  std::optional<Clock::time_point> next = job->deadline;
  if (job->queue_timeout && !job->was_delayed)
    next = next ? std::min(*next, *job->queue_timeout) : *job->queue_timeout;
  if (next && !job->timer) set_timer(job, *next);
}

void Scheduler::set_timer(const JobPointer& job, Clock::time_point time) {
  job->timer = threads_.call_at(time, [weak_self = weak_from_this(), weak_job = Ticket(job)] {
    const auto self = weak_self.lock();
    const auto late = weak_job.lock();
    if (self && late) self->expire(late);
  });
}

void Scheduler::unlink(Job& job) {
  if (!job.is_linked) return;
  levels_[job.level].erase(job.place);
  job.is_linked = false;
  --waiting_;
}

// Those of `level` that can run as one batch with `head`, until there are enough: in their order,
// or, where they are padded, those whose lengths are nearest first. `pads`: lengths may differ.
std::vector<Scheduler::JobPointer> Scheduler::joinable(Level& level, const JobPointer& head,
                                                       bool pads, int64_t& items) {
  auto joining = level | std::views::filter([&](const JobPointer& job) {
                   return job != head && job->can_join && job->key == head->key &&
                          (pads || job->shapes == head->shapes);
                 });
  std::vector<JobPointer> found;
  // False where there are enough: what does not fit has its turn next.
  const auto add = [&](const JobPointer& job) {
    if (items + job->items > policy_.max_batch) return false;
    items += job->items;
    found.push_back(job);
    return true;
  };
  if (!policy_.padding) {
    for (const JobPointer& job : joining) {
      if (!add(job)) break;
    }
    return found;
  }
  std::vector<JobPointer> candidates(joining.begin(), joining.end());
  std::ranges::stable_sort(candidates, {}, [&](const JobPointer& job) {
    return std::abs(job->length() - head->length());
  });
  for (const JobPointer& job : candidates) {
    if (!add(job)) break;
  }
  return found;
}

std::shared_ptr<Scheduler::Batch> Scheduler::next_batch() {
  if (free_ == 0 || waiting_ == 0) return nullptr;
  JobPointer head;
  for (auto& [number, level] : levels_) {
    if (level.empty()) continue;
    head = level.front();
    break;
  }
  const auto batch = std::make_shared<Batch>();
  batch->jobs = {head};
  batch->items = head->items;
  if (head->can_join) {
    const bool pads = policy_.padding && waiting_ > 1 && padding_gain_.pads_next(head->key);
    for (auto& [number, level] : levels_) {
      const auto more = joinable(level, head, pads, batch->items);
      batch->jobs.insert(batch->jobs.end(), more.begin(), more.end());
    }
    // The largest preferred size that requests, which are never split, add up to.
    int64_t items = 0, best = 0;
    size_t best_jobs = 0;
    for (size_t i = 0; i < batch->jobs.size(); ++i) {
      items += batch->jobs[i]->items;
      if (std::find(policy_.preferred.begin(), policy_.preferred.end(), items) ==
          policy_.preferred.end())
        continue;
      best = items;
      best_jobs = i + 1;
    }
    if (best > 0) {
      batch->jobs.resize(best_jobs);
      batch->items = best;
    } else if (has_to_wait(*batch)) {
      return nullptr;
    }
  }
  for (const JobPointer& job : batch->jobs) {
    unlink(*job);
    job->state = Job::State::kRunning;
    job->batch = batch;
  }
  batch->awaited = batch->jobs.size();
  --free_;
  return batch;
}

// Is there time left to wait for others? If so, it is looked at again then. What is as large as
// the largest preferred size does not wait, nor does what keeps requests waiting that can't join.
bool Scheduler::has_to_wait(const Batch& batch) {
  if (!policy_.waits_for_delay || batch.items >= policy_.max_batch) return false;
  const auto largest = std::max_element(policy_.preferred.begin(), policy_.preferred.end());
  if (largest != policy_.preferred.end() && batch.items >= *largest) return false;
  if (waiting_ > batch.jobs.size()) return false;
  Clock::time_point oldest = Clock::time_point::max();
  for (const JobPointer& job : batch.jobs)
    oldest = std::min(oldest, job->request.received);
  const Clock::time_point until = oldest + policy_.delay;
  if (until <= Clock::now()) return false;
  if (wake_) threads_.cancel(*wake_);
  wake_ = threads_.call_at(until, [weak_self = weak_from_this()] {
    const auto self = weak_self.lock();
    if (!self) return;
    std::unique_lock lock(self->mutex_);
    self->wake_.reset();
    if (!self->is_closed_) self->start_free_instances(lock);
  });
  return true;
}

void Scheduler::start_free_instances(std::unique_lock<std::mutex>& lock) {
  while (const std::shared_ptr<Batch> batch = next_batch()) {
    lock.unlock();
    threads_.post([this, batch] { run_until_empty(batch); });
    lock.lock();
  }
}

size_t Scheduler::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void Scheduler::cancel(const Ticket& ticket) {
  if (const JobPointer job = ticket.lock())
    end(job, {Status::kCancelled, "the request was cancelled"}, Failure::kCancelled);
}

void Scheduler::expire(const JobPointer& job) {
  {
    std::unique_lock lock(mutex_);
    job->timer.reset();
    if (job->state == Job::State::kDone) return;
    const auto now = Clock::now();
    const bool is_late = job->deadline && *job->deadline <= now;
    if (!is_late && job->state == Job::State::kRunning) {
      // The timeout of the queue came too late; a deadline is still ahead.
      if (job->deadline) set_timer(job, *job->deadline);
      return;
    }
    if (!is_late && policy_of(job->level).delays_after_timeout) {
      unlink(*job);
      job->was_delayed = true;
      job->level = kDelayedLevel;
      enqueue(job);
      start_free_instances(lock);
      return;
    }
  }
  end(job, {Status::kDeadlineExceeded, "Request timeout expired"}, Failure::kRejected);
}

}  // namespace sardonyx::serving
