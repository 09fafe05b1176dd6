// Operators of the program's, and of libraries that are not there.
#include <stdexcept>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

// y = x + 1, which can be spoiled in several ways.
struct Op : OrtCustomOp {
  const char* name = "AddOne";
  ONNXTensorElementDataType input = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  size_t inputs = 1;
  OrtCustomOpInputOutputCharacteristic kind = INPUT_OUTPUT_REQUIRED;
  const char* provider = nullptr;
  bool fails_to_make = false, fails_to_compute = false;
  enum class Throws { kNothing, kException, kNumber } throws = Throws::kNothing;
  Op();
};

OrtStatus* make_kernel(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                       void** kernel) {
  const Op& made = static_cast<const Op&>(*op);
  if (made.fails_to_make) return api->CreateStatus(ORT_NOT_IMPLEMENTED, "not to be made");
  size_t inputs = 0, outputs = 0, size = 0;
  answer("  inputs", api->KernelInfo_GetInputCount(info, &inputs));
  answer("  outputs", api->KernelInfo_GetOutputCount(info, &outputs));
  line("  counts", std::to_string(inputs) + " " + std::to_string(outputs));
  int64_t number = 0;
  float real = 0;
  answer("  attribute", api->KernelInfoGetAttribute_int64(info, "number", &number));
  line("  number", number);
  answer("  no attribute", api->KernelInfoGetAttribute_int64(info, "none", &number));
  answer("  other type", api->KernelInfoGetAttribute_float(info, "number", &real));
  answer("  text", api->KernelInfoGetAttribute_string(info, "number", nullptr, &size));
  int64_t numbers[2] = {};
  size = 1;
  answer("  short array", api->KernelInfoGetAttributeArray_int64(info, "numbers", numbers, &size));
  line("  size", size);
  size = 2;
  answer("  array", api->KernelInfoGetAttributeArray_int64(info, "numbers", numbers, &size));
  line("  second", numbers[1]);
  char text[32] = "";
  size = sizeof text;
  answer("  name", api->KernelInfo_GetInputName(info, 0, text, &size));
  line("  name", text);
  size = 1;
  answer("  short name", api->KernelInfo_GetInputName(info, 0, text, &size));
  line("  size", size);
  size = sizeof text;
  answer("  name out of range", api->KernelInfo_GetInputName(info, 9, text, &size));
  size = sizeof text;
  answer("  output name", api->KernelInfo_GetOutputName(info, 0, text, &size));
  line("  output name", text);
  size = sizeof text;
  answer("  node", api->KernelInfo_GetNodeName(info, text, &size));
  line("  node", text);
  OrtTypeInfo* type = nullptr;
  if (answer("  type", api->KernelInfo_GetInputTypeInfo(info, 0, &type)))
    line("  type", described(type));
  if (answer("  output type", api->KernelInfo_GetOutputTypeInfo(info, 0, &type)))
    line("  output type", described(type));
  answer("  type out of range", api->KernelInfo_GetInputTypeInfo(info, 9, &type));
  int is_constant = -1;
  const OrtValue* constant = nullptr;
  answer("  constant", api->KernelInfoGetConstantInput_tensor(info, 0, &is_constant, &constant));
  line("  is constant", is_constant);
  is_constant = -1;
  answer("  constant out of range",
         api->KernelInfoGetConstantInput_tensor(info, 9, &is_constant, &constant));
  line("  is constant", is_constant);
  *kernel = const_cast<Op*>(&made);
  return nullptr;
}

