#include "executor/ort_abi/custom_ops/custom_op.h"

#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {

void check_custom_op(const OrtCustomOp& op) {
  if (op.version < 1) {
    refuse(ORT_INVALID_ARGUMENT, "Unsupported version '", op.version, "' in custom op '",
           op.GetName(&op), "'");
  }
  const size_t inputs = op.GetInputTypeCount(&op), outputs = op.GetOutputTypeCount(&op);
  for (size_t i = 0; i + 1 < inputs; ++i) {
    if (input_kind(op, i) == INPUT_OUTPUT_VARIADIC)
      refuse(ORT_FAIL, "Only the last input to a custom op may be marked variadic.");
  }
  for (size_t i = 0; i + 1 < outputs; ++i) {
    if (output_kind(op, i) == INPUT_OUTPUT_VARIADIC)
      refuse(ORT_FAIL, "Only the last output to a custom op may be marked variadic.");
  }
  const bool has_kernel = op.CreateKernel || (op.version >= 16 && op.CreateKernelV2);
  if (!has_kernel)
    refuse(ORT_INVALID_ARGUMENT, "custom op '", op.GetName(&op), "' makes no kernel");
}

}  // namespace sardonyx::ort_abi
