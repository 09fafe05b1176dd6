// Models that a program builds of parts of its own.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/ort_abi/values/type_info.h"
#include "executor/ort_abi/values/value.h"
#include "onnx_io/model_addition.h"

struct OrtValueInfo {
  std::string name;
  OrtTypeInfo type;
  bool is_owned = false;  // by a graph
};

struct OrtNode {
  sardonyx::AddedNode node;
  bool is_owned = false;
};

struct OrtGraph {
  std::vector<std::unique_ptr<OrtValueInfo>> inputs, outputs;
  sardonyx::LoadOptions::NamedTensors initializers;
  std::vector<std::unique_ptr<OrtValue>> values;  // that the initializers came in
  std::vector<std::unique_ptr<OrtNode>> nodes;
  bool is_owned = false;  // by a model
};

struct OrtModel {
  std::map<std::string, int64_t> opsets;
  std::unique_ptr<OrtGraph> graph;
};

namespace sardonyx::ort_abi {

// Throws where the model has no graph.
ModelAddition addition_of(const OrtModel& model);

}  // namespace sardonyx::ort_abi