OrtStatus* compute(void* kernel, OrtKernelContext* context) {
  const Op& op = *static_cast<const Op*>(kernel);
  if (op.fails_to_compute) return lib.api->CreateStatus(ORT_ENGINE_ERROR, "not to be computed");
  if (op.throws == Op::Throws::kException) throw std::runtime_error("thrown words");
  if (op.throws == Op::Throws::kNumber) throw 5;
  const OrtValue* x = nullptr;
  size_t count = 0;
  ANSWER(KernelContext_GetInputCount(context, &count));
  line("  inputs", count);
  ANSWER(KernelContext_GetOutputCount(context, &count));
  ANSWER(KernelContext_GetInput(context, 0, &x));
  line("  x", described(x));
  const OrtValue* none = nullptr;
  ANSWER(KernelContext_GetInput(context, 7, &none));
  OrtTensorTypeAndShapeInfo* info = nullptr;
  (void)lib.api->GetTensorTypeAndShape(x, &info);
  int64_t dims[8];
  size_t rank = 0, elements = 0;
  (void)lib.api->GetDimensionsCount(info, &rank);
  (void)lib.api->GetDimensions(info, dims, rank);
  (void)lib.api->GetTensorShapeElementCount(info, &elements);
  OrtValue *y = nullptr, *outside = nullptr;
  const int64_t negative = -3, other = 5;
  ANSWER(KernelContext_GetOutput(context, 0, &negative, 1, &outside));
  ANSWER(KernelContext_GetOutput(context, 0, dims, rank, &y));
  ANSWER(KernelContext_GetOutput(context, 0, &other, 1, &outside));
  ANSWER(KernelContext_GetOutput(context, 7, dims, rank, &outside));
  void *from = nullptr, *to = nullptr;
  (void)lib.api->GetTensorMutableData(const_cast<OrtValue*>(x), &from);
  (void)lib.api->GetTensorMutableData(y, &to);
  for (size_t i = 0; i < elements; ++i)
    static_cast<float*>(to)[i] = static_cast<float*>(from)[i] + 1;
  return nullptr;
}

Op::Op() : OrtCustomOp{} {
  version = 22;
  GetName = [](const OrtCustomOp* op) { return static_cast<const Op*>(op)->name; };
  GetExecutionProviderType = [](const OrtCustomOp* op) {
    return static_cast<const Op*>(op)->provider;
  };
  GetInputType = [](const OrtCustomOp* op, size_t) { return static_cast<const Op*>(op)->input; };
  GetInputTypeCount = [](const OrtCustomOp* op) { return static_cast<const Op*>(op)->inputs; };
  GetOutputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
  GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
  GetInputCharacteristic = [](const OrtCustomOp* op, size_t) {
    return static_cast<const Op*>(op)->kind;
  };
  GetOutputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
  GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
  GetVariadicInputMinArity = [](const OrtCustomOp*) { return 1; };
  GetVariadicInputHomogeneity = GetVariadicInputMinArity;
  GetVariadicOutputMinArity = GetVariadicInputMinArity;
  GetVariadicOutputHomogeneity = GetVariadicInputMinArity;
  CreateKernelV2 = make_kernel;
  KernelComputeV2 = compute;
  KernelDestroy = [](void*) { line("  destroyed", "once"); };
  GetMayInplace = [](int**, int**) -> size_t { return 0; };
  ReleaseMayInplace = [](int*, int*) {};
  GetAliasMap = [](int**, int**) -> size_t { return 0; };
  ReleaseAliasMap = [](int*, int*) {};
}

std::string custom_model(const Strings& inputs, const std::string& type,
                         const std::string& node = "the_node") {
  Strings ports;
  for (const std::string& input : inputs)
    ports.push_back(port(input, type));
  return model({ports,
                {port("y", tensor_type(1, {"n"}))},
                {{"AddOne",
                  inputs,
                  {"y"},
                  {attribute("number", 7), attribute("numbers", std::vector<int64_t>{1, 2})},
                  node,
                  "test"}},
                {},
                8,
                17,
                {opset("test", 1)}});
}

void with_op(const std::string& label, const Op& op, const Strings& inputs = {"x"}, int element = 1,
             const std::string& node = "the_node") {
  OrtCustomOpDomain* domain = nullptr;
  OrtSessionOptions* with = options();
  answer(label, lib.api->CreateCustomOpDomain("test", &domain));
  answer("  add", lib.api->CustomOpDomain_Add(domain, &op));
  answer("  to options", lib.api->AddCustomOpDomain(with, domain));
  OrtSession* session = load(label, custom_model(inputs, tensor_type(element, {"n"}), node), with);
  if (!session) return;
  Names names;
  Values values;
  for (const std::string& input : inputs) {
    names.push_back(input.c_str());
    values.push_back(element == 1 ? tensor<float>({2}, {1, 2})
                                  : reinterpret_cast<OrtValue*>(tensor<int64_t>({2}, {1, 2})));
  }
  run(label, session, names, values, {"y"});
  lib.api->ReleaseSession(session);
  lib.api->ReleaseCustomOpDomain(domain);
}

