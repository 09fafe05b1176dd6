// What options ask to be done to a model before it becomes a session.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "executor/ort_abi/load/load_session.h"

namespace sardonyx::ort_abi {

// The model with these sizes for dims of its inputs that have these names, inferred anew.
Model with_fixed_dims(const ModelSource& source, const std::map<std::string, int64_t>& sizes,
                      const LoadOptions& load);

// Writes the model as the generic passes leave it, in ONNX's own ops, where the options name a
// file.
void save_optimized(const ModelSource& source, const OrtSessionOptions& options,
                    const LoadOptions& load);

// The model, rewritten as far as the level asks for.
Model optimized_model(const ModelSource& source, GraphOptimizationLevel level,
                      const LoadOptions& load);

}  // namespace sardonyx::ort_abi
