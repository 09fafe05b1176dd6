// Nodes that only move elements and need no step, or copies at most: views, outputs that are parts
// of an input, and a Concat whose inputs are computed within its output.
#pragma once

#include "executor/plan/buffer_assigner.h"
#include "executor/plan/plan_context.h"
#include "executor/plan/step_emitter.h"

namespace sardonyx {

// Works on the context's current node.
class ViewPlanner {
 public:
  ViewPlanner(PlanContext& context, BufferAssigner& buffers, StepEmitter& emitter)
      : context_(context), buffers_(buffers), emitter_(emitter) {}

  // Plans the node if its outputs can be views; its outputs must be concrete. False: nothing is
  // planned.
  bool plan(const Inference& inference);

 private:
  bool plan_view(const Inference& inference);
  bool plan_parts(const Inference& inference);
  bool plan_concat(const Inference& inference);
  void set_view(ValueId value, const TypeInfoPtr& facts, BufferOffset at);

  PlanContext& context_;
  BufferAssigner& buffers_;
  StepEmitter& emitter_;
};

}  // namespace sardonyx
