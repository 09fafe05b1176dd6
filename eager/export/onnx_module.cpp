#include "eager/export/onnx_module.h"

#include <unordered_map>

#include "eager/dispatch/dispatch.h"
#include "eager/nn/module_state.h"
#include "eager/trace/frame.h"
#include "ir/subgraph_extraction.h"
#include "onnx_io/load.h"

namespace sardonyx::eager {
namespace {

constexpr size_t kNone = SIZE_MAX;  // the slot of an omitted input or output

// A node as it is run: values are slots of one list.
struct NodeCall {
  const Node* node;
  std::string op;
  std::vector<size_t> inputs, outputs;
  std::vector<std::string> output_names;
  std::vector<size_t> last_uses;  // slots that nobody reads after this node
};

// Some node needs the value to know its outputs' shapes.
bool decides_shapes(const Value& value) {
  for (const Use& use : value.uses) {
    if (use.slot < 32 && (use.node->op->shape_inputs >> use.slot & 1u)) return true;
  }
  return false;
}

void check_type(const OnnxModule::Argument& declared, const Tensor& given) {
  if (!given.defined()) {
    fail(ErrorCode::kInvalidArgument, "input ", declared.name, ": expected ", declared.type,
         ", got an undefined tensor");
  }
  const Type type = given.type();
  bool fits = same_kind(type, declared.type);
  if (fits && type.shape && declared.type.shape) {
    fits = type.rank() == declared.type.rank();
    for (size_t i = 0; fits && i < type.rank(); ++i) {
      const Dim &a = (*type.shape)[i], &b = (*declared.type.shape)[i];
      fits = !a.is_known() || !b.is_known() || a == b;
    }
  }
  if (!fits) {
    fail(ErrorCode::kInvalidArgument, "input ", declared.name, ": expected ", declared.type,
         ", got ", type);
  }
}

}  // namespace

struct OnnxModule::Impl {
  Model model;
  std::vector<Argument> inputs, outputs;
  std::vector<std::pair<std::string, Tensor>> loaded;  // the parameters as they are in the file
  std::vector<size_t> parameter_slots;

  std::unordered_map<const Value*, size_t> slots;
  std::vector<size_t> input_slots, output_slots;
  std::vector<std::pair<size_t, Tensor>> constants;
  std::vector<NodeCall> calls;

  explicit Impl(Model of) : model(std::move(of)) {
    const Graph& graph = *model.graph;
    for (Value* input : graph.inputs()) {
      if (input->default_value) {
        add_constant(*input, *input->default_value);
        continue;
      }
      inputs.push_back({input->name, input->type});
      input_slots.push_back(slot_of(input));
    }
    for (const auto& node : graph.nodes())
      add_call(*node);
    for (Value* output : graph.outputs()) {
      if (output->constant && !slots.contains(output)) add_constant(*output, *output->constant);
      outputs.push_back({output->name, output->type});
      output_slots.push_back(slot_of(output));
    }
    find_last_uses();
  }

  size_t slot_of(const Value* value) {
    return value ? slots.try_emplace(value, slots.size()).first->second : kNone;
  }

  void add_constant(const Value& value, const sardonyx::Tensor& tensor) {
    const size_t slot = slot_of(&value);
    if (!is_floating(tensor.dtype()) || decides_shapes(value)) {
      constants.emplace_back(slot, literal(tensor));
      return;
    }
    parameter_slots.push_back(slot);
    loaded.emplace_back(value.name, Tensor(detail::make_impl(tensor)));
  }

  void add_call(const Node& node) {
    NodeCall& call = calls.emplace_back();
    call.node = &node;
    call.op = full_name(*node.op);
    for (const Value* input : node.inputs) {
      if (input && input->constant && !slots.contains(input))
        add_constant(*input, *input->constant);
      call.inputs.push_back(slot_of(input));
    }
    for (const Value* output : node.outputs) {
      call.outputs.push_back(slot_of(output));
      call.output_names.push_back(output ? output->name : "");
    }
  }

