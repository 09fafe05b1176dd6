// Planning of nodes that no kernel runs: the op is evaluated on whole values, or its body is a
// program.
#include "executor/plan/planner.h"

namespace sardonyx {

using State = PlanSegment::ValueState::State;

std::unique_ptr<Executable> Planner::body_program(const Node& node) const {
  auto graph = std::make_shared<Graph>();
  GraphEmitter emitter(*graph);
  emitter.set_origin(node);
  Vals inputs;
  for (size_t slot = 0; slot < node.formal_inputs(); ++slot) {
    if (!node.inputs[slot]) {
      inputs.emplace_back();
      continue;
    }
    const PlanSegment::ValueState& entry = known(input(slot));
    Value* made = graph->add_input("", entry.type());
    made->constant = entry.constant;
    inputs.push_back(GraphEmitter::wrap(made));
  }
  for (const Val& result :
       node.op->body(emitter, {*node.op, node.attrs, inputs, node.outputs.size()})) {
    if (result) graph->add_output(GraphEmitter::unwrap(result));
  }
  return std::make_unique<Executable>(std::move(graph), session_state_,
                                      session_state_.max_inner_plans());
}

void Planner::plan_evaluation(const Node& node, const Inference& inference) {
  Step step;
  step.node = &node;
  step.prepared = std::move(refused_);
  load_constants(/*all=*/true);
  for (const ValueId input : executable_.nodes_[node_index_].inputs) {
    step.inputs.push_back(input);
    if (input == kNoValue) continue;
    need_whole(input);
    note_shared(input);
    if (weight_uses_ && known(input).constant)
      session_state_.weight_residency.keep(*known(input).constant);
  }
  const size_t own_index = segment_->steps.size();  // behind reorders of the inputs
  if (node.op->body && !node.op->evaluate && !node.op->reference) step.body = body_program(node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId value = output(i);
    const TypeInfoPtr& facts = inference.outputs[i];
    const Type& type = facts->type;
    step.outputs.push_back(value);
    step.promised.emplace_back();
    if (value == kNoValue) continue;
    if (!type.is_tensor() && !type.is_none()) {
      set_typed(value, facts).is_datum = true;
    } else if (is_concrete(type)) {
      set_typed(value, facts);
      step.promised.back() = {type.dtype, *facts->shape};
      Root root;
      root.kind = Root::Kind::kStepOutput;
      root.owner = value;
      root.owner_step = own_index;
      root.bytes = plain_bytes(value);
      set_place(value, nullptr, {new_root(std::move(root)), 0});
    } else {
      refine(value).state = State::kDynamic;
    }
  }
  add_step(std::move(step));
}

// What an evaluated step gives may refer to what it was given: a sequence to its items, a branch to
// what it captures.
void Planner::note_shared(ValueId value) {
  const PlanSegment::ValueState& known = this->known(value);
  if (known.constant || !known.shape() || !known.type().is_tensor()) return;
  roots_[place_for(value, nullptr).root].is_shared = true;
}

// Where each evaluated step finds what is its own in a frame.
void Planner::number_slots() {
  segment_->all_aliases = segment_->aliases.size();
  for (Step& step : segment_->steps) {
    if (step.kernel) continue;
    step.first_result = static_cast<uint32_t>(segment_->results);
    step.first_alias = static_cast<uint32_t>(segment_->all_aliases);
    step.memory = static_cast<uint32_t>(segment_->memories++);
    segment_->results += step.outputs.size();
    segment_->all_aliases += step.aliases.size();
  }
}

}  // namespace sardonyx
