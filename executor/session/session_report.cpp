// The reports of a session: plans, memory, statistics.
#include "executor/session/session_impl.h"

namespace sardonyx {

MemoryPlan Session::memory_plan(std::span<const Datum> inputs, const RunOptions& options) const {
  MemoryPlan plan;
  const auto add = [&](const Executable& executable, const PlanSegment& segment) {
    plan.arena_bytes = std::max(plan.arena_bytes, segment.arena_bytes);
    plan.live_peak_bytes = std::max(plan.live_peak_bytes, segment.live_peak_bytes);
    for (const MemoryItem& item : segment.memory) {
      const bool is_scratch = item.value == kNoValue;
      plan.items.push_back({is_scratch ? "" : executable.label(item.value), item.offset, item.bytes,
                            item.first_step, item.last_step});
    }
  };
  impl_->trace(DatumPointers(inputs), options,
               [&](const Executable& executable, const Executable::Trace& segments) {
                 for (const auto& segment : segments)
                   add(executable, *segment);
               });
  plan.weight_bytes = impl_->session_state.packs.bytes();
  return plan;
}

std::string Session::plan_text(std::span<const Datum> inputs) const {
  std::string out;
  impl_->trace(DatumPointers(inputs), {},
               [&](const Executable& executable, const Executable::Trace& segments) {
                 for (const auto& segment : segments) {
                   if (!out.empty()) out += "-- shapes that depend on data are known --\n";
                   for (const Step& step : segment->steps)
                     out += step_text(step, executable.values()) + "\n";
                 }
               });
  return out;
}

std::vector<NodeKernel> Session::kernels(std::span<const Datum> inputs) const {
  std::vector<NodeKernel> kernels;
  impl_->trace(DatumPointers(inputs), {},
               [&](const Executable& executable, const Executable::Trace& segments) {
                 for (const auto& segment : segments) {
                   for (const Step& step : segment->steps) {
                     kernels.push_back({step.node ? full_name(*step.node->op) : "reorder",
                                        label_of(step, executable.values()),
                                        std::string(step.implementation()),
                                        types_of(step),
                                        {}});
                     if (step.prepared) kernels.back().attempts = step.prepared->attempts;
                   }
                 }
               });
  return kernels;
}

Session::Stats Session::stats() const {
  // A thread that takes memory raises the peak a moment after.
  const size_t used = impl_->budget->used();
  return {impl_->plan_count(), used, std::max(used, impl_->budget->peak()),
          impl_->session_state.packs.bytes()};
}

}  // namespace sardonyx
