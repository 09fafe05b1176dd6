// From eager code to .onnx files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eager/trace/callable.h"

namespace sardonyx {
struct Model;
}

namespace sardonyx::eager {

namespace nn {
class Module;
}

struct ExportOptions {
  std::vector<std::string> input_names = {};   // "input_K" where missing
  std::vector<std::string> output_names = {};  // "output_K" where missing
  // Axes whose size stays open, by input: {{"x", {{0, "batch"}}}}. A name in two places means one
  // size. All others are fixed to the example's. Axes of outputs follow from those of the inputs:
  // naming them, as scripts for torch do, changes nothing, but an output that has no such axis, or
  // whose axis is not the input's of that name, is an error.
  std::map<std::string, std::map<int64_t, std::string>> dynamic_axes = {};
  // Of ai.onnx, 7 to the newest. Where it is not given: 20, which ONNX Runtime reads from 1.17 on,
  // or the first later one that can express the function.
  std::optional<int64_t> opset = {};
  bool external_data = false;  // weights in a file beside the model's
  std::map<std::string, std::string> metadata = {};
  std::string graph_name = "main";
  // What the tensors of the program that the function uses are called in the file.
  std::vector<std::pair<std::string, Tensor>> names = {};
  // A training step: tensors of the program are inputs of the graph, by their names, and those that
  // the step assigns are also outputs, as NAME.next. Not verified against another run, since it
  // changes the program's state; the report says so.
  bool training_step = false;
  // Runs the file at the examples' sizes and at 0, 1 and 7 of the dynamic axes (or around the
  // examples', where the function takes none of these) and compares with the function. An axis
  // that could be compared at no size but the example's is an error.
  bool verify = true;
  double tolerance = 1e-5;  // largest difference allowed, relative to the largest magnitude
};

// The model that export_onnx would write, in memory: `fn` traced on tensors like `examples`.
// What is done with it needs ir/graph.h, which sardonyx/session.h has.
Model traced_model(const TensorFunction& fn, const std::vector<Tensor>& examples,
                   const ExportOptions& options = {}, Loc loc = Loc::current());

struct ExportCheck {
  std::map<std::string, int64_t> sizes;  // of the dynamic axes
  double difference = 0;                 // largest, relative to the largest magnitude
  std::string skipped;  // why the function itself does not run at these sizes; "" if it does
};

struct ExportReport {
  std::map<std::string, size_t> ops;  // how many nodes of each
  size_t constants = 0, constant_bytes = 0;
  size_t file_bytes = 0;
  int64_t opset = 0;
  std::vector<std::string> inputs, outputs;  // "x: float[batch, 784]"
  // Answers that C++ got for comparisons of open sizes: "batch == 3 (model.cpp:12) was true". Where
  // the file is not verified, nothing says that they do not matter.
  std::vector<std::string> comparisons;
  std::vector<ExportCheck> checks;
  std::string text() const;
};

// Traces `fn` on tensors like `examples` and writes it to `path`; the same code gives the same
// bytes. The file is verified before it takes its place: it is loaded by the executor and run, and
// where it does not agree with `fn` nothing is written and kInternal says what differs. Throws
// kUnsupported naming all nodes that the opset has no form for.
ExportReport export_onnx(const TensorFunction& fn, const std::vector<Tensor>& examples,
                         const std::filesystem::path& path, const ExportOptions& options = {},
                         Loc loc = Loc::current());
// The same of a function of tensors: [&](const Tensor& x) { return net(x); }.
// Modules have a form of their own (eager/nn/export.h).
template <TensorCallable F>
requires(!std::derived_from<F, nn::Module>) ExportReport
    export_onnx(const F& fn, const std::vector<Tensor>& examples, const std::filesystem::path& path,
                const ExportOptions& options = {}, Loc loc = Loc::current()) {
  const TensorFunction run = [&](const std::vector<Tensor>& inputs) {
    return detail::call_with(fn, inputs, loc);
  };
  return export_onnx(run, examples, path, options, loc);
}

}  // namespace sardonyx::eager
