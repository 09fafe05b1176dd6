// What a server answers when it can't do what a request asks.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "ir/core/error.h"

namespace sardonyx::serving {

// Each has one status in HTTP and one in gRPC (docs/serving.md has the table).
enum class Status {
  kOk,
  kInvalidArgument,
  kNotFound,
  kUnavailable,        // not ready, being unloaded, shutting down: may be asked again later
  kResourceExhausted,  // a full queue or not enough memory
  kTooLarge,           // more than a limit on the size of requests allows
  kUnsupported,
  kCancelled,
  kDeadlineExceeded,
  kInternal,
};

class ServingError : public std::exception {
 public:
  ServingError(Status status, std::string message)
      : status_(status), message_(std::move(message)) {}
  // What the runtime threw, under the status that tells who is at fault.
  explicit ServingError(const Error& error);

  Status status() const { return status_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Status status_;
  std::string message_;
};

template <typename... Parts>
[[noreturn]] void refuse(Status status, const Parts&... parts) {
  throw ServingError(status, text(parts...));
}

// The exception that is being handled, in a catch block, as a ServingError.
ServingError current_serving_error();

// Returns work(); whatever it throws comes as a ServingError.
template <typename Work>
auto as_serving_error(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    throw current_serving_error();
  }
}

}  // namespace sardonyx::serving
