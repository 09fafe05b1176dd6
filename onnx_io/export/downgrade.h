// Newest forms of operators, written as an older opset has them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "onnx_io/export/written_call.h"

namespace sardonyx::onnx_export {

constexpr int64_t kOldestSavedOpset = 7;

// Rewrites the call as `opset` has it; what it can't say there is told in the result, "" is good.
using DowngradeFunction = std::string (*)(WrittenCall& call, int64_t opset);

struct DowngradeRule {
  std::string_view op;
  int since;  // the version whose form is taken back; for opsets before it
  DowngradeFunction downgrade;
};

// All rules; those of one op with falling `since`.
std::span<const DowngradeRule> downgrade_rules();

// Brings the call to the form of `opset`, or says why there is none. What it gives back as good has
// the inputs, types and attributes that the opset's version of the operator takes.
std::string downgrade(WrittenCall& call, int64_t opset);

// The node as the newest opset has it.
WrittenCall newest_call(const Node& node);
// Why the opset can't express the node itself (not the nodes of its subgraphs); "" where it can.
std::string why_unsupported(const Node& node, int64_t opset);
// The first opset from `opset` on that can express the node; 0 where none can.
int64_t first_opset_with(const Node& node, int64_t opset);

}  // namespace sardonyx::onnx_export
