// One request to a model, and its answer.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/batching/run_threads.h"
#include "executor/batching/serving_error.h"
#include "executor/batching/statistics.h"
#include "ir/datum.h"

namespace sardonyx::serving {

// The sequence that a request belongs to; without an id: none.
struct SequenceControl {
  std::string text_id;
  uint64_t number_id = 0;
  bool start = false, end = false;
  bool has_id() const { return number_id != 0 || !text_id.empty(); }
};

struct InferRequest {
  std::vector<Datum> inputs;    // in the order of the model's inputs; omitted ones are undefined
  std::vector<size_t> outputs;  // indices into the model's outputs, ascending; none: all
  uint64_t priority = 0;        // 1 is the first to be served; 0: the model's default
  std::optional<std::chrono::microseconds> timeout;  // from `received` on
  Clock::time_point received = Clock::now();
  SequenceControl sequence;
};

struct InferResult {
  std::optional<ServingError> error;
  // In the order of the model's outputs; those that were not asked for are undefined.
  std::vector<Datum> outputs;
  // When the request came, was taken from the queue, and was done; for traces.
  Clock::time_point received, started, finished;
  RunTimes times;
};

// Called once for each request, in any thread; must not throw and should be short.
using InferDone = std::function<void(InferResult&&)>;

}  // namespace sardonyx::serving
