// What each function of eager/op does, in a sentence with its shapes.
#pragma once

#include <span>
#include <string_view>

namespace sardonyx::tool {

struct OpSummary {
  std::string_view op;  // full_name() of the row
  std::string_view sentence;
};

// Empty where there is none for the op.
std::string_view summary_of(std::string_view op);
// Those of ai.onnx.ml, ai.onnx.preview.training and com.microsoft.
std::span<const OpSummary> contrib_summaries();

}  // namespace sardonyx::tool
