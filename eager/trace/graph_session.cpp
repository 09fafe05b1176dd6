#include "eager/trace/graph_session.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/dispatch/engine.h"
#include "eager/trace/frame.h"
#include "executor/session.h"
#include "ir/pass.h"

namespace sardonyx::eager {

struct GraphBuilder::Impl {
  std::shared_ptr<TraceContext> frame;
  std::optional<FrameScope> scope;
  struct Variable {
    Value* input;
    Datum initial;
  };
  std::map<const Value*, Variable> variables;  // by their inputs
  std::map<const Value*, Value*> updates;      // value given to assign(), and the variable's input

  ~Impl() { frame->finish(); }

  Value* value_of(const Tensor& tensor, const Loc& loc) const {
    if (!tensor.is_symbolic() || tensor.impl()->frame != frame) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", tensor.text(),
           " is no tensor of the graph ", frame->graph().name);
    }
    return tensor.impl()->symbol;
  }

  const Variable& variable_of(const Tensor& tensor, const Loc& loc) const {
    const auto found = variables.find(value_of(tensor, loc));
    if (found == variables.end())
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", tensor.text(), " is no variable");
    return found->second;
  }
};

GraphBuilder::GraphBuilder(const std::string& name) : impl_(std::make_shared<Impl>()) {
  impl_->frame = TraceContext::make(TraceContext::Kind::kConstants, name);
  impl_->frame->runs_here = true;
  impl_->scope.emplace(*impl_->frame);
}

GraphBuilder::~GraphBuilder() {
  end();
}

void GraphBuilder::end() {
  impl_->scope.reset();
}

namespace {

// Gradients may be asked for with respect to any tensor, so all ops are noted.
Tensor tracked(Tensor tensor) {
  if (is_floating(tensor.dtype())) tensor.set_requires_grad();
  return tensor;
}

}  // namespace

Tensor GraphBuilder::placeholder(DType dtype, const Dims& shape, const std::string& name) {
  return tracked(
      impl_->frame->add_input(name.empty() ? "placeholder" : name, Type::tensor(dtype, shape)));
}

Tensor GraphBuilder::variable(const Tensor& initial, const std::string& name) {
  const Datum& value = initial.datum();
  Tensor made = impl_->frame->add_input(name.empty() ? "variable" : name, value.type());
  Value* input = made.impl()->symbol;
  impl_->variables[input] = {input, value};
  return tracked(std::move(made));
}

Tensor GraphBuilder::assign(const Tensor& variable, const Tensor& value, Loc loc) {
  const Impl::Variable& target = impl_->variable_of(variable, loc);
  const Type type = value.type();
  bool fits =
      same_kind(type, target.input->type) && type.shape && type.rank() == target.input->type.rank();
  for (size_t i = 0; fits && i < type.rank(); ++i)
    fits = !(*type.shape)[i].is_known() || (*type.shape)[i] == (*target.input->type.shape)[i];
  if (!fits) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": assign to the variable ", target.input->name,
         ": expected a value of type ", target.input->type, ", got ", type);
  }
  // A value of its own: fetching `value` itself must not assign.
  Graph& graph = impl_->frame->graph();
  GraphEmitter emitter(graph);
  emitter.set_origin(graph.fresh_name("assign"), "", text_of(loc));
  const Val from = GraphEmitter::wrap(impl_->frame->value_of(value, loc));
  Value* update = GraphEmitter::unwrap(emitter.call("Identity", {from}));
  impl_->updates[update] = target.input;
  return impl_->frame->wrap(update);
}

std::vector<Tensor> GraphBuilder::gradients(const Tensor& y, const std::vector<Tensor>& xs,
                                            Loc loc) {
  return gradients(std::vector<Tensor>{y}, xs, loc);
}

std::vector<Tensor> GraphBuilder::gradients(const std::vector<Tensor>& ys,
                                            const std::vector<Tensor>& xs, Loc loc) {
  for (const std::vector<Tensor>* list : {&ys, &xs}) {
    for (const Tensor& tensor : *list)
      impl_->value_of(tensor, loc);
  }
  const FrameScope scope(*impl_->frame);
  GradOptions options{.create_graph = true, .retain_graph = true, .allow_unused = true};
  for (const Tensor& y : ys)
    options.grad_outputs.push_back(ones_like(y, loc));
  return grad(ys, xs, options, loc);
}

namespace {

Tensor fed_value(const Tensor& placeholder, const Operand& value) {
  if (value.tensor) return *value.tensor;
  const DType dtype = placeholder.dtype();
  if (value.is_fraction && !is_floating(dtype)) {
    fail(ErrorCode::kInvalidArgument, text_of(value.loc), ": the fraction ", value.number,
         " is fed to a placeholder of ", dtype);
  }
  return Tensor(filled(dtype, {}, value));
}

}  // namespace

Feed::Feed(const Tensor& placeholder, const Operand& value)
    : placeholder(placeholder), value(fed_value(placeholder, value)) {}

struct GraphSession::Impl {
  // The session of one combination of fetches.
  struct FetchSession {
    std::unique_ptr<Session> session;
    std::vector<Value*> inputs;  // of the builder's graph, in the session's order
  };

  std::shared_ptr<GraphBuilder::Impl> builder;
  GraphSessionOptions options;
  std::map<std::vector<const Value*>, FetchSession> prepared;
  std::map<const Value*, Datum> values;  // of variables that were set

