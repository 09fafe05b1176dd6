#include "executor/plan/buffer_assigner.h"

#include <algorithm>

namespace sardonyx {

using Kind = PlannedBuffer::Kind;

const LayoutPtr& BufferAssigner::layout_of(ValueId value) const {
  static const auto& kPlain = *new LayoutPtr;
  return is_placed(value) ? placements(value).made.layout : kPlain;
}

BufferOffset BufferAssigner::made_at(ValueId value) const {
  return resolved(placements(value).made.at);
}

void BufferAssigner::place(ValueId value, LayoutPtr layout, BufferOffset at) {
  placements_of_[value] = static_cast<uint32_t>(placements_.size());
  placements_.push_back({{std::move(layout), at}, {}});
}

void BufferAssigner::place_copy(ValueId value, LayoutPtr layout, BufferOffset at) {
  placements(value).copies.push_back({std::move(layout), at});
}

std::optional<BufferOffset> BufferAssigner::find(ValueId value, const LayoutPtr& layout,
                                                 bool reads_anywhere) {
  if (!is_placed(value)) place_given(value, reads_anywhere);
  const Placements& placed = placements(value);
  const auto fits = [&](const Placement& one) { return same_layout(one.layout, layout); };
  const Placement* found = &placed.made;
  if (!fits(*found)) {
    const auto copy = std::ranges::find_if(placed.copies, fits);
    found = copy == placed.copies.end() ? nullptr : &*copy;
  }
  if (!found || !reads_anywhere)
    keep_in_memory(buffers_[resolved(found ? found->at : placed.made.at).buffer]);
  if (!found) return std::nullopt;
  return resolved(found->at);
}

// Places a constant, or a value from before the segment, in a buffer of its own.
void BufferAssigner::place_given(ValueId value, bool reads_anywhere) {
  const ValueState& known = context_.known[value];
  const size_t bytes = known.facts->plain_bytes();
  PlannedBuffer buffer;
  buffer.owner = value;
  buffer.kind = known.constant ? Kind::kConstant : Kind::kLiveIn;
  buffer.constant = known.constant;
  if (known.constant && context_.weight_uses && reads_anywhere)
    buffer.outside = address_outside(*known.constant);
  if (known.constant && !buffer.outside) keep_in_memory(buffer);
  buffer.bytes = bytes;
  const BufferOffset at{add(std::move(buffer)), 0};
  place(value, nullptr, at);
  add_view(at, value, bytes);
}

// A constant that some step reads unpacked stays resident.
void BufferAssigner::keep_in_memory(PlannedBuffer& buffer) {
  if (buffer.kind != Kind::kConstant) return;
  buffer.outside = nullptr;
  std::vector<bool>& is_read_unpacked = context_.caches.is_read_unpacked;
  if (is_read_unpacked[buffer.owner]) return;
  load_weight(*buffer.constant);
  if (!context_.weight_uses) return;  // nobody lets it go
  context_.session.weight_residency.keep(*buffer.constant);
  is_read_unpacked[buffer.owner] =
      buffer.constant == context_.graph.values()[buffer.owner]->constant;
}

size_t BufferAssigner::add(PlannedBuffer buffer) {
  buffers_.push_back(std::move(buffer));
  return buffers_.size() - 1;
}

size_t BufferAssigner::add_arena_buffer(ValueId owner, size_t bytes) {
  PlannedBuffer buffer;
  buffer.bytes = bytes;
  buffer.first_step = buffer.last_step = context_.segment->steps.size();
  buffer.owner = owner;
  return add(std::move(buffer));
}

void BufferAssigner::add_view(BufferOffset at, ValueId value, size_t bytes) {
  buffers_[at.buffer].live_ranges.push_back(
      {value, at.offset, bytes, context_.graph.last_uses()[value]});
}

void BufferAssigner::add_written(BufferOffset at, ValueId value, size_t bytes) {
  add_view(at, value, bytes);
  buffers_[at.buffer].live_ranges.back().written_at = context_.node_index;
}

void BufferAssigner::point_at(BufferOffset at, uint32_t pointer) {
  PlannedBuffer& buffer = buffers_[at.buffer];
  buffer.pointers.push_back({pointer, at.offset});
  buffer.last_step = std::max(buffer.last_step, context_.segment->steps.size());
}

bool BufferAssigner::is_live_in(BufferOffset at, size_t bytes) const {
  const PlannedBuffer& buffer = buffers_[at.buffer];
  return buffer.kind == Kind::kLiveIn && at.offset == 0 && buffer.bytes == bytes;
}

// The place in the outermost buffer that at.buffer has become a part of.
BufferOffset BufferAssigner::resolved(BufferOffset at) const {
  while (buffers_[at.buffer].parent.buffer != BufferOffset::kNoBuffer) {
    const BufferOffset parent = buffers_[at.buffer].parent;
    at = {parent.buffer, at.offset + parent.offset};
  }
  return at;
}

// Whether no value that a later node reads overlaps [at, at + bytes).
bool BufferAssigner::is_free(BufferOffset at, size_t bytes) const {
  return std::ranges::none_of(buffers_[at.buffer].live_ranges, [&](const LiveRange& live) {
    return live.last_use > context_.node_index && live.offset < at.offset + bytes &&
           at.offset < live.offset + live.bytes;
  });
}

BufferOffset BufferAssigner::place_output(const Kernel& kernel, size_t output, size_t bytes,
                                          KernelInputs& inputs) {
  const auto overlap = [](const KernelInput& a, const KernelInput& b) {
    return a.at.buffer == b.at.buffer && a.at.offset < b.at.offset + b.bytes &&
           b.at.offset < a.at.offset + a.bytes;
  };
  const ValueId value = context_.output(output);
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    const BufferOffset at = inputs[slot].at;
    if (at.buffer == BufferOffset::kNoBuffer || inputs[slot].is_taken ||
        inputs[slot].bytes != bytes)
      continue;
    const PlannedBuffer& buffer = buffers_[at.buffer];
    // Only the first segment knows all views of a value that is there when it starts.
    const bool may_be_bound =
        context_.parent.next_node == 0 && is_live_in(at, bytes) && value != kNoValue;
    const bool is_arena = buffer.kind == Kind::kArena && !buffer.has_strings;
    if ((!is_arena && !may_be_bound) || !is_free(at, bytes)) continue;
    if (!kernel.may_alias(output, slot)) continue;
    const bool is_read_again = std::ranges::any_of(inputs, [&](const KernelInput& other) {
      return &other != &inputs[slot] && overlap(inputs[slot], other);
    });
    if (is_read_again) continue;
    if (may_be_bound) {
      allow_in_place(value, buffer.owner);
      continue;
    }
    inputs[slot].is_taken = true;
    return at;
  }
  return {add_arena_buffer(kNoValue, bytes), 0};
}

