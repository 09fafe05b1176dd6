#include "executor/planned_op.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/weights_slots.h"

namespace sardonyx {
namespace {

// All their kernels but those that bring constants into a layout.
constexpr std::pair<std::string_view, std::string_view> kConstantsAsTheyLie[] = {
    {"", "Add"},
    {"", "Div"},
    {"", "LayerNormalization"},
    {"", "Mul"},
    {"", "RMSNormalization"},
    {"", "Sub"},
    {"com.microsoft", "SkipLayerNormalization"},
    {"sardonyx", "ElementwiseGroup"},
    {"sardonyx", "FusedAttention"},
};

bool is_standard(const OpDef& op, std::string_view name) {
  return op.domain.empty() && op.name == name;
}

}  // namespace

PlannedOp::PlannedOp(const OpDef& op, std::span<const Provider* const> providers)
    : op_(op),
      reads_constants_(std::ranges::count(kConstantsAsTheyLie, std::pair(op.domain, op.name)) == 0),
      is_gather_(is_standard(op, "Gather")),
      is_concat_(is_standard(op, "Concat")),
      may_give_parts_(is_gather_ || is_standard(op, "Slice") || is_standard(op, "Split")),
      weights_slots_(weights_slots(op.domain, op.name)) {
  const std::string name = full_name(op);
  for (const Provider* provider : providers) {
    std::vector<KernelEntry>& own = entries_.emplace_back();
    std::ranges::copy_if(provider->kernels, std::back_inserter(own),
                         [&](const KernelEntry& entry) { return entry.op == name; });
    providers_.push_back(*provider);
  }
  for (size_t i = 0; i < providers_.size(); ++i) {
    providers_[i].kernels = entries_[i];
    pointers_.push_back(&providers_[i]);
  }
}

}  // namespace sardonyx