void libraries() {
  void* handle = nullptr;
  const std::string text = lib.folder + "/no_library.so";
  std::FILE* file = std::fopen(text.c_str(), "w");
  if (file) std::fclose(file);
  ANSWER(RegisterCustomOpsLibrary(options(), "/none/of.so", &handle));
  ANSWER(RegisterCustomOpsLibrary_V2(options(), "/none/of.so"));
  ANSWER(RegisterCustomOpsLibrary_V2(options(), "libm.so.6"));
  ANSWER(RegisterCustomOpsLibrary_V2(options(), ""));
  ANSWER(RegisterCustomOpsUsingFunction(options(), "no_such_function"));
  ANSWER(RegisterCustomOpsUsingFunction(options(), ""));
}

void attributes() {
  const int64_t numbers[] = {3, 4};
  const float reals[] = {1, 2};
  const char* texts[] = {"one", "two"};
  OrtOpAttr* attribute = nullptr;
  for (int type = 0; type < 9; ++type) {
    const void* data = type < 3    ? static_cast<const void*>(numbers)
                       : type < 5  ? static_cast<const void*>(reals)
                       : type == 5 ? static_cast<const void*>("text")
                                   : static_cast<const void*>(texts);
    if (!answer("attribute " + std::to_string(type),
                lib.api->CreateOpAttr("a", data,
                                      type == 5  ? 4
                                      : type % 2 ? 1
                                                 : 2,
                                      static_cast<OrtOpAttrType>(type), &attribute)))
      continue;
    OrtOpAttrType read{};
    const char* name = nullptr;
    ANSWER(OpAttr_GetType(attribute, &read));
    ANSWER(OpAttr_GetName(attribute, &name));
    line("  it is", std::string(name) + " " + std::to_string(read));
    char memory[64] = {};
    size_t size = 0;
    answer("  size", lib.api->ReadOpAttr(attribute, read, nullptr, 0, &size));
    line("  size", size);
    answer("  read", lib.api->ReadOpAttr(attribute, read, memory, sizeof memory, &size));
    line("  size", size);
    answer("  as another", lib.api->ReadOpAttr(attribute, ORT_OP_ATTR_GRAPH, memory, 64, &size));
    lib.api->ReleaseOpAttr(attribute);
  }
}

}  // namespace

void custom_op_chapter() {
  with_op("plain", Op());
  with_op("in a node without a name", Op(), {"x"}, 1, "");
  Op other_type;
  other_type.input = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
  with_op("another type", other_type);
  Op any;
  any.input = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  with_op("any type", any);
  Op two;
  two.inputs = 2;
  with_op("two inputs, one given", two);
  with_op("two inputs", two, {"x", "z"});
  with_op("one input, two given", Op(), {"x", "z"});
  two.kind = INPUT_OUTPUT_VARIADIC;
  with_op("variadic, not last", two, {"x", "z"});
  Op variadic;
  variadic.kind = INPUT_OUTPUT_VARIADIC;
  with_op("variadic", variadic, {"x", "z", "u"});
  Op optional;
  optional.kind = INPUT_OUTPUT_OPTIONAL;
  with_op("optional", optional);
  Op failing;
  failing.fails_to_make = true;
  with_op("not made", failing);
  failing.fails_to_make = false;
  failing.fails_to_compute = true;
  with_op("not computed", failing);
  Op throwing;
  throwing.throws = Op::Throws::kException;
  with_op("throwing", throwing);
  throwing.throws = Op::Throws::kNumber;
  with_op("throwing a number", throwing);
  Op newer;
  newer.version = 99;
  with_op("of a newer version", newer);
  Op provider;
  provider.provider = "CPUExecutionProvider";
  with_op("for the CPU", provider);
  provider.provider = "NoExecutionProvider";
  with_op("for another provider", provider);
  Op named;
  named.name = "Other";
  with_op("of another name", named);
  OrtCustomOpDomain* domain = nullptr;
  ANSWER(CreateCustomOpDomain("", &domain));
  const Op same, again;
  ANSWER(CreateCustomOpDomain("test", &domain));
  ANSWER(CustomOpDomain_Add(domain, &same));
  ANSWER(CustomOpDomain_Add(domain, &again));
  OrtSessionOptions* with = options();
  ANSWER(AddCustomOpDomain(with, domain));
  ANSWER(AddCustomOpDomain(with, domain));
  loads("an operator twice", custom_model({"x"}, tensor_type(1, {"n"})), with);
  libraries();
  attributes();
}

