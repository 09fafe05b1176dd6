// What options ask to be done to a model before it becomes a session.
#pragma once

#include "executor/ort_abi/load/load_session.h"
#include "onnx_io/save.h"

namespace sardonyx::ort_abi {

// The model with these sizes for dims of its inputs that are not known, inferred anew.
Model with_fixed_dims(const ModelSource& source, const FixedDims& sizes, const LoadOptions& load);

// How an optimised model is written to `path`: its format, and where its initializers go, as far as
// entries of the session's configuration tell.
SaveOptions save_options_of(const OrtKeyValuePairs& config, const std::filesystem::path& path);

// Writes the model as the generic passes leave it, in ONNX's own ops, where the options name a
// file.
void save_optimized(const ModelSource& source, const OrtSessionOptions& options,
                    const LoadOptions& load);

// The model, rewritten as far as the level asks for.
Model optimized_model(const ModelSource& source, GraphOptimizationLevel level,
                      const LoadOptions& load);

}  // namespace sardonyx::ort_abi
