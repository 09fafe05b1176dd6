// Values that a run makes in buffers of its own or of the caller's, and what it gives out in the
// end.
#include <algorithm>
#include <cstring>

#include "executor/program.h"

namespace sardonyx {
namespace {

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

// How an output stands when everything is computed.
struct Result {
  const Datum* datum = nullptr;
  Datum* slot = nullptr;           // the same where it lies in a slot that nobody needs any more
  const Tensor* tensor = nullptr;  // null where it is none
  bool is_bound = false;           // the caller's buffer takes it
  bool is_there = false;           // where it lies already
  Result() = default;
  Result(const Datum* made, const Datum& given) : datum(made) {
    if (!made || !made->is_tensor()) return;
    tensor = &made->tensor();
    if (!given.is_tensor()) return;
    const Tensor& buffer = given.tensor();
    is_bound = buffer.dtype() == tensor->dtype() && buffer.shape() == tensor->shape();
    is_there = is_bound && buffer.raw() == tensor->raw();
  }
  bool is_copied() const { return is_bound && !is_there; }
};

// A result may lie in an input whose memory another output is to be copied to.
bool is_at_risk(std::span<const Result> results, size_t index, std::span<const Datum> outputs) {
  if (!results[index].tensor || results[index].is_there) return false;
  for (size_t other = 0; other < results.size(); ++other) {
    if (other != index && results[other].is_copied() &&
        overlap(*results[index].tensor, outputs[other].tensor())) {
      return true;
    }
  }
  return false;
}

void give(const Result& result, Datum& output) {
  if (result.is_there) return;
  if (result.is_bound)
    copy_into(*result.tensor, output.tensor());
  else if (result.slot)
    std::swap(output, *result.slot);  // what the caller had there serves the next run
  else if (result.datum)
    output = *result.datum;
  else
    output.clear();
}

}  // namespace

// What was not computed in the caller's buffer is copied there or handed out.
void Program::take_outputs(const RunState& state, std::span<Datum> outputs) const {
  const ScratchMark mark;
  std::pmr::vector<Result> results(outputs.size(), scratch());
  bool any_copied = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId id = output_ids_[i];
    results[i] = Result(state.values[id], outputs[i]);
    results[i].slot = state.slot_of(results[i].datum);
    const auto behind = output_ids_.begin() + static_cast<ptrdiff_t>(i) + 1;
    const bool is_needed =
        results[i].slot && std::find(behind, output_ids_.end(), id) != output_ids_.end();
    if (is_needed) results[i].slot = nullptr;
    any_copied |= results[i].is_copied();
  }
  std::vector<std::pair<size_t, Datum>> saved;  // nothing is allocated where there are none
  for (size_t i = 0; any_copied && i < outputs.size(); ++i) {
    if (!is_at_risk(results, i, outputs)) continue;
    saved.emplace_back(i, results[i].tensor->clone());
    results[i].is_there = true;  // for now
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    give(results[i], outputs[i]);
  for (const auto& [i, datum] : saved) {
    Result result = results[i];
    result.datum = &datum;
    result.slot = nullptr;
    result.tensor = &datum.tensor();
    result.is_there = false;
    give(result, outputs[i]);
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
      state.refer(allocation.values[k].value, made[k].is_tensor() ? &made[k] : bound);
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
      made[k].clear();
      continue;
    }
    const bool is_same = made[k].is_tensor() && made[k].tensor().buffer() == bound.buffer() &&
                         made[k].tensor().raw() == address_in(bound, held.offset);
    if (is_same) continue;
    made[k].as_tensor().assign(held.dtype, held.shape, bound.buffer(),
                               bound.byte_offset() + held.offset);
  }
}

// In a buffer of its own; that of the last run where nobody outside holds it any more.
void Program::make_anew(const Allocation& allocation, std::shared_ptr<Buffer>& buffer,
                        std::span<Datum> made) const {
  if (buffer && buffer.use_count() == static_cast<long>(made.size()) + 1) return;
  for (Datum& value : made)
    value.clear();
  buffer = allocated(allocation);
  for (size_t k = 0; k < made.size(); ++k) {
    const Allocation::Held& held = allocation.values[k];
    made[k].as_tensor().assign(held.dtype, held.shape, buffer, held.offset);
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
