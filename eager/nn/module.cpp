#include "eager/nn/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "eager/autograd/autograd.h"
#include "eager/nn/module_state.h"
#include "eager/nn/state_dict.h"
#include "eager/tensor_impl.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager::nn {
namespace {

using detail::ModuleState;
using StatePtr = std::shared_ptr<ModuleState>;

thread_local Loc t_caller;
thread_local const ModuleState* t_running = nullptr;  // the innermost module that is called

// "sardonyx::eager::nn::Linear" as "Linear".
std::string short_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> full(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? full.get() : type.name();
  const size_t arguments = name.find('<');
  const size_t colon = name.rfind(':', arguments);
  return colon == name.npos ? name : name.substr(colon + 1);
}

// Each module below `state` once, parents first, with its path.
template <typename Visit>
void walk(const StatePtr& state, const std::string& path, std::unordered_set<ModuleState*>& seen,
          const Visit& visit) {
  if (!seen.insert(state.get()).second) return;
  visit(path, state);
  for (const ModuleState::Child& child : state->children)
    walk(child.state, path_below(path, child.name), seen, visit);
}

template <typename Visit>
void for_each_module(const StatePtr& state, const Visit& visit) {
  std::unordered_set<ModuleState*> seen;
  walk(state, "", seen, visit);
}

NamedTensors named(const StatePtr& state, std::vector<ModuleState::Entry> ModuleState::*list) {
  NamedTensors found;
  std::unordered_set<const void*> seen;
  for_each_module(state, [&](const std::string& path, const StatePtr& module) {
    for (const ModuleState::Entry& entry : (*module).*list) {
      if (seen.insert(entry.tensor.impl().get()).second)
        found.emplace_back(path_below(path, entry.name), entry.tensor);
    }
  });
  return found;
}

std::vector<Tensor> without_names(const NamedTensors& list) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : list)
    tensors.push_back(tensor);
  return tensors;
}

// All names, those of shared tensors and modules too.
void collect_state(const ModuleState& state, const std::string& path, NamedTensors& found) {
  for (const ModuleState::Entry& entry : state.parameters)
    found.emplace_back(path_below(path, entry.name), entry.tensor);
  for (const ModuleState::Entry& entry : state.buffers) {
    if (entry.is_persistent) found.emplace_back(path_below(path, entry.name), entry.tensor);
  }
  for (const ModuleState::Child& child : state.children)
    collect_state(*child.state, path_below(path, child.name), found);
}

void check_name(const ModuleState& state, const std::string& name) {
  if (name.empty() || name.find('.') != name.npos) {
    fail(ErrorCode::kInvalidArgument, state.type_name, ": expected a name without dots, got '",
         name, "'");
  }
  const auto is_it = [&](const auto& entry) { return entry.name == name; };
  if (std::ranges::any_of(state.parameters, is_it) || std::ranges::any_of(state.buffers, is_it) ||
      std::ranges::any_of(state.children, is_it)) {
    fail(ErrorCode::kInvalidArgument, state.type_name, ": the name '", name, "' is taken");
  }
}

bool contains(const StatePtr& tree, const ModuleState* wanted) {
  bool found = false;
  for_each_module(
      tree, [&](const std::string&, const StatePtr& module) { found |= module.get() == wanted; });
  return found;
}

// Paths of modules in lists start with the list's own name.
void set_path(ModuleState& state, const std::string& path) {
  state.path = path;
  if (!state.is_container) return;
  for (ModuleState::Child& child : state.children)
    set_path(*child.state, path_below(path, child.name));
}

void check_no_trace(const char* what) {
  if (!TraceContext::active()) return;
  fail(ErrorCode::kInvalidArgument, what, " changes a module while a graph is recorded; call it ",
       "before the trace");
}

// Gives all handles of a tensor another value, of any type.
void set_value(const Tensor& tensor, const Tensor& value) {
  eager::detail::TensorImpl& impl = *tensor.impl();
  impl.value = value.datum();
  ++impl.version;
  tensor.zero_grad();
}

// What a call computes with besides tensors and mode.
struct PartsAndHooks {
  size_t edits;
  std::vector<size_t> hooks, pre_hooks;  // their numbers, which are never used again
  bool operator==(const PartsAndHooks&) const = default;
};

PartsAndHooks parts_and_hooks(const ModuleState& module) {
  return {module.edits, module.hooks->numbers(), module.pre_hooks->numbers()};
}

// A trace holds what the module's parts and hooks were when it first used or changed them: a hook
// that the traced function itself registers and removes is no condition of it.
void note_parts(const StatePtr& module) {
  TraceContext* frame = TraceContext::active();
  if (!frame) return;
  frame->root().guards.note({module.get(), 'e'}, [module, was = parts_and_hooks(*module)] {
    return parts_and_hooks(*module) == was
               ? std::string()
               : text(module->type_name, module->path.empty() ? "" : " (" + module->path + ")",
                      " has other parts or hooks now");
  });
}

}  // namespace

