// What InferOutputShapeFn of a custom operator sees and sets.
#pragma once

#include <span>
#include <vector>

#include "executor/ort_abi/custom_ops/kernel_info.h"
#include "executor/ort_abi/values/type_info.h"
#include "ir/op_def.h"

struct OrtShapeInferContext {
  sardonyx::InferContext& context;
  const OrtKernelInfo& info;
  std::vector<OrtTensorTypeAndShapeInfo> inputs;

  OrtShapeInferContext(sardonyx::InferContext& of, const OrtKernelInfo& node,
                       std::span<const sardonyx::Type> types);
};
