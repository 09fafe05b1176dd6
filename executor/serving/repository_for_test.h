// A repository in a folder of its own, with models that are quickly made.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "executor/serving/repository.h"
#include "ir/graph.h"
#include "onnx_io/save.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::serving {

namespace fs = std::filesystem;

// y = x + constant, of x: float[batch, 2]
inline void save_adder(const fs::path& path, float constant) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("batch"), 2})));
  Value* w = model.graph->add_constant("w", Tensor::of<float>({constant, constant}, {2}));
  Value* y = GraphEmitter::unwrap(e.call("Add", {x, GraphEmitter::wrap(w)}));
  y->name = "y";
  model.graph->add_output(y);
  fs::create_directories(path.parent_path());
  save_model(model, path);
}

// What a model makes of one input, waited for.
inline InferResult result_of(const ModelRepository::ModelPointer& model, const std::string& name,
                             const Tensor& value) {
  InferRequest request;
  std::vector<NamedTensor> inputs;
  inputs.push_back({name, value});
  model->fill(request, std::move(inputs), {});
  std::promise<InferResult> promise;
  auto future = promise.get_future();
  model->submit(std::move(request),
                [&](InferResult&& result) { promise.set_value(std::move(result)); });
  return future.get();
}

inline float answer_of(const ModelRepository::ModelPointer& model) {
  const InferResult result = result_of(model, "x", Tensor::of<float>({1, 1}, {1, 2}));
  if (result.error) throw *result.error;
  return result.outputs[0].tensor().values<float>()[0];
}

template <typename Action>
ServingError error_from(const Action& action) {
  try {
    action();
  } catch (const ServingError& error) {
    return error;
  }
  return {Status::kOk, ""};
}

class RepositoryTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  RepositoryOptions options(ControlMode control = ControlMode::kNone) {
    RepositoryOptions options;
    options.roots = {{folder_.path(), ""}};
    options.control = control;
    return options;
  }
  TemporaryFolder folder_;
};

}  // namespace sardonyx::serving
