// A loaded .onnx model as a function of eager tensors: called, stepped through, trained further,
// traced into another graph and saved again.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eager/tensor.h"
#include "ir/type.h"
#include "onnx_io/load.h"

namespace sardonyx::eager {

// A copy is another handle of the same module.
class OnnxModule {
 public:
  explicit OnnxModule(const std::filesystem::path& path, const LoadOptions& options = {});
  explicit OnnxModule(Model model);

  struct Argument {
    std::string name;
    Type type;  // as declared: dims may be symbols
  };
  const std::vector<Argument>& inputs() const;
  const std::vector<Argument>& outputs() const;

  // Runs the nodes one by one, each at once and with gradients where a parameter or an input asks
  // for them; on symbolic tensors the nodes are recorded instead, so that compile(), trace() and
  // export_onnx() take a module as any other function. Nodes and values keep their names there
  // where these are free. Throws kInvalidArgument where inputs do not fit what is declared.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs, Loc loc = Loc::current()) const;

  // One node that has run (or was recorded).
  struct Step {
    const std::string &name, &op, &scope, &source;
    const std::vector<Tensor>& inputs;  // undefined where omitted; captures of subgraphs last
    const std::vector<Tensor>& outputs;
    const std::vector<std::string>& output_names;  // empty where the output is omitted
  };
  using Watcher = std::function<void(const Step&)>;
  // The same, with a call after each node. Nodes inside of If, Loop and Scan are not seen.
  std::vector<Tensor> step_through(const std::vector<Tensor>& inputs, const Watcher& watcher,
                                   Loc loc = Loc::current()) const;

  // The floating initializers by their names in the file, in its order; those that decide shapes
  // (scales of Resize) and those within subgraphs are constants. None requires gradients at first:
  // files do not tell weights from the numbers of a formula.
  const std::vector<std::pair<std::string, Tensor>>& parameters() const;
  // Throws kInvalidArgument where there is no such parameter.
  Tensor parameter(const std::string& name) const;
  // For all parameters that `wanted` says yes to (all without it).
  void set_requires_grad(bool value = true,
                         const std::function<bool(const std::string& name,
                                                  const Tensor& parameter)>& wanted = {}) const;

  // The model with the parameters' present values; everything else, all names included, is as
  // loaded. For save_model(), Session and OnnxModule.
  Model model() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace sardonyx::eager
