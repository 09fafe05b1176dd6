// A model's metadata: what its file holds besides the graph, such as producer and opsets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace sardonyx {

struct Model;

struct ModelMetadata {
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;  // by domain; "": ai.onnx
  std::string producer_name, producer_version, domain, description;
  int64_t model_version = 0;
  std::string graph_name, graph_description;
  std::map<std::string, std::string, std::less<>> custom;  // metadata_props
};

// Copies what the model holds.
ModelMetadata metadata_of(const Model& model);

}  // namespace sardonyx
