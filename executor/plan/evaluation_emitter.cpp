// Steps of nodes that no kernel runs: the op is evaluated on whole values, or its body runs as an
// executable of its own.
#include "executor/plan/shape_specializer.h"
#include "executor/plan/step_emitter.h"
#include "executor/run/executable.h"

namespace sardonyx {

std::shared_ptr<Executable> StepEmitter::body_of(const Node& node) const {
  auto graph = std::make_shared<Graph>();
  GraphEmitter emitter(*graph);
  emitter.set_origin(node);
  Vals inputs;
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    if (!node.inputs[slot]) {
      inputs.emplace_back();
      continue;
    }
    const ValueState& known = context_.known[context_.input(slot)];
    Value* made = graph->add_input("", known.type());
    made->constant = known.constant;
    inputs.push_back(GraphEmitter::wrap(made));
  }
  for (const Val& result :
       node.op->body(emitter, {*node.op, node.attrs, inputs, node.outputs.size()})) {
    if (result) graph->add_output(GraphEmitter::unwrap(result));
  }
  return std::make_shared<Executable>(std::move(graph), context_.session,
                                      context_.session.max_inner_plans());
}

void StepEmitter::read_evaluated(Step& step) {
  context_.load_constants(/*all=*/true);
  for (const ValueId input : context_.indexed().inputs) {
    step.inputs.push_back(input);
    if (input == kNoValue) continue;
    materialize(input);
    mark_shared(input);
    if (context_.weight_uses && context_.known[input].constant)
      context_.session.weight_residency.keep(*context_.known[input].constant);
  }
}

void StepEmitter::emit_evaluation(const Inference& inference,
                                  std::shared_ptr<const PreparedStep> refused) {
  const Node& node = context_.node();
  Step step;
  step.node = &node;
  step.prepared = std::move(refused);
  read_evaluated(step);
  const size_t own_index = context_.segment->steps.size();  // after reorders of the inputs
  if (node.op->body && !node.op->evaluate && !node.op->reference) step.body = body_of(node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId value = context_.output(i);
    const TypeInfoPtr& facts = inference.outputs[i];
    const Type& type = facts->type;
    step.outputs.push_back(value);
    step.promised.emplace_back();
    if (value == kNoValue) continue;
    if (!type.is_tensor() && !type.is_none()) {
      context_.known.set_typed(value, facts).is_datum = true;
    } else if (is_concrete(type)) {
      context_.known.set_typed(value, facts);
      step.promised.back() = {type.dtype, *facts->shape};
      PlannedBuffer buffer;
      buffer.kind = PlannedBuffer::Kind::kStepOutput;
      buffer.owner = value;
      buffer.owner_step = own_index;
      buffer.bytes = facts->plain_bytes();
      buffers_.place(value, nullptr, {buffers_.add(std::move(buffer)), 0});
    } else {
      context_.known.refine(value).state = ValueState::TypeState::kDynamic;
    }
  }
  context_.segment->steps.push_back(std::move(step));
}

// The outputs of an evaluated step may refer to its inputs: a sequence to its items, a branch to
// its captures.
void StepEmitter::mark_shared(ValueId value) {
  const ValueState& known = context_.known[value];
  if (known.constant || !known.shape() || !known.type().is_tensor()) return;
  buffers_[read(value, nullptr).buffer].is_shared = true;
}

void StepEmitter::number_results() {
  PlanSegment& segment = *context_.segment;
  segment.all_aliases = segment.aliases.size();
  for (Step& step : segment.steps) {
    if (step.kernel) continue;
    step.first_result = static_cast<uint32_t>(segment.results);
    step.first_alias = static_cast<uint32_t>(segment.all_aliases);
    step.memory = static_cast<uint32_t>(segment.memories++);
    segment.results += step.outputs.size();
    segment.all_aliases += step.aliases.size();
  }
}

}  // namespace sardonyx