  void find_last_uses() {
    std::vector<bool> is_kept(slots.size());
    for (const size_t slot : output_slots)
      is_kept[slot] = true;
    for (const auto& [slot, constant] : constants)
      is_kept[slot] = true;
    for (const size_t slot : parameter_slots)
      is_kept[slot] = true;
    for (size_t i = calls.size(); i-- > 0;) {
      for (const std::vector<size_t>* list : {&calls[i].inputs, &calls[i].outputs}) {
        for (const size_t slot : *list) {
          if (slot == kNone || is_kept[slot]) continue;
          is_kept[slot] = true;
          calls[i].last_uses.push_back(slot);
        }
      }
    }
  }

  std::vector<Tensor> run(const std::vector<Tensor>& given, const nn::NamedTensors& parameters,
                          const Watcher& watcher, const Loc& loc) const;
};

namespace {

// Values of a trace are called as in the file.
void keep_names(const std::vector<Tensor>& tensors, const std::vector<std::string>& names) {
  TraceContext* frame = TraceContext::active();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].is_symbolic() || names[i].empty()) continue;
    const detail::TensorImpl& impl = *tensors[i].impl();
    if (frame && impl.frame.get() == frame && impl.symbol->producer &&
        !frame->graph().find_value(names[i])) {
      frame->graph().rename(*impl.symbol, names[i]);
    }
  }
}

// Parameters of a trace are called as in the file, unless whoever traces has named them.
void name_parameters(const nn::NamedTensors& parameters) {
  TraceContext* frame = TraceContext::active();
  if (!frame) return;
  for (const auto& [name, parameter] : parameters)
    frame->names.emplace(parameter.impl().get(), name);
}

}  // namespace

std::vector<Tensor> OnnxModule::Impl::run(const std::vector<Tensor>& given,
                                          const nn::NamedTensors& parameters,
                                          const Watcher& watcher, const Loc& loc) const {
  if (given.size() != inputs.size()) {
    fail(ErrorCode::kInvalidArgument, "expected ", inputs.size(), " inputs, got ", given.size());
  }
  name_parameters(parameters);
  std::vector<Tensor> values(slots.size());
  for (size_t i = 0; i < given.size(); ++i) {
    check_type(inputs[i], given[i]);
    values[input_slots[i]] = given[i];
  }
  for (const auto& [slot, constant] : constants)
    values[slot] = constant;
  for (size_t i = 0; i < parameters.size(); ++i)
    values[parameter_slots[i]] = parameters[i].second;
  std::vector<Tensor> in, out;
  for (const NodeCall& call : calls) {
    const Node& node = *call.node;
    in.clear();
    for (const size_t slot : call.inputs)
      in.push_back(slot == kNone ? Tensor() : values[slot]);
    out.assign(call.outputs.size(), Tensor());
    const ScopeName scope(node.scope);
    try {
      eager::apply({*node.op, node.attrs, in, node.captures, loc, node.name}, out);
    } catch (const Error& error) {
      throw error.with_context("node " + node.name).at_node(node.name);
    }
    keep_names(out, call.output_names);
    if (watcher) watcher({node.name, call.op, node.scope, node.source, in, out, call.output_names});
    for (size_t i = 0; i < out.size(); ++i) {
      if (call.outputs[i] != kNone) values[call.outputs[i]] = std::move(out[i]);
    }
    for (const size_t slot : call.last_uses)
      values[slot] = Tensor();
  }
  std::vector<Tensor> results;
  for (const size_t slot : output_slots)
    results.push_back(values[slot]);
  return results;
}

OnnxModule::OnnxModule(const std::filesystem::path& path, const LoadOptions& options)
    : OnnxModule(load_model(path, options)) {}

OnnxModule::OnnxModule(Model model)
    : Module("OnnxModule", model.graph->name), impl_(std::make_shared<Impl>(std::move(model))) {
  // Names have dots here, which those of parameter() have not.
  nn::detail::ModuleState& state = nn::detail::ModuleState::mutable_of(*this);
  for (const auto& [name, tensor] : impl_->loaded)
    state.parameters.push_back({name, tensor});
}

