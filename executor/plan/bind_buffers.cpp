// The last part of planning: offsets in the arena, and the buffer behind each pointer of a step.
#include <algorithm>

#include "executor/plan/buffer_assigner.h"
#include "ir/core/memory/guard_pages.h"

namespace sardonyx {
namespace {

using Kind = PlannedBuffer::Kind;

bool is_part(const PlannedBuffer& buffer) {
  return buffer.parent.buffer != BufferOffset::kNoBuffer;
}

void lay_out_arena(PlanSegment& segment, BufferAssigner& buffers) {
  std::vector<const PlannedBuffer*> placed;
  std::vector<MemoryItem>& items = segment.memory;
  for (PlannedBuffer& buffer : buffers.all()) {
    if (is_part(buffer)) continue;
    if (buffer.has_strings && buffer.kind == Kind::kArena) buffer.kind = Kind::kAllocated;
    if (buffer.kind != Kind::kArena) continue;
    items.push_back({buffer.owner, buffer.bytes, buffer.first_step, buffer.last_step});
    placed.push_back(&buffer);
  }
  for (size_t step = 0; step < segment.steps.size(); ++step) {
    const Kernel* kernel = segment.steps[step].kernel;
    const size_t scratch = kernel ? kernel->scratch_bytes() : 0;
    if (scratch > 0) items.push_back({kNoValue, scratch, step, step});
  }
  segment.live_peak_bytes = peak_live_bytes(items);
  const size_t gap = guard_gap();
  if (!items.empty())
    segment.arena_bytes = gap > 0 ? place_items_apart(items, gap) : assign_offsets(items);
  for (size_t i = 0; i < placed.size(); ++i) {
    for (const PointerAt& at : placed[i]->pointers)
      segment.arena_pointers.push_back({at.pointer, items[i].offset + at.offset});
  }
  for (size_t i = placed.size(); i < items.size(); ++i) {
    const Step& step = segment.steps[items[i].first_step];
    segment.arena_pointers.push_back(
        {step.first_pointer + step.input_count + step.output_count, items[i].offset});
  }
}

// Whether `buffer` may be bound to the memory of `pair.input`, from which `pair.output` is
// computed. Nothing may be written there before the last node that reads the input has run, so all
// else in `buffer` must be computed after it. The output itself may be written by that node.
bool may_overwrite(BufferAssigner& buffers, const PlannedBuffer& buffer, const InPlacePair& pair) {
  const bool fills = std::ranges::any_of(buffer.live_ranges, [&](const LiveRange& live) {
    return live.value == pair.output && live.offset == 0 && live.bytes == buffer.bytes;
  });
  const PlannedBuffer& input = buffers[buffers.made_at(pair.input).buffer];
  if (!fills || input.is_shared) return false;
  size_t last_read = 0;
  for (const LiveRange& live : input.live_ranges)
    last_read = std::max(last_read, live.last_use);
  return std::ranges::all_of(buffer.live_ranges, [&](const LiveRange& live) {
    return live.value == pair.output || live.offset >= input.bytes ||
           live.written_at == LiveRange::kNotWritten || live.written_at > last_read;
  });
}

Allocation allocation_of(const PlanContext& context, BufferAssigner& buffers,
                         const PlannedBuffer& buffer) {
  Allocation allocation;
  allocation.bytes = buffer.bytes;
  allocation.pointers.assign(buffer.pointers.begin(), buffer.pointers.end());
  for (const LiveRange& live : buffer.whole) {
    const ValueState& known = context.known[live.value];
    allocation.values.push_back({live.value, known.type().dtype, *known.shape(),
                                 context.graph.output_index(live.value), live.offset});
  }
  for (const InPlacePair& pair : buffers.in_place()) {
    if (may_overwrite(buffers, buffer, pair)) allocation.in_place.push_back(pair.input);
  }
  if (buffer.has_strings) allocation.strings = element_count(*context.known[buffer.owner].shape());
  return allocation;
}

void bind_constant(PlanSegment& segment, const PlannedBuffer& buffer) {
  auto* begin = buffer.outside ? const_cast<std::byte*>(buffer.outside)
                               : static_cast<std::byte*>(buffer.constant->raw());
  for (const PointerAt& at : buffer.pointers)
    segment.pointers[at.pointer] = begin + at.offset;
  segment.held.push_back(buffer.constant->buffer());
}

void bind_step_output(PlanSegment& segment, const PlannedBuffer& buffer) {
  Step& step = segment.steps[buffer.owner_step];
  const auto output =
      static_cast<uint32_t>(std::ranges::find(step.outputs, buffer.owner) - step.outputs.begin());
  for (const PointerAt& at : buffer.pointers)
    step.rebinds.push_back({at, output});
}

}  // namespace

void bind_buffers(PlanContext& context, BufferAssigner& buffers) {
  PlanSegment& segment = *context.segment;
  lay_out_arena(segment, buffers);
  for (const PlannedBuffer& buffer : buffers.all()) {
    if (is_part(buffer)) continue;
    switch (buffer.kind) {
      case Kind::kArena:
        break;  // has its pointers
      case Kind::kConstant:
        bind_constant(segment, buffer);
        break;
      case Kind::kLiveIn:
        for (const PointerAt& at : buffer.pointers)
          segment.entry_pointers.push_back({at, buffer.owner});
        break;
      case Kind::kStepOutput:
        bind_step_output(segment, buffer);
        break;
      case Kind::kAllocated:
        segment.allocations.push_back(allocation_of(context, buffers, buffer));
        break;
    }
  }
}

}  // namespace sardonyx
