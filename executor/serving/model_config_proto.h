// The configuration as a protocol message, from which the others are read.
#pragma once

#include <string>
#include <string_view>

#include "executor/serving/model_config.h"
#include "executor/serving/model_config.pb.h"

namespace sardonyx::serving {

ModelConfig config_from_message(const inference::ModelConfig& message, std::string_view model);
// Writes what complete_config() found back.
void update_message(ModelConfig& config);
DType dtype_of(inference::DataType type);
inference::DataType data_type_of(DType dtype);

// Any message as JSON, with the names of its fields as they stand in the schema and 64-bit integers
// as numbers; fields that are not set have their defaults, but messages that are not set are left
// out.
std::string message_as_json(const google::protobuf::Message& message);

}  // namespace sardonyx::serving
