// Modules: parameters, buffers and children under names, and what is done to all of them at once.
//
//   struct Classifier : nn::Layer<Classifier> {
//     nn::Linear hidden = add("hidden", nn::Linear(784, 128));
//     nn::Linear scores = add("scores", nn::Linear(128, 10));
//     Tensor forward(const Tensor& x) const { return scores(relu(hidden(x))); }
//   };
//
// A module is a handle, as a Tensor is: copies share parameters, children, mode and hooks, so it
// may be passed and stored by value. Two modules of one kind with values of their own are two
// constructed ones; load_state_dict copies the values of one into the other.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

#include "eager/placed.h"
#include "eager/tensor.h"
#include "eager/trace/collect.h"
#include "eager/trace/scope_name.h"

namespace sardonyx {
class Attrs;
}

namespace sardonyx::eager::nn {

// Names as torch gives them ("encoder.layers.0.linear1.weight") and values.
using StateDict = std::map<std::string, Tensor>;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
// What load_state_dict found no value for, and what it had no place for.
struct IncompatibleKeys {
  std::vector<std::string> missing, unexpected;
};

// The state without `prefix` at the start of names, where they have it: that of DataParallel
// ("module."), of a Lightning module ("model."), of a part of a larger model.
StateDict without_prefix(const StateDict& state, const std::string& prefix);

class Module;
// Sees the tensors that a call got and gave. Where the call gave one tensor or a vector of them,
// what the hook leaves in `outputs` takes their place.
using ForwardHook = std::function<void(const Module& module, const std::vector<Tensor>& inputs,
                                       std::vector<Tensor>& outputs)>;

// Sees the tensors that a call is about to get, in the order of its arguments; what the hook leaves
// in `inputs` takes their place. It must leave as many as there were. In a trace they are symbolic,
// and what the hook computes becomes a part of the graph.
using ForwardPreHook = std::function<void(const Module& module, std::vector<Tensor>& inputs)>;

namespace detail {
struct ModuleState;
}

class Module {
 public:
  // Registers a tensor to be trained; gives back the same handle, for a member. Names must be new
  // in this module, not empty and without dots. An undefined tensor is an omitted parameter.
  Tensor parameter(const std::string& name, Tensor init);
  // Registers a tensor that is state but not trained (running statistics). Those that are not
  // persistent are left out of state_dict().
  Tensor buffer(const std::string& name, Tensor init, bool is_persistent = true);
  // Registers a child; gives it back.
  template <std::derived_from<Module> M>
  M add(const std::string& name, M child) {
    add_child(name, child, false);
    return child;
  }
  // The same in place of a child of that name: `net.head = net.replace("head", nn::Linear(512,
  // 3))`.
  template <std::derived_from<Module> M>
  M replace(const std::string& name, M child) {
    add_child(name, child, true);
    return child;
  }

  // The same with a parameter (undefined: it is omitted from then on), or a buffer, of this module:
  // `net.head.weight = net.head.replace_parameter("weight", net.table.weight)`. Optimisers go on
  // with the tensor that they were given.
  Tensor replace_parameter(const std::string& name, Tensor value);
  Tensor replace_buffer(const std::string& name, Tensor value);
  // Forgets the parameter, buffer or child of that name, if there is one.
  void remove(const std::string& name);

  // By path: "blocks.0.attention"; "" is this module itself. Throws kInvalidArgument naming what
  // there is.
  Module get_submodule(const std::string& path) const;
  Tensor get_parameter(const std::string& path) const;
  Tensor get_buffer(const std::string& path) const;

  // Of this module and all below it, in order of registration; a shared tensor once.
  NamedTensors named_parameters() const;
  std::vector<Tensor> parameters() const;
  NamedTensors named_buffers() const;
  std::vector<Tensor> buffers() const;
  std::vector<std::pair<std::string, Module>> named_children() const;
  // Itself as "", then all below.
  std::vector<std::pair<std::string, Module>> named_modules() const;
  std::vector<Module> children() const;  // without their names
  std::vector<Module> modules() const;
  int64_t parameter_count() const;