const std::vector<OnnxModule::Argument>& OnnxModule::inputs() const {
  return impl_->inputs;
}
const std::vector<OnnxModule::Argument>& OnnxModule::outputs() const {
  return impl_->outputs;
}
namespace {

// In the file's order, shared ones as often as they stand in it.
nn::NamedTensors entries_of(const OnnxModule& module, size_t count) {
  nn::NamedTensors found;
  for (const auto& entry : nn::detail::ModuleState::of(module).parameters)
    found.emplace_back(entry.name, entry.tensor);
  if (found.size() == count) return found;
  fail(ErrorCode::kInvalidArgument, "the model has ", count, " parameters, of which ", found.size(),
       " are left; replace_parameter() gives each another value, not none");
}

}  // namespace

std::vector<Tensor> OnnxModule::run(const std::vector<Tensor>& inputs, const Watcher& watcher,
                                    const Loc& loc) const {
  const auto run = [&](const std::vector<Tensor>& given) {
    return impl_->run(given, entries_of(*this, impl_->loaded.size()), watcher, loc);
  };
  return call(loc, run, inputs);
}
std::vector<Tensor> OnnxModule::operator()(const std::vector<Tensor>& inputs, Loc loc) const {
  return run(inputs, {}, loc);
}
std::vector<Tensor> OnnxModule::step_through(const std::vector<Tensor>& inputs,
                                             const Watcher& watcher, Loc loc) const {
  return run(inputs, watcher, loc);
}
Tensor OnnxModule::single(const Tensor& x, const Loc& loc) const {
  if (impl_->outputs.size() == 1) return run({x}, {}, loc)[0];
  std::string names;
  for (const Argument& output : impl_->outputs)
    names += " " + output.name;
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": the model gives ", impl_->outputs.size(),
       " outputs:", names, "; call it with {x}, or cut() it at one");
}

OnnxModule OnnxModule::cut(const std::vector<std::string>& outputs,
                           const std::vector<std::string>& inputs) const {
  if (outputs.empty())
    fail(ErrorCode::kInvalidArgument, "cut: expected names of outputs, got none");
  Model part = impl_->model;
  part.graph = extract(*impl_->model.graph, inputs, outputs);
  const OnnxModule made(std::move(part));
  for (auto& entry : nn::detail::ModuleState::mutable_of(made).parameters) {
    for (const auto& own : nn::detail::ModuleState::of(*this).parameters) {
      if (own.name == entry.name) entry.tensor = own.tensor;
    }
  }
  made.train(is_training());
  return made;
}

Tensor OnnxModule::parameter(const std::string& name) const {
  for (const auto& entry : nn::detail::ModuleState::of(*this).parameters) {
    if (entry.name == name) return entry.tensor;
  }
  fail(ErrorCode::kInvalidArgument, "the model has no parameter ", name);
}

void OnnxModule::set_requires_grad(
    bool value,
    const std::function<bool(const std::string& name, const Tensor& parameter)>& wanted) const {
  for (const auto& [name, parameter] : named_parameters()) {
    if (!wanted || wanted(name, parameter)) Tensor(parameter).set_requires_grad(value);
  }
}

Model OnnxModule::model() const {
  Model copy = impl_->model;
  copy.graph = clone(*impl_->model.graph);
  for (const auto& [name, parameter] : entries_of(*this, impl_->loaded.size())) {
    Value* value = copy.graph->find_value(name);
    auto& held = value->default_value ? value->default_value : value->constant;
    if (parameter.data().dtype() != held->dtype() || parameter.data().shape() != held->shape()) {
      fail(ErrorCode::kInvalidArgument, "model: the parameter ", name, " is ", parameter.type(),
           " now, in the file it is ", held->dtype(), to_text(held->shape()),
           "; export_onnx() writes the module with it");
    }
    held = std::make_shared<const sardonyx::Tensor>(parameter.data());
  }
  return copy;
}

}  // namespace sardonyx::eager
