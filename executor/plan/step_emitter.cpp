#include "executor/plan/step_emitter.h"

#include <algorithm>

#include "providers/cpu/data_movement/strided_copy.h"

namespace sardonyx {
namespace {

using Kind = PlannedBuffer::Kind;

size_t stored_bytes(const StepValue& value, const LayoutPtr& layout) {
  return layout ? layout->bytes() : value.facts->plain_bytes();
}

const LayoutPtr& layout_at(const std::vector<LayoutPtr>& layouts, size_t index) {
  static const auto& kPlain = *new LayoutPtr;
  return index < layouts.size() ? layouts[index] : kPlain;
}

bool has_value(std::span<const LiveRange> ranges, ValueId value) {
  return std::ranges::find(ranges, value, &LiveRange::value) != ranges.end();
}

}  // namespace

void StepEmitter::emit_kernel(std::shared_ptr<const PreparedStep> shared,
                              const Inference& inference) {
  for (size_t i = 0; i < context_.indexed().outputs.size(); ++i) {
    const ValueId output = context_.output(i);
    if (output != kNoValue) context_.known.set_typed(output, inference.outputs[i]);
  }
  const PreparedStep& prepared = *shared;
  const size_t input_count = prepared.inputs.size();
  const size_t output_count = prepared.outputs.size();
  const OpDef& op = context_.op();
  BufferAssigner::KernelInputs inputs(input_count);
  for (size_t slot = 0; slot < input_count; ++slot) {
    const StepValue& value = prepared.inputs[slot];
    if (!value.facts || has_bit(prepared.unread_inputs, slot)) continue;
    const LayoutPtr& layout = layout_at(prepared.input_layouts, slot);
    const bool reads_anywhere = op.is(kReadsTable) && has_bit(op.weight_inputs, slot);
    inputs[slot] = {read(context_.input(slot), layout, reads_anywhere),
                    stored_bytes(value, layout)};
  }
  Step step = make_step(std::move(shared), input_count, output_count);
  step.node = &context_.node();
  uint32_t pointer = step.first_pointer;
  for (size_t slot = 0; slot < input_count; ++slot, ++pointer) {
    if (inputs[slot].at.buffer != BufferOffset::kNoBuffer)
      buffers_.point_at(inputs[slot].at, pointer);
    step.bytes += inputs[slot].bytes;
  }
  for (size_t i = 0; i < output_count; ++i, ++pointer) {
    const LayoutPtr& layout = layout_at(prepared.output_layouts, i);
    const size_t bytes = stored_bytes(prepared.outputs[i], layout);
    const BufferOffset at = buffers_.place_output(*prepared.kernel, i, bytes, inputs);
    const ValueId value = context_.output(i);
    PlannedBuffer& buffer = buffers_[at.buffer];
    buffer.has_strings = prepared.outputs[i].facts->type.dtype == DType::kString;
    if (buffer.bytes == bytes) buffer.owner = value;
    if (value != kNoValue) {
      buffers_.place(value, layout, at);
      buffers_.add_written(at, value, bytes);
    }
    buffers_.point_at(at, pointer);
    step.bytes += bytes;
  }
  const uint32_t unread_inputs = prepared.unread_inputs;
  context_.segment->steps.push_back(std::move(step));
  release_packed(unread_inputs);
}

// A step with pointers of its own in the table: inputs, outputs, scratch.
Step StepEmitter::make_step(std::shared_ptr<const PreparedStep> prepared, size_t inputs,
                            size_t outputs) {
  std::vector<void*>& pointers = context_.segment->pointers;
  Step step;
  step.kernel = prepared->kernel.get();
  step.prepared = std::move(prepared);
  step.first_pointer = static_cast<uint32_t>(pointers.size());
  step.input_count = static_cast<uint32_t>(inputs);
  step.output_count = static_cast<uint32_t>(outputs);
  pointers.resize(pointers.size() + inputs + outputs + 1);
  return step;
}

BufferOffset StepEmitter::read(ValueId value, const LayoutPtr& layout, bool reads_anywhere) {
  const std::optional<BufferOffset> found = buffers_.find(value, layout, reads_anywhere);
  return found ? *found : reorder(value, layout);
}

BufferOffset StepEmitter::reorder(ValueId value, const LayoutPtr& to) {
  const std::shared_ptr<const PreparedStep> prepared = kernels_.select_reorder(value, to);
  const size_t bytes = stored_bytes(prepared->outputs[0], to);
  const BufferOffset source = buffers_.made_at(value);
  const BufferOffset made{buffers_.add_arena_buffer(value, bytes), 0};
  buffers_.add_written(made, value, bytes);
  Step step = make_step(prepared, 1, 1);
  step.reordered = value;
  step.bytes = stored_bytes(prepared->inputs[0], prepared->inputs[0].layout) + bytes;
  buffers_.point_at(source, step.first_pointer);
  buffers_.point_at(made, step.first_pointer + 1);
  buffers_.place_copy(value, to, made);
  context_.segment->steps.push_back(std::move(step));
  return made;
}

void StepEmitter::emit_copy(ValueId value, BufferOffset to, size_t bytes) {
  const BufferOffset from = read(value, nullptr);
  PreparedStep copy;
  copy.kernel = std::make_shared<const cpu::CopyKernel>(bytes);
  copy.implementation = "copy";
  copy.inputs = {{context_.known[value].facts, nullptr}};
  Step step = make_step(std::make_shared<const PreparedStep>(std::move(copy)), 1, 1);
  step.node = &context_.node();
  step.bytes = 2 * bytes;
  buffers_.point_at(from, step.first_pointer);
  buffers_.point_at(to, step.first_pointer + 1);
  context_.segment->steps.push_back(std::move(step));
}

void StepEmitter::release_packed(uint32_t unread_inputs) {
  if (!context_.weight_uses) return;
  for (size_t slot = 0; slot < context_.indexed().inputs.size(); ++slot) {
    const ValueId input = context_.input(slot);
    if (!has_bit(unread_inputs, slot) || input == kNoValue) continue;
    const Tensor* weights = context_.known[input].constant.get();
    if (!weights || context_.session.weight_residency.is_kept(*weights)) continue;
    if (const auto buffer = context_.weight_uses->unused_after(*weights, context_.node_index))
      buffer->release();
  }
}

void StepEmitter::materialize(ValueId value) {
  PlanSegment& segment = *context_.segment;
  const ValueState& known = context_.known[value];
  if (known.constant) {
    const auto is_value = [&](const auto& entry) { return entry.first == value; };
    if (std::ranges::none_of(segment.constants, is_value))
      segment.constants.emplace_back(value, Datum(*known.constant));
    return;
  }
  if (known.is_datum || !known.type().is_tensor() || !buffers_.is_placed(value)) return;
  const BufferOffset at = read(value, nullptr);
  PlannedBuffer& buffer = buffers_[at.buffer];
  if (buffer.kind == Kind::kConstant) {
    segment.constants.emplace_back(
        value, Tensor(known.type().dtype, *known.shape(), buffer.constant->buffer(),
                      buffer.constant->byte_offset() + at.offset));
    return;
  }
  if (buffer.kind == Kind::kArena) buffer.kind = Kind::kAllocated;
  if (buffer.kind == Kind::kAllocated) {
    if (!has_value(buffer.whole, value))
      buffer.whole.push_back({value, at.offset, known.facts->plain_bytes(), SIZE_MAX});
    return;
  }
  if (buffer.owner == value) return;
  std::vector<Alias>& aliases =
      buffer.kind == Kind::kStepOutput ? segment.steps[buffer.owner_step].aliases : segment.aliases;
  if (std::ranges::find(aliases, value, &Alias::value) != aliases.end()) return;
  aliases.push_back({value, buffer.owner, *known.shape(), at.offset});
}

}  // namespace sardonyx
