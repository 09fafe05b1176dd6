/* A library of operators as programs for ONNX Runtime have them: test.library::Scaled is y = x * factor, an attribute,
   which the kernel reads when it is made. */
#include <stdlib.h>

#include "executor/ort_abi/table/ort_c_api.h"

typedef struct Kernel {
  const OrtApi* api;
  float factor;
} Kernel;

static OrtStatus* create_kernel(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info, void** kernel) {
  (void)op;
  Kernel made = {api, 0};
  OrtStatus* status = api->KernelInfoGetAttribute_float(info, "factor", &made.factor);
  if (status) return status;
  Kernel* kept = malloc(sizeof *kept);
  *kept = made;
  *kernel = kept;
  return NULL;
}

static OrtStatus* scale(const Kernel* kernel, const OrtValue* x, OrtKernelContext* context,
                        OrtTensorTypeAndShapeInfo* info) {
  const OrtApi* api = kernel->api;
  size_t rank = 0, count = 0;
  int64_t dims[8];
  OrtValue* y = NULL;
  void *from = NULL, *to = NULL;
  OrtStatus* status = api->GetDimensionsCount(info, &rank);
  if (!status && rank > 8) return api->CreateStatus(ORT_INVALID_ARGUMENT, "Scaled: more than 8 dims");
  if (!status) status = api->GetDimensions(info, dims, rank);
  if (!status) status = api->GetTensorShapeElementCount(info, &count);
  if (!status) status = api->KernelContext_GetOutput(context, 0, dims, rank, &y);
  if (!status) status = api->GetTensorMutableData((OrtValue*)x, &from);
  if (!status) status = api->GetTensorMutableData(y, &to);
  for (size_t i = 0; !status && i < count; ++i)
    ((float*)to)[i] = ((const float*)from)[i] * kernel->factor;
  return status;
}

static OrtStatus* compute(void* of, OrtKernelContext* context) {
  const Kernel* kernel = of;
  const OrtValue* x = NULL;
  OrtTensorTypeAndShapeInfo* info = NULL;
  OrtStatus* status = kernel->api->KernelContext_GetInput(context, 0, &x);
  if (!status) status = kernel->api->GetTensorTypeAndShape(x, &info);
  if (!status) status = scale(kernel, x, context, info);
  kernel->api->ReleaseTensorTypeAndShapeInfo(info);
  return status;
}

static const char* name(const OrtCustomOp* op) {
  (void)op;
  return "Scaled";
}
static const char* provider(const OrtCustomOp* op) {
  (void)op;
  return NULL;
}
static size_t one(const OrtCustomOp* op) {
  (void)op;
  return 1;
}
static ONNXTensorElementDataType floats(const OrtCustomOp* op, size_t index) {
  (void)op, (void)index;
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}
static OrtCustomOpInputOutputCharacteristic required(const OrtCustomOp* op, size_t index) {
  (void)op, (void)index;
  return INPUT_OUTPUT_REQUIRED;
}

OrtStatus* RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  static const OrtCustomOp scaled = {
      .version = 16,
      .GetName = name,
      .GetExecutionProviderType = provider,
      .GetInputType = floats,
      .GetInputTypeCount = one,
      .GetOutputType = floats,
      .GetOutputTypeCount = one,
      .KernelDestroy = free,
      .GetInputCharacteristic = required,
      .GetOutputCharacteristic = required,
      .CreateKernelV2 = create_kernel,
      .KernelComputeV2 = compute,
  };
  static int has_op = 0;
  static OrtCustomOpDomain* domain = NULL; /* stays as long as the library */
  const OrtApi* api = base->GetApi(16);
  OrtStatus* status = domain ? NULL : api->CreateCustomOpDomain("test.library", &domain);
  if (!status && !has_op) status = api->CustomOpDomain_Add(domain, &scaled);
  if (!status) has_op = 1;
  return status ? status : api->AddCustomOpDomain(options, domain);
}
