#include "eager/nn/container.h"

namespace sardonyx::eager::nn {

Sequential& Sequential::append(const AnyLayer& layer, const std::string& name) {
  add(name.empty() ? std::to_string(layers_->size()) : name, layer);
  layers_->push_back(layer);
  return *this;
}

const AnyLayer& Sequential::operator[](size_t index) const {
  if (index >= layers_->size()) fail_no_module(*this, std::to_string(index));
  return (*layers_)[index];
}

Tensor Sequential::forward(const Tensor& x) const {
  Tensor value = x;
  for (const AnyLayer& layer : *layers_)
    value = layer(value, caller());
  return value;
}

void fail_no_module(const Module& container, const std::string& key) {
  std::string names;
  for (const auto& [name, child] : container.named_children())
    names += (names.empty() ? "" : ", ") + name;
  fail(ErrorCode::kInvalidArgument, container.type_name(), ": no module '", key, "'; it has ",
       names.empty() ? "none" : names);
}

}  // namespace sardonyx::eager::nn
