// One interface to what callers do, for programs that run through C++ and through C alike.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "executor/session.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::api_test {

// How a run is to go.
struct HowToRun {
  bool is_cancelled = false;  // before it starts
  bool has_no_time = false;   // a deadline that has passed soon
};

// Inputs and outputs that are set, and run. Tensors are the caller's memory; strings are copied.
class ApiCaller {
 public:
  virtual ~ApiCaller() = default;
  virtual std::string_view name() const = 0;
  // Are values of other kinds than tensors passed?
  virtual bool passes_all_kinds() const = 0;
  virtual void set_input(size_t index, const Datum& datum) = 0;
  virtual void bind_output(size_t index, const Tensor& memory) = 0;
  virtual void clear_output(size_t index) = 0;
  // What went wrong; nothing: all went well.
  virtual std::optional<ErrorCode> run(const HowToRun& how) = 0;
  // What the run has given, as it is there; undefined where this interface does not pass it.
  virtual Datum output(size_t index) const = 0;
  // A copy that is the caller's to keep as long as he wants; undefined where there is no such.
  virtual Datum kept_output(size_t index) const = 0;
};

// A session of either interface.
class ApiSession {
 public:
  virtual ~ApiSession() = default;
  virtual std::unique_ptr<ApiCaller> caller() = 0;
  virtual size_t output_count() const = 0;
  virtual void trim() = 0;
};

// Both throw Error where the model is refused.
std::unique_ptr<ApiSession> cpp_session(const std::string& bytes, const SessionOptions& options);
std::unique_ptr<ApiSession> c_session(const std::string& bytes, const SessionOptions& options);

}  // namespace sardonyx::api_test
