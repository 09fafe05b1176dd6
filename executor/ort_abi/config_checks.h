// Config entries and options that ONNX Runtime refuses once they are used.
#pragma once

#include "executor/ort_abi/run_options.h"
#include "executor/ort_abi/session_options.h"

namespace sardonyx::ort_abi {

// Throw where a session can't be made, or a model can't be run, with what they say.
void check_session_options(const OrtSessionOptions& options);
void check_run_options(const OrtRunOptions& options);

}  // namespace sardonyx::ort_abi
