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

#include "eager/scope_name.h"
#include "eager/tensor.h"

namespace sardonyx {
class Attrs;
}

namespace sardonyx::eager::nn {

// Names as torch gives them ("encoder.layers.0.linear1.weight") and values.
using StateDict = std::map<std::string, Tensor>;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

class Module;
// Sees the tensors that a call got and gave. Where the call gave one tensor or a vector of them,
// what the hook leaves in `outputs` takes their place.
using ForwardHook = std::function<void(const Module& module, const std::vector<Tensor>& inputs,
                                       std::vector<Tensor>& outputs)>;

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

  // Of this module and all below it, in order of registration; a shared tensor once.
  NamedTensors named_parameters() const;
  std::vector<Tensor> parameters() const;
  NamedTensors named_buffers() const;
  std::vector<Tensor> buffers() const;
  std::vector<std::pair<std::string, Module>> named_children() const;
  // Itself as "", then all below.
  std::vector<std::pair<std::string, Module>> named_modules() const;
  int64_t parameter_count() const;

  // The values of parameters and persistent buffers as they are now: later training does not change
  // them.
  StateDict state_dict() const;
  // Takes over values; element types are converted. Throws kInvalidArgument naming every missing
  // and unexpected name (unless not `strict`) and every shape that differs; then nothing was
  // changed.
  void load_state_dict(const StateDict& state, bool strict = true) const;

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

  // Called after each call of this module, in order of registration. The number is for
  // remove_hook().
  size_t register_forward_hook(ForwardHook hook) const;
  void remove_hook(size_t number) const;

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

  // One call of the module: its path for messages and graphs, the caller's line, hooks after it.
  class Call {
   public:
    Call(const Module& module, const Loc& loc);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    bool has_hooks() const;
    void run_hooks(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) const;

   private:
    std::shared_ptr<detail::ModuleState> state_;
    Loc previous_;
    ScopeName scope_;
  };
  // run() as one call on `inputs`.
  template <typename Run, typename... Inputs>
  auto call(const Loc& loc, Run&& run, const Inputs&... inputs) const;
  // The summary with the shapes that this call gives.
  std::string summary_of(const std::function<void()>& call) const;

 private:
  friend struct detail::ModuleState;
  explicit Module(std::shared_ptr<detail::ModuleState> state) : state_(std::move(state)) {}
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

namespace detail {

// The tensors among arguments and results: Tensors, vectors, pairs and tuples of them, and structs
// with a `tensors()`; others are passed over.
inline void collect_tensors(std::vector<Tensor>& into, const Tensor& tensor) {
  into.push_back(tensor);
}
inline void collect_tensors(std::vector<Tensor>& into, const std::vector<Tensor>& tensors) {
  into.insert(into.end(), tensors.begin(), tensors.end());
}
template <typename T>
void collect_tensors(std::vector<Tensor>& into, const T& value) {
  if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](const auto&... parts) { (collect_tensors(into, parts), ...); }, value);
  } else if constexpr (requires { value.tensors(); }) {
    collect_tensors(into, value.tensors());
  }
}

}  // namespace detail

template <typename Run, typename... Inputs>
auto Module::call(const Loc& loc, Run&& run, const Inputs&... inputs) const {
  const Call scope(*this, loc);
  auto result = run();
  if (!scope.has_hooks()) return result;
  std::vector<Tensor> given, gave;
  (detail::collect_tensors(given, inputs), ...);
  detail::collect_tensors(gave, result);
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
  // One tensor (and its caller's line) has a form of its own.
  template <typename First, typename... Others>
  static constexpr bool takes_others() {
    constexpr bool is_line = sizeof...(Others) <= 1 && (std::same_as<Others, Loc> && ...);
    if constexpr (std::convertible_to<First, Tensor> && is_line) return false;
    return takes<First, Others...>();
  }

 public:
  auto operator()(const Tensor& x, Loc loc = Loc::current()) const requires(takes<Tensor>()) {
    return call(
        loc, [&] { return self().forward(x); }, x);
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
