// A loaded .onnx model as a module: called, cut, stepped through, trained further, made a part of
// other modules, traced into another graph and saved again.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eager/nn/module.h"
#include "ir/type.h"
#include "onnx_io/load_options.h"

namespace sardonyx {
struct Model;
}

namespace sardonyx::eager {

// Its parameters are the floating initializers, by their names in the file and in its order; those
// that decide shapes (scales of Resize) and those within subgraphs are constants. None requires
// gradients at first: files do not tell weights from the numbers of a formula. A copy is another
// handle of the same module; what replace_parameter() puts in a parameter's place is computed with.
class OnnxModule : public nn::Module {
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
  // The same of models of one input and one output, as other layers are called.
  template <std::same_as<Tensor> T>
  Tensor operator()(const T& x, Loc loc = Loc::current()) const {
    return single(x, loc);
  }

  // The part that computes `outputs` from `inputs`, both names of values in the file; without
  // `inputs`, from those of the model that they need. It shares the parameters. For another head:
  //   nn::Sequential net(OnnxModule("resnet.onnx").cut({"pooled"}), nn::Flatten(), nn::Linear(512,
  //   3));
  // Throws kInvalidArgument where a name is not in the file, an input is not needed, or an output
  // depends on more.
  OnnxModule cut(const std::vector<std::string>& outputs,
                 const std::vector<std::string>& inputs = {}) const;

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

  // Throws kInvalidArgument where there is no such parameter.
  Tensor parameter(const std::string& name) const;
  // For all parameters that `wanted` says yes to (all without it).
  void set_requires_grad(bool value = true,
                         const std::function<bool(const std::string& name,
                                                  const Tensor& parameter)>& wanted = {}) const;

  // The model with the parameters' present values; everything else, all names included, is as
  // loaded. For save_model(), Session and OnnxModule. Throws kInvalidArgument where a parameter is
  // of another type or shape by now: then export_onnx() writes the module anew.
  Model model() const;

 private:
  struct Impl;
  Tensor single(const Tensor& x, const Loc& loc) const;
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const Watcher& watcher,
                          const Loc& loc) const;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace sardonyx::eager
