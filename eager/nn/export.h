// Modules as .onnx files.
#pragma once

#include "eager/export.h"
#include "eager/nn/module.h"

namespace sardonyx::eager {

namespace detail {

constexpr size_t kMostModuleInputs = 6;

// model(inputs[0], ..., inputs[count - 1]), where it takes as many tensors; false if not.
template <size_t count, typename M>
bool try_call(const M& model, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  return [&]<size_t... index>(std::index_sequence<index...>) {
    if constexpr (requires { model(inputs[index]...); }) {
      nn::detail::collect_tensors(outputs, model(inputs[index]...));
      return true;
    } else {
      return false;
    }
  }
  (std::make_index_sequence<count>());
}

template <typename M>
std::vector<Tensor> call_module(const M& model, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outputs;
  const bool was_called = [&]<size_t... less>(std::index_sequence<less...>) {
    return ((inputs.size() == less + 1 && try_call<less + 1>(model, inputs, outputs)) || ...);
  }
  (std::make_index_sequence<kMostModuleInputs>());
  if (was_called) return outputs;
  fail(ErrorCode::kInvalidArgument, "export_onnx: ", model.type_name(), " does not take ",
       inputs.size(), " tensors");
}

}  // namespace detail

// Traces a module on examples of its arguments and writes it; see eager/export.h. It is exported in
// evaluation mode and put back into the one it was in. Its parameters keep their names.
template <std::derived_from<nn::Module> M>
ExportReport export_onnx(const M& model, const std::vector<Tensor>& examples,
                         const std::filesystem::path& path, ExportOptions options = {}) {
  for (const nn::NamedTensors& list : {model.named_parameters(), model.named_buffers()})
    options.names.insert(options.names.end(), list.begin(), list.end());
  const nn::EvalMode mode(model);
  const TensorFunction run = [&](const std::vector<Tensor>& inputs) {
    return detail::call_module(model, inputs);
  };
  return export_onnx(run, examples, path, options);
}

}  // namespace sardonyx::eager
