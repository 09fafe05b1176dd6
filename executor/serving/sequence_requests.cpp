// How requests of sequences wait, are given to the scheduler, and end before that.
#include <algorithm>
#include <atomic>

#include "executor/serving/sequence_request.h"

namespace sardonyx::serving {

SequenceTable::Ticket SequenceTable::submit(InferRequest given, InferDone done) {
  const auto request = std::make_shared<SequenceRequest>();
  request->request = std::move(given);
  request->done = std::move(done);
  const SequenceControl& control = request->request.sequence;
  const std::string key = key_of(control);
  SequencePointer sequence;
  bool waits = false;
  try {
    const std::lock_guard lock(mutex_);
    if (is_closed_) refuse(Status::kUnavailable, "the model is being unloaded");
    sequence = sequence_of(request->request);
    if (control.end) sequences_.erase(key);  // what comes next needs a START
    if (sequence->is_running || !sequence->is_admitted) {
      wait(request, key, sequence);
      waits = true;
    } else {
      sequence->is_running = true;
    }
  } catch (const ServingError& error) {
    refuse_request(*request, error, Failure::kOther);
    return {};
  }
  start_admitted();
  if (!waits) run(key, sequence, request);
  return request;
}

// With the lock held, as the next three.
void SequenceTable::wait(const RequestPointer& request, const std::string& key,
                         const SequencePointer& sequence) {
  statistics_->begin_request();
  ++waiting_;
  request->state = SequenceRequest::State::kWaiting;
  request->key = key;
  request->sequence = sequence;
  sequence->waiting.push_back(request);
  set_idle_timer();
  const auto deadline = scheduler_->deadline_of(request->request);
  if (!deadline) return;
  request->timer = threads_.call_at(*deadline, [table = weak_from_this(), late = Ticket(request)] {
    const auto self = table.lock();
    const RequestPointer waiting = late.lock();
    if (!self || !waiting) return;
    self->withdraw(waiting, {Status::kDeadlineExceeded, "Request timeout expired"},
                   Failure::kRejected);
  });
}

SequenceTable::RequestPointer SequenceTable::next_waiting(Sequence& sequence) {
  if (sequence.waiting.empty()) return nullptr;
  RequestPointer request = std::move(sequence.waiting.front());
  sequence.waiting.pop_front();
  stop_waiting(*request);
  return request;
}

void SequenceTable::stop_waiting(SequenceRequest& request) {
  statistics_->end_request();
  --waiting_;
  request.state = SequenceRequest::State::kHandedOver;
  request.sequence.reset();
  if (request.timer) threads_.cancel(*request.timer);
  request.timer.reset();
}

// Takes a request that waits from its sequence. Without its first request a sequence does not
// begin: those behind it are taken as well.
std::vector<SequenceTable::RequestPointer> SequenceTable::take_out(const RequestPointer& request) {
  const SequencePointer sequence = request->sequence;
  std::vector<RequestPointer> taken;
  if (request->request.sequence.start) {
    while (RequestPointer one = next_waiting(*sequence))
      taken.push_back(std::move(one));
    std::erase_if(backlog_, [&](const auto& one) { return one.second == sequence; });
    const auto found = sequences_.find(request->key);
    if (found != sequences_.end() && found->second == sequence) sequences_.erase(found);
  } else {
    std::erase(sequence->waiting, request);
    stop_waiting(*request);
    taken.push_back(request);
  }
  for (const RequestPointer& one : taken)
    one->state = SequenceRequest::State::kDone;
  return taken;
}

void SequenceTable::cancel(const Ticket& ticket) {
  const RequestPointer request = ticket.lock();
  if (!request) return;
  Scheduler::Ticket running;
  {
    const std::lock_guard lock(mutex_);
    request->is_cancelled = true;  // hand_over() looks, where the scheduler has no ticket yet
    running = request->ticket;
  }
  scheduler_->cancel(running);
  withdraw(request, {Status::kCancelled, "the request was cancelled"}, Failure::kCancelled);
}

// Ends a request that waits; one that the scheduler has is left to it.
void SequenceTable::withdraw(const RequestPointer& request, const ServingError& error,
                             Failure kind) {
  std::vector<RequestPointer> taken;
  {
    const std::lock_guard lock(mutex_);
    if (request->state != SequenceRequest::State::kWaiting) return;
    taken = take_out(request);
  }
  const ServingError of_others(
      Status::kCancelled,
      "the sequence has not begun: its first request was cancelled, or its time has passed");
  for (const RequestPointer& one : taken)
    refuse_request(*one, one == request ? error : of_others,
                   one == request ? kind : Failure::kCancelled);
}

void SequenceTable::refuse_request(SequenceRequest& request, const ServingError& error,
                                   Failure kind) {
  InferResult result;
  result.error = error;
  result.received = request.request.received;
  result.finished = Clock::now();
  statistics_->add_failure(result.finished - result.received, kind);
  const InferDone done = std::move(request.done);
  done(std::move(result));
}

// Runs a request, and those that wait behind it; the sequence is marked as running.
void SequenceTable::run(const std::string& key, const SequencePointer& sequence,
                        RequestPointer request) {
  // A request may be done before the scheduler returns: then the next one is begun from here, and
  // not from within, where thousands that are refused would be as many calls deep.
  enum class Stage { kSubmitting, kDone, kSubmitted };
  while (request) {
    const auto stage = std::make_shared<std::atomic<Stage>>(Stage::kSubmitting);
    hand_over(sequence, request, [self = shared_from_this(), key, sequence, stage] {
      Stage expected = Stage::kSubmitting;
      if (stage->compare_exchange_strong(expected, Stage::kDone)) return;
      if (RequestPointer next = self->take_next(key, sequence))
        self->run(key, sequence, std::move(next));
    });
    Stage expected = Stage::kSubmitting;
    if (stage->compare_exchange_strong(expected, Stage::kSubmitted)) return;
    request = take_next(key, sequence);
  }
}

// Gives a request to the scheduler; `next` is called once it is answered.
void SequenceTable::hand_over(const SequencePointer& sequence, const RequestPointer& waiting,
                              std::function<void()> next) {
  InferRequest request = std::move(waiting->request);
  for (const ControlInput& control : controls_)
    request.inputs[control.input] = control_tensor(control, request.sequence);
  for (size_t i = 0; i < states_.size(); ++i)
    request.inputs[states_[i].input] = sequence->states[i];
  // States are computed whatever the client asks for.
  const std::vector<size_t> asked = request.outputs;
  if (!asked.empty()) {
    for (const StateInput& state : states_)
      request.outputs.push_back(state.output);
    std::sort(request.outputs.begin(), request.outputs.end());
    request.outputs.erase(std::unique(request.outputs.begin(), request.outputs.end()),
                          request.outputs.end());
  }
  const Scheduler::Ticket ticket =
      scheduler_->submit(std::move(request), [self = shared_from_this(), sequence, waiting, asked,
                                              next = std::move(next)](InferResult&& result) {
        if (!result.error) self->keep_states(*sequence, asked, result);
        waiting->done(std::move(result));
        next();
      });
  bool is_cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    waiting->ticket = ticket;
    is_cancelled = waiting->is_cancelled;
  }
  if (is_cancelled) scheduler_->cancel(ticket);
}

SequenceTable::RequestPointer SequenceTable::take_next(const std::string& key,
                                                       const SequencePointer& sequence) {
  RequestPointer next;
  {
    const std::lock_guard lock(mutex_);
    sequence->is_running = false;
    sequence->last_used = Clock::now();
    next = next_waiting(*sequence);
    if (next) {
      sequence->is_running = true;
    } else {
      const auto found = sequences_.find(key);
      const bool goes_on = found != sequences_.end() && found->second == sequence;
      if (!goes_on) release(*sequence);
      if (!is_closed_) admit();
    }
  }
  if (!next) start_admitted();
  return next;
}

}  // namespace sardonyx::serving
