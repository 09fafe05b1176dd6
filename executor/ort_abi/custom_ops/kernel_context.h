// One call of a kernel of the program's.
#pragma once

#include <memory>
#include <vector>

#include "executor/ort_abi/custom_ops/custom_row.h"

struct OrtKernelContext {
  const sardonyx::ort_abi::CustomRow& row;
  const sardonyx::EvalCall& call;
  std::vector<OrtValue> inputs;                    // absent: omitted
  std::vector<std::unique_ptr<OrtValue>> outputs;  // null: not asked for yet
  std::vector<std::unique_ptr<std::byte[]>> scratch;

  OrtKernelContext(const sardonyx::ort_abi::CustomRow& of, const sardonyx::EvalCall& of_call);
};
