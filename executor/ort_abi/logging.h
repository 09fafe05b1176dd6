// What the library tells of its work, in ONNX Runtime's form.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "executor/log.h"
#include "executor/ort_abi/table/ort_c_api.h"

namespace sardonyx::ort_abi {

// The program's function, or, where it is null, stderr.
struct LogDestination {
  OrtLoggingFunction function = nullptr;
  void* param = nullptr;
};

}  // namespace sardonyx::ort_abi

// Called from any thread.
struct OrtLogger {
  sardonyx::ort_abi::LogDestination destination;
  std::atomic<OrtLoggingLevel> level = ORT_LOGGING_LEVEL_WARNING;  // and above
  std::string id;

  OrtLogger(sardonyx::ort_abi::LogDestination to, OrtLoggingLevel from, std::string named)
      : destination(to), level(from), id(std::move(named)) {}

  bool wants(OrtLoggingLevel severity) const { return severity >= level.load(); }
  // `location`: "file.cc:12 function".
  void write(OrtLoggingLevel severity, const char* location, std::string_view message) const;
};

namespace sardonyx::ort_abi {

// The session's log through `logger`, which must outlive it.
LogSink sink_to(const OrtLogger& logger);
LogLevel log_level_of(OrtLoggingLevel level);

}  // namespace sardonyx::ort_abi
