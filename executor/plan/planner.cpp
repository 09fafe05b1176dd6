#include "executor/plan/planner.h"

#include <algorithm>

#include "executor/plan/buffer_assigner.h"
#include "executor/plan/kernel_selector.h"
#include "executor/plan/shape_specializer.h"
#include "executor/plan/step_emitter.h"
#include "executor/plan/view_planner.h"
#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

using TypeState = ValueState::TypeState;

class SegmentPlanner {
 public:
  explicit SegmentPlanner(const PlanRequest& request) : context_(request) {
    const size_t left = context_.graph.nodes().size() - context_.node_index;
    context_.segment->steps.reserve(left);
  }

  std::shared_ptr<PlanSegment> plan() {
    const size_t node_count = context_.graph.nodes().size();
    while (context_.node_index < node_count && plan_next())
      ++context_.node_index;
    SARDONYX_CHECK(context_.node_index > context_.parent.next_node ||
                   context_.node_index == node_count);
    context_.segment->next_node = context_.node_index;
    finish();
    return std::move(context_.segment);
  }

 private:
  // False where the segment ends before this node.
  bool plan_next() {
    check_interrupted();
    try {
      return shapes_.can_leave_out() || plan_node();
    } catch (const Error& error) {
      const Node& node = context_.node();
      if (!error.node().empty() || node.name.empty()) throw;
      throw error.with_context("node " + node.name + source_text(node)).at_node(node.name);
    }
  }

  bool plan_node() {
    for (const ValueId input : context_.indexed().inputs) {
      if (input == kNoValue) continue;
      shapes_.compute_if_left_out(input);
      if (context_.known[input].state == TypeState::kDynamic) return false;
    }
    if (!shapes_.bind_shape_inputs()) return false;
    const Inference& inference = shapes_.infer();
    if (shapes_.fold(inference)) return true;
    std::shared_ptr<const PreparedStep> prepared;
    if (inference.is_concrete) {
      if (views_.plan(inference)) return true;
      if (may_have_kernel()) prepared = kernels_.select(inference);
    }
    if (prepared && prepared->kernel)
      emitter_.emit_kernel(std::move(prepared), inference);
    else
      emitter_.emit_evaluation(inference, std::move(prepared));
    return true;
  }

  bool may_have_kernel() const {
    if (context_.op().evaluate) return false;
    for (size_t slot = 0; slot < context_.indexed().formal_inputs; ++slot) {
      const ValueId input = context_.input(slot);
      if (input != kNoValue && !context_.known[input].type().is_tensor()) return false;
    }
    return true;
  }

  void finish() {
    materialize_live_out();
    const std::span<const ValueId> outputs = context_.graph.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueState& output = context_.known[outputs[i]];
      if (output.state == TypeState::kTyped && output.facts)
        context_.segment->known_outputs.emplace_back(i, output.facts);
    }
    bind_buffers(context_, buffers_);
    emitter_.number_results();
    if (!is_last()) context_.segment->known = context_.known.take();
  }

  // Materializes the values that later segments or the caller read.
  void materialize_live_out() {
    const std::span<const size_t> last_uses = context_.graph.last_uses();
    for (ValueId value = 0; value < context_.known.size(); ++value) {
      if (last_uses[value] < context_.node_index || last_uses[value] == 0) continue;
      const bool is_output = context_.graph.output_index(value) >= 0;
      if (is_output) shapes_.compute_if_left_out(value);
      const ValueState& known = context_.known[value];
      if (known.state != TypeState::kTyped) continue;
      if (known.constant && (!is_output || !is_last())) continue;
      emitter_.materialize(value);
    }
  }

  bool is_last() const { return context_.node_index == context_.graph.nodes().size(); }

  PlanContext context_;
  ShapeSpecializer shapes_{context_};
  BufferAssigner buffers_{context_};
  KernelSelector kernels_{context_, buffers_};
  StepEmitter emitter_{context_, buffers_, kernels_};
  ViewPlanner views_{context_, buffers_, emitter_};
};

}  // namespace

std::shared_ptr<PlanSegment> plan_segment(const PlanRequest& request) {
  const PackedWeightArena::Scope packing(request.session.packed_weight_arena);
  return SegmentPlanner(request).plan();
}

}  // namespace sardonyx
