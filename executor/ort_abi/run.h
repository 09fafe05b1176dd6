// One run of a session.
#pragma once

#include <span>

#include "executor/ort_abi/run_options.h"
#include "executor/ort_abi/session.h"

namespace sardonyx::ort_abi {

// By names, as the callers of Run and bindings give them. An output is NULL, or absent: then it is
// made; else the run writes into its memory.
struct RunRequest {
  std::span<const char* const> input_names;
  std::span<const OrtValue* const> inputs;
  std::span<const char* const> output_names;
  std::span<OrtValue*> outputs;
};

void run_session(OrtSession& session, const OrtRunOptions* options, const RunRequest& request);

}  // namespace sardonyx::ort_abi
