#include "onnx_io/upgrade/upgrade.h"

#include "ir/core/error.h"

namespace sardonyx {

const Val& RawCall::input(size_t index) const {
  if (!has_input(index)) {
    fail(ErrorCode::kInvalidModel, op, " of version ", version, ": input ", index,
         " is required and was left out");
  }
  return inputs[index];
}

void RawCall::set_input(size_t index, Val val) {
  if (inputs.size() <= index) inputs.resize(index + 1);
  inputs[index] = std::move(val);
}

void fail_attribute_kind(const RawCall& call, std::string_view name, const AttrValue& value) {
  fail(ErrorCode::kInvalidModel, "attribute ", name, " of ", call.op, " has the wrong kind ",
       kind_name(value));
}

std::optional<Vals> upgrade(RawCall& call) {
  // A rule may rename the call, so the search starts again after each.
  for (;;) {
    const UpgradeRule* next = nullptr;
    for (const UpgradeRule& rule : upgrade_rules()) {
      const bool fits =
          rule.op == call.op && rule.domain == call.domain && call.version < rule.below;
      if (fits && (!next || rule.below < next->below)) next = &rule;
    }
    if (!next) return std::nullopt;
    const std::string op = call.op;
    if (std::optional<Vals> results = next->upgrade(call)) return results;
    if (call.op == op) call.version = next->below;
  }
}

}  // namespace sardonyx
