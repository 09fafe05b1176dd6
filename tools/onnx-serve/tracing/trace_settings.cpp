#include "tools/onnx-serve/tracing/trace_settings.h"

#include <charconv>
#include <limits>

#include "executor/batching/serving_error.h"

namespace sardonyx::serve {
namespace {

using serving::refuse;
using serving::Status;

template <typename Number>
Number number_from(const std::string& name, const std::string& value, Number least) {
  int64_t number = 0;
  const auto end = std::from_chars(value.data(), value.data() + value.size(), number);
  if (end.ec == std::errc::invalid_argument || end.ptr != value.data() + value.size())
    refuse(Status::kInvalidArgument, "Unable to parse '", name, "', got: ", value);
  constexpr auto kMost = static_cast<int64_t>(std::numeric_limits<Number>::max());
  if (end.ec != std::errc() || number > kMost || number < static_cast<int64_t>(least)) {
    refuse(Status::kInvalidArgument, "Unable to parse '", name, "', value is out of range [ ",
           least, ", ", kMost, " ], got: ", value);
  }
  return static_cast<Number>(number);
}

PartialTraceSettings::Level level_from(const std::vector<std::string>& names) {
  PartialTraceSettings::Level level;
  for (const std::string& name : names) {
    if (name == "OFF") {
      if (names.size() > 1)
        refuse(Status::kInvalidArgument, "Expect only one trace level 'OFF' is specified");
    } else if (name == "TIMESTAMPS") {
      level.timestamps = true;
    } else if (name == "TENSORS") {
      level.tensors = true;
    } else {
      refuse(Status::kInvalidArgument, "trace_level '", name,
             "': expected OFF, TIMESTAMPS or TENSORS");
    }
  }
  return level;
}

}  // namespace

TraceSettings PartialTraceSettings::over(const TraceSettings& above) const {
  TraceSettings all = above;
  if (level) {
    all.timestamps = level->timestamps;
    all.tensors = level->tensors;
  }
  all.rate = rate.value_or(above.rate);
  all.count = count.value_or(above.count);
  all.log_frequency = log_frequency.value_or(above.log_frequency);
  return all;
}

PartialTraceSettings changed(PartialTraceSettings given, const TraceValues& changes) {
  for (const auto& [name, values] : changes) {
    const auto one = [&, &name = name, &values = values]() -> const std::string& {
      if (values->size() != 1)
        refuse(Status::kInvalidArgument, "expect only 1 value for '", name, "'");
      return values->front();
    };
    if (name == "trace_file" || name == "trace_mode") {
      if (!values) continue;  // there is nothing to take back
      refuse(Status::kUnsupported, name == "trace_file" ? "trace file location" : name,
             " can not be updated through network protocol; it is set when the server is started "
             "(--trace-config)");
    } else if (name == "trace_level") {
      given.level.reset();
      if (values) given.level = level_from(*values);
    } else if (name == "trace_rate") {
      given.rate.reset();
      if (values) given.rate = number_from<uint32_t>(name, one(), 0);
    } else if (name == "trace_count") {
      given.count.reset();
      if (values) given.count = number_from<int32_t>(name, one(), -1);
    } else if (name == "log_frequency") {
      given.log_frequency.reset();
      if (values) given.log_frequency = number_from<uint32_t>(name, one(), 0);
    } else {
      refuse(Status::kInvalidArgument, "unknown trace setting '", name, "'");
    }
  }
  return given;
}

std::vector<std::pair<std::string, std::vector<std::string>>> as_values(
    const TraceSettings& settings, const TraceTarget& target) {
  std::vector<std::string> level;
  if (settings.timestamps) level.emplace_back("TIMESTAMPS");
  if (settings.tensors) level.emplace_back("TENSORS");
  if (level.empty()) level.emplace_back("OFF");
  std::vector<std::pair<std::string, std::vector<std::string>>> all = {
      {"trace_level", level},
      {"trace_rate", {std::to_string(settings.rate)}},
      {"trace_count", {std::to_string(settings.count)}}};
  if (target.mode == TraceMode::kFile) {
    all.push_back({"log_frequency", {std::to_string(settings.log_frequency)}});
    all.push_back({"trace_file", {target.file}});
    all.push_back({"trace_mode", {"triton"}});
  } else {
    all.push_back({"trace_mode", {"opentelemetry"}});
    all.push_back({"url", {target.url}});
  }
  return all;
}

void apply_trace_option(const std::string& text, TraceSettings& settings, TraceTarget& target) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    refuse(Status::kInvalidArgument, "--trace-config: expected SETTING=VALUE, got '", text, "'");
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  if (name == "mode") {
    if (value != "triton" && value != "opentelemetry")
      refuse(Status::kInvalidArgument, "--trace-config mode: expected triton or opentelemetry");
    target.mode = value == "triton" ? TraceMode::kFile : TraceMode::kOtlp;
  } else if (name == "level") {
    const PartialTraceSettings::Level level = level_from({value});
    settings.timestamps |= level.timestamps;
    settings.tensors |= level.tensors;
  } else if (name == "rate") {
    settings.rate = number_from<uint32_t>(name, value, 1);
  } else if (name == "count") {
    settings.count = number_from<int32_t>(name, value, -1);
  } else if (name == "triton,file") {
    target.file = value;
  } else if (name == "triton,log-frequency") {
    settings.log_frequency = number_from<uint32_t>(name, value, 0);
  } else if (name == "opentelemetry,url") {
    target.url = value;
  } else {
    refuse(Status::kInvalidArgument, "--trace-config: unknown setting '", name,
           "'; there are mode, level, rate, count, triton,file, triton,log-frequency and "
           "opentelemetry,url");
  }
}

}  // namespace sardonyx::serve
