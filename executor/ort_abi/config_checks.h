// Config entries and options that ONNX Runtime refuses once they are used.
#pragma once

#include "executor/ort_abi/run_options.h"
#include "executor/ort_abi/session_options.h"

namespace sardonyx::ort_abi {

// Throw where a session can't be made, or a model can't be run, with what they say. `threads`: of
// the session's own pool, the caller's among them; 1 where it has none.
void check_session_options(const OrtSessionOptions& options, int threads);
void check_run_options(const OrtRunOptions& options);

}  // namespace sardonyx::ort_abi
