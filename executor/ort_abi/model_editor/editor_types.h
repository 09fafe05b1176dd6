// Models that a program builds of parts of its own.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/ort_abi/custom_ops/op_attr.h"
#include "executor/ort_abi/values/type_info.h"
#include "executor/ort_abi/values/value.h"
#include "onnx_io/model_addition.h"

struct OrtValueInfo {
  std::string name;
  OrtTypeInfo type;
  bool is_owned = false;  // by a graph
  const OrtGraph* graph = nullptr;
};

struct OrtNode {
  sardonyx::AddedNode node;
  std::vector<OrtOpAttr> attributes = {};  // in the order in which they were given
  bool is_owned = false;
  const OrtGraph* graph = nullptr;
  size_t id = 0;  // its place in the graph
};

struct OrtGraph {
  std::vector<std::unique_ptr<OrtValueInfo>> inputs, outputs;
  // Initializers in the order in which they came, and values that nodes alone name, of no type.
  std::vector<std::unique_ptr<OrtValueInfo>> constants, others;
  sardonyx::LoadOptions::NamedTensors initializers;
  std::vector<std::unique_ptr<OrtValue>> values;  // that the initializers came in
  std::vector<std::unique_ptr<OrtNode>> nodes;
  bool is_owned = false;  // by a model
  const OrtModel* model = nullptr;

  // Null where the graph has none of this name.
  const OrtValueInfo* value_named(std::string_view name) const;
};

struct OrtModel {
  std::map<std::string, int64_t> opsets;
  std::unique_ptr<OrtGraph> graph;
};

namespace sardonyx::ort_abi {

// Throws where the model has no graph.
ModelAddition addition_of(const OrtModel& model);

}  // namespace sardonyx::ort_abi
