// The last part of planning: offsets in the arena, and what each pointer of the table is bound to.
#include <algorithm>

#include "executor/plan/planner.h"
#include "ir/core/memory/guard_pages.h"

namespace sardonyx {

void Planner::place_memory() {
  std::vector<const Root*> placed;
  std::vector<MemoryItem>& items = segment_->memory;
  for (Root& root : roots_) {
    if (root.parent != kNoRoot) continue;
    if (root.has_strings && root.kind == Root::Kind::kArena) root.kind = Root::Kind::kAllocated;
    if (root.kind != Root::Kind::kArena) continue;
    items.push_back({root.owner, root.bytes, root.first_step, root.last_step});
    placed.push_back(&root);
  }
  for (size_t step = 0; step < scratch_.size(); ++step) {
    if (scratch_[step] > 0) items.push_back({kNoValue, scratch_[step], step, step});
  }
  segment_->live_peak_bytes = live_peak(items);
  const size_t gap = guard_gap();
  if (!items.empty())
    segment_->arena_bytes = gap > 0 ? place_items_apart(items, gap) : assign_offsets(items);
  for (size_t i = 0; i < placed.size(); ++i) {
    for (const PointerAt& at : placed[i]->pointers)
      segment_->arena_pointers.push_back({at.pointer, items[i].offset + at.offset});
  }
  for (size_t i = placed.size(); i < items.size(); ++i) {
    const Step& step = segment_->steps[items[i].first_step];
    segment_->arena_pointers.push_back(
        {step.first_pointer + step.input_count + step.output_count, items[i].offset});
  }
}

void Planner::bind_pointers() {
  for (Root& root : roots_) {
    if (root.parent != kNoRoot) continue;
    switch (root.kind) {
      case Root::Kind::kArena:
        break;
      case Root::Kind::kConstant:
        for (const PointerAt& at : root.pointers) {
          auto* begin = root.outside ? const_cast<std::byte*>(root.outside)
                                     : static_cast<std::byte*>(root.constant->raw());
          segment_->pointers[at.pointer] = begin + at.offset;
        }
        segment_->held.push_back(root.constant->buffer());
        break;
      case Root::Kind::kEntry:
        for (const PointerAt& at : root.pointers)
          segment_->entry_pointers.push_back({at, root.owner});
        break;
      case Root::Kind::kStepOutput: {
        Step& step = segment_->steps[root.owner_step];
        const auto output = static_cast<uint32_t>(std::ranges::find(step.outputs, root.owner) -
                                                  step.outputs.begin());
        for (const PointerAt& at : root.pointers)
          step.rebinds.push_back({at, output});
        break;
      }
      case Root::Kind::kAllocated:
        segment_->allocations.push_back(allocation_of(root));
        break;
    }
  }
}

Allocation Planner::allocation_of(const Root& root) const {
  Allocation allocation;
  allocation.bytes = root.bytes;
  allocation.pointers.assign(root.pointers.begin(), root.pointers.end());
  for (const Extent& extent : root.whole) {
    const PlanSegment::ValueState& known = this->known(extent.value);
    allocation.values.push_back({extent.value, known.type().dtype, *known.shape(),
                                 output_index(extent.value), extent.offset});
  }
  for (const InPlace& pair : in_place_) {
    if (may_lie_in(root, pair)) allocation.in_place.push_back(pair.from);
  }
  if (root.has_strings) allocation.strings = element_count(*known(root.owner).shape());
  return allocation;
}

// Where `root` lies in the value that `pair.made` is made of, nothing is written there before the
// last node that reads this: what else lies in `root` is made behind that. `made` itself may be
// written by it.
bool Planner::may_lie_in(const Root& root, const InPlace& pair) const {
  const bool fills = std::ranges::any_of(root.extents, [&](const Extent& extent) {
    return extent.value == pair.made && extent.offset == 0 && extent.bytes == root.bytes;
  });
  const Root& from = roots_[forms_[form_of_[pair.from]].first.place.root];
  if (!fills || from.is_shared) return false;
  size_t last_read = 0;
  for (const Extent& extent : from.extents)
    last_read = std::max(last_read, extent.last_use);
  return std::ranges::all_of(root.extents, [&](const Extent& extent) {
    return extent.value == pair.made || extent.offset >= from.bytes ||
           extent.written_at == kShown || extent.written_at > last_read;
  });
}

}  // namespace sardonyx
