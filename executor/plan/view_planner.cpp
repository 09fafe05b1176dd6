#include "executor/plan/view_planner.h"

#include <algorithm>

#include "executor/plan/view_offsets.h"

namespace sardonyx {
namespace {

// Whether elements are whole bytes that can be copied as such.
bool is_plain_data(DType dtype) {
  return dtype != DType::kString && !is_packed(dtype);
}

}  // namespace

bool ViewPlanner::plan(const Inference& inference) {
  return plan_view(inference) || plan_parts(inference) || plan_concat(inference);
}

void ViewPlanner::set_view(ValueId value, const TypeInfoPtr& facts, BufferOffset at) {
  context_.known.set_typed(value, facts);
  buffers_.place(value, nullptr, at);
  buffers_.add_view(at, value, facts->plain_bytes());
}

bool ViewPlanner::plan_view(const Inference& inference) {
  if (!context_.op().is(kView) || context_.indexed().outputs.size() != 1) return false;
  const ValueId from = context_.input(0);
  if (from == kNoValue || !context_.known[from].type().is_tensor()) return false;
  set_view(context_.output(0), inference.outputs[0], emitter_.read(from, nullptr));
  return true;
}

// Plans the outputs as views of the input. Refuses where one is an output of the graph, which needs
// a buffer of its own.
bool ViewPlanner::plan_parts(const Inference& inference) {
  const Node& node = context_.node();
  if (!node.op->part_offsets || context_.input(0) == kNoValue) return false;
  const ValueId whole = context_.input(0);
  const ValueState& known = context_.known[whole];
  if (!known.type().is_tensor() || !is_plain_data(known.type().dtype)) return false;
  std::vector<const Tensor*> constants;
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    const ValueId input = context_.input(slot);
    constants.push_back(input != kNoValue ? context_.known[input].constant.get() : nullptr);
  }
  std::vector<Shape> shapes;
  for (size_t i = 0; i < inference.outputs.size(); ++i) {
    const ValueId part = context_.output(i);
    if (part == kNoValue || context_.graph.output_index(part) >= 0) return false;
    shapes.push_back(*inference.outputs[i]->shape);
  }
  const auto offsets = part_offsets(node, *known.shape(), constants, shapes);
  if (!offsets) return false;
  if (buffers_.layout_of(whole) && feeds_layout(node)) return false;
  const BufferOffset at = emitter_.read(whole, nullptr);
  for (size_t i = 0; i < inference.outputs.size(); ++i) {
    const size_t offset = at.offset + bytes_for(known.type().dtype, (*offsets)[i]);
    set_view(context_.output(i), inference.outputs[i], {at.buffer, offset});
  }
  return true;
}

bool ViewPlanner::plan_concat(const Inference& inference) {
  const Node& node = context_.node();
  if (!node.op->join_offsets || inference.outputs.size() != 1) return false;
  const TypeInfo& joined = *inference.outputs[0];
  const DType dtype = joined.type.dtype;
  if (!is_plain_data(dtype)) return false;
  std::vector<Shape> shapes;
  for (const ValueId input : context_.indexed().inputs) {
    if (input == kNoValue || !context_.known[input].type().is_tensor()) return false;
    shapes.push_back(*context_.known[input].shape());
    // Inputs in a provider's layout are better joined in it.
    if (buffers_.layout_of(input)) return false;
  }
  const auto offsets = concat_offsets(node, shapes, *joined.shape);
  if (!offsets) return false;
  const auto bytes_of = [&](size_t i) { return bytes_for(dtype, element_count(shapes[i])); };
  bool any_part = false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool has_bytes = bytes_of(i) > 0;
    any_part |= has_bytes && buffers_.can_become_part(context_.input(i), bytes_of(i));
  }
  const ValueId whole = context_.output(0), first = context_.input(0);
  // The caller may bind the output to where the first input is already.
  const bool appends = context_.graph.output_index(whole) >= 0 && bytes_of(0) > 0 &&
                       !context_.known[first].constant &&
                       buffers_.is_live_in(emitter_.read(first, nullptr), bytes_of(0));
  if (!any_part && !appends) return false;
  if (appends) buffers_.allow_in_place(whole, first);

  context_.known.set_typed(whole, inference.outputs[0]);
  const size_t bytes = joined.plain_bytes();
  const size_t buffer = buffers_.add_arena_buffer(whole, bytes);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ValueId part = context_.input(i);
    const BufferOffset at{buffer, bytes_for(dtype, (*offsets)[i])};
    if (bytes_of(i) == 0) continue;
    if (buffers_.can_become_part(part, bytes_of(i)))
      buffers_.become_part(part, at);
    else
      emitter_.emit_copy(part, at, bytes_of(i));
  }
  buffers_.place(whole, nullptr, {buffer, 0});
  buffers_.add_written({buffer, 0}, whole, bytes);
  return true;
}

}  // namespace sardonyx