  // The values of parameters and persistent buffers as they are now: later training does not change
  // them. Names get the prefix ("encoder.").
  StateDict state_dict(const std::string& prefix = "") const;
  // The same, in order of registration.
  NamedTensors named_state(const std::string& prefix = "") const;
  // Takes over values; element types are converted. Throws kInvalidArgument naming every missing
  // and unexpected name (unless not `strict`: then they are given back) and every shape that
  // differs; then nothing was changed.
  IncompatibleKeys load_state_dict(const StateDict& state, bool strict = true) const;

  // Training mode is what modules start in; it matters to Dropout and the batch norms.
  void train(bool enabled = true) const;
  void eval() const { train(false); }
  bool is_training() const;
  // Converts floating parameters and buffers; gradients are dropped.
  void to(DType dtype) const;
  void zero_grad() const;
  void set_requires_grad(bool wanted = true) const;
  // fn on each module below this one, children first, then on this one.
  void apply(const std::function<void(const Module&)>& fn) const;

  // Called after (before) each call of this module, in order of registration, until the handle
  // removes it. Inputs of calls that take more than tensors can be looked at, not replaced.
  RemovableHandle register_forward_hook(ForwardHook hook) const;
  RemovableHandle register_forward_pre_hook(ForwardPreHook hook) const;

  const std::string& type_name() const;    // "Linear"
  const std::string& description() const;  // "784 -> 128, no bias"
  // A table: path, type, shapes of parameters, counts.
  std::string summary() const;
  // Whether both are handles of one module.
  bool is_same(const Module& other) const { return state_ == other.state_; }

 protected:
  explicit Module(std::string type_name, std::string description = "");
  explicit Module(const std::type_info& type);
  // A list or dict of modules: it is not called itself, yet its name belongs in the path.
  void set_is_container() const;
  void describe(std::string description) const;
  // Whoever called the innermost module that is running.
  static const Loc& caller();

  // One call of the module: its path for messages and graphs, the caller's line, hooks around it.
  // Within the call of another module, one with parameters to be trained must have been added to
  // some module: else they would neither be trained nor saved.
  class Call {
   public:
    Call(const Module& module, const Loc& loc);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    bool has_hooks() const;
    bool has_pre_hooks() const;
    // Throws kInvalidArgument where hooks change the number of inputs, or inputs that are `fixed`.
    void run_pre_hooks(std::vector<Tensor>& inputs, bool are_fixed) const;
    void run_hooks(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) const;

   private:
    void check_is_added() const;

    std::shared_ptr<detail::ModuleState> state_;
    Loc previous_;
    const detail::ModuleState* outer_;
    ScopeName scope_;
  };
  // run(inputs...) or run() as one call on `inputs`.
  template <typename Run, typename... Inputs>
  auto call(const Loc& loc, const Run& run, const Inputs&... inputs) const;
  // The summary with the shapes that this call gives.
  std::string summary_of(const std::function<void()>& call) const;

 private:
  friend struct detail::ModuleState;
  explicit Module(std::shared_ptr<detail::ModuleState> state) : state_(std::move(state)) {}
  template <typename Run, typename... Inputs>
  static auto run_within(const Call& scope, const Loc& loc, const Run& run,
                         const Inputs&... inputs);
  void add_child(const std::string& name, const Module& child, bool may_replace);

