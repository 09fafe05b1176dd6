// What a model's file says and our graph does not keep, and what is wanted of it without the graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/ort_abi/load/load_session.h"

namespace sardonyx::ort_abi {

// Is there a model_version in the file, be it 0?
bool names_model_version(const ModelSource& source);

// The value of this key in the model's metadata_props; reads nothing of the graph. Throws Failure
// where the bytes are no protobuf message.
std::optional<std::string> metadata_prop(const ModelSource& source, std::string_view key);

// What a model says of a dimension of one of its inputs: "DATA_BATCH".
struct DenotedDim {
  std::string input;
  size_t axis;
  std::string denotation;
};
// Of the inputs that are tensors, none where the bytes are no protobuf message; reads nothing of
// nodes and initializers.
std::vector<DenotedDim> denoted_dims(const ModelSource& source);

}  // namespace sardonyx::ort_abi
