// What a kernel of the program's is told of its node.
#pragma once

#include <deque>
#include <vector>

#include "executor/ort_abi/custom_ops/op_attr.h"
#include "executor/ort_abi/key_values.h"
#include "executor/ort_abi/logging.h"
#include "executor/ort_abi/values/value.h"
#include "onnx_io/custom_ops.h"

struct OrtKernelInfo {
  sardonyx::CustomCall call;
  std::vector<sardonyx::Type> output_types;
  std::vector<OrtOpAttr> attributes;
  std::vector<OrtValue> constants;  // by input; absent where not known
  const OrtLogger* logger = nullptr;
  const OrtKeyValuePairs* config = nullptr;

  OrtKernelInfo() = default;
  OrtKernelInfo(sardonyx::CustomCall of, const OrtLogger& log, const OrtKeyValuePairs& entries);
};

namespace sardonyx::ort_abi {

// Null where the node has no attribute of this name.
const OrtOpAttr* find_attribute(const OrtKernelInfo& info, std::string_view name);

}  // namespace sardonyx::ort_abi
