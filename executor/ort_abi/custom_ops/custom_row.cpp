#include "executor/ort_abi/custom_ops/custom_row.h"

#include <algorithm>

#include "executor/ort_abi/custom_ops/custom_op.h"
#include "executor/ort_abi/custom_ops/kernel_context.h"
#include "executor/ort_abi/custom_ops/shape_inference.h"
#include "executor/ort_abi/element_type.h"
#include "executor/ort_abi/functions.h"
#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {
namespace {

// For all rows: what a node may have is checked against the program's declaration.
const TypeConstraints& any_types() {
  static const TypeConstraints& types =
      *new TypeConstraints{{"T", TypeSet(kAnyDType, kAnyDType, kAnyDType, kAnyDType)}};
  return types;
}

}  // namespace

void throw_status(OrtStatus* status) {
  if (!status) return;
  const ErrorCode code = status->code == ORT_INVALID_ARGUMENT  ? ErrorCode::kInvalidArgument
                         : status->code == ORT_NOT_IMPLEMENTED ? ErrorCode::kUnsupported
                                                               : ErrorCode::kInternal;
  const std::string message = status->message;
  Functions::ReleaseStatus(status);
  throw Error(code, message);
}

CustomRow::CustomRow(const OrtCustomOp& op, CustomCall call, const OrtLogger& logger,
                     const OrtKeyValuePairs& config)
    : op_(op), own_name_(call.op), own_domain_(call.domain) {
  name = own_name_;
  domain = own_domain_;
  since = start_version(op);
  signature = "(inputs...0: T*) -> (outputs...0: T*)";
  types = any_types();
  infer = infer_custom;
  evaluate = evaluate_custom;
  facts = kRandom;  // what the program computes is not known: not to be folded or merged
  info_ = OrtKernelInfo(std::move(call), logger, config);
  set_output_types();
  make_kernel();
}

CustomRow::~CustomRow() {
  if (kernel_ && op_.KernelDestroy) op_.KernelDestroy(kernel_);
}

void CustomRow::make_kernel() {
  if (op_.version >= 16 && op_.CreateKernelV2)
    throw_status(op_.CreateKernelV2(&op_, api(), &info_, &kernel_));
  else
    kernel_ = op_.CreateKernel(&op_, api(), &info_);
}

DType CustomRow::output_dtype(size_t index, std::span<const Type> inputs) const {
  const size_t count = op_.GetOutputTypeCount(&op_);
  if (count == 0) fail(ErrorCode::kInvalidModel, own_name_, " has no outputs");
  const ONNXTensorElementDataType declared = op_.GetOutputType(&op_, std::min(index, count - 1));
  if (declared != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) return dtype_of_element(declared);
  // As the first input that may be of any type.
  const size_t input_count = op_.GetInputTypeCount(&op_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t at = std::min(i, input_count - 1);
    if (op_.GetInputType(&op_, at) == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED &&
        inputs[i].is_tensor())
      return inputs[i].dtype;
  }
  fail(ErrorCode::kInvalidModel, own_name_, ": the type of output ", index, " is not known");
}

void CustomRow::set_output_types() {
  for (size_t i = 0; i < info_.call.output_names.size(); ++i)
    info_.output_types.push_back(Type::tensor(output_dtype(i, info_.call.inputs)));
}

void CustomRow::infer_custom(InferContext& context) {
  const auto& row = static_cast<const CustomRow&>(context.op());
  std::vector<Type> inputs;
  for (size_t i = 0; i < context.input_count(); ++i)
    inputs.push_back(context.has(i) ? context.type(i) : Type::none());
  for (size_t i = 0; i < context.output_count(); ++i)
    context.set(i, Type::tensor(row.output_dtype(i, inputs)));
  if (row.op_.version < 17 || !row.op_.InferOutputShapeFn) return;
  OrtShapeInferContext shapes(context, row.info_, inputs);
  throw_status(row.op_.InferOutputShapeFn(&row.op_, &shapes));
}

void CustomRow::evaluate_custom(const EvalCall& call) {
  const auto& row = static_cast<const CustomRow&>(call.op);
  OrtKernelContext context(row, call);
  if (row.op_.version >= 16 && row.op_.KernelComputeV2)
    throw_status(row.op_.KernelComputeV2(row.kernel_, &context));
  else
    row.op_.KernelCompute(row.kernel_, &context);
  context.clear_missing();
}

}  // namespace sardonyx::ort_abi
