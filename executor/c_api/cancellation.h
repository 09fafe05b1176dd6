// Cancellation that can be reset and used again.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "sardonyx/sardonyx.h"

// A request takes no lock, so that it may come from a signal handler.
struct sx_cancellation {
  sx_cancellation() : current_(new std::stop_source) {}
  ~sx_cancellation() { delete current_.load(); }
  sx_cancellation(const sx_cancellation&) = delete;
  sx_cancellation& operator=(const sx_cancellation&) = delete;

  void request() {
    use([](std::stop_source& source) { source.request_stop(); });
  }
  // The stop token that a run started now observes.
  std::stop_token token() {
    std::stop_token token;
    use([&](std::stop_source& source) { token = source.get_token(); });
    return token;
  }
  void reset();

 private:
  template <typename Work>
  void use(const Work& work) {
    users_.fetch_add(1);
    work(*current_.load());
    users_.fetch_sub(1);
  }

  std::atomic<std::stop_source*> current_;
  std::atomic<int> users_ = 0;  // that may look at one which has been replaced meanwhile
  std::mutex mutex_;            // serialises resets
  std::vector<std::unique_ptr<std::stop_source>> replaced_;
};
