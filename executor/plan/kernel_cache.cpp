#include "executor/plan/kernel_cache.h"

namespace sardonyx {

PreparedStep::PreparedStep(Prepared prepared, std::vector<StepValue> inputs,
                           std::vector<StepValue> outputs)
    : kernel(std::move(prepared.kernel)),
      implementation(std::move(prepared.implementation)),
      inputs(std::move(inputs)),
      outputs(std::move(outputs)),
      input_layouts(std::move(prepared.input_layouts)),
      output_layouts(std::move(prepared.output_layouts)),
      unread_inputs(prepared.unread_inputs) {}

std::shared_ptr<const PreparedStep> KernelCache::find(const CacheKey& key) const {
  const auto at = steps_.find(key);
  return at == steps_.end() ? nullptr : at->second.lock();
}

std::shared_ptr<const PreparedStep> KernelCache::remember(const CacheKey& key, PreparedStep step,
                                                          HeldByKey held) {
  if (steps_.size() >= next_sweep_) {
    std::erase_if(steps_, [](const auto& entry) { return entry.second.expired(); });
    next_sweep_ = 2 * steps_.size() + kFirstSweep;
  }
  const auto entry = std::make_shared<const Entry>(Entry{std::move(step), std::move(held)});
  const std::shared_ptr<const PreparedStep> made(entry, &entry->step);
  steps_.insert_or_assign(key, made);
  return made;
}

}  // namespace sardonyx
