// Allocation of the values that outlive their segment: in the memory of an output, or in a buffer
// of their own.
#include <algorithm>

#include "executor/run/executable.h"
#include "ir/core/unique_ownership.h"

namespace sardonyx {

void Executable::allocate(const PlanSegment& segment, PlanSegment::RunContext& context,
                          RunState& state) {
  Datum* values = context.values.data();
  for (size_t i = 0; i < segment.allocations.size(); ++i) {
    const Allocation& allocation = segment.allocations[i];
    const std::span<Datum> made(values, allocation.values.size());
    values += made.size();
    const Datum* output = output_for(allocation, state);
    if (output) {
      context.buffers[i].reset();
      place_in_output(output->tensor(), allocation, made);
    } else {
      allocate_or_reuse(allocation, context.buffers[i], made);
    }
    auto* data =
        static_cast<std::byte*>(output ? output->tensor().raw() : context.buffers[i]->data());
    for (size_t k = 0; k < made.size(); ++k)
      state.refer(allocation.values[k].value, made[k].is_tensor() ? &made[k] : output);
    for (const auto& [pointer, offset] : allocation.pointers)
      context.pointers[pointer] = data + offset;
  }
}

// The memory of an output that can hold the whole allocation: the output's value fills it, and its
// memory may be written. Null if there is none.
const Datum* Executable::output_for(const Allocation& allocation, const RunState& state) const {
  if (state.outputs.empty()) return nullptr;
  for (const Allocation::Held& held : allocation.values) {
    if (held.output_index < 0 || held.offset != 0) continue;
    RunOutput& output = state.outputs[static_cast<size_t>(held.output_index)];
    const Tensor* memory = output.writable(held.dtype, held.shape);
    const bool fits =
        memory && memory->bytes() == allocation.bytes && may_be_written(*memory, allocation, state);
    if (!fits) continue;
    output.show_written(*memory);
    return &output.shown();
  }
  return nullptr;
}

// Whether no input overlaps `memory`, or only one that the allocation may be computed over in
// place.
bool Executable::may_be_written(const Tensor& memory, const Allocation& allocation,
                                const RunState& state) const {
  size_t made_over = 0;
  for (const ValueId input : graph_.inputs()) {
    const Datum* datum = state.values[input];
    if (!datum || !overlaps(*datum, memory)) continue;
    const bool is_in_place =
        datum->is_tensor() && memory.raw() == datum->tensor().raw() &&
        std::ranges::find(allocation.in_place, input) != allocation.in_place.end();
    if (!is_in_place || ++made_over > 1) return false;
  }
  return true;
}

// Makes the values of an allocation views of an output's memory. A value that is that output itself
// is left empty.
void Executable::place_in_output(const Tensor& memory, const Allocation& allocation,
                                 std::span<Datum> made) {
  for (size_t k = 0; k < made.size(); ++k) {
    const Allocation::Held& held = allocation.values[k];
    if (held.offset == 0 && held.shape == memory.shape() && held.dtype == memory.dtype()) {
      made[k].clear();
      continue;
    }
    made[k].as_tensor().assign(held.dtype, held.shape, memory.buffer(),
                               memory.byte_offset() + held.offset);
  }
}

// Allocates a buffer for the values, or reuses that of the last run where nobody outside holds it.
void Executable::allocate_or_reuse(const Allocation& allocation, std::shared_ptr<Buffer>& buffer,
                                   std::span<Datum> made) const {
  if (buffer && has_only_owners(buffer, made.size() + 1)) return;
  for (Datum& value : made)
    value.clear();
  buffer = allocated(allocation);
  for (size_t k = 0; k < made.size(); ++k) {
    const Allocation::Held& held = allocation.values[k];
    made[k].as_tensor().assign(held.dtype, held.shape, buffer, held.offset);
  }
}

std::shared_ptr<Buffer> Executable::allocated(const Allocation& allocation) const {
  try {
    return allocation.strings >= 0 ? Buffer::allocate_strings(allocation.strings)
                                   : session_state_.buffers().take(allocation.bytes);
  } catch (const Error& error) {
    const auto& values = allocation.values;
    if (values.empty()) throw;
    throw error.with_context(label(values.front().value));
  }
}

}  // namespace sardonyx
