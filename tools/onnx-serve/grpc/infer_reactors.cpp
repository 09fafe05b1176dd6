#include "tools/onnx-serve/grpc/infer_reactors.h"

#include <deque>
#include <mutex>

#include "executor/serving/json_text.h"
#include "tools/onnx-serve/grpc/infer_messages.h"
#include "tools/onnx-serve/grpc/wire.h"
#include "tools/onnx-serve/tracing/tracer.h"

namespace sardonyx::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;
using ModelPointer = serving::ModelRepository::ModelPointer;

// The time that a call has left, in the way that requests have it; nullopt: there is no deadline.
std::optional<std::chrono::microseconds> time_left(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
      deadline - std::chrono::system_clock::now());
  if (left > std::chrono::hours(24 * 365)) return std::nullopt;
  return std::max(left, std::chrono::microseconds(1));
}

// One request: from its message to the answer's.
class Inference {
 public:
  using Done = std::function<void(std::optional<ServingError>)>;

  // Throws ServingError where the request is refused at once; else `done` is called once, perhaps
  // before this returns. `answer` is written before that.
  void start(const GrpcServer::Parts& parts, const grpc::CallbackServerContext& context,
             ModelInferRequest& message, ModelInferResponse& answer, const Done& done) {
    model_ = parts.repository.find(message.model_name(), message.model_version());
    begin_trace(parts.api.tracer(), context);
    memory_ = parts.options.allows_shared_memory ? &parts.api.regions() : nullptr;
    serving::InferRequest request;
    const auto begin = TraceClock::now();
    try {
      request = read_request(parts, context, message);
    } catch (...) {
      // What comes to the queue is counted there.
      model_->statistics().add_failure(TraceClock::now() - begin, serving::Failure::kOther);
      throw;
    }
    ticket_ = model_->submit(
        std::move(request),
        [this, &answer, done](serving::InferResult&& result) {
          if (trace_) trace_->add_run(result);
          std::optional<ServingError> error = std::move(result.error);
          if (!error) {
            try {
              if (trace_ && trace_->settings.tensors)
                add_outputs(*trace_, *model_, choice_, result.outputs);
              write_answer(*model_, parsed_, choice_, result.outputs, memory_, answer);
            } catch (...) {
              error = serving::current_serving_error();
            }
          }
          if (trace_) trace_->add("GRPC_SEND_START", TraceClock::now());
          done(std::move(error));
        },
        /*may_run_here=*/true);
  }
  const ModelPointer& model() const { return model_; }
  const serving::ServedModel::Ticket& ticket() const { return ticket_; }
  // The answer has been written: the trace, if there is one, is whole.
  void end_trace() {
    if (trace_) trace_->add("GRPC_SEND_END", TraceClock::now());
    trace_.reset();
  }

 private:
  serving::InferRequest read_request(const GrpcServer::Parts& parts,
                                     const grpc::CallbackServerContext& context,
                                     ModelInferRequest& message) {
    GrpcInfer infer = read_infer(message, *model_, memory_);
    parsed_ = std::move(infer.parsed);
    choice_ = choose_outputs(parsed_, *model_);
    if (trace_) trace_->request_id = parsed_.id.value_or("");
    if (trace_ && trace_->settings.tensors) add_inputs(*trace_, infer.tensors);
    serving::InferRequest request;
    apply_parameters(parsed_.parameters, request);
    if (!request.timeout && parts.options.request_timeout.count() > 0)
      request.timeout = parts.options.request_timeout;
    if (const auto time = time_left(context))
      request.timeout = request.timeout ? std::min(*request.timeout, *time) : *time;
    model_->fill(request, std::move(infer.tensors),
                 parsed_.outputs.empty() ? std::vector<size_t>() : choice_.order);
    return request;
  }
  void begin_trace(Tracer& tracer, const grpc::CallbackServerContext& context) {
    const auto& metadata = context.client_metadata();
    const auto found = metadata.find("traceparent");
    trace_ = tracer.sample(model_->name(), model_->version(),
                           found == metadata.end()
                               ? std::string_view()
                               : std::string_view(found->second.data(), found->second.size()));
    if (trace_) trace_->add("GRPC_WAITREAD_END", TraceClock::now());
  }

