// Newest forms of operators, written as an older opset has them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attributes.h"
#include "ir/graph.h"

namespace sardonyx::onnx_export {

constexpr int64_t kOldestSavedOpset = 7;

// One node of ai.onnx on its way into a file.
struct WrittenCall {
  std::string op;
  AttrMap attrs;
  std::vector<const Value*> inputs;  // formal ones; null for an omitted one
  size_t outputs = 1;
};

// Rewrites the call as `opset` has it; what it can't say there is told in the result, "" is good.
using DowngradeFunction = std::string (*)(WrittenCall& call, int64_t opset);

struct DowngradeRule {
  std::string_view op;
  int since;  // the version whose form is taken back; for opsets before it
  DowngradeFunction downgrade;
};

// All rules; those of one op with falling `since`.
std::span<const DowngradeRule> downgrade_rules();

// Brings the call to the form of `opset`, or says why there is none.
std::string downgrade(WrittenCall& call, int64_t opset);

}  // namespace sardonyx::onnx_export
