#include "tools/onnx-serve/grpc/infer_reactors.h"

#include <deque>
#include <mutex>

#include "tools/onnx-serve/grpc/infer_messages.h"
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
class UnaryInfer : public grpc::ServerUnaryReactor {
 public:
  void begin(const GrpcServer::Parts& parts, grpc::CallbackServerContext& context,
             ModelInferRequest& request, ModelInferResponse& response) {
    try {
      inference_.start(parts, context, request, response,
                       [this](std::optional<ServingError> error) {
                         status_ = error ? grpc_status(*error) : grpc::Status::OK;
                         end_part();
                       });
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
    delete this;
  }

 private:
  void end_part() {
    if (--ends_ == 0) Finish(status_);
  }

  Inference inference_;
  grpc::Status status_;
  std::atomic<int> ends_ = 2;
  std::mutex mutex_;
  bool has_ticket_ = false, is_cancelled_ = false;
};

class StreamInfer : public StreamReactor {
 public:
  StreamInfer(const GrpcServer::Parts& parts, grpc::CallbackServerContext& context)
      : parts_(parts), context_(context) {
    const auto& metadata = context.client_metadata();
    const auto found = metadata.find("triton_grpc_error");
    ends_on_error_ = found != metadata.end() && found->second == "true";
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      const std::lock_guard lock(mutex_);
      has_read_all_ = true;
      finish_if_done();
      return;
    }
    const auto item = std::make_shared<Item>();
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(item);
      ++pending_;
    }
    item->id = request_.id();
    try {
      item->inference.start(
          parts_, context_, request_, *item->answer.mutable_infer_response(),
          [this, item](std::optional<ServingError> error) { answer(item, std::move(error)); });
    } catch (...) {
      answer(item, serving::current_serving_error());
    }
    bool is_late = false;
    {
      const std::lock_guard lock(mutex_);
      item->has_ticket = true;
      is_late = is_cancelled_;
      if (is_finished_ || status_) {
        // Refused as a whole: no more is read.
      } else if (pending_ >= kMaxPending) {
        waits_to_read_ = true;  // the client is to wait
      } else {
        read_next();
      }
    }
    if (is_late) cancel(*item);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    is_writing_ = false;
    written_->inference.end_trace();
    written_.reset();
    if (!ok) answers_.clear();
    write_next();
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
    {
      // Whoever finished the call may still hold it.
      const std::lock_guard lock(mutex_);
    }
    delete this;
  }

 private:
  static constexpr size_t kMaxPending = 1024;
  struct Item {
    Inference inference;
    std::string id;
    ModelStreamInferResponse answer;
    bool has_ticket = false;
  };

  static void cancel(const Item& item) {
    if (item.inference.model()) item.inference.model()->cancel(item.inference.ticket());
  }

  void answer(const std::shared_ptr<Item>& item, std::optional<ServingError> error) {
    if (error) {
      item->answer.clear_infer_response();
      item->answer.set_error_message(error->message());
      item->answer.mutable_infer_response()->set_id(item->id);
    }
    // Each request has one answer, which is the last one.
    (*item->answer.mutable_infer_response()->mutable_parameters())["triton_final_response"]
        .set_bool_param(true);
    const std::lock_guard lock(mutex_);
    --pending_;
    std::erase(items_, item);
    if (error && ends_on_error_ && !status_) status_ = grpc_status(*error);
    answers_.push_back(item);
    write_next();
    if (std::exchange(waits_to_read_, false) && !status_) {
      read_next();
    } else {
      finish_if_done();
    }
  }

  // With the lock held, as those that follow.
  void read_next() {
    request_.Clear();
    StartRead(&request_);
  }
  void write_next() {
    if (is_writing_ || answers_.empty() || is_finished_) return;
    written_ = answers_.front();
    answers_.pop_front();
    is_writing_ = true;
    StartWrite(&written_->answer);
  }
  void finish_if_done() {
    const bool is_over = has_read_all_ && pending_ == 0;
    if (is_finished_ || is_writing_ || !answers_.empty() ||
        !(is_over || (status_ && pending_ == 0)))
      return;
    is_finished_ = true;
    Finish(status_.value_or(grpc::Status::OK));
  }

  const GrpcServer::Parts parts_;
  grpc::CallbackServerContext& context_;
  bool ends_on_error_ = false;
  ModelInferRequest request_;

  std::mutex mutex_;
  std::deque<std::shared_ptr<Item>> items_, answers_;
  std::shared_ptr<Item> written_;
  size_t pending_ = 0;
  bool has_read_all_ = false, is_writing_ = false, is_finished_ = false, is_cancelled_ = false;
  bool waits_to_read_ = false;
  std::optional<grpc::Status> status_;
};

}  // namespace

grpc::ServerUnaryReactor* infer_call(const GrpcServer::Parts& parts,
                                     grpc::CallbackServerContext& context,
                                     ModelInferRequest& request, ModelInferResponse& response) {
  auto* call = new UnaryInfer;
  call->begin(parts, context, request, response);
  return call;
}

StreamReactor* infer_stream(const GrpcServer::Parts& parts, grpc::CallbackServerContext& context) {
  return new StreamInfer(parts, context);
}

}  // namespace sardonyx::serve
