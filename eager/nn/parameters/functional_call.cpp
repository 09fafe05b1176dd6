#include "eager/nn/parameters/functional_call.h"

#include "eager/dispatch/substitutes.h"
#include "eager/nn/module_state.h"

namespace sardonyx::eager::nn {
namespace {

// By its path, or undefined.
Tensor tensor_at(const Module& module, const std::string& path) {
  const size_t dot = path.rfind('.');
  const std::string parent = dot == std::string::npos ? "" : path.substr(0, dot);
  for (const auto& [name, part] : module.named_modules()) {
    if (name != parent) continue;
    const std::string own = path.substr(dot == std::string::npos ? 0 : dot + 1);
    const detail::ModuleState& state = detail::ModuleState::of(part);
    for (const auto* entries : {&state.parameters, &state.buffers}) {
      for (const detail::ModuleState::Entry& entry : *entries) {
        if (entry.name == own && entry.tensor.defined()) return entry.tensor;
      }
    }
  }
  return {};
}

}  // namespace

struct UseTensors::Scope {
  explicit Scope(eager::detail::Substitutes::Map given) : substitutes(std::move(given)) {}
  eager::detail::Substitutes substitutes;
};

UseTensors::UseTensors(const Module& module, const StateDict& tensors, Loc loc) {
  eager::detail::Substitutes::Map map;
  for (const auto& [path, given] : tensors) {
    const Tensor own = tensor_at(module, path);
    if (!own.defined()) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": functional_call: ", module.type_name(),
           " has no parameter or buffer '", path, "'; state_dict() has those that it has");
    }
    if (!given.defined() || !eager::detail::may_fit(given, own)) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": functional_call: ", path,
           ": expected a tensor of the shape of ", own.type(), ", got ",
           given.defined() ? text(given.type()) : "an undefined tensor");
    }
    map.emplace(own.impl().get(), given);
  }
  scope_ = std::make_unique<Scope>(std::move(map));
}
UseTensors::~UseTensors() = default;

}  // namespace sardonyx::eager::nn
