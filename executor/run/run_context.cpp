// The contexts of segments, which are kept from one run to the next.
#include <algorithm>
#include <functional>

#include "executor/run/executable.h"
#include "ir/core/unique_ownership.h"

namespace sardonyx {

std::unique_ptr<PlanSegment::RunContext> PlanSegment::borrow_context() {
  {
    const std::lock_guard lock(mutex);
    if (!idle_contexts.empty()) {
      auto context = std::move(idle_contexts.back());
      idle_contexts.pop_back();
      return context;
    }
  }
  auto context = std::make_unique<RunContext>();
  context->pointers = pointers;
  context->buffers.resize(allocations.size());
  size_t values = 0;
  for (const Allocation& allocation : allocations)
    values += allocation.values.size();
  context->values.resize(values);
  context->aliases.resize(all_aliases);
  context->results.resize(results);
  context->memory.resize(memories);
  return context;
}

namespace {

// Drops the buffers that somebody else holds now (outputs that left the graph, or memory bound to
// them) and gives large ones back to the pool: idle contexts, of which there may be many, do not
// keep them.
void drop_large(const PlanSegment& segment, PlanSegment::RunContext& context, BufferPool& buffers) {
  constexpr size_t kLargestKept = 64 << 10;
  Datum* values = context.values.data();
  for (size_t i = 0; i < segment.allocations.size(); ++i) {
    const Allocation& allocation = segment.allocations[i];
    const std::span<Datum> made(values, allocation.values.size());
    values += made.size();
    const bool is_own = has_only_owners(context.buffers[i], made.size() + 1);
    if (allocation.bytes <= kLargestKept && is_own) continue;
    for (Datum& value : made)
      value.clear();
    buffers.give_back(std::move(context.buffers[i]));
    context.buffers[i] = nullptr;
  }
}

}  // namespace

void PlanSegment::return_context(std::unique_ptr<RunContext> context) {
  const std::lock_guard lock(mutex);
  idle_contexts.push_back(std::move(context));
}

void RunState::refer(ValueId id, const Datum* datum) {
  values[id] = datum;
  touched.push_back(id);
}

Datum* RunState::slot_of(const Datum* datum) const {
  const std::less<> before;
  for (const auto& [segment, context] : contexts) {
    Datum* first = context->results.data();
    if (!before(datum, first) && before(datum, first + context->results.size()))
      return first + (datum - first);
  }
  return nullptr;
}

void RunState::clear(BufferPool& buffers) {
  for (const ValueId id : touched)
    values[id] = nullptr;
  touched.clear();
  outputs = {};
  // Kinds of values are cleared one after the other over all contexts: they hold parts of each
  // other, and a buffer is reused only if nobody else holds it.
  for (auto& [segment, context] : contexts) {
    for (Datum& alias : context->aliases)
      alias.clear();
  }
  for (auto& [segment, context] : contexts) {
    for (Datum& result : context->results)
      recycle(result, buffers);
  }
  for (auto& [segment, context] : contexts) {
    drop_large(*segment, *context, buffers);
    segment->return_context(std::move(context));
  }
  contexts.clear();
}

}  // namespace sardonyx
