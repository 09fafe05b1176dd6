#include "onnx_io/export/downgrade.h"

#include <algorithm>

#include "ir/core/error.h"
#include "onnx_io/export/older_forms.h"
#include "onnx_io/load.h"
#include "onnx_io/op_versions.h"

namespace sardonyx::onnx_export {
namespace {

using Ints = std::vector<int64_t>;

// Negative axes count from the back since opset 11. Where the rank is not known they stay: readers
// of older files take them all the same.
void count_axes_from_front(WrittenCall& call) {
  if (call.op == "OneHot" || call.op == "LpNormalization" || call.inputs.empty()) return;
  const bool adds_axes = call.op == "Unsqueeze";
  const Value* ranked = adds_axes ? call.outputs[0] : call.inputs[0];
  if (!ranked || !ranked->type.has_rank()) return;
  const auto from_front = [rank = static_cast<int64_t>(ranked->type.rank())](int64_t axis) {
    return axis < 0 ? axis + rank : axis;
  };
  if (const auto axis = call.attrs.find("axis"); axis != call.attrs.end()) {
    if (int64_t* value = std::get_if<int64_t>(&axis->second)) *value = from_front(*value);
  }
  if (const auto axes = call.attrs.find("axes"); axes != call.attrs.end()) {
    if (Ints* values = std::get_if<Ints>(&axes->second))
      std::ranges::transform(*values, values->begin(), from_front);
  }
}

}  // namespace

std::string downgrade(WrittenCall& call, int64_t opset) {
  const std::string op = call.op;
  for (const DowngradeRule& rule : downgrade_rules()) {
    if (rule.op != op || opset >= rule.since) continue;
    if (std::string why = rule.downgrade(call, opset); !why.empty()) return why;
  }
  if (opset < 11) count_axes_from_front(call);
  const std::optional<OpVersions> versions = versions_of("", call.op);
  const OpVersion version = versions ? version_in(*versions, opset) : OpVersion();
  if (version.since == 0) {
    return text(call.op, " came with opset ", versions ? versions->since.front() : 0);
  }
  if (version.removed) return text(call.op, " was removed");
  const OlderForm* form = older_form(call.op, version.since);
  return form ? mismatch(call, *form) : "";
}

WrittenCall newest_call(const Node& node) {
  const auto formal = static_cast<int64_t>(node.formal_inputs());
  return {.op = std::string(node.op->name),
          .attrs = node.attrs.to_map(),
          .inputs = {node.inputs.begin(), node.inputs.begin() + formal},
          .outputs = {node.outputs.begin(), node.outputs.end()},
          .made = {}};
}

std::string why_unsupported(const Node& node, int64_t opset) {
  if (!node.op->domain.empty() || opset >= kNewestOpset) return "";
  WrittenCall call = newest_call(node);
  return downgrade(call, opset);
}

int64_t first_opset_with(const Node& node, int64_t opset) {
  while (opset <= kNewestOpset && !why_unsupported(node, opset).empty())
    ++opset;
  return opset <= kNewestOpset ? opset : 0;
}

}  // namespace sardonyx::onnx_export
