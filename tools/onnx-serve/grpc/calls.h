// The calls that are being served.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <mutex>
#include <set>

#include "tools/onnx-serve/grpc/write_watch.h"

namespace sardonyx::serve {

// A stream, which lasts longer than what it is asked for.
class EndingStream {
 public:
  virtual ~EndingStream() = default;
  // To end once nothing that it was asked for is left to be answered.
  virtual void end_when_idle() = 0;
};

class Calls {
 public:
  WriteWatches& writes() { return writes_; }
  void begin() { ++running_; }
  void end() { --running_; }
  size_t running() const { return running_; }

  // A stream is there from add() until remove() returns.
  void add(EndingStream& stream) {
    begin();
    const std::lock_guard lock(mutex_);
    streams_.insert(&stream);
    if (is_ending_) stream.end_when_idle();
  }
  void remove(EndingStream& stream) {
    {
      const std::lock_guard lock(mutex_);
      streams_.erase(&stream);
    }
    end();
  }
  void end_streams() {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (EndingStream* stream : streams_)
      stream->end_when_idle();
  }

 private:
  WriteWatches writes_;
  std::atomic<size_t> running_ = 0;
  std::mutex mutex_;  // of what follows
  std::set<EndingStream*> streams_;
  bool is_ending_ = false;
};

// A call of one request and one answer, counted until the answer is sent.
class UnaryCall : public grpc::ServerUnaryReactor {
 public:
  explicit UnaryCall(Calls& calls) : calls_(calls) { calls_.begin(); }
  void OnDone() override {
    Calls& calls = calls_;
    delete this;
    calls.end();
  }

 private:
  Calls& calls_;
};

}  // namespace sardonyx::serve
