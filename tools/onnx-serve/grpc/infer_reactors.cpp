#include "tools/onnx-serve/grpc/infer_reactors.h"

#include <atomic>
#include <mutex>

#include "tools/onnx-serve/grpc/inference.h"
#include "tools/onnx-serve/grpc/wire.h"

namespace sardonyx::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

// The call ends, and frees this, only when nothing uses it any more: `ends_` counts the two that
// do, the beginning (which still stores the ticket) and the answer.
class UnaryInfer : public UnaryCall {
 public:
  UnaryInfer(const CallContext& shared, grpc::ByteBuffer& to)
      : UnaryCall(shared.calls),
        to_(to),
        writes_(shared.calls.writes()),
        taken_by_request_(shared.parts.bodies),
        taken_by_answer_(shared.parts.bodies) {}

  void begin(const CallContext& shared, grpc::CallbackServerContext& context,
             grpc::ByteBuffer& from) {
    watch_ = shared.calls.writes().add([&context] { context.TryCancel(); });
    try {
      ModelInferRequest request;
      read_wire(from, context, shared.message_bytes, taken_by_request_, request);
      inference_.start(shared.parts, context, request, answer_,
                       [this](std::optional<ServingError> error) { end(std::move(error)); });
      bool is_cancelled = false;
      {
        const std::lock_guard lock(mutex_);
        has_ticket_ = true;
        is_cancelled = is_cancelled_;
      }
      if (is_cancelled) inference_.model()->cancel(inference_.ticket());
    } catch (...) {
      status_ = grpc_status(serving::current_serving_error());
      end_part();
    }
    end_part();
  }
  void OnCancel() override {
    {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
      if (!has_ticket_) return;
    }
    inference_.model()->cancel(inference_.ticket());
  }
  void OnDone() override {
    inference_.end_trace();
    writes_.remove(watch_);
    UnaryCall::OnDone();
  }

 private:
  void end(std::optional<ServingError> error) {
    taken_by_request_.give_back();
    try {
      if (!error) write_wire(answer_, taken_by_answer_, to_);
    } catch (...) {
      error = serving::current_serving_error();
    }
    status_ = error ? grpc_status(*error) : grpc::Status::OK;
    end_part();
  }
  void end_part() {
    if (--ends_ > 0) return;
    watch_->begin(to_.Length());
    Finish(status_);
  }

  Inference inference_;
  ModelInferResponse answer_;
  grpc::ByteBuffer& to_;
  WriteWatches& writes_;
  std::shared_ptr<WriteWatch> watch_;
  TakenBytes taken_by_request_, taken_by_answer_;
  grpc::Status status_;
  std::atomic<int> ends_ = 2;
  std::mutex mutex_;
  bool has_ticket_ = false, is_cancelled_ = false;
};

}  // namespace

grpc::ServerUnaryReactor* infer_call(const CallContext& shared,
                                     grpc::CallbackServerContext& context, grpc::ByteBuffer& from,
                                     grpc::ByteBuffer& to) {
  auto* call = new UnaryInfer(shared, to);
  call->begin(shared, context, from);
  return call;
}

}  // namespace sardonyx::serve
