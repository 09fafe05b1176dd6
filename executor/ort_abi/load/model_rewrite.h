// What options ask to be done to a model before it becomes a session.
#pragma once

#include "executor/ort_abi/load/load_session.h"
#include "onnx_io/save.h"

namespace sardonyx::ort_abi {

// The model with these sizes for dims of its inputs that are not known, inferred anew.
Model with_fixed_dims(const ModelSource& source, const FixedDims& sizes, const LoadOptions& load);

// The file that a session's options ask for. Entries of the configuration tell its format, and
// where its initializers go.
struct OptimizedFile {
  const std::string& path;  // empty: none is asked for
  GraphOptimizationLevel level;
  const FixedDims& fixed_dims;
  const OrtKeyValuePairs& config;
};

// Writes the model as the generic passes leave it, in ONNX's own ops: what kernels take several
// nodes as one for is no part of it.
void save_optimized(const ModelSource& source, const OptimizedFile& file, const LoadOptions& load);

// The model, rewritten as far as the level asks for.
Model optimized_model(const ModelSource& source, GraphOptimizationLevel level,
                      const LoadOptions& load);

}  // namespace sardonyx::ort_abi
