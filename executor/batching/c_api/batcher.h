// What handles of the batching interface hold, and its errors as statuses.
#pragma once

#include <memory>
#include <string>

#include "executor/batching/scheduler.h"
#include "executor/batching/session_runner.h"
#include "executor/c_api/options.h"
#include "executor/c_api/session.h"
#include "executor/c_api/value.h"
#include "sardonyx/batching.h"

namespace sardonyx::c_api {

// The same as the runtime's own error. What is not there any more was cancelled.
Error error_of(const serving::ServingError& error);

// guarded_with(), of a body that may throw ServingErrors as well.
template <typename Options, typename Body>
sx_status guarded_serving(const Options* options, const Body& body) noexcept {
  return guarded_with(options, [&] {
    try {
      body();
    } catch (const serving::ServingError& error) {
      throw error_of(error);
    }
  });
}

// The time that a thread spends in a callback of a batcher. Scopes nest: a callback may submit a
// request to another batcher, which is answered by the same thread.
class AnswerScope {
 public:
  explicit AnswerScope(const sx_batcher& batcher);
  ~AnswerScope();
  AnswerScope(const AnswerScope&) = delete;
  AnswerScope& operator=(const AnswerScope&) = delete;
  // Is this thread in a callback of the batcher, or (null) of any?
  static bool is_in(const sx_batcher* batcher);

 private:
  const sx_batcher& batcher_;
  const AnswerScope* const outer_;
};

}  // namespace sardonyx::c_api

struct sx_admission {
  std::shared_ptr<sardonyx::serving::MemoryGate> gate;
};

struct sx_batcher {
  sx_batcher(std::shared_ptr<sardonyx::c_api::SharedSession> session,
             std::shared_ptr<sardonyx::serving::MemoryGate> gate,
             sardonyx::serving::SchedulingPolicy policy);
  ~sx_batcher() { scheduler->close(); }

  const std::shared_ptr<sardonyx::c_api::SharedSession> shared;
  const std::shared_ptr<sardonyx::serving::Statistics> statistics;
  sardonyx::serving::SessionRunner runner;
  sardonyx::serving::RunThreads threads;
  const std::shared_ptr<sardonyx::serving::Scheduler> scheduler;
};

struct sx_request {
  std::weak_ptr<sardonyx::serving::Scheduler> scheduler;
  sardonyx::serving::Scheduler::Ticket ticket;
};