Module::Module(std::string type_name, std::string description)
    : state_(std::make_shared<ModuleState>()) {
  state_->type_name = std::move(type_name);
  state_->description = std::move(description);
}

Module::Module(const std::type_info& type) : Module(short_name(type)) {}

void Module::set_is_container() const {
  state_->is_container = true;
}
void Module::describe(std::string description) const {
  state_->description = std::move(description);
}
const Loc& Module::caller() {
  return t_caller;
}
const std::string& Module::type_name() const {
  return state_->type_name;
}
const std::string& Module::description() const {
  return state_->description;
}

Tensor Module::parameter(const std::string& name, Tensor init) {
  check_name(*state_, name);
  if (!init.defined()) return init;
  if (!init.is_leaf()) init = init.detach();
  init.set_requires_grad();
  state_->parameters.push_back({name, init});
  return init;
}

Tensor Module::buffer(const std::string& name, Tensor init, bool is_persistent) {
  check_name(*state_, name);
  if (!init.defined()) return init;
  state_->buffers.push_back({name, init, is_persistent});
  return init;
}

void Module::add_child(const std::string& name, const Module& child, bool may_replace) {
  if (contains(child.state_, state_.get())) {
    fail(ErrorCode::kInvalidArgument, type_name(), ": '", name,
         "' would hold the module that it is added to");
  }
  ++state_->edits;
  const auto known = std::ranges::find(state_->children, name, &ModuleState::Child::name);
  if (may_replace && known != state_->children.end()) {
    known->state = child.state_;
  } else {
    check_name(*state_, name);
    state_->children.push_back({name, child.state_});
  }
  child.state_->is_added = true;
  set_path(*child.state_, state_->is_container ? path_below(state_->path, name) : name);
  child.train(is_training());
}

namespace {

using Entries = std::vector<ModuleState::Entry>;

std::string names_of(const auto& entries) {
  std::string names;
  for (const auto& entry : entries)
    names += (names.empty() ? "" : ", ") + entry.name;
  return names.empty() ? "none" : names;
}

const auto& entry_named(const auto& entries, const std::string& name, const char* what,
                        const ModuleState& module) {
  const auto at = std::ranges::find_if(entries, [&](const auto& e) { return e.name == name; });
  if (at != entries.end()) return *at;
  fail(ErrorCode::kInvalidArgument, module.type_name, ": no ", what, " '", name, "'; it has ",
       names_of(entries));
}

Tensor replaced(ModuleState& module, Entries& entries, const std::string& name, const char* what,
                Tensor value) {
  const ModuleState::Entry& known = entry_named(entries, name, what, module);
  Entries::iterator at = entries.begin() + (&known - entries.data());
  ++module.edits;
  if (value.defined()) {
    at->tensor = value;
  } else {
    entries.erase(at);
  }
  return value;
}

// "blocks.0.weight" as "blocks.0" and "weight".
std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == path.npos) return {"", path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace

Tensor Module::replace_parameter(const std::string& name, Tensor value) {
  if (value.defined() && !value.is_leaf()) value = value.detach();
  if (value.defined()) value.set_requires_grad();
  return replaced(*state_, state_->parameters, name, "parameter", std::move(value));
}
Tensor Module::replace_buffer(const std::string& name, Tensor value) {
  return replaced(*state_, state_->buffers, name, "buffer", std::move(value));
}
void Module::remove(const std::string& name) {
  const auto is_it = [&](const auto& entry) { return entry.name == name; };
  ++state_->edits;
  std::erase_if(state_->parameters, is_it);
  std::erase_if(state_->buffers, is_it);
  std::erase_if(state_->children, is_it);
}

namespace {

// Is it what it is registered as? A member without a name is undefined, or any of them.
bool is_registered(const ModuleState& state, const detail::MemberTensor& member) {
  for (const Entries* entries : {&state.parameters, &state.buffers}) {
    for (const ModuleState::Entry& entry : *entries) {
      const bool is_same = entry.tensor.is_same(member.tensor);
      if (member.name ? entry.name == member.name : is_same) return is_same;
    }
  }
  return !member.tensor.defined();
}

}  // namespace

void detail::require_registered(const Module& module, std::initializer_list<MemberTensor> members) {
  const ModuleState& state = ModuleState::of(module);
  if (t_running != &state) return;
  for (const auto& [name, tensor] : members) {
    if (is_registered(state, {name, tensor})) continue;
    if (!name) {
      fail(ErrorCode::kInvalidArgument, state.type_name, ": a parameter was replaced, which it ",
           "can't be in this layer; give it another value with assign()");
    }
    fail(ErrorCode::kInvalidArgument, state.type_name, ": ", name, " is another tensor than the ",
         "registered one, which is what is trained and saved; set both: layer.", name,
         " = layer.replace_parameter(\"", name, "\", tensor)");
  }
}

Module Module::get_submodule(const std::string& path) const {
  StatePtr found = state_;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    found = entry_named(found->children, name, "module", *found).state;
    begin = end + 1;
  }
  return Module(std::move(found));
}
Tensor Module::get_parameter(const std::string& path) const {
  // A loaded model's names have dots.
  for (const ModuleState::Entry& entry : state_->parameters) {
    if (entry.name == path) return entry.tensor;
  }
  const auto [owner, name] = split_path(path);
  const StatePtr module = get_submodule(owner).state_;
  return entry_named(module->parameters, name, "parameter", *module).tensor;
}
Tensor Module::get_buffer(const std::string& path) const {
  const auto [owner, name] = split_path(path);
  const StatePtr module = get_submodule(owner).state_;
  return entry_named(module->buffers, name, "buffer", *module).tensor;
}

