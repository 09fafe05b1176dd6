// A module as a function of its parameters: for gradients by tensors that are no parameters of its
// own (meta-learning, hypernetworks, ensembles).
#pragma once

#include <memory>

#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

// Until the scope ends, the module and all below it compute with these tensors in place of their
// own, on this thread; gradients flow to what is given. What the module assigns (running
// statistics) becomes the value of the tensor that is given for it.
class UseTensors {
 public:
  // By paths of parameters and buffers ("encoder.weight"). Throws kInvalidArgument for a path that
  // is none of them, an undefined tensor, and one of another shape.
  UseTensors(const Module& module, const StateDict& tensors, Loc loc = Loc::current());
  ~UseTensors();
  UseTensors(const UseTensors&) = delete;
  UseTensors& operator=(const UseTensors&) = delete;

 private:
  struct Scope;
  std::unique_ptr<Scope> scope_;
};

// module(inputs...) with these tensors; those that are not given stay the module's own.
//
//   StateDict fast;
//   for (const auto& [name, p] : net.named_parameters())
//     fast[name] = p - 0.1 * grad({loss}, {p}, {.create_graph = true})[0];
//   const Tensor after = nn::functional_call(net, fast, x);
//
// A compiled function that is called within takes the module's own tensors.
template <std::derived_from<Module> M, typename... Inputs>
auto functional_call(const M& module, const StateDict& tensors, const Inputs&... inputs) {
  const UseTensors scope(module, tensors);
  return module(inputs...);
}

}  // namespace sardonyx::eager::nn