bool BufferAssigner::can_become_part(ValueId value, size_t bytes) const {
  if (!is_placed(value) || layout_of(value)) return false;
  const BufferOffset at = made_at(value);
  const PlannedBuffer& buffer = buffers_[at.buffer];
  // A graph output needs a buffer of its own, so it is not made a part of another.
  const bool leaves_graph = std::ranges::any_of(buffer.live_ranges, [&](const LiveRange& live) {
    return context_.graph.output_index(live.value) >= 0;
  });
  return buffer.kind == Kind::kArena && at.offset == 0 && buffer.bytes == bytes && !leaves_graph;
}

void BufferAssigner::become_part(ValueId value, BufferOffset of) {
  PlannedBuffer& part = buffers_[made_at(value).buffer];
  PlannedBuffer& whole = buffers_[of.buffer];
  for (LiveRange live : part.live_ranges) {
    live.offset += of.offset;
    whole.live_ranges.push_back(live);
  }
  for (const PointerAt& at : part.pointers)
    whole.pointers.push_back({at.pointer, at.offset + of.offset});
  whole.first_step = std::min(whole.first_step, part.first_step);
  whole.last_step = std::max(whole.last_step, part.last_step);
  part.parent = of;
  part.live_ranges.clear();
  part.pointers.clear();
}

}  // namespace sardonyx
