#include "executor/plan/op_traits.h"

#include <algorithm>
#include <iterator>

namespace sardonyx {
OpTraits::OpTraits(const OpDef& op, std::span<const Provider* const> providers) : op_(op) {
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
