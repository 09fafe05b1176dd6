// Modules as .onnx files.
#pragma once

#include "eager/export/export.h"
#include "eager/nn/module.h"

namespace sardonyx::eager {

// Traces a module on examples of its arguments and writes it; see eager/export/export.h. It is
// exported in evaluation mode and put back into the one it was in. Its parameters keep their names.
template <std::derived_from<nn::Module> M>
ExportReport export_onnx(const M& model, const std::vector<Tensor>& examples,
                         const std::filesystem::path& path, const ExportOptions& options = {},
                         Loc loc = Loc::current()) {
  ExportOptions named = options;
  for (const nn::NamedTensors& list : {model.named_parameters(), model.named_buffers()})
    named.names.insert(named.names.end(), list.begin(), list.end());
  const nn::EvalMode mode(model);
  const TensorFunction run = [&](const std::vector<Tensor>& inputs) {
    return detail::call_with(model, inputs, loc);
  };
  return export_onnx(run, examples, path, named, loc);
}

}  // namespace sardonyx::eager
