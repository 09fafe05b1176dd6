// A node of a custom operator: its row in the op table, and the kernel that the program made for
// it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/ort_abi/custom_ops/kernel_info.h"
#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/custom_op.h"
#include "onnx_io/custom_ops.h"

namespace sardonyx::ort_abi {

// Each node has a row of its own, since its attributes are known to the program alone.
class CustomRow {
 public:
  // Has the program make the kernel; throws Error where it can't.
  CustomRow(const OrtCustomOp& op, CustomCall call, const OrtLogger& logger,
            const OrtKeyValuePairs& config);
  ~CustomRow();
  CustomRow(const CustomRow&) = delete;
  CustomRow& operator=(const CustomRow&) = delete;

  const OpDef& row() const { return *row_; }
  const OrtKernelInfo& info() const { return info_; }
  // The element type of an output where the inputs have these types.
  DType output_dtype(size_t index, std::span<const Type> inputs) const;

 private:
  CustomOp description() const;
  void infer(InferContext& context) const;
  void compute(const EvalCall& call) const;
  void make_kernel();
  void set_output_types();

  const OrtCustomOp& op_;
  OrtKernelInfo info_;
  void* kernel_ = nullptr;
  std::unique_ptr<CustomOpRow> row_;
};

// The error of a function of the program's, if it gave one; the status is released.
void throw_status(OrtStatus* status);
// The code of the status that such an error was made of, by the end of its message; ORT_OK where
// there was none of late.
OrtErrorCode code_of_custom_failure(std::string_view message);

}  // namespace sardonyx::ort_abi
