// Values that a run makes in buffers of its own or of the caller's, and what it gives out in the
// end.
#include <algorithm>
#include <cstring>

#include "executor/program.h"

namespace sardonyx {
namespace {

// Address `offset` bytes behind where `value` begins.
void* address_in(const Tensor& value, size_t offset) {
  return static_cast<std::byte*>(value.raw()) + offset;
}

// Where it begins in its buffer.
size_t offset_of(const Tensor& tensor) {
  return static_cast<size_t>(static_cast<std::byte*>(tensor.raw()) - tensor.buffer()->data());
}

bool overlap(const Tensor& a, const Tensor& b) {
  const auto* first = static_cast<const std::byte*>(a.raw());
  const auto* second = static_cast<const std::byte*>(b.raw());
  return first < second + b.bytes() && second < first + a.bytes();
}

void copy_into(const Tensor& from, const Tensor& to) {
  if (from.dtype() == DType::kString) {
    std::copy_n(static_cast<const std::string*>(from.raw()), from.count(),
                static_cast<std::string*>(to.raw()));
  } else if (from.count() > 0) {
    std::memcpy(to.raw(), from.raw(), from.bytes());
  }
}

}  // namespace

// What was not computed in the caller's buffer is copied there or handed out.
void Program::take_outputs(const RunState& state, std::span<Datum> outputs) const {
  const auto result = [&](size_t i) -> const Tensor* {
    const Datum* datum = state.values[output_ids_[i]];
    return datum && datum->is_tensor() ? &datum->tensor() : nullptr;
  };
  // Output i is the caller's, and the result fits.
  const auto is_bound = [&](size_t i) {
    return result(i) && outputs[i].is_tensor() &&
           outputs[i].tensor().dtype() == result(i)->dtype() &&
           outputs[i].tensor().shape() == result(i)->shape();
  };
  const auto is_there = [&](size_t i) {
    return is_bound(i) && outputs[i].tensor().raw() == result(i)->raw();
  };
  // A result may lie in an input whose memory another output is to be copied to.
  const auto is_at_risk = [&](size_t i) {
    if (!result(i) || is_there(i)) return false;
    for (size_t other = 0; other < outputs.size(); ++other) {
      const bool is_copied = other != i && is_bound(other) && !is_there(other);
      if (is_copied && overlap(*result(i), outputs[other].tensor())) return true;
    }
    return false;
  };
  std::vector<std::pair<size_t, Tensor>> saved;  // nothing is allocated where there are none
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_at_risk(i)) saved.emplace_back(i, result(i)->clone());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_saved =
        std::ranges::any_of(saved, [&](const auto& entry) { return entry.first == i; });
    if (is_saved || is_there(i)) continue;
    if (is_bound(i))
      copy_into(*result(i), outputs[i].tensor());
    else if (const Datum* datum = state.values[output_ids_[i]])
      outputs[i] = *datum;
    else
      outputs[i] = Datum();
  }
  for (auto& [i, tensor] : saved) {
    if (is_bound(i))
      copy_into(tensor, outputs[i].tensor());
    else
      outputs[i] = std::move(tensor);
  }
}

// The caller's buffer where it is bound to a value that fills the allocation.
const Datum* Program::bound_buffer(const Allocation& allocation, const RunState& state) const {
  if (state.bound_outputs.empty()) return nullptr;
  for (const Allocation::Held& held : allocation.values) {
    if (held.output_index < 0 || held.offset != 0) continue;
    const Datum& bound = state.bound_outputs[static_cast<size_t>(held.output_index)];
    const bool fits = bound.is_tensor() && bound.tensor().dtype() == held.dtype &&
                      bound.tensor().shape() == held.shape &&
                      bound.tensor().bytes() == allocation.bytes;
    if (fits && may_be_written(bound.tensor(), allocation, state)) return &bound;
  }
  return nullptr;
}

// Nobody needs what lies there: no input, or only one that the allocation may be made over.
bool Program::may_be_written(const Tensor& bound, const Allocation& allocation,
                             const RunState& state) const {
  return std::ranges::all_of(input_ids_, [&](ValueId input) {
    const Datum* datum = state.values[input];
    if (!datum || !datum->is_tensor() || !overlap(bound, datum->tensor())) return true;
    return bound.raw() == datum->tensor().raw() &&
           std::ranges::find(allocation.in_place, input) != allocation.in_place.end();
  });
}

void Program::allocate(const Segment& segment, Segment::Frame& frame, RunState& state) {
  Datum* values = frame.values.data();
  for (size_t i = 0; i < segment.allocations.size(); ++i) {
    const Allocation& allocation = segment.allocations[i];
    const std::span<Datum> made(values, allocation.values.size());
    values += made.size();
    const Datum* bound = bound_buffer(allocation, state);
    if (bound) {
      frame.buffers[i].reset();
      lay_into(bound->tensor(), allocation, made);
    } else {
      make_anew(allocation, frame.buffers[i], made);
    }
    auto* data = static_cast<std::byte*>(bound ? bound->tensor().raw() : frame.buffers[i]->data());
    for (size_t k = 0; k < made.size(); ++k)
      state.refer(allocation.values[k].value, holds_tensor(made[k]) ? &made[k] : bound);
    for (const auto& [pointer, offset] : allocation.pointers)
      frame.pointers[pointer] = data + offset;
  }
}

// The values of an allocation, in a buffer of the caller's: one that is just what the caller gave
// is left empty. Those of the last run serve again where the buffer was the same.
void Program::lay_into(const Tensor& bound, const Allocation& allocation, std::span<Datum> made) {
  for (size_t k = 0; k < made.size(); ++k) {
    const Allocation::Held& held = allocation.values[k];
    if (held.offset == 0 && held.shape == bound.shape()) {
      clear_slot(made[k]);
      continue;
    }
    const bool is_same = holds_tensor(made[k]) && made[k].tensor().buffer() == bound.buffer() &&
                         made[k].tensor().raw() == address_in(bound, held.offset);
    if (is_same) continue;
    lay_tensor(made[k], held.dtype, held.shape, bound.buffer(), offset_of(bound) + held.offset);
  }
}

// In a buffer of its own; that of the last run where nobody outside holds it any more.
void Program::make_anew(const Allocation& allocation, std::shared_ptr<Buffer>& buffer,
                        std::span<Datum> made) const {
  if (buffer && buffer.use_count() == static_cast<long>(made.size()) + 1) return;
  for (Datum& value : made)
    clear_slot(value);
  buffer = allocated(allocation);
  for (size_t k = 0; k < made.size(); ++k) {
    const Allocation::Held& held = allocation.values[k];
    lay_tensor(made[k], held.dtype, held.shape, buffer, held.offset);
  }
}

std::shared_ptr<Buffer> Program::allocated(const Allocation& allocation) const {
  try {
    return allocation.strings >= 0 ? Buffer::allocate_strings(allocation.strings)
                                   : environment_.buffers().take(allocation.bytes);
  } catch (const Error& error) {
    const auto& values = allocation.values;
    if (values.empty()) throw;
    throw error.with_context(label(values.front().value));
  }
}

}  // namespace sardonyx
