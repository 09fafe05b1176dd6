#include "tools/onnx-serve/grpc/infer_reactors.h"

#include <deque>
#include <mutex>

#include "executor/serving/json_text.h"
#include "tools/onnx-serve/grpc/inference.h"
#include "tools/onnx-serve/grpc/wire.h"

namespace sardonyx::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelStreamInferResponse;

// Reads on only while what it holds is little: a client that does not read its answers is not read
// from either.
class StreamInfer : public StreamReactor, public EndingStream {
 public:
  StreamInfer(const CallContext& shared, grpc::CallbackServerContext& context)
      : shared_(shared), context_(context) {
    const auto& metadata = context.client_metadata();
    const auto found = metadata.find("triton_grpc_error");
    ends_on_error_ = found != metadata.end() && found->second == "true";
    watch_ = shared_.calls.writes().add([&context] { context.TryCancel(); });
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
      read_wire(request_, context_, shared_.message_bytes, item->taken, request);
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
    watch_->end();
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
    shared_.calls.writes().remove(watch_);
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
    watch_->begin(written_->wire.Length());
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

  std::shared_ptr<WriteWatch> watch_;
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

StreamReactor* infer_stream(const CallContext& shared, grpc::CallbackServerContext& context) {
  return new StreamInfer(shared, context);
}

}  // namespace sardonyx::serve
