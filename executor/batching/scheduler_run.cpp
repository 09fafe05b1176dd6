// How a scheduler runs batches and gives the answers.
#include <algorithm>

#include "executor/batching/batch.h"
#include "executor/batching/scheduler.h"
#include "executor/batching/scheduler_job.h"

namespace sardonyx::serving {
namespace {

// The outputs that any of the jobs asks for, ascending; none: all.
template <typename Jobs>
std::vector<size_t> wanted_outputs(const Jobs& jobs) {
  std::vector<size_t> all;
  for (const auto& job : jobs) {
    if (job->request.outputs.empty()) return {};
    all.insert(all.end(), job->request.outputs.begin(), job->request.outputs.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void cut_padding(const Padding& padding, std::span<const std::span<const Datum>> requests,
                 std::vector<std::vector<Datum>>& parts) {
  for (size_t r = 0; r < parts.size(); ++r) {
    for (size_t o = 0; o < parts[r].size(); ++o) {
      Datum& output = parts[r][o];
      if (output.defined()) output = padding.cut(o, output.tensor(), requests[r]);
    }
  }
}

Failure kind_of(Status status) {
  switch (status) {
    case Status::kCancelled:
      return Failure::kCancelled;
    case Status::kResourceExhausted:
    case Status::kUnavailable:
    case Status::kDeadlineExceeded:
      return Failure::kRejected;
    default:
      return Failure::kBackend;
  }
}

}  // namespace

void Scheduler::run_until_empty(std::shared_ptr<Batch> batch) {
  while (batch) {
    run_batch(*batch);
    const std::lock_guard lock(mutex_);
    ++free_;
    batch = is_closed_ ? nullptr : next_batch();
    // Under the lock: the destructor may go on as soon as it is given back.
    if (!batch) all_free_.notify_all();
  }
}

// In a thread that has other things to do: what waits goes to another one.
void Scheduler::run(const std::shared_ptr<Batch>& batch) {
  run_batch(*batch);
  std::unique_lock lock(mutex_);
  ++free_;
  // Posted under the lock: nothing of the scheduler is used once the destructor may go on.
  if (!is_closed_) {
    if (std::shared_ptr<Batch> next = next_batch())
      threads_.post([this, next] { run_until_empty(next); });
  }
  all_free_.notify_all();
}

void Scheduler::run_batch(Batch& batch) {
  const auto started = Clock::now();
  for (const JobPointer& job : batch.jobs)
    job->started = started;
  if (batch.jobs.size() == 1 || policy_.deterministic) {
    for (const JobPointer& job : batch.jobs)
      run_alone(batch, job);
    return;
  }
  InferResult shared;
  std::vector<std::vector<Datum>> parts;
  try {
    std::vector<std::span<const Datum>> inputs;
    std::vector<int64_t> items;
    for (const JobPointer& job : batch.jobs) {
      inputs.emplace_back(job->request.inputs);
      items.push_back(job->items);
    }
    const std::vector<Datum> joined =
        policy_.padding ? policy_.padding->join(inputs) : concatenate_requests(inputs);
    Computed computed;
    const std::vector<Datum> outputs = execute(batch, joined, batch.jobs, computed);
    parts = split_outputs(outputs, items, output_names_);
    if (policy_.padding) cut_padding(*policy_.padding, inputs, parts);
    shared.times = computed.times(started, Clock::now());
  } catch (...) {
    // One request may have spoilt it for all (an index out of range): each is run by itself.
    if (batch.stop.stop_requested()) {
      for (const JobPointer& job : batch.jobs)
        end(job, current_serving_error(), Failure::kCancelled);
      return;
    }
    for (const JobPointer& job : batch.jobs)
      run_alone(batch, job);
    return;
  }
  statistics_->add_run(batch.items, shared.times);
  shared.started = started;
  shared.finished = Clock::now();
  count_padding(batch.jobs, shared.finished - started);
  for (size_t i = 0; i < batch.jobs.size(); ++i) {
    InferResult result = shared;
    result.outputs = std::move(parts[i]);
    const std::vector<size_t>& asked = batch.jobs[i]->request.outputs;
    for (size_t o = 0; o < result.outputs.size() && !asked.empty(); ++o) {
      if (!std::binary_search(asked.begin(), asked.end(), o)) result.outputs[o] = {};
    }
    finish(batch.jobs[i], std::move(result), std::nullopt);
  }
}

void Scheduler::run_alone(Batch& batch, const JobPointer& job) {
  {
    const std::lock_guard lock(mutex_);
    if (job->state == Job::State::kDone) return;  // cancelled meanwhile
  }
  InferResult result;
  result.started = Clock::now();
  try {
    Computed computed;
    result.outputs = execute(batch, job->request.inputs, std::span(&job, 1), computed);
    result.finished = Clock::now();
    result.times = computed.times(result.started, result.finished);
  } catch (...) {
    const ServingError error = current_serving_error();
    end(job, error, kind_of(error.status()));
    return;
  }
  statistics_->add_run(job->items, result.times);
  count_padding(std::span(&job, 1), result.finished - result.started);
  finish(job, std::move(result), std::nullopt);
}

void Scheduler::count_padding(std::span<const JobPointer> jobs, Nanoseconds took) {
  if (!policy_.padding || !jobs[0]->can_join) return;
  int64_t elements = 0;
  bool is_padded = false;
  for (const JobPointer& job : jobs) {
    elements += job->elements;
    is_padded |= job->length() != jobs[0]->length();
  }
  padding_gain_.add(jobs[0]->key, is_padded, elements, took);
}

std::vector<Datum> Scheduler::execute(Batch& batch, std::span<const Datum> inputs,
                                      std::span<const JobPointer> jobs, Computed& computed) {
  const std::vector<size_t> outputs = wanted_outputs(jobs);
  RunOptions options;
  options.cancel = batch.stop.get_token();
  options.outputs = outputs;
  // A dynamic batch goes on as long as one of its requests has time; their own timers end the
  // others.
  if (jobs.size() == 1 && jobs[0]->deadline) {
    const auto left = *jobs[0]->deadline - Clock::now();
    if (left <= Clock::duration::zero())
      refuse(Status::kDeadlineExceeded, "Request timeout expired");
    options.deadline = std::chrono::ceil<std::chrono::milliseconds>(left);
  }
  computed.begin = Clock::now();
  std::vector<Datum> results = run_(inputs, options);
  computed.end = Clock::now();
  const int64_t took = Nanoseconds(computed.end - computed.begin).count();
  // The first run of a shape plans it: the estimate falls faster than it rises.
  const int64_t typical = typical_ns_.load(std::memory_order_relaxed);
  const int64_t weight = typical < 0 ? 0 : took < typical ? 1 : 7;
  typical_ns_.store((weight * typical + took) / (weight + 1), std::memory_order_relaxed);
  return results;
}

void Scheduler::end(const JobPointer& job, ServingError error, Failure kind) {
  InferResult result;
  result.error = std::move(error);
  result.finished = Clock::now();
  finish(job, std::move(result), kind);
}

void Scheduler::finish(const JobPointer& job, InferResult result, std::optional<Failure> failure) {
  std::shared_ptr<Batch> batch;
  {
    const std::lock_guard lock(mutex_);
    if (job->state == Job::State::kDone) return;
    unlink(*job);
    job->state = Job::State::kDone;
    if (job->timer) threads_.cancel(*job->timer);
    job->timer.reset();
    batch = job->batch.lock();
  }
  if (batch && --batch->awaited == 0) batch->stop.request_stop();
  result.received = job->request.received;
  const Nanoseconds total = result.finished - result.received;
  if (failure) {
    statistics_->add_failure(total, *failure);
  } else {
    statistics_->add_success(total, result.started - result.received, job->items, result.times);
  }
  statistics_->end_request();
  if (policy_.preserves_order) {
    deliver(job, std::move(result));
  } else {
    const InferDone done = std::move(job->done);
    done(std::move(result));
  }
}

// Answers of requests that came earlier are given first. Whoever is told may submit or cancel
// requests, whose answers are then given by the thread that is at it.
void Scheduler::deliver(const JobPointer& job, InferResult result) {
  std::unique_lock lock(order_mutex_);
  out_of_order_.emplace(job->ordinal, std::pair(job, std::move(result)));
  if (is_delivering_) return;
  is_delivering_ = true;
  while (!out_of_order_.empty() && out_of_order_.begin()->first == next_to_deliver_) {
    auto next = out_of_order_.extract(out_of_order_.begin());
    ++next_to_deliver_;
    lock.unlock();
    auto& [ready, answer] = next.mapped();
    const InferDone done = std::move(ready->done);
    done(std::move(answer));
    lock.lock();
  }
  is_delivering_ = false;
  // Under the lock: the destructor may go on as soon as it is given back.
  delivered_.notify_all();
}

void Scheduler::wait_for_delivery() {
  std::unique_lock lock(order_mutex_);
  delivered_.wait(lock, [&] { return !is_delivering_; });
}

}  // namespace sardonyx::serving
