// What the handles of one module share; for the module layer's own sources.
#pragma once

#include <map>

#include "eager/nn/module.h"

namespace sardonyx::eager::nn::detail {

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
  std::map<size_t, ForwardHook> hooks;
  size_t next_hook = 0;

  static const ModuleState& of(const Module& module) { return *module.state_; }
  static ModuleState& mutable_of(const Module& module) { return *module.state_; }
  static Module handle(std::shared_ptr<ModuleState> state) { return Module(std::move(state)); }
};

}  // namespace sardonyx::eager::nn::detail
