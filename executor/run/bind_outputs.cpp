// The outputs of a finished run.
#include <algorithm>
#include <cstring>
#include <functional>
#include <list>

#include "executor/run/executable.h"

namespace sardonyx {
namespace {

// The memory of an output may overlap that of an input which is the result.
void copy_into(const Tensor& from, const Tensor& to) {
  if (from.count() == 0) return;
  if (from.dtype() != DType::kString) {
    std::memmove(to.raw(), from.raw(), from.bytes());
    return;
  }
  const auto* const begin = static_cast<const std::string*>(from.raw());
  auto* const target = static_cast<std::string*>(to.raw());
  if (std::less<const void*>()(begin, target))
    std::copy_backward(begin, begin + from.count(), target + from.count());
  else
    std::copy_n(begin, from.count(), target);
}

// The state of an output after the last step.
struct OutputState {
  const Datum* datum = nullptr;
  Datum* slot = nullptr;          // the same datum, if its slot may be moved from
  const Tensor* bound = nullptr;  // the caller's memory that takes it
  bool is_there = false;          // the value is in `bound` already
  OutputState() = default;
  OutputState(const Datum* made, const RunOutput& output) : datum(made) {
    if (!made || !made->is_tensor()) return;
    const Tensor& tensor = made->tensor();
    bound = output.bound(tensor.dtype(), tensor.shape());
    is_there = bound ? bound->raw() == tensor.raw() : made == &output.shown();
  }
  bool is_copied() const { return bound && !is_there; }
};

// A result may be in the memory of an input to which another output is to be copied.
const Tensor* memory_at_risk(std::span<const OutputState> results, size_t index) {
  if (!results[index].datum || results[index].is_there) return nullptr;
  for (size_t other = 0; other < results.size(); ++other) {
    const bool is_written = other != index && results[other].is_copied();
    if (is_written && overlaps(*results[index].datum, *results[other].bound))
      return results[other].bound;
  }
  return nullptr;
}

void give(const OutputState& result, RunOutput& output, BufferPool& pool) {
  if (result.bound) {
    if (!result.is_there) copy_into(result.datum->tensor(), *result.bound);
    output.show_written(*result.bound);
  } else if (result.is_there) {
    return;
  } else if (result.slot) {
    output.show_slot(*result.slot);
  } else if (result.datum) {
    output.show(*result.datum, pool);
  } else {
    output.clear(pool);
  }
}

}  // namespace

// Results that were not computed in the caller's memory are copied there or moved out.
void Executable::take_outputs(const RunState& state) const {
  const std::span<RunOutput> outputs = state.outputs;
  const std::span<const ValueId> ids = graph_.outputs();
  const ScratchMark mark;
  std::pmr::vector<OutputState> results(outputs.size(), scratch());
  bool any_copied = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId id = ids[i];
    const Datum* datum = state.values[id];
    if (state.strict_outputs)
      require_fit(outputs[i], graph_.values()[id]->name, datum ? datum->type() : Type::none());
    results[i] = OutputState(datum, outputs[i]);
    results[i].slot = state.slot_of(datum);
    const std::span<const ValueId> later = ids.subspan(i + 1);
    const bool is_needed = results[i].slot && std::ranges::find(later, id) != later.end();
    if (is_needed) results[i].slot = nullptr;
    any_copied |= results[i].is_copied();
  }
  std::list<Datum> moved;  // nothing is allocated where there are none
  for (size_t i = 0; any_copied && i < outputs.size(); ++i) {
    while (const Tensor* memory = memory_at_risk(results, i)) {
      results[i].datum = &moved.emplace_back(moved_out_of(*results[i].datum, *memory));
      results[i].slot = nullptr;
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    give(results[i], outputs[i], session_state_.buffers());
}

// Checks the bound outputs whose types are known by now, for runs with strict_outputs.
void Executable::require_fits(const PlanSegment& segment, const RunState& state) const {
  if (state.outputs.empty()) return;
  for (const auto& [index, facts] : segment.known_outputs)
    require_fit(state.outputs[index], graph_.values()[graph_.outputs()[index]]->name, facts->type);
}

}  // namespace sardonyx
