// Operators of ONNX's that a kernel of the program's calls.
#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

struct Kernel {
  OrtOp *add = nullptr, *top = nullptr;
};

// Of float, with indices of int64 where the operator has some.
OrtOp* made_op(const std::string& label, const OrtKernelInfo* info, const char* name,
               const char* domain, int version, const std::vector<OrtOpAttr*>& attributes,
               int inputs, int outputs) {
  OrtOp* op = nullptr;
  const char* parameters[] = {"T", "I"};
  const ONNXTensorElementDataType types[] = {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                             ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64};
  answer(label, lib.api->CreateOp(info, name, domain, version, parameters, types, outputs,
                                  attributes.data(), static_cast<int>(attributes.size()), inputs,
                                  outputs, &op));
  return op;
}

void* make_kernel(const OrtCustomOp*, const OrtApi*, const OrtKernelInfo* info) {
  auto* kernel = new Kernel;
  kernel->add = made_op("make Add", info, "Add", "", 14, {}, 2, 1);
  const int64_t axis = -1, smallest = 0, sorted = 1;
  std::vector<OrtOpAttr*> attributes(3);
  (void)lib.api->CreateOpAttr("axis", &axis, 1, ORT_OP_ATTR_INT, &attributes[0]);
  (void)lib.api->CreateOpAttr("largest", &smallest, 1, ORT_OP_ATTR_INT, &attributes[1]);
  (void)lib.api->CreateOpAttr("sorted", &sorted, 1, ORT_OP_ATTR_INT, &attributes[2]);
  kernel->top = made_op("make TopK", info, "TopK", "", 11, attributes, 2, 2);
  for (OrtOpAttr* attribute : attributes)
    lib.api->ReleaseOpAttr(attribute);
  made_op("make unknown", info, "None", "", 14, {}, 2, 1);
  made_op("make of another domain", info, "Add", "none", 14, {}, 2, 1);
  return kernel;
}

void compute(void* of, OrtKernelContext* context) {
  const Kernel& kernel = *static_cast<Kernel*>(of);
  const OrtValue *x = nullptr, *y = nullptr;
  OrtValue* sum = nullptr;
  const int64_t five = 5;
  (void)lib.api->KernelContext_GetInput(context, 0, &x);
  (void)lib.api->KernelContext_GetInput(context, 1, &y);
  (void)lib.api->KernelContext_GetOutput(context, 0, &five, 1, &sum);
  const OrtValue* both[] = {x, y};
  ANSWER(InvokeOp(context, kernel.add, both, 2, &sum, 1));
  ANSWER(InvokeOp(context, kernel.add, both, 1, &sum, 1));
  const OrtValue* asked[] = {sum, tensor<int64_t>({1}, {2})};
  OrtValue* found[] = {tensor<float>({2}, {0, 0}), tensor<int64_t>({2}, {0, 0})};
  if (ANSWER(InvokeOp(context, kernel.top, asked, 2, found, 2)))
    line("smallest", described(found[0]) + " at " + described(found[1]));
  asked[1] = tensor<int64_t>({1}, {9});
  ANSWER(InvokeOp(context, kernel.top, asked, 2, found, 2));
  void* handle = nullptr;
  ANSWER(KernelContext_GetGPUComputeStream(context, &handle));
  ANSWER(KernelContext_GetResource(context, 1, 0, &handle));
  OrtSyncStream* stream = nullptr;
  ANSWER(KernelContext_GetSyncStream(context, &stream));
  OrtValue* there = nullptr;
  if (ANSWER(KernelContext_GetPreallocatedOutput(context, 0, &there)))
    line("the output is there", there == sum);
  ANSWER(KernelContext_GetPreallocatedOutput(context, 7, &there));
}

struct Caller : OrtCustomOp {
  Caller() : OrtCustomOp{} {
    version = 12;
    CreateKernel = make_kernel;
    GetName = [](const OrtCustomOp*) { return "Caller"; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
    GetInputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
    GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 2; };
    GetOutputType = GetInputType;
    GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    KernelCompute = compute;
    KernelDestroy = [](void* kernel) {
      lib.api->ReleaseOp(static_cast<Kernel*>(kernel)->add);
      lib.api->ReleaseOp(static_cast<Kernel*>(kernel)->top);
      delete static_cast<Kernel*>(kernel);
    };
    GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetOutputCharacteristic = GetInputCharacteristic;
  }
};

}  // namespace

void called_op_chapter() {
  const std::string type = tensor_type(1, {"5"});
  ModelParts parts{{port("x", type), port("y", type)},
                   {port("z", type)},
                   {{"Caller", {"x", "y"}, {"z"}, {}, "the_node", "test"}}};
  parts.more_opsets = {opset("test", 1)};
  static const Caller caller;
  OrtCustomOpDomain* domain = nullptr;
  (void)lib.api->CreateCustomOpDomain("test", &domain);
  (void)lib.api->CustomOpDomain_Add(domain, &caller);
  OrtSessionOptions* with = options();
  (void)lib.api->AddCustomOpDomain(with, domain);
  OrtSession* session = load("caller", model(parts), with);
  for (int i = 0; session && i < 2; ++i) {
    run("caller", session, {"x", "y"},
        {tensor<float>({5}, {5, 3, 9, 1, 7}), tensor<float>({5}, {1, 1, 1, 1, 1})}, {"z"});
  }
}

}  // namespace behaviour
