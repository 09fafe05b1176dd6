#include "eager/nn/container.h"

namespace sardonyx::eager::nn {

Sequential& Sequential::append(const AnyLayer& layer, const std::string& name) {
  add(name.empty() ? std::to_string(layers_->size()) : name, layer);
  layers_->push_back(layer);
  return *this;
}

Sequential& Sequential::extend(const Sequential& others) {
  const std::vector<AnyLayer> more = *others.layers_;  // which may be this one
  for (const AnyLayer& layer : more)
    append(layer);
  return *this;
}

const AnyLayer& Sequential::operator[](int64_t index) const {
  const auto count = static_cast<int64_t>(layers_->size());
  const int64_t at = index < 0 ? index + count : index;
  if (at < 0 || at >= count) fail_no_module(*this, std::to_string(index));
  return (*layers_)[static_cast<size_t>(at)];
}

Tensor Sequential::forward(const Tensor& x) const {
  Tensor value = x;
  for (const AnyLayer& layer : *layers_)
    value = layer(value, caller());
  return value;
}

ParameterList::ParameterList(const std::vector<Tensor>& values) : Module("ParameterList") {
  for (const Tensor& value : values)
    append(value);
}
ParameterList& ParameterList::append(const Tensor& value) {
  tensors_->push_back(parameter(std::to_string(tensors_->size()), value));
  return *this;
}
const Tensor& ParameterList::operator[](size_t index) const {
  if (index < tensors_->size()) return (*tensors_)[index];
  fail(ErrorCode::kInvalidArgument, "ParameterList: no parameter ", index, "; it has ",
       tensors_->size());
}

ParameterDict::ParameterDict(const std::map<std::string, Tensor>& values)
    : Module("ParameterDict") {
  for (const auto& [name, value] : values)
    insert(name, value);
}
ParameterDict& ParameterDict::insert(const std::string& name, const Tensor& value) {
  tensors_->emplace(name, parameter(name, value));
  return *this;
}
const Tensor& ParameterDict::operator[](const std::string& name) const {
  const auto found = tensors_->find(name);
  if (found != tensors_->end()) return found->second;
  std::string names;
  for (const auto& [own, value] : *tensors_)
    names += (names.empty() ? "" : ", ") + own;
  fail(ErrorCode::kInvalidArgument, "ParameterDict: no parameter '", name, "'; it has ",
       names.empty() ? "none" : names);
}

void fail_no_module(const Module& container, const std::string& key) {
  std::string names;
  for (const auto& [name, child] : container.named_children())
    names += (names.empty() ? "" : ", ") + name;
  fail(ErrorCode::kInvalidArgument, container.type_name(), ": no module '", key, "'; it has ",
       names.empty() ? "none" : names);
}

}  // namespace sardonyx::eager::nn