  std::shared_ptr<detail::ModuleState> state_;
};

// A module and all below it in evaluation mode, until the scope ends; then each is in the mode it
// was in.
class EvalMode {
 public:
  explicit EvalMode(const Module& module);
  ~EvalMode();
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  std::vector<std::pair<Module, bool>> modes_;
};

template <typename Run, typename... Inputs>
auto Module::call(const Loc& loc, const Run& run, const Inputs&... inputs) const {
  const Call scope(*this, loc);
  constexpr bool may_replace = std::invocable<const Run&, const Inputs&...>;
  std::vector<Tensor> given;
  if (scope.has_pre_hooks()) {
    (eager::detail::collect_tensors(given, inputs), ...);
    at_line(loc, [&] { scope.run_pre_hooks(given, !may_replace); });
  }
  if constexpr (!may_replace) {
    return run_within(scope, loc, run, inputs...);
  } else {
    if (given.empty()) {
      const auto on_inputs = [&] { return run(inputs...); };
      return run_within(scope, loc, on_inputs, inputs...);
    }
    std::tuple<Inputs...> taken(inputs...);
    return std::apply(
        [&](auto&... each) {
          size_t next = 0;
          (eager::detail::place_tensors(given, next, each), ...);
          return run_within(
              scope, loc, [&] { return run(each...); }, each...);
        },
        taken);
  }
}

template <typename Run, typename... Inputs>
auto Module::run_within(const Call& scope, const Loc& loc, const Run& run,
                        const Inputs&... inputs) {
  auto result = at_line(loc, run);
  if (!scope.has_hooks()) return result;
  std::vector<Tensor> given, gave;
  (eager::detail::collect_tensors(given, inputs), ...);
  eager::detail::collect_tensors(gave, result);
  scope.run_hooks(given, gave);
  using Result = decltype(result);
  if constexpr (std::is_same_v<Result, Tensor>) {
    result = gave.at(0);
  } else if constexpr (std::is_same_v<Result, std::vector<Tensor>>) {
    result = std::move(gave);
  }
  return result;
}

// What modules that are called derive from: `Self::forward` with any arguments and result. Calls go
// through operator(), which keeps the module's path and runs hooks.
template <typename Self>
class Layer : public Module {
  // Does forward() take these? Where it does not, a call is no candidate rather than an error.
  template <typename... Arguments>
  static constexpr bool takes() {
    return requires(const Self& self, const Arguments&... arguments) {
      self.forward(arguments...);
    };
  }
  // Up to three tensors (and their caller's line) have forms of their own.
  template <typename First, typename... Others>
  static constexpr bool takes_others() {
    constexpr size_t kTensors = (size_t{std::convertible_to<First, Tensor>} + ... +
                                 size_t{std::convertible_to<Others, Tensor>});
    constexpr size_t kLines = (size_t{0} + ... + size_t{std::same_as<Others, Loc>});
    if constexpr (kTensors <= 3 && kLines <= 1 && kTensors + kLines == 1 + sizeof...(Others))
      return false;
    return takes<First, Others...>();
  }

 public:
  auto operator()(const Tensor& x, Loc loc = Loc::current()) const requires(takes<Tensor>()) {
    return call(
        loc, [&](const Tensor& a) { return self().forward(a); }, x);
  }
  auto operator()(const Tensor& x, const Tensor& y, Loc loc = Loc::current()) const
      requires(takes<Tensor, Tensor>()) {
    return call(
        loc, [&](const Tensor& a, const Tensor& b) { return self().forward(a, b); }, x, y);
  }
  auto operator()(const Tensor& x, const Tensor& y, const Tensor& z, Loc loc = Loc::current()) const
      requires(takes<Tensor, Tensor, Tensor>()) {
    const auto run = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
      return self().forward(a, b, c);
    };
    return call(loc, run, x, y, z);
  }
  // A struct among two or three arguments (a recurrent state), with the caller's line; longer calls
  // bear that of the module around them.
  template <typename A, typename B>
  requires(takes_others<A, B>()) auto operator()(const A& a, const B& b,
                                                 Loc loc = Loc::current()) const {
    return call(
        loc, [&] { return self().forward(a, b); }, a, b);
  }
  template <typename A, typename B, typename C>
  requires(takes_others<A, B, C>()) auto operator()(const A& a, const B& b, const C& c,
                                                    Loc loc = Loc::current()) const {
    return call(
        loc, [&] { return self().forward(a, b, c); }, a, b, c);
  }
  template <typename First, typename... Others>
  requires(takes_others<First, Others...>()) auto operator()(const First& first,
                                                             const Others&... others) const {
    return call(
        caller(), [&] { return self().forward(first, others...); }, first, others...);
  }
  // Module::summary() with the shapes of results: the module runs once on these arguments, in
  // evaluation mode and without gradients.
  template <typename... Inputs>
  std::string summary(const Inputs&... inputs) const {
    if constexpr (sizeof...(Inputs) == 0) {
      return Module::summary();
    } else {
      return summary_of([&] { (void)(*this)(inputs...); });
    }
  }

 protected:
  Layer() : Module(typeid(Self)) {}
  explicit Layer(std::string type_name) : Module(std::move(type_name)) {}

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace sardonyx::eager::nn