  ModelPointer model_;
  const SharedMemory* memory_ = nullptr;
  ParsedInfer parsed_;
  OutputChoice choice_;
  serving::ServedModel::Ticket ticket_;
  std::shared_ptr<Trace> trace_;
};

// The call ends, and frees this, only when nothing uses it any more: `ends_` counts the two that
// do, the beginning (which still stores the ticket) and the answer.
class UnaryInfer : public UnaryCall {
 public:
  UnaryInfer(const CallContext& shared, grpc::ByteBuffer& to)
      : UnaryCall(shared.calls),
        to_(to),
        taken_by_request_(shared.parts.bodies),
        taken_by_answer_(shared.parts.bodies) {}

  void begin(const CallContext& shared, grpc::CallbackServerContext& context,
             grpc::ByteBuffer& from) {
    try {
      ModelInferRequest request;
      read_wire(from, shared.message_bytes, taken_by_request_, request);
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
    if (--ends_ == 0) Finish(status_);
  }

  Inference inference_;
  ModelInferResponse answer_;
  grpc::ByteBuffer& to_;
  TakenBytes taken_by_request_, taken_by_answer_;
  grpc::Status status_;
  std::atomic<int> ends_ = 2;
  std::mutex mutex_;
  bool has_ticket_ = false, is_cancelled_ = false;
};

// Reads on only while what it holds is little: a client that does not read its answers is not read
// from either.
class StreamInfer : public StreamReactor, public EndingStream {
 public:
  StreamInfer(const CallContext& shared, grpc::CallbackServerContext& context)
      : shared_(shared), context_(context) {
    const auto& metadata = context.client_metadata();
    const auto found = metadata.find("triton_grpc_error");
    ends_on_error_ = found != metadata.end() && found->second == "true";
    StartRead(&request_);
    shared_.calls.add(*this);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      const std::lock_guard lock(mutex_);
      has_read_all_ = true;
      finish_if_done();
      return;
    }
    const auto item = std::make_shared<Item>(shared_.parts.bodies);
    {
      const std::lock_guard lock(mutex_);
      // It came while the stream was ended.
      if (is_finished_) return;
      items_.push_back(item);
      ++pending_;
    }
    try {
      ModelInferRequest request;
      read_wire(request_, shared_.message_bytes, item->taken, request);
      item->id = request.id();
      {
        const std::lock_guard lock(mutex_);
        hold(*item);
      }
      item->inference.start(
          shared_.parts, context_, request, *item->answer.mutable_infer_response(),
          [this, item](std::optional<ServingError> error) { answer(item, std::move(error)); });
    } catch (...) {
      answer(item, serving::current_serving_error());
    }
    bool is_late = false;
    {
      const std::lock_guard lock(mutex_);
      item->has_ticket = true;
      is_late = is_cancelled_;
      waits_to_read_ = true;
      read_on();
    }
    if (is_late) cancel(*item);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    is_writing_ = false;
    written_->inference.end_trace();
    let_go(*written_);
    written_.reset();
    if (!ok) {
      for (const auto& item : answers_)
        let_go(*item);
      answers_.clear();
    }
    write_next();
    read_on();
    finish_if_done();
  }

  void OnCancel() override {
    std::deque<std::shared_ptr<Item>> running;
    {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
      for (const auto& item : items_) {
        if (item->has_ticket) running.push_back(item);
      }
    }
    for (const auto& item : running)
      cancel(*item);
  }
  void OnDone() override {
    shared_.calls.remove(*this);
    {
      // Whoever finished the call may still hold it.
      const std::lock_guard lock(mutex_);
    }
    delete this;
  }
  void end_when_idle() override {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    finish_if_done();
  }

