// What a profile says of a step, as ONNX Runtime's tools read it.
#pragma once

#include <string>
#include <string_view>

#include "executor/run_report.h"

namespace sardonyx::ort_abi {

std::string json_text(std::string_view value);
// The value of "args" of step `index` of a run.
std::string arguments_of(const NodeTiming& step, size_t index);

}  // namespace sardonyx::ort_abi
