// Requests of batchers and their answers.
#include <algorithm>
#include <future>
#include <optional>

#include "executor/batching/c_api/batcher.h"

using namespace sardonyx;  // NOLINT: functions of the interface are outside of every namespace
using namespace sardonyx::c_api;  // NOLINT

namespace {

using serving::InferRequest;
using serving::InferResult;

std::vector<Datum> inputs_of(const Session& session, const sx_value* const* inputs, size_t count) {
  const size_t required = session.inputs().size();
  const size_t all = required + session.optional_inputs().size();
  if (count != required && count != all) {
    fail(ErrorCode::kInvalidArgument, "count: the model has ", required, " required inputs and ",
         all, " in all, got ", count);
  }
  if (count > 0) require(inputs, "inputs");
  std::vector<Datum> data(all);
  size_t optional = 0;
  for (size_t i = 0; i < count; ++i) {
    const ValueInfo& info =
        i < required ? session.inputs()[i] : session.optional_inputs()[i - required];
    if (i >= required && !inputs[i]) continue;
    data[i] = require(inputs[i], info.name.c_str()).datum;
    if (!data[i].is_tensor()) {
      fail(ErrorCode::kUnsupported, "input '", info.name, "': batchers take tensors, got ",
           data[i].type(), "; run it with a binding");
    }
    optional += i >= required;
  }
  if (optional > 0 && optional < all - required) {
    fail(ErrorCode::kInvalidArgument, "inputs: of the ", all - required,
         " that have a default, all may be given or none, got ", optional);
  }
  return data;
}

std::vector<size_t> outputs_of(const Session& session, const sx_request_options& given) {
  std::vector<size_t> chosen;
  if (given.output_count > 0) require(given.outputs, "outputs");
  for (size_t i = 0; i < given.output_count; ++i) {
    check_index(given.outputs[i], session.outputs(), "outputs");
    chosen.push_back(given.outputs[i]);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

InferRequest request_of(const Session& session, const sx_value* const* inputs, size_t count,
                        const sx_request_options& given) {
  InferRequest request;
  request.inputs = inputs_of(session, inputs, count);
  request.outputs = outputs_of(session, given);
  request.priority = given.priority;
  check_range<int64_t>("timeout_us", given.timeout_us, 0, 1000 * kLongestDeadline);
  if (given.timeout_us > 0) request.timeout = std::chrono::microseconds(given.timeout_us);
  return request;
}

// An answer as a callback is told of it.
class Answer {
 public:
  explicit Answer(InferResult&& result) {
    if (result.error) {
      const Error error = error_of(*result.error);
      message_ = error.what();
      error_.status = status_of(error.code());
    }
    error_.struct_size = sizeof error_;
    error_.message = message_.data();
    error_.message_size = message_.size() + 1;
    error_.node = node_;
    error_.node_size = sizeof node_;
    values_.reserve(result.outputs.size());
    for (Datum& output : result.outputs) {
      const bool is_there = output.defined();
      if (is_there) values_.emplace_back(kept(output));
      places_.push_back(is_there ? &values_.back() : nullptr);
    }
    answer_ = {sizeof answer_, &error_, places_.data(), places_.size(), 0, 0};
    if (result.error) return;
    answer_.queue_ns = serving::Nanoseconds(result.started - result.received).count();
    answer_.run_ns = result.times.infer.count();
  }
  const sx_answer& told() const { return answer_; }

 private:
  std::string message_;
  char node_[1] = "";
  sx_error error_{};
  std::vector<sx_value> values_;
  std::vector<const sx_value*> places_;
  sx_answer answer_{};
};

// Whatever happens, the callback is told.
void answer(InferResult&& result, sx_answer_callback callback, void* user) {
  std::optional<Answer> made;
  try {
    made.emplace(std::move(result));
  } catch (const std::bad_alloc&) {
    char empty[1] = "";
    const sx_error error{sizeof error, SX_RESOURCE_EXHAUSTED, 0, empty, 1, empty, 1};
    const sx_answer told{sizeof told, &error, nullptr, 0, 0, 0};
    callback(user, &told);
    return;
  }
  callback(user, &made->told());
}

// Handles of the caller's to a result's outputs.
void hand_out(InferResult& result, sx_value** outputs) {
  std::vector<std::unique_ptr<sx_value>> made(result.outputs.size());
  for (size_t i = 0; i < made.size(); ++i) {
    if (result.outputs[i].defined()) made[i] = std::make_unique<sx_value>(kept(result.outputs[i]));
  }
  for (size_t i = 0; i < made.size(); ++i)
    outputs[i] = made[i].release();
}

}  // namespace

extern "C" {

sx_status sx_request_options_init(sx_request_options* options, size_t struct_size) {
  return guarded([&] {
    write_struct(require(options, "options"), struct_size, sx_request_options{}, "options");
  });
}

sx_status sx_batcher_submit(sx_batcher* batcher, const sx_value* const* inputs, size_t count,
                            const sx_request_options* options, sx_answer_callback callback,
                            void* user, sx_request** request) {
  return guarded_serving(options, [&] {
    if (request) *request = nullptr;
    sx_batcher& to = require(batcher, "batcher");
    if (!callback) fail(ErrorCode::kInvalidArgument, "callback: expected a function, got NULL");
    const auto given = read_struct(options, sx_request_options{}, "options");
    InferRequest asked = request_of(to.shared->session, inputs, count, given);
    // Made before anything is begun, so that nothing can fail afterwards.
    auto handle = request ? std::make_unique<sx_request>() : nullptr;
    // A callback may destroy the batcher.
    const std::shared_ptr<serving::Scheduler> scheduler = to.scheduler;
    const auto ticket = scheduler->submit(
        std::move(asked),
        [callback, user, batcher](InferResult&& result) {
          const AnswerScope scope(*batcher);
          answer(std::move(result), callback, user);
        },
        flag("may_run_here", given.may_run_here));
    if (!handle) return;
    handle->scheduler = scheduler;
    handle->ticket = ticket;
    *request = handle.release();
  });
}

void sx_request_cancel(sx_request* request) {
  if (!request) return;
  if (const auto scheduler = request->scheduler.lock()) scheduler->cancel(request->ticket);
}

void sx_request_destroy(sx_request* request) {
  delete request;
}

sx_status sx_batcher_run(sx_batcher* batcher, const sx_value* const* inputs, size_t count,
                         const sx_request_options* options, sx_value** outputs,
                         size_t output_count) {
  return guarded_serving(options, [&] {
    sx_batcher& to = require(batcher, "batcher");
    if (AnswerScope::is_in(batcher)) {
      fail(ErrorCode::kInvalidArgument,
           "batcher: a callback of it can't wait for the next run, which waits for the callback; "
           "use sx_batcher_submit");
    }
    const Session& session = to.shared->session;
    if (output_count != session.outputs().size()) {
      fail(ErrorCode::kInvalidArgument, "output_count: the model has ", session.outputs().size(),
           " outputs, got ", output_count);
    }
    if (output_count > 0) std::fill_n(&require(outputs, "outputs"), output_count, nullptr);
    const auto given = read_struct(options, sx_request_options{}, "options");
    std::promise<InferResult> promise;
    auto future = promise.get_future();
    // The thread waits all the same: a quick run is made here.
    to.scheduler->submit(
        request_of(session, inputs, count, given),
        [&](InferResult&& result) { promise.set_value(std::move(result)); },
        /*may_run_here=*/true);
    InferResult result = future.get();
    if (result.error) throw *result.error;
    hand_out(result, outputs);
  });
}

}  // extern "C"
