#include "executor/ort_abi/run_options.h"

#include "executor/ort_abi/config_entries.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {

OrtStatus* Functions::CreateRunOptions(OrtRunOptions** out) {
  return guarded([&] { make_at(out, "out"); });
}

void Functions::ReleaseRunOptions(OrtRunOptions* input) {
  delete input;
}

OrtStatus* Functions::RunOptionsSetRunLogVerbosityLevel(OrtRunOptions* options,
                                                        int log_verbosity_level) {
  return guarded([&] { require(options, "options").log_verbosity = log_verbosity_level; });
}
OrtStatus* Functions::RunOptionsSetRunLogSeverityLevel(OrtRunOptions* options,
                                                       int log_severity_level) {
  return guarded([&] { require(options, "options").log_severity = log_severity_level; });
}
OrtStatus* Functions::RunOptionsSetRunTag(OrtRunOptions* options, const char* run_tag) {
  return guarded([&] { require(options, "options").tag = run_tag ? run_tag : ""; });
}
OrtStatus* Functions::RunOptionsGetRunLogVerbosityLevel(const OrtRunOptions* options,
                                                        int* log_verbosity_level) {
  return guarded(
      [&] { require(log_verbosity_level, "out") = require(options, "options").log_verbosity; });
}
OrtStatus* Functions::RunOptionsGetRunLogSeverityLevel(const OrtRunOptions* options,
                                                       int* log_severity_level) {
  return guarded(
      [&] { require(log_severity_level, "out") = require(options, "options").log_severity; });
}
OrtStatus* Functions::RunOptionsGetRunTag(const OrtRunOptions* options, const char** run_tag) {
  return guarded([&] {
    const char*& place = require_place(run_tag, "run_tag");
    place = require(options, "options").tag.c_str();
  });
}

OrtStatus* Functions::RunOptionsSetTerminate(OrtRunOptions* options) {
  return guarded([&] { require(options, "options").termination.request(); });
}
OrtStatus* Functions::RunOptionsUnsetTerminate(OrtRunOptions* options) {
  return guarded([&] { require(options, "options").termination.reset(); });
}

OrtStatus* Functions::AddRunConfigEntry(OrtRunOptions* options, const char* config_key,
                                        const char* config_value) {
  return guarded(
      [&] { add_config_entry(require(options, "options").config, config_key, config_value); });
}
const char* Functions::GetRunConfigEntry(const OrtRunOptions* options, const char* config_key) {
  return options ? GetKeyValue(&options->config, config_key) : nullptr;
}

OrtStatus* Functions::RunOptionsEnableProfiling(OrtRunOptions* options,
                                                const char* profile_file_prefix) {
  return guarded([&] {
    require(options, "options").profile_prefix =
        &require(profile_file_prefix, "profile_file_prefix");
  });
}
OrtStatus* Functions::RunOptionsDisableProfiling(OrtRunOptions* options) {
  return guarded([&] { require(options, "options").profile_prefix.reset(); });
}

}  // namespace sardonyx::ort_abi
