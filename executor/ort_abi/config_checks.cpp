#include "executor/ort_abi/config_checks.h"

#include <algorithm>
#include <charconv>

#include "executor/ort_abi/config_entries.h"
#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {
namespace {

// The parts between `separator`; of an empty text, none.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<int64_t> integer_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Numbers of processors from 1, "1,2;3-4": a group for each thread but the caller's.
void check_affinities(std::string_view affinities) {
  for (const std::string_view group : parts_of(affinities, ';')) {
    const bool is_range = group.find('-') != std::string_view::npos;
    for (const std::string_view id : parts_of(group, is_range ? '-' : ',')) {
      const bool is_number =
          std::ranges::all_of(id, [](char digit) { return digit >= '0' && digit <= '9'; });
      if (!is_number) refuse(ORT_FAIL, "Processor id must consist of only digits: ", id);
      if (integer_in(id).value_or(0) < 1)
        refuse(ORT_FAIL, "Processor id must start from 1, got: ", id);
    }
  }
}

void check_minimal_build(std::string_view value) {
  constexpr const char* kKey = "optimization.minimal_build_optimizations";
  if (value.empty() || value == "apply") return;
  if (value != "save") refuse(ORT_INVALID_ARGUMENT, "Invalid value for ", kKey, ": ", value);
  refuse(ORT_INVALID_ARGUMENT, kKey,
         " value of 'save' is only valid when saving an ORT format model.");
}

void check_fallback(const OrtSessionOptions& options) {
  if (config_value(options.config, "session.disable_cpu_ep_fallback") != "1") return;
  if (options.appends_cpu) {
    refuse(
        ORT_INVALID_ARGUMENT,
        "Conflicting session configuration: explicitly added the CPU EP to the session, but also "
        "disabled fallback to the CPU EP via session configuration options.");
  }
  refuse(ORT_FAIL,
         "This session contains graph nodes that are assigned to the default CPU EP, but "
         "fallback to CPU EP has been explicitly disabled by the user.");
}

void check_shrinkage(std::string_view devices) {
  for (const std::string_view device : parts_of(devices, ';')) {
    if (device == "cpu:0") continue;
    if (device.starts_with("gpu:")) {
      refuse(ORT_INVALID_ARGUMENT,
             "Did not find an arena based allocator registered for device-id  "
             "combination in the memory arena shrink list: ",
             device);
    }
    refuse(ORT_INVALID_ARGUMENT,
           "Unsupported device specified in the memory arena shrink list: ", device);
  }
}

}  // namespace

void check_session_options(const OrtSessionOptions& options) {
  if (options.log_severity < -1 || options.log_severity > ORT_LOGGING_LEVEL_FATAL) {
    refuse(ORT_FAIL, "Invalid session log severity level. Not a valid ",
           "onnxruntime::logging::Severity value: ", options.log_severity);
  }
  if (options.config.entries.empty()) return;
  check_affinities(config_value(options.config, "session.intra_op_thread_affinities"));
  check_minimal_build(config_value(options.config, "optimization.minimal_build_optimizations"));
  check_fallback(options);
  for (const char* key : {"session.dynamic_block_base", "session.graph_optimizations_loop_level"}) {
    const std::string_view value = config_value(options.config, key);
    if (!value.empty() && !integer_in(value))
      refuse(ORT_RUNTIME_EXCEPTION, key, ": ", value, " is no integer (stoi)");
  }
}

void check_run_options(const OrtRunOptions& options) {
  if (options.config.entries.empty()) return;
  check_shrinkage(config_value(options.config, "memory.enable_memory_arena_shrinkage"));
  const std::string_view graph = config_value(options.config, "gpu_graph_id");
  if (!graph.empty() && !integer_in(graph))
    refuse(ORT_INVALID_ARGUMENT, "Failed to parse the cuda graph annotation id: ", graph);
}

}  // namespace sardonyx::ort_abi