NamedTensors Module::named_parameters() const {
  return named(state_, &ModuleState::parameters);
}
std::vector<Tensor> Module::parameters() const {
  return without_names(named_parameters());
}
NamedTensors Module::named_buffers() const {
  return named(state_, &ModuleState::buffers);
}
std::vector<Tensor> Module::buffers() const {
  return without_names(named_buffers());
}

std::vector<std::pair<std::string, Module>> Module::named_children() const {
  std::vector<std::pair<std::string, Module>> found;
  for (const ModuleState::Child& child : state_->children)
    found.emplace_back(child.name, Module(child.state));
  return found;
}

std::vector<std::pair<std::string, Module>> Module::named_modules() const {
  std::vector<std::pair<std::string, Module>> found;
  for_each_module(state_, [&](const std::string& path, const StatePtr& module) {
    found.emplace_back(path, Module(module));
  });
  return found;
}

std::vector<Module> Module::children() const {
  std::vector<Module> found;
  for (const auto& [name, child] : named_children())
    found.push_back(child);
  return found;
}
std::vector<Module> Module::modules() const {
  std::vector<Module> found;
  for (const auto& [name, module] : named_modules())
    found.push_back(module);
  return found;
}
int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const Tensor& tensor : parameters())
    count += tensor.numel().value();
  return count;
}

StateDict Module::state_dict(const std::string& prefix) const {
  const NamedTensors found = named_state(prefix);
  return {found.begin(), found.end()};
}

NamedTensors Module::named_state(const std::string& prefix) const {
  check_no_trace("state_dict");
  NamedTensors found;
  collect_state(*state_, "", found);
  for (auto& [name, tensor] : found) {
    name = prefix + name;
    tensor = tensor.detach();
  }
  return found;
}

IncompatibleKeys Module::load_state_dict(const StateDict& state, bool strict) const {
  check_no_trace("load_state_dict");
  NamedTensors own;
  collect_state(*state_, "", own);
  const std::string problems = state_problems(own, state, {.same_names = strict});
  if (!problems.empty())
    fail(ErrorCode::kInvalidArgument, "load_state_dict of ", type_name(), ": ", problems);
  const NoGrad no_grad;
  IncompatibleKeys left;
  std::unordered_set<std::string> known;
  for (const auto& [name, tensor] : own) {
    known.insert(name);
    const auto at = state.find(name);
    if (at == state.end())
      left.missing.push_back(name);
    else
      tensor.assign(at->second.detach().to(tensor.dtype()));
  }
  for (const auto& [name, tensor] : state) {
    if (!known.contains(name)) left.unexpected.push_back(name);
  }
  return left;
}

namespace {

// A mode that the traced function itself sets is no condition of it.
void set_mode(const StatePtr& module, bool is_training) {
  if (TraceContext* frame = TraceContext::active())
    frame->root().guards.ignore({module.get(), 'm'});
  module->is_training = is_training;
}

}  // namespace

void Module::train(bool enabled) const {
  for_each_module(state_,
                  [&](const std::string&, const StatePtr& module) { set_mode(module, enabled); });
}
bool Module::is_training() const {
  if (TraceContext* frame = TraceContext::active()) {
    frame->root().guards.note({state_.get(), 'm'}, [state = state_, was = state_->is_training] {
      if (state->is_training == was) return std::string();
      return text(state->type_name, state->path.empty() ? "" : " " + state->path, " is in ",
                  was ? "evaluation" : "training", " mode now");
    });
  }
  return state_->is_training;
}

