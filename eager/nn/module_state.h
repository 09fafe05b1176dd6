// What the handles of one module share; for the module layer's own sources.
#pragma once

#include <initializer_list>

#include "eager/autograd/hook_list.h"
#include "eager/nn/module.h"

namespace sardonyx::eager::nn::detail {

using eager::detail::HookList;
struct BatchComputationSlot;  // eager/nn/normalization.cpp

struct ModuleState {
  struct Entry {
    std::string name;
    Tensor tensor;
    bool is_persistent = true;
  };
  struct Child {
    std::string name;
    std::shared_ptr<ModuleState> state;
  };

  std::string type_name, description;
  std::string path;  // as its nearest called ancestor sees it: "blocks.0"
  bool is_container = false, is_training = true;
  bool is_added = false;  // to another module, or shown by one
  std::vector<Entry> parameters, buffers;
  std::vector<Child> children;
  std::shared_ptr<HookList<ForwardHook>> hooks = std::make_shared<HookList<ForwardHook>>();
  std::shared_ptr<HookList<ForwardPreHook>> pre_hooks =
      std::make_shared<HookList<ForwardPreHook>>();
  size_t edits = 0;  // of parts: replaced, added or removed ones
  std::shared_ptr<BatchComputationSlot> batch_computation;  // of batch norms alone

  static const ModuleState& of(const Module& module) { return *module.state_; }
  static ModuleState& mutable_of(const Module& module) { return *module.state_; }
  static Module handle(std::shared_ptr<ModuleState> state) { return Module(std::move(state)); }
};

// A tensor that a layer computes with, and what it is registered as; without a name: as anything.
struct MemberTensor {
  const char* name;
  const Tensor& tensor;
};
// For forward(): throws kInvalidArgument where a member is another tensor than the one registered,
// which is the one that is trained and saved. What calls the layer's forward() itself, with a
// weight that it has computed, is let through.
void require_registered(const Module& module, std::initializer_list<MemberTensor> members);

}  // namespace sardonyx::eager::nn::detail
