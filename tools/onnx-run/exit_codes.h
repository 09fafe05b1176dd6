// What the exit status says; scripts rely on it.
#pragma once

#include "ir/core/error.h"

namespace sardonyx::tool {

enum ExitCode {
  kOk = 0,
  kDifferent = 1,  // compared and different; a check found errors
  kUsage = 2,
  kBadModel = 3,   // invalid or unsupported: it could not be loaded
  kRunFailed = 4,  // it was loaded, but could not be run
  kLimit = 5,      // cancelled, deadline passed, or a limit on resources reached
  kInterrupted = 130,
};

struct ExitStatus {
  ExitCode code;
  const char* meaning;
};
inline constexpr ExitStatus kExitStatuses[] = {
    {kOk, "All went well."},
    {kDifferent, "Compared and different, or a check found problems."},
    {kUsage, "The command line makes no sense."},
    {kBadModel, "The model is invalid, unsupported, or larger than the limits allow."},
    {kRunFailed, "The model was loaded, but the run failed."},
    {kLimit, "A run was stopped by a limit on memory or time."},
    {kInterrupted, "Interrupted by Ctrl-C."},
};

// What the user asked for makes no sense; answered with kUsage.
class UsageError : public std::exception {
 public:
  explicit UsageError(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

template <typename... Parts>
[[noreturn]] void fail_usage(const Parts&... parts) {
  throw UsageError(text(parts...));
}

// An error while the model was loaded, to be told from one of the run.
class LoadError : public std::exception {
 public:
  explicit LoadError(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.what(); }

 private:
  Error error_;
};

// Runs `load` and turns what it throws into LoadError.
template <typename Load>
auto loading(const Load& load) {
  try {
    return load();
  } catch (const Error& error) {
    throw LoadError(error);
  } catch (const std::bad_alloc&) {
    throw LoadError(Error(ErrorCode::kResourceExhausted, "out of memory"));
  }
}

inline ExitCode run_exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kCancelled:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kResourceExhausted:
      return kLimit;
    default:
      return kRunFailed;
  }
}

// A model that asks for more than a limit allows is a model that can't be loaded.
inline ExitCode load_exit_code(ErrorCode code) {
  const bool was_stopped = code == ErrorCode::kCancelled || code == ErrorCode::kDeadlineExceeded;
  return was_stopped ? kLimit : kBadModel;
}

}  // namespace sardonyx::tool
