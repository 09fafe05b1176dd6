#include "executor/ort_abi/config_checks.h"

#include <algorithm>
#include <charconv>
#include <limits>

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

// Numbers of processors from 1, "1,2;3-4": a group for each of the threads but the caller's, where
// there are any.
void check_affinities(std::string_view affinities, int threads) {
  if (threads < 2 || affinities.empty()) return;
  int groups = 0;
  for (const std::string_view group : parts_of(affinities, ';')) {
    groups += group.empty() ? 0 : 1;
    const bool is_range = group.find('-') != std::string_view::npos;
    for (const std::string_view id : parts_of(group, is_range ? '-' : ',')) {
      const bool is_number =
          std::ranges::all_of(id, [](char digit) { return digit >= '0' && digit <= '9'; });
      if (!is_number) refuse(ORT_FAIL, "Processor id must consist of only digits: ", id);
      if (integer_in(id).value_or(0) < 1)
        refuse(ORT_FAIL, "Processor id must start from 1, got: ", id);
    }
  }
  if (groups == threads - 1) return;
  refuse(ORT_FAIL,
         "Number of affinities does not equal to thread_pool_size minus one, affinities: ", groups,
         ", thread_pool_size: ", threads);
}

// Settings of fusions that are made here by rules of their own.
void check_fusion_settings(const OrtKeyValuePairs& config) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  struct Setting {
    const char* key;
    int64_t least, most;
  };
  for (const Setting& setting :
       {Setting{"session.qdq_matmulnbits_accuracy_level", 0, 4},
        Setting{"session.qdq_matmulnbits_block_size", kLeast, -(kLeast + 1)}}) {
    const auto at = config.entries.find(setting.key);
    if (at == config.entries.end()) continue;
    const std::optional<int64_t> value = integer_in(at->second);
    if (value && *value >= setting.least && *value <= setting.most) continue;
    refuse(ORT_FAIL, "Exception during initialization: ", setting.key, ": expected an integer",
           setting.least < 0 ? "" : " between 0 and 4", ", got \"", at->second, '"');
  }
}

// "device(pattern,...);...": on which device the layers go. All are the CPU's here.
void check_layer_assignment(std::string_view key, std::string_view value) {
  for (const std::string_view entry : parts_of(value, ';')) {
    const size_t open = entry.find('(');
    const auto refuse_entry = [&](const char* why) {
      refuse(ORT_INVALID_ARGUMENT, "Invalid layering config: ", why, " in entry: ", entry, " (",
             key, ')');
    };
    if (entry.empty()) continue;
    if (open == std::string_view::npos) refuse_entry("Missing '('");
    if (open == 0) refuse_entry("Empty device name");
    if (entry.find(')', open) == std::string_view::npos) refuse_entry("Missing ')'");
  }
}

// "name:[1,2];...": the largest shapes that inputs will have. Memory is planned for those that
// come.
void check_max_shapes(std::string_view value) {
  for (const std::string_view entry : parts_of(value, ';')) {
    const size_t colon = entry.find(':');
    const auto refuse_entry = [&](const char* why) {
      refuse(ORT_FAIL, "max_shape_override: ", why, " in entry '", entry, "'");
    };
    if (colon == std::string_view::npos) refuse_entry("missing ':'");
    if (colon == 0) refuse_entry("empty name");
    std::string_view shape = entry.substr(colon + 1);
    if (!shape.starts_with('[') || !shape.ends_with(']'))
      refuse_entry("shape must be enclosed in []");
    shape = shape.substr(1, shape.size() - 2);
    for (const std::string_view dim : parts_of(shape, ',')) {
      if (integer_in(dim).value_or(0) < 1) refuse_entry("dimensions must be positive integers");
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

void check_session_options(const OrtSessionOptions& options, int threads) {
  if (options.log_severity < -1 || options.log_severity > ORT_LOGGING_LEVEL_FATAL) {
    refuse(ORT_FAIL, "Invalid session log severity level. Not a valid ",
           "onnxruntime::logging::Severity value: ", options.log_severity);
  }
  if (options.config.entries.empty()) return;
  check_affinities(config_value(options.config, "session.intra_op_thread_affinities"), threads);
  check_fusion_settings(options.config);
  for (const char* key :
       {"session.layer_assignment_settings", "session.name_based_layer_assignment"})
    check_layer_assignment(key, config_value(options.config, key));
  check_max_shapes(config_value(options.config, "session.max_shape_override"));
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
