// What a run of a segment works with, from one run to the next.
#include <algorithm>
#include <functional>

#include "executor/run/executable.h"
#include "ir/core/unique_ownership.h"

namespace sardonyx {

std::unique_ptr<PlanSegment::RunContext> PlanSegment::borrow_frame() {
  {
    const std::lock_guard lock(mutex);
    if (!idle_frames.empty()) {
      auto frame = std::move(idle_frames.back());
      idle_frames.pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<RunContext>();
  frame->pointers = pointers;
  frame->buffers.resize(allocations.size());
  size_t values = 0;
  for (const Allocation& allocation : allocations)
    values += allocation.values.size();
  frame->values.resize(values);
  frame->aliases.resize(all_aliases);
  frame->results.resize(results);
  frame->memory.resize(memories);
  return frame;
}

namespace {

// What left the graph belongs to those who hold it now, as what was laid into an output's memory
// does, and large buffers are not kept by idle frames, of which there may be many.
void drop_large(const PlanSegment& segment, PlanSegment::RunContext& frame, BufferPool& buffers) {
  constexpr size_t kLargestKept = 64 << 10;
  Datum* values = frame.values.data();
  for (size_t i = 0; i < segment.allocations.size(); ++i) {
    const Allocation& allocation = segment.allocations[i];
    const std::span<Datum> made(values, allocation.values.size());
    values += made.size();
    const bool is_own = has_only_owners(frame.buffers[i], made.size() + 1);
    if (allocation.bytes <= kLargestKept && is_own) continue;
    for (Datum& value : made)
      value.clear();
    buffers.give_back(std::move(frame.buffers[i]));
    frame.buffers[i] = nullptr;
  }
}

}  // namespace

void PlanSegment::return_frame(std::unique_ptr<RunContext> frame) {
  const std::lock_guard lock(mutex);
  idle_frames.push_back(std::move(frame));
}

void RunState::refer(ValueId id, const Datum* datum) {
  values[id] = datum;
  touched.push_back(id);
}

Datum* RunState::slot_of(const Datum* datum) const {
  const std::less<> before;
  for (const auto& [segment, frame] : frames) {
    Datum* first = frame->results.data();
    if (!before(datum, first) && before(datum, first + frame->results.size()))
      return first + (datum - first);
  }
  return nullptr;
}

void RunState::clear(BufferPool& buffers) {
  for (const ValueId id : touched)
    values[id] = nullptr;
  touched.clear();
  outputs = {};
  // One kind after the other: what nobody else holds is kept, and they hold parts of each other.
  for (auto& [segment, frame] : frames) {
    for (Datum& alias : frame->aliases)
      alias.clear();
  }
  for (auto& [segment, frame] : frames) {
    for (Datum& result : frame->results)
      recycle(result, buffers);
  }
  for (auto& [segment, frame] : frames) {
    drop_large(*segment, *frame, buffers);
    segment->return_frame(std::move(frame));
  }
  frames.clear();
}

}  // namespace sardonyx
