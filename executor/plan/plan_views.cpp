// Planning of ops that only move elements: outputs that are parts of an input, and a Concat whose
// inputs are computed right where it wants them.
#include <algorithm>

#include "executor/plan/planner.h"
#include "executor/plan/view_offsets.h"
#include "providers/cpu/data_movement/strided_copy.h"

namespace sardonyx {
namespace {

// Their elements can be counted in bytes, and copied as such.
bool is_plain_data(DType dtype) {
  return dtype != DType::kString && !is_packed(dtype);
}

// Does an op that takes part in providers' layouts for a convolution's sake read `node`, itself or
// behind a few that work element by element?
bool is_read_in_layout(const Node& node, int more) {
  const auto keeps_layout = [&](const Use& use) {
    const OpDef& op = *use.node->op;
    return op.layout == LayoutRole::kConv || op.layout == LayoutRole::kImage ||
           op.layout == LayoutRole::kKeeps ||
           (more > 0 && op.is(kElementwise) && is_read_in_layout(*use.node, more - 1));
  };
  return std::ranges::any_of(node.outputs, [&](const Value* output) {
    return output && std::ranges::any_of(output->uses, keeps_layout);
  });
}

}  // namespace

bool Planner::feeds_layout(const Node& node) {
  constexpr int kElementwiseBetween = 2;
  return is_read_in_layout(node, kElementwiseBetween);
}

// Not where an output leaves the graph: the caller wants it in a buffer of its own.
bool Planner::plan_parts(const Node& node, const Inference& inference) {
  if (!node.op->part_offsets || input(0) == kNoValue) return false;
  const ValueId whole = input(0);
  const PlanSegment::ValueState& known = this->known(whole);
  if (!known.type().is_tensor() || !is_plain_data(known.type().dtype)) return false;
  std::vector<const Tensor*> constants;
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    const bool is_given = input(slot) != kNoValue;
    constants.push_back(is_given ? this->known(input(slot)).constant.get() : nullptr);
  }
  std::vector<Shape> shapes;
  for (size_t i = 0; i < inference.outputs.size(); ++i) {
    if (output(i) == kNoValue || output_index(output(i)) >= 0) return false;
    shapes.push_back(*inference.outputs[i]->shape);
  }
  const auto offsets = part_offsets(node, *known.shape(), constants, shapes);
  if (!offsets) return false;
  if (layout_of(whole) && feeds_layout(node)) return false;
  const Place place = place_for(whole, nullptr);
  for (size_t i = 0; i < inference.outputs.size(); ++i) {
    const ValueId part = output(i);
    set_typed(part, inference.outputs[i]);
    const Place at{place.root, place.offset + bytes_for(known.type().dtype, (*offsets)[i])};
    set_place(part, nullptr, at);
    add_extent(at, part, plain_bytes(part));
  }
  return true;
}

// Its elements fill a root of their own in the arena, which nothing else holds to its place.
bool Planner::can_become_part(ValueId value, size_t bytes) {
  if (!has_place(value) || layout_of(value)) return false;
  const Place place = resolved(forms(value).first.place);
  const Root& root = roots_[place.root];
  const bool leaves_graph = std::ranges::any_of(
      root.extents, [&](const Extent& extent) { return output_index(extent.value) >= 0; });
  return root.kind == Root::Kind::kArena && place.offset == 0 && root.bytes == bytes &&
         !leaves_graph;
}

bool Planner::plan_concat(const Node& node, const Inference& inference) {
  if (!node.op->join_offsets || inference.outputs.size() != 1) return false;
  const TypeInfo& joined = *inference.outputs[0];
  const DType dtype = joined.type.dtype;
  if (!is_plain_data(dtype)) return false;
  std::vector<Shape> shapes;
  for (const ValueId input : executable_.nodes_[node_index_].inputs) {
    if (input == kNoValue || !known(input).type().is_tensor()) return false;
    shapes.push_back(*known(input).shape());
    // What lies in a provider's layout is better joined in it.
    if (layout_of(input)) return false;
  }
  const auto offsets = concat_offsets(node, shapes, *joined.shape);
  if (!offsets) return false;
  const auto bytes_of = [&](size_t i) { return bytes_for(dtype, element_count(shapes[i])); };
  bool any = false;
  for (size_t i = 0; i < shapes.size(); ++i)
    any = any || (bytes_of(i) > 0 && can_become_part(input(i), bytes_of(i)));
  const ValueId whole = output(0);
  // The output may be bound to where the first input lies already.
  const bool goes_on = output_index(whole) >= 0 && bytes_of(0) > 0 && !known(input(0)).constant &&
                       is_entry(place_for(input(0), nullptr), bytes_of(0));
  if (!any && !goes_on) return false;
  if (goes_on) in_place_.push_back({whole, input(0)});

  set_typed(whole, inference.outputs[0]);
  Root made;
  made.bytes = plain_bytes(whole);
  made.owner = whole;
  made.first_step = made.last_step = segment_->steps.size();
  const size_t root = new_root(std::move(made));
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ValueId part = input(i);
    const Place at{root, bytes_for(dtype, (*offsets)[i])};
    if (bytes_of(i) == 0) continue;
    if (can_become_part(part, bytes_of(i)))
      join(resolved(forms(part).first.place).root, at);
    else
      copy_to(part, at, bytes_of(i), node);
  }
  set_place(whole, nullptr, {root, 0});
  add_written({root, 0}, whole, roots_[root].bytes);
  return true;
}

// Root `part` becomes a part of another one, with all that is in it.
void Planner::join(size_t part, Place to) {
  Root& from = roots_[part];
  Root& whole = roots_[to.root];
  for (Extent extent : from.extents) {
    extent.offset += to.offset;
    whole.extents.push_back(extent);
  }
  for (const PointerAt& at : from.pointers)
    whole.pointers.push_back({at.pointer, at.offset + to.offset});
  whole.first_step = std::min(whole.first_step, from.first_step);
  whole.last_step = std::max(whole.last_step, from.last_step);
  from.parent = to.root;
  from.parent_offset = to.offset;
  from.extents.clear();
  from.pointers.clear();
}

void Planner::copy_to(ValueId value, Place to, size_t bytes, const Node& node) {
  const Place from = place_for(value, nullptr);
  PreparedStep copy;
  copy.kernel = std::make_shared<const cpu::CopyKernel>(bytes);
  copy.implementation = "copy";
  copy.inputs = {{known(value).facts, nullptr}};
  Step step = new_step(std::make_shared<const PreparedStep>(std::move(copy)), 1, 1);
  step.node = &node;
  step.bytes = 2 * bytes;
  point_at(from, step.first_pointer);
  point_at(to, step.first_pointer + 1);
  add_step(std::move(step));
}

}  // namespace sardonyx
