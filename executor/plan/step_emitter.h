// Writes the steps of a segment: kernels, the reorders and copies between them, and ops that are
// evaluated on whole values.
#pragma once

#include <memory>

#include "executor/plan/buffer_assigner.h"
#include "executor/plan/kernel_selector.h"
#include "executor/plan/plan_context.h"

namespace sardonyx {

class StepEmitter {
 public:
  StepEmitter(PlanContext& context, BufferAssigner& buffers, KernelSelector& kernels)
      : context_(context), buffers_(buffers), kernels_(kernels) {}

  // Emits the current node as a step with the kernel of `prepared`. Weights that no later node
  // reads unpacked are evicted.
  void emit_kernel(std::shared_ptr<const PreparedStep> prepared, const Inference& inference);
  // Emits the current node as a step that evaluates its op or, where this has only a body, runs the
  // body. `refused` tells which kernels did not take it; null where the session keeps no refusals.
  void emit_evaluation(const Inference& inference, std::shared_ptr<const PreparedStep> refused);
  // Emits a copy of `value`, row-major and of `bytes` bytes, as a step of the current node.
  void emit_copy(ValueId value, BufferOffset to, size_t bytes);

  // The place of `value` in `layout`; emits a reorder where it exists only in other layouts.
  BufferOffset read(ValueId value, const LayoutPtr& layout, bool reads_anywhere = false);
  // Makes the run hold `value` as a Datum.
  void materialize(ValueId value);
  // Assigns the evaluated steps their indices in the RunContext. Call it after the last step.
  void number_results();

 private:
  Step make_step(std::shared_ptr<const PreparedStep> prepared, size_t inputs, size_t outputs);
  BufferOffset reorder(ValueId value, const LayoutPtr& to);
  void release_packed(uint32_t unread_inputs);
  void read_evaluated(Step& step);
  std::shared_ptr<Executable> body_of(const Node& node) const;
  void mark_shared(ValueId value);

  PlanContext& context_;
  BufferAssigner& buffers_;
  KernelSelector& kernels_;
};

}  // namespace sardonyx
