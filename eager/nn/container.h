// Modules of modules.
#pragma once

#include <initializer_list>

#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

// Any callable of one tensor: a layer (whose parameters it shows) or a function. What Sequential
// holds.
class AnyLayer : public Module {
 public:
  template <std::derived_from<Module> M>
  requires(!std::same_as<M, AnyLayer>) AnyLayer(M module)
      : Module(module),
        run_([module](const Tensor& x, const Loc& loc) { return module(x, loc); }) {}
  template <typename F>
  requires(!std::derived_from<F, Module> && std::is_invocable_r_v<Tensor, F, const Tensor&>)
      AnyLayer(F function)
      : Module("Function"), run_([function](const Tensor& x, const Loc&) { return function(x); }) {}
  // Runs the layer; its errors name the caller's line.
  Tensor operator()(const Tensor& x, Loc loc = Loc::current()) const { return run_(x, loc); }

 private:
  std::function<Tensor(const Tensor&, const Loc&)> run_;
};

// One layer after the other: Sequential(Linear(4, 8), ReLU(), Linear(8, 2)). Children are "0", "1"
// ... or named: Sequential({{"hidden", Linear(4, 8)}, {"act", ReLU()}}).
class Sequential : public Layer<Sequential> {
 public:
  template <typename... Layers>
  requires(sizeof...(Layers) > 0 && !(std::same_as<std::decay_t<Layers>, Sequential> && ...) &&
           (std::constructible_from<AnyLayer, Layers> &&
            ...)) explicit Sequential(Layers... layers) {
    (append(AnyLayer(std::move(layers))), ...);
  }
  Sequential() = default;
  Sequential(std::initializer_list<std::pair<std::string, AnyLayer>> layers) {
    for (const auto& [name, layer] : layers)
      append(layer, name);
  }

  // Under the next number where no name is given.
  Sequential& append(const AnyLayer& layer, const std::string& name = "");
  // All of another one's layers behind these.
  Sequential& extend(const Sequential& others);
  // The number of layers.
  size_t size() const { return layers_->size(); }
  // Negative numbers count from the end. Throws kInvalidArgument where there is no such layer.
  const AnyLayer& operator[](int64_t index) const;
  auto begin() const { return layers_->cbegin(); }
  auto end() const { return layers_->cend(); }
  // x through all layers in order; x itself where there are none.
  Tensor forward(const Tensor& x) const;

 private:
  std::shared_ptr<std::vector<AnyLayer>> layers_ = std::make_shared<std::vector<AnyLayer>>();
};

// Throws kInvalidArgument, naming the container, the key that was asked for and those that exist.
[[noreturn]] void fail_no_module(const Module& container, const std::string& key);

// Modules of one type as children "0", "1" ...: `for (const Block& block : blocks) x = block(x);`.
template <std::derived_from<Module> M>
class ModuleList : public Module {
 public:
  ModuleList() : Module("ModuleList") { set_is_container(); }
  // `count` modules that make(0), make(1) ... give.
  template <typename Make>
  ModuleList(size_t count, const Make& make) : ModuleList() {
    for (size_t i = 0; i < count; ++i)
      append(make(i));
  }
  // Adds the module as the next child. Copies of a list share their modules.
  ModuleList& append(const M& module) {
    modules_->push_back(add(std::to_string(modules_->size()), module));
    return *this;
  }
  size_t size() const { return modules_->size(); }
  // Throws kInvalidArgument beyond the end.
  const M& operator[](size_t index) const {
    if (index >= modules_->size()) fail_no_module(*this, std::to_string(index));
    return (*modules_)[index];
  }
  auto begin() const { return modules_->cbegin(); }
  auto end() const { return modules_->cend(); }

 private:
  std::shared_ptr<std::vector<M>> modules_ = std::make_shared<std::vector<M>>();
};

// Tensors to be trained as parameters "0", "1" ..., and under names.
class ParameterList : public Module {
 public:
  explicit ParameterList(const std::vector<Tensor>& values = {});
  ParameterList& append(const Tensor& value);
  size_t size() const { return tensors_->size(); }
  const Tensor& operator[](size_t index) const;
  auto begin() const { return tensors_->cbegin(); }
  auto end() const { return tensors_->cend(); }

 private:
  std::shared_ptr<std::vector<Tensor>> tensors_ = std::make_shared<std::vector<Tensor>>();
};
class ParameterDict : public Module {
 public:
  explicit ParameterDict(const std::map<std::string, Tensor>& values = {});
  ParameterDict& insert(const std::string& name, const Tensor& value);
  size_t size() const { return tensors_->size(); }
  bool contains(const std::string& name) const { return tensors_->contains(name); }
  const Tensor& operator[](const std::string& name) const;
  auto begin() const { return tensors_->cbegin(); }
  auto end() const { return tensors_->cend(); }

 private:
  std::shared_ptr<std::map<std::string, Tensor>> tensors_ =
      std::make_shared<std::map<std::string, Tensor>>();
};

// Modules of one type under names; iterates in the order of the names.
template <std::derived_from<Module> M>
class ModuleDict : public Module {
 public:
  ModuleDict() : Module("ModuleDict") { set_is_container(); }
  ModuleDict(std::initializer_list<std::pair<std::string, M>> modules) : ModuleDict() {
    for (const auto& [name, module] : modules)
      insert(name, module);
  }
  // Adds a child; throws kInvalidArgument where the name is taken.
  ModuleDict& insert(const std::string& name, const M& module) {
    modules_->emplace(name, add(name, module));
    return *this;
  }
  size_t size() const { return modules_->size(); }
  bool contains(const std::string& name) const { return modules_->contains(name); }
  // Throws kInvalidArgument where there is none of that name.
  const M& operator[](const std::string& name) const {
    const auto at = modules_->find(name);
    if (at == modules_->end()) fail_no_module(*this, name);
    return at->second;
  }
  auto begin() const { return modules_->cbegin(); }
  auto end() const { return modules_->cend(); }

 private:
  std::shared_ptr<std::map<std::string, M>> modules_ = std::make_shared<std::map<std::string, M>>();
};

}  // namespace sardonyx::eager::nn