void Module::to(DType dtype) const {
  check_no_trace("to");
  if (!is_floating(dtype))
    fail(ErrorCode::kInvalidArgument, "to: expected a floating type, got ", dtype);
  const NoGrad no_grad;
  for (const NamedTensors& list : {named_parameters(), named_buffers()}) {
    for (const auto& [name, tensor] : list) {
      if (is_floating(tensor.dtype()) && tensor.dtype() != dtype)
        set_value(tensor, tensor.detach().to(dtype));
    }
  }
}

void Module::zero_grad() const {
  for (const Tensor& tensor : parameters())
    tensor.zero_grad();
}

void Module::set_requires_grad(bool wanted) const {
  for (Tensor tensor : parameters())
    tensor.set_requires_grad(wanted);
}

void Module::apply(const std::function<void(const Module&)>& fn) const {
  const auto modules = named_modules();
  for (size_t i = modules.size(); i-- > 0;)
    fn(modules[i].second);
}

namespace {

// A trace that is being made notes what there was before the removal.
RemovableHandle noting_removal(const StatePtr& state, const RemovableHandle& hook) {
  return RemovableHandle([weak = std::weak_ptr(state), hook] {
    const StatePtr module = weak.lock();
    if (!module) return;
    note_parts(module);
    hook.remove();
  });
}

}  // namespace

RemovableHandle Module::register_forward_hook(ForwardHook hook) const {
  note_parts(state_);
  return noting_removal(state_, state_->hooks->add(std::move(hook)));
}
RemovableHandle Module::register_forward_pre_hook(ForwardPreHook hook) const {
  note_parts(state_);
  return noting_removal(state_, state_->pre_hooks->add(std::move(hook)));
}

EvalMode::EvalMode(const Module& module) {
  for (const auto& [path, part] : module.named_modules())
    modes_.emplace_back(part, part.is_training());
  module.eval();
}
EvalMode::~EvalMode() {
  for (const auto& [module, is_training] : modes_)
    ModuleState::mutable_of(module).is_training = is_training;
}

Module::Call::Call(const Module& module, const Loc& loc)
    : state_(module.state_), previous_(t_caller), outer_(t_running), scope_(state_->path) {
  if (outer_ && !state_->is_added && outer_ != state_.get())
    at_line(loc, [&] { check_is_added(); });
  note_parts(state_);
  t_caller = loc;
  t_running = state_.get();
}
Module::Call::~Call() {
  t_caller = previous_;
  t_running = outer_;
}
void Module::Call::check_is_added() const {
  if (!is_grad_enabled()) return;
  bool is_trained = false;
  for_each_module(state_, [&](const std::string&, const StatePtr& module) {
    for (const ModuleState::Entry& entry : module->parameters)
      is_trained |= entry.tensor.impl()->requires_grad;
  });
  if (!is_trained) return;
  fail(
      ErrorCode::kInvalidArgument, state_->type_name, " is called within ", outer_->type_name,
      " and was added to no module, so its parameters are neither trained nor saved; register it: ",
      state_->type_name, " member = add(\"member\", ", state_->type_name,
      "(...)), or set_requires_grad(false) where that is meant");
}
bool Module::Call::has_hooks() const {
  return !state_->hooks->empty();
}
bool Module::Call::has_pre_hooks() const {
  return !state_->pre_hooks->empty();
}
void Module::Call::run_pre_hooks(std::vector<Tensor>& inputs, bool are_fixed) const {
  const std::vector<Tensor> before = inputs;
  state_->pre_hooks->for_each([&](const ForwardPreHook& hook) {
    hook(Module(state_), inputs);
    if (inputs.size() != before.size()) {
      fail(ErrorCode::kInvalidArgument, "a hook before ", state_->type_name, " left ",
           inputs.size(), " inputs of ", before.size());
    }
  });
  const auto is_same = [](const Tensor& a, const Tensor& b) { return a.is_same(b); };
  if (!are_fixed || std::ranges::equal(inputs, before, is_same)) return;
  fail(ErrorCode::kInvalidArgument, "a hook before ", state_->type_name, " replaced an input, but ",
       "this call takes more than tensors; hooks may look at its inputs only");
}
void Module::Call::run_hooks(const std::vector<Tensor>& inputs,
                             std::vector<Tensor>& outputs) const {
  state_->hooks->for_each([&](const ForwardHook& hook) {
    const size_t count = outputs.size();
    hook(Module(state_), inputs, outputs);
    if (outputs.size() != count) {
      fail(ErrorCode::kInvalidArgument, "a hook of ", state_->type_name, " left ", outputs.size(),
           " outputs of ", count);
    }
  });
}

}  // namespace sardonyx::eager::nn