// Null where ONNX Runtime answers and does not crash.
void null_chapter() {
  lib.api->ReleaseEnv(nullptr);
  lib.api->ReleaseSession(nullptr);
  lib.api->ReleaseValue(nullptr);
  lib.api->ReleaseTypeInfo(nullptr);
  lib.api->ReleaseStatus(nullptr);
  lib.api->ReleaseSessionOptions(nullptr);
  lib.api->ReleaseRunOptions(nullptr);
  lib.api->ReleaseMemoryInfo(nullptr);
  lib.api->ReleaseIoBinding(nullptr);
  lib.api->ReleaseModelMetadata(nullptr);
  lib.api->ReleaseTensorTypeAndShapeInfo(nullptr);
  lib.api->ReleaseThreadingOptions(nullptr);
  lib.api->ReleaseArenaCfg(nullptr);
  lib.api->ReleaseAllocator(nullptr);
  lib.api->ReleaseCustomOpDomain(nullptr);
  lib.api->ReleasePrepackedWeightsContainer(nullptr);
  lib.api->ReleaseOpAttr(nullptr);
  lib.api->ReleaseLoraAdapter(nullptr);
  lib.api->ReleaseKeyValuePairs(nullptr);
  OrtSession* session = nullptr;
  ANSWER(CreateSessionFromArray(lib.env, nullptr, 0, options(), &session));
  const std::string bytes = relu();
  ANSWER(CreateSessionFromArray(lib.env, bytes.data(), bytes.size(), nullptr, &session));
  line("session", session ? "there" : "NULL");
  OrtAllocator* made = nullptr;
  ANSWER(GetSharedAllocator(lib.env, lib.cpu, &made));
  OrtSessionOptions* with = options();
  ANSWER(SessionOptionsAppendExecutionProvider_V2(with, lib.env, nullptr, 0, nullptr, nullptr, 0));
  ANSWER(RegisterCustomOpsUsingFunction(with, nullptr));
  OrtThreadingOptions* threads = nullptr;
  ANSWER(CreateThreadingOptions(&threads));
  ANSWER(SetGlobalIntraOpThreadAffinity(threads, nullptr));
  OrtEnv* env = nullptr;
  ANSWER(CreateEnvWithOptions(nullptr, &env));
  OrtKeyValuePairs* pairs = nullptr;
  lib.api->CreateKeyValuePairs(&pairs);
  lib.api->AddKeyValuePair(pairs, nullptr, "v");
  lib.api->AddKeyValuePair(pairs, "", "v");
  lib.api->AddKeyValuePair(pairs, "k", nullptr);
  lib.api->AddKeyValuePair(pairs, "k", "one");
  lib.api->AddKeyValuePair(pairs, "k", "two");
  lib.api->AddKeyValuePair(pairs, "a", "");
  lib.api->RemoveKeyValuePair(pairs, "none");
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  lib.api->GetKeyValuePairs(pairs, &keys, &values, &count);
  for (size_t i = 0; i < count; ++i)
    line(std::string("pair ") + keys[i], values[i]);
  line("none", lib.api->GetKeyValue(pairs, "none") ? "there" : "NULL");
}

}  // namespace behaviour
