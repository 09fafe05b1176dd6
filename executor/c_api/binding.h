// sx_binding, the inputs and output slots of repeated runs behind the C interface.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "executor/c_api/session.h"
#include "executor/c_api/structs.h"
#include "executor/output_slot.h"
#include "executor/run/async_workers.h"

// How an asynchronous run ended.
struct sx_async_outcome {
  sx_status status = SX_OK;
  std::string message, node;
};

struct sx_binding {
  std::shared_ptr<sardonyx::c_api::SharedSession> shared;
  std::vector<sardonyx::Datum> inputs;
  std::vector<sardonyx::OutputSlot> outputs;
  std::vector<size_t> chosen;            // outputs that runs compute; none: all
  std::atomic<bool> is_running = false;  // asynchronously
  sx_async_outcome outcome;              // the result of the last asynchronous run
  sardonyx::AsyncWorkers async{1};       // last: ends before what its task uses

  explicit sx_binding(std::shared_ptr<sardonyx::c_api::SharedSession> session)
      : shared(std::move(session)),
        inputs(shared->inputs.size()),
        outputs(shared->outputs.size()) {}

  // The inputs that a run gets: the required ones, or all where at least one optional input is set.
  std::span<const sardonyx::Datum> given() const {
    const size_t required = shared->session.inputs().size();
    const auto optional = std::span(inputs).subspan(required);
    const bool any = std::ranges::any_of(optional, &sardonyx::Datum::defined);
    return std::span(inputs).first(any ? inputs.size() : required);
  }
};

namespace sardonyx::c_api {

// Checks that the binding has no asynchronous run under way, and returns it.
template <typename Binding>
Binding& idle(Binding* binding) {
  Binding& found = require(binding, "binding");
  if (found.is_running) {
    fail(ErrorCode::kInvalidArgument,
         "binding: an asynchronous run is under way; wait for it with sx_binding_wait");
  }
  return found;
}

}  // namespace sardonyx::c_api
