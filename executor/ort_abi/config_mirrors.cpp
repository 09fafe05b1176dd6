#include "executor/ort_abi/config_mirrors.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {
namespace {

constexpr std::string_view kMember = "AddSessionConfigEntry: ";

// An entry as it was given.
struct Mirrored {
  std::string_view key, value;
};

bool is_word(std::string_view text, std::string_view lower) {
  return std::ranges::equal(
      text, lower, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

bool flag_in(const Mirrored& entry) {
  if (entry.value == "1" || is_word(entry.value, "true")) return true;
  if (entry.value == "0" || is_word(entry.value, "false")) return false;
  refuse(ORT_INVALID_ARGUMENT, kMember, "value for '", entry.key,
         "' must be a boolean ('0'/'1' or 'true'/'false'); got '", entry.value, "'");
}

// Blanks and a plus sign may be before it.
int number_in(const Mirrored& entry) {
  std::string_view digits = entry.value;
  if (digits.empty()) {
    refuse(ORT_INVALID_ARGUMENT, kMember, "value for '", entry.key,
           "' must be an integer; got empty string");
  }
  digits.remove_prefix(std::min(digits.find_first_not_of(" \t\n\v\f\r"), digits.size()));
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  int number = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end) return number;
  refuse(ORT_INVALID_ARGUMENT, kMember, "value for '", entry.key,
         "' must be a base-10 int32; got '", entry.value, "'");
}

void set_level(OrtSessionOptions& options, const Mirrored& entry) {
  constexpr std::pair<std::string_view, GraphOptimizationLevel> kLevels[] = {
      {"disable_all", ORT_DISABLE_ALL},
      {"enable_basic", ORT_ENABLE_BASIC},
      {"enable_extended", ORT_ENABLE_EXTENDED},
      {"enable_layout", ORT_ENABLE_LAYOUT},
      {"enable_all", ORT_ENABLE_ALL}};
  for (const auto& [name, level] : kLevels) {
    if (!is_word(entry.value, name)) continue;
    options.optimization_level = level;
    return;
  }
  refuse(ORT_INVALID_ARGUMENT, kMember,
         "value for 'graph_optimization_level' must be one of "
         "disable_all/enable_basic/enable_extended/enable_layout/enable_all; got '",
         entry.value, "'");
}

void set_execution_mode(OrtSessionOptions& options, const Mirrored& entry) {
  const bool is_parallel = is_word(entry.value, "parallel");
  if (!is_parallel && !is_word(entry.value, "sequential")) {
    refuse(ORT_INVALID_ARGUMENT, kMember,
           "value for 'execution_mode' must be 'sequential' or 'parallel'; got '", entry.value,
           "'");
  }
  options.execution_mode = is_parallel ? ORT_PARALLEL : ORT_SEQUENTIAL;
}

void set_own_threads(OrtSessionOptions& options, const Mirrored& entry) {
  const bool has_own = flag_in(entry);
  if (has_own && !options.has_own_threads) {
    refuse(ORT_INVALID_ARGUMENT, kMember,
           "cannot set 'use_per_session_threads' back to true after it was disabled");
  }
  options.has_own_threads = has_own;
}

// The value is where the profile goes; none: there is no profile.
void set_profiling(OrtSessionOptions& options, const Mirrored& entry) {
  options.profile_prefix.reset();
  if (!entry.value.empty()) options.profile_prefix = entry.value;
}

template <auto Member>
void set_flag(OrtSessionOptions& options, const Mirrored& entry) {
  options.*Member = flag_in(entry);
}
template <auto Member>
void set_number(OrtSessionOptions& options, const Mirrored& entry) {
  options.*Member = number_in(entry);
}
template <auto Member>
void set_text_option(OrtSessionOptions& options, const Mirrored& entry) {
  options.*Member = entry.value;
}

using Setter = void (*)(OrtSessionOptions&, const Mirrored&);
constexpr std::pair<std::string_view, Setter> kMirrors[] = {
    {"session.graph_optimization_level", set_level},
    {"session.execution_mode", set_execution_mode},
    {"session.enable_profiling", set_profiling},
    {"session.enable_mem_pattern", set_flag<&OrtSessionOptions::uses_memory_pattern>},
    {"session.enable_cpu_mem_arena", set_flag<&OrtSessionOptions::uses_arena>},
    {"session.use_deterministic_compute", set_flag<&OrtSessionOptions::is_deterministic>},
    {"session.use_per_session_threads", set_own_threads},
    {"session.intra_op_num_threads", set_number<&OrtSessionOptions::intra_op_threads>},
    {"session.inter_op_num_threads", set_number<&OrtSessionOptions::inter_op_threads>},
    {"session.log_severity_level", set_number<&OrtSessionOptions::log_severity>},
    {"session.log_verbosity_level", set_number<&OrtSessionOptions::log_verbosity>},
    {"session.log_id", set_text_option<&OrtSessionOptions::log_id>},
    {"session.optimized_model_filepath",
     set_text_option<&OrtSessionOptions::optimized_model_path>}};

}  // namespace

bool set_mirrored(OrtSessionOptions& options, std::string_view key, std::string_view value) {
  for (const auto& [name, set] : kMirrors) {
    if (name != key) continue;
    set(options, {key, value});
    return true;
  }
  return false;
}

}  // namespace sardonyx::ort_abi
