#include "onnx_io/export/written_call.h"

namespace sardonyx::onnx_export {

const Tensor* WrittenCall::take_constant(size_t index) {
  const Tensor* value = inputs[index]->constant.get();
  if (value) inputs[index] = nullptr;
  return value;
}

void WrittenCall::set_constant(size_t index, std::string name, Tensor value) {
  auto constant = std::make_shared<Value>();
  constant->name = std::move(name);
  constant->type = Type::tensor(value.dtype(), to_dims(value.shape()));
  constant->constant = std::make_shared<const Tensor>(std::move(value));
  if (inputs.size() <= index) inputs.resize(index + 1);
  inputs[index] = constant.get();
  made.push_back(std::move(constant));
}

std::string ints_to_attribute(WrittenCall& call, size_t index, const std::string& name) {
  if (!call.has_input(index)) return "";
  const Tensor* value = call.take_constant(index);
  if (!value || !is_integer(value->dtype()))
    return "input " + std::to_string(index) + " (" + name + ") must be a constant";
  call.attrs[name] = value->to_int64s();
  return "";
}

std::string float_to_attribute(WrittenCall& call, size_t index, const std::string& name) {
  if (!call.has_input(index)) return "";
  const Tensor* value = call.take_constant(index);
  if (!value || value->count() != 1 || value->dtype() == DType::kString ||
      is_complex(value->dtype())) {
    return "input " + std::to_string(index) + " (" + name + ") must be a constant number";
  }
  call.attrs[name] = static_cast<float>(value->to_doubles()[0]);
  return "";
}

}  // namespace sardonyx::onnx_export
