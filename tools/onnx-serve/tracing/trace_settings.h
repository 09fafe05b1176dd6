// Which requests are traced, as clients read and change it (trace/setting).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sardonyx::serve {

enum class TraceMode { kFile, kOtlp };

// How traces are taken, in the server or for one model.
struct TraceSettings {
  bool timestamps = false, tensors = false;  // neither: nothing is traced
  uint32_t rate = 1000;                      // one request of so many
  int32_t count = -1;                        // how many are still taken; -1: any number
  uint32_t log_frequency = 0;                // traces in each file; 0: all are in one
};

// Where they go; set at the start and by no client, who could write any file of the server.
struct TraceTarget {
  TraceMode mode = TraceMode::kFile;
  std::string file;                                     // in mode kFile
  std::string url = "http://localhost:4318/v1/traces";  // in mode kOtlp
};

// A name of a setting with its values, more than one for trace_level alone; nullopt: from now on
// what is above (the server's for a model, the start's for the server).
using TraceValues = std::map<std::string, std::optional<std::vector<std::string>>>;

// Settings of which some are given, and others come from above.
struct PartialTraceSettings {
  struct Level {
    bool timestamps = false, tensors = false;
  };
  std::optional<Level> level;
  std::optional<uint32_t> rate, log_frequency;
  std::optional<int32_t> count;

  bool is_empty() const { return !level && !rate && !count && !log_frequency; }
  TraceSettings over(const TraceSettings& above) const;
};

// What `given` becomes with the changes. Throws ServingError kInvalidArgument, or kUnsupported for
// what is set at the start alone.
PartialTraceSettings changed(PartialTraceSettings given, const TraceValues& changes);

// As the protocol answers; values of trace_level are a list.
std::vector<std::pair<std::string, std::vector<std::string>>> as_values(
    const TraceSettings& settings, const TraceTarget& target);

// "rate=100", "level=TIMESTAMPS", "mode=opentelemetry", "triton,file=F", "opentelemetry,url=U" ...
// on the command line. Throws ServingError kInvalidArgument.
void apply_trace_option(const std::string& text, TraceSettings& settings, TraceTarget& target);

}  // namespace sardonyx::serve
