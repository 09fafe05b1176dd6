// What an OrtCustomOp says of itself, as far as its version has the member.
#pragma once

#include <limits>

#include "executor/ort_abi/table/ort_c_api.h"

namespace sardonyx::ort_abi {

// Throws Failure where the operator is of a later version, or not well formed.
void check_custom_op(const OrtCustomOp& op);

inline OrtCustomOpInputOutputCharacteristic input_kind(const OrtCustomOp& op, size_t index) {
  return op.version >= 8 && op.GetInputCharacteristic ? op.GetInputCharacteristic(&op, index)
                                                      : INPUT_OUTPUT_REQUIRED;
}
inline OrtCustomOpInputOutputCharacteristic output_kind(const OrtCustomOp& op, size_t index) {
  return op.version >= 8 && op.GetOutputCharacteristic ? op.GetOutputCharacteristic(&op, index)
                                                       : INPUT_OUTPUT_REQUIRED;
}
inline int start_version(const OrtCustomOp& op) {
  return op.version >= 17 && op.GetStartVersion ? op.GetStartVersion(&op) : 1;
}
inline int end_version(const OrtCustomOp& op) {
  return op.version >= 17 && op.GetEndVersion ? op.GetEndVersion(&op)
                                              : std::numeric_limits<int>::max();
}

}  // namespace sardonyx::ort_abi
