#include "executor/ort_abi/custom_ops/custom_row.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "executor/ort_abi/custom_ops/custom_op.h"
#include "executor/ort_abi/custom_ops/kernel_context.h"
#include "executor/ort_abi/custom_ops/shape_inference.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/element_type.h"

namespace sardonyx::ort_abi {
namespace {

// As many as the node has, of any type; the program's declaration has been looked at (domain.cpp).
std::string params_text(const char* name, size_t count) {
  std::string out = "(";
  for (size_t i = 0; i < count; ++i)
    out += text(i > 0 ? ", " : "", name, i, "?: T*");
  return out + ")";
}

// Those that the node has, so that it can be written down again. Subgraphs are the row's alone.
std::vector<CustomAttribute> saved_attributes(const AttrMap& attrs) {
  std::vector<CustomAttribute> saved;
  for (const auto& [name, value] : attrs) {
    const bool is_graph = std::holds_alternative<GraphPtr>(value) ||
                          std::holds_alternative<std::vector<GraphPtr>>(value);
    if (!is_graph) saved.push_back({name, value, /*is_required=*/true});
  }
  return saved;
}

}  // namespace

// Errors have codes of ours on their way to the caller, who wants the program's own.
class CustomFailures {
 public:
  void add(const OrtStatus& status) {
    const std::lock_guard lock(mutex_);
    if (latest_.size() == kKept) latest_.pop_back();
    latest_.push_front(status);
  }
  OrtErrorCode code_of(std::string_view message) {
    const std::lock_guard lock(mutex_);
    for (const OrtStatus& status : latest_) {
      if (message.ends_with(status.message)) return status.code;
    }
    return ORT_OK;
  }

 private:
  static constexpr size_t kKept = 16;
  std::mutex mutex_;
  std::deque<OrtStatus> latest_;
};

CustomFailures& custom_failures() {
  static auto* const failures = new CustomFailures;
  return *failures;
}

void throw_status(OrtStatus* status) {
  if (!status) return;
  custom_failures().add(*status);
  const ErrorCode code = status->code == ORT_INVALID_ARGUMENT  ? ErrorCode::kInvalidArgument
                         : status->code == ORT_NOT_IMPLEMENTED ? ErrorCode::kUnsupported
                                                               : ErrorCode::kInternal;
  const std::string message = status->message;
  Functions::ReleaseStatus(status);
  throw Error(code, message);
}

namespace {

// A kernel that can't be made is ORT_RUNTIME_EXCEPTION, whatever code the program has for it.
void refuse_kernel(OrtStatus* status) {
  if (!status) return;
  const std::string message = status->message;
  Functions::ReleaseStatus(status);
  throw Error(ErrorCode::kInternal, message);
}

// Calls a function of the program's, whose exceptions are ORT_RUNTIME_EXCEPTION.
template <typename Call>
auto called(const Call& call) {
  const auto refuse_exception = [](const char* words) {
    throw_status(
        new OrtStatus{ORT_RUNTIME_EXCEPTION, *words ? words : "an exception without words"});
  };
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& exception) {
    refuse_exception(exception.what());
  } catch (...) {
    refuse_exception("its function threw what is no std::exception");
  }
  return decltype(call())();
}

}  // namespace

OrtErrorCode code_of_custom_failure(std::string_view message) {
  return custom_failures().code_of(message);
}

CustomRow::CustomRow(const OrtCustomOp& op, CustomCall call, const OrtLogger& logger,
                     const OrtKeyValuePairs& config)
    : op_(op), info_(std::move(call), logger, config) {
  set_output_types();
  row_ = std::make_unique<CustomOpRow>(description());
  make_kernel();
}

CustomRow::~CustomRow() {
  if (kernel_ && op_.KernelDestroy) op_.KernelDestroy(kernel_);
}

CustomOp CustomRow::description() const {
  return {.domain = info_.call.domain,
          .name = info_.call.op,
          .since = std::max(start_version(op_), 1),
          .signature = params_text("input", info_.call.inputs.size()) + " -> " +
                       params_text("output", info_.call.output_names.size()),
          .types = {{"T", kAnyDType, kAnyDType, kAnyDType, kAnyDType}},
          .attributes = saved_attributes(info_.call.attrs),
          .compute = [this](const EvalCall& run) { compute(run); },
          .infer = [this](InferContext& context) { infer(context); },
          .is_pure = false};
}

void CustomRow::make_kernel() {
  if (op_.version >= 16 && op_.CreateKernelV2)
    refuse_kernel(op_.CreateKernelV2(&op_, api(), &info_, &kernel_));
  else
    kernel_ = op_.CreateKernel(&op_, api(), &info_);
}

DType CustomRow::output_dtype(size_t index, std::span<const Type> inputs) const {
  const size_t count = op_.GetOutputTypeCount(&op_);
  if (count == 0) fail(ErrorCode::kInvalidModel, info_.call.op, " has no outputs");
  const ONNXTensorElementDataType declared = op_.GetOutputType(&op_, std::min(index, count - 1));
  if (declared != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) return dtype_of_element(declared);
  if (const Type& of_model = info_.call.outputs[index]; of_model.is_tensor()) return of_model.dtype;
  // As the first input that may be of any type.
  const size_t input_count = op_.GetInputTypeCount(&op_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t at = std::min(i, input_count - 1);
    if (op_.GetInputType(&op_, at) == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED &&
        inputs[i].is_tensor())
      return inputs[i].dtype;
  }
  fail(ErrorCode::kInvalidModel, info_.call.op, ": the type of output ", index, " is not known");
}

void CustomRow::set_output_types() {
  for (size_t i = 0; i < info_.call.output_names.size(); ++i)
    info_.output_types.push_back(Type::tensor(output_dtype(i, info_.call.inputs)));
}

void CustomRow::infer(InferContext& context) const {
  std::vector<Type> inputs;
  for (size_t i = 0; i < context.input_count(); ++i)
    inputs.push_back(context.has(i) ? context.type(i) : Type::none());
  for (size_t i = 0; i < context.output_count(); ++i)
    context.set(i, Type::tensor(output_dtype(i, inputs)));
  if (op_.version < 17 || !op_.InferOutputShapeFn) return;
  OrtShapeInferContext shapes(context, info_, inputs);
  throw_status(op_.InferOutputShapeFn(&op_, &shapes));
}

void CustomRow::compute(const EvalCall& call) const {
  OrtKernelContext context(*this, call);
  if (op_.version >= 16 && op_.KernelComputeV2)
    throw_status(called([&] { return op_.KernelComputeV2(kernel_, &context); }));
  else
    called([&] { op_.KernelCompute(kernel_, &context); });
}

}  // namespace sardonyx::ort_abi