 private:
  static constexpr size_t kMostHeld = 1024;             // requests and answers
  static constexpr uint64_t kMostHeldBytes = 32 << 20;  // of them; one more may come beyond it
  struct Item {
    explicit Item(BodyBudget& budget) : taken(budget) {}
    Inference inference;
    std::string id;
    ModelStreamInferResponse answer;
    grpc::ByteBuffer wire;  // of the answer
    TakenBytes taken;       // by the request, then by the answer
    uint64_t held = 0;      // of them, as the stream counts
    bool has_ticket = false;
  };

  static void cancel(const Item& item) {
    if (item.inference.model()) item.inference.model()->cancel(item.inference.ticket());
  }

  void answer(const std::shared_ptr<Item>& item, std::optional<ServingError> error) {
    item->taken.give_back();
    if (!error) error = written(*item);
    if (error) {
      item->answer.Clear();
      item->answer.set_error_message(serving::utf8_text(error->message()));
      item->answer.mutable_infer_response()->set_id(item->id);
      mark_final(*item);
      write_wire(std::as_const(item->answer), item->wire);
    }
    const std::lock_guard lock(mutex_);
    --pending_;
    std::erase(items_, item);
    hold(*item);
    if (error && ends_on_error_ && !status_) status_ = grpc_status(*error);
    answers_.push_back(item);
    write_next();
    read_on();
    finish_if_done();
  }

  // Each request has one answer, which is the last one.
  static void mark_final(Item& item) {
    (*item.answer.mutable_infer_response()->mutable_parameters())["triton_final_response"]
        .set_bool_param(true);
  }
  static std::optional<ServingError> written(Item& item) {
    try {
      mark_final(item);
      write_wire(item.answer, item.taken, item.wire);
      return std::nullopt;
    } catch (...) {
      return serving::current_serving_error();
    }
  }

  // With the lock held, as those that follow.
  void read_on() {
    const bool may_read = pending_ + answers_.size() < kMostHeld && held_ < kMostHeldBytes;
    if (!waits_to_read_ || !may_read || is_finished_ || status_) return;
    waits_to_read_ = false;
    request_.Clear();
    StartRead(&request_);
  }
  void hold(Item& item) {
    held_ -= std::exchange(item.held, item.taken.bytes());
    held_ += item.held;
  }
  void let_go(Item& item) {
    item.taken.give_back();
    hold(item);
  }
  void write_next() {
    if (is_writing_ || answers_.empty() || is_finished_) return;
    written_ = answers_.front();
    answers_.pop_front();
    is_writing_ = true;
    StartWrite(&written_->wire);
  }
  void finish_if_done() {
    const bool is_over = has_read_all_ || status_ || is_ending_;
    if (is_finished_ || is_writing_ || !answers_.empty() || pending_ > 0 || !is_over) return;
    is_finished_ = true;
    Finish(status_         ? *status_
           : has_read_all_ ? grpc::Status::OK
                           : grpc::Status(grpc::StatusCode::UNAVAILABLE, kIsEnding));
  }

  const CallContext shared_;
  grpc::CallbackServerContext& context_;
  bool ends_on_error_ = false;
  grpc::ByteBuffer request_;

  std::mutex mutex_;
  std::deque<std::shared_ptr<Item>> items_, answers_;
  std::shared_ptr<Item> written_;
  size_t pending_ = 0;
  uint64_t held_ = 0;  // bytes
  bool has_read_all_ = false, is_writing_ = false, is_finished_ = false, is_cancelled_ = false;
  bool waits_to_read_ = false, is_ending_ = false;
  std::optional<grpc::Status> status_;
};

}  // namespace

grpc::ServerUnaryReactor* infer_call(const CallContext& shared,
                                     grpc::CallbackServerContext& context, grpc::ByteBuffer& from,
                                     grpc::ByteBuffer& to) {
  auto* call = new UnaryInfer(shared, to);
  call->begin(shared, context, from);
  return call;
}

StreamReactor* infer_stream(const CallContext& shared, grpc::CallbackServerContext& context) {
  return new StreamInfer(shared, context);
}

}  // namespace sardonyx::serve