  const Datum& value_of(const GraphBuilder::Impl::Variable& variable) const {
    const auto set = values.find(variable.input);
    return set == values.end() ? variable.initial : set->second;
  }

  std::shared_ptr<Graph> part(const std::vector<const Value*>& fetches) const;
  FetchSession& prepare(const std::vector<const Value*>& fetches);
  std::vector<Datum> inputs_of(const FetchSession& plan, const std::vector<Feed>& feeds,
                               const Loc& loc) const;
};

// A copy of the graph with the fetches as outputs and nothing that they do not need.
std::shared_ptr<Graph> GraphSession::Impl::part(const std::vector<const Value*>& fetches) const {
  std::shared_ptr<Graph> graph = clone(builder->frame->graph());
  GraphEmitter emitter(*graph);
  for (const Value* fetch : fetches) {
    Value* value = graph->find_value(fetch->name);
    if (!value->producer || graph->is_output(*value))
      value = GraphEmitter::unwrap(emitter.call("Identity", {GraphEmitter::wrap(value)}));
    graph->add_output(value);
  }
  remove_dead_nodes(*graph);
  const std::vector<Value*> inputs = graph->inputs();
  for (Value* input : inputs) {
    if (input->uses.empty() && !graph->is_output(*input)) graph->erase_value(*input);
  }
  return graph;
}

GraphSession::Impl::FetchSession& GraphSession::Impl::prepare(
    const std::vector<const Value*>& fetches) {
  const auto known = prepared.find(fetches);
  if (known != prepared.end()) return known->second;
  Model model;
  model.graph = part(fetches);
  FetchSession plan;
  for (const Value* input : model.graph->inputs())
    plan.inputs.push_back(builder->frame->graph().find_value(input->name));
  SessionOptions session;
  session.intra_op_threads = options.threads > 0 ? options.threads : num_threads();
  session.optimization_level = options.optimization_level;
  plan.session = std::make_unique<Session>(std::move(model), session);
  return prepared.emplace(fetches, std::move(plan)).first->second;
}

std::vector<Datum> GraphSession::Impl::inputs_of(const FetchSession& plan,
                                                 const std::vector<Feed>& feeds,
                                                 const Loc& loc) const {
  std::map<const Value*, Datum> fed;
  for (const Feed& feed : feeds) {
    const Value* value = builder->value_of(feed.placeholder, loc);
    if (value->producer) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", value->name,
           " is computed by the graph; only placeholders and variables can be fed");
    }
    if (!fed.emplace(value, feed.value.datum(loc)).second)
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", value->name, " is fed twice");
  }
  std::vector<Datum> inputs;
  for (const Value* input : plan.inputs) {
    const auto given = fed.find(input);
    const auto variable = builder->variables.find(input);
    if (given != fed.end()) {
      inputs.push_back(given->second);
    } else if (variable != builder->variables.end()) {
      inputs.push_back(value_of(variable->second));
    } else {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": the placeholder ", input->name, " (",
           input->type, ") is needed and was not fed");
    }
  }
  return inputs;
}

GraphSession::GraphSession(const GraphBuilder& graph, GraphSessionOptions options)
    : impl_(std::make_unique<Impl>()) {
  impl_->builder = graph.impl_;
  impl_->options = options;
}
GraphSession::~GraphSession() = default;

std::vector<Tensor> GraphSession::run(const std::vector<Tensor>& fetches,
                                      const std::vector<Feed>& feeds, Loc loc) {
  std::vector<const Value*> wanted;
  for (const Tensor& fetch : fetches)
    wanted.push_back(impl_->builder->value_of(fetch, loc));
  Impl::FetchSession& plan = impl_->prepare(wanted);
  const std::vector<Datum> outputs =
      plan.session->run(std::span<const Datum>(impl_->inputs_of(plan, feeds, loc)));
  std::vector<Tensor> results;
  for (size_t i = 0; i < wanted.size(); ++i) {
    results.emplace_back(outputs[i]);
    const auto update = impl_->builder->updates.find(wanted[i]);
    if (update != impl_->builder->updates.end()) impl_->values[update->second] = outputs[i];
  }
  return results;
}

Tensor GraphSession::value(const Tensor& variable) const {
  return Tensor(impl_->value_of(impl_->builder->variable_of(variable, Loc::current())));
}

void GraphSession::set_value(const Tensor& variable, const Tensor& value) {
  const auto& target = impl_->builder->variable_of(variable, Loc::current());
  if (!(value.datum().type() == target.input->type)) {
    fail(ErrorCode::kInvalidArgument, "the variable ", target.input->name,
         ": expected a value of type ", target.input->type, ", got ", value.datum().type());
  }
  impl_->values[target.input] = value.datum();
}

Model GraphSession::model(const std::vector<Tensor>& fetches) const {
  std::vector<const Value*> wanted;
  for (const Tensor& fetch : fetches)
    wanted.push_back(impl_->builder->value_of(fetch, Loc::current()));
  Model made;
  made.graph = impl_->part(wanted);
  const std::vector<Value*> inputs = made.graph->inputs();
  for (Value* input : inputs) {
    const auto variable =
        impl_->builder->variables.find(impl_->builder->frame->graph().find_value(input->name));
    if (variable == impl_->builder->variables.end()) continue;
    const std::string name = input->name;
    Value* constant = made.graph->add_constant("", impl_->value_of(variable->second).tensor());
    made.graph->replace_uses(*input, *constant);
    made.graph->erase_value(*input);
    made.graph->rename(*constant, name);
  }
  return made;
}

}  // namespace sardonyx::eager
