// The types that ONNX and the interface number differently (2-bit integers, float8e8m0): which
// numbers a library takes and which it gives, at each entrance.
#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

constexpr int kFirst = 21, kLast = 26;  // of 4 bits and after

// x is the output as well: what is asked is its type, not what an operator does with it.
std::string handed_on(const std::string& type) {
  return model({.inputs = {port("x", type)},
                .outputs = {port("x", type)},
                .nodes = {},
                .ir_version = 13,
                .opset = 25});
}

OrtValue* of_number(int number) {
  const int64_t dim = 5;
  OrtValue* made = nullptr;
  (void)lib.api->CreateTensorAsOrtValue(lib.allocator, &dim, 1,
                                        static_cast<ONNXTensorElementDataType>(number), &made);
  return made;
}

void inputs() {
  for (int element = kFirst; element <= kLast; ++element) {
    const std::string label = "ONNX's " + std::to_string(element);
    OrtSession* session = load(label, handed_on(tensor_type(element, {"5"})));
    if (!session) continue;
    OrtTypeInfo* info = nullptr;
    if (answer(label, lib.api->SessionGetInputTypeInfo(session, 0, &info)))
      line("  type", described(info));
    for (int number = kFirst; number <= kLast; ++number) {
      const char* x = "x";
      const OrtValue* given = of_number(number);
      OrtValue* result = nullptr;
      OrtStatus* status = lib.api->Run(session, nullptr, &x, &given, 1, &x, 1, &result);
      const std::string run = "  run on " + std::to_string(number);
      line(run, status ? lib.api->GetErrorCode(status) : ORT_OK);
      if (!status) line(run, described(result));
    }
  }
}

void values() {
  for (int number = kFirst; number <= kLast; ++number) {
    const std::string label = "value of " + std::to_string(number);
    const OrtValue* value = of_number(number);
    line(label, described(value));
    ONNXTensorElementDataType element{};
    const int64_t* dims = nullptr;
    size_t rank = 0;
    if (answer(label,
               lib.api->GetTensorElementTypeAndShapeDataReference(value, &element, &dims, &rank)))
      line("  element", element);
    const int64_t dim = 5;
    OrtValue* sparse = nullptr;
    OrtTensorTypeAndShapeInfo* info = nullptr;
    if (!answer(label + ", sparse", lib.api->CreateSparseTensorAsOrtValue(
                                        lib.allocator, &dim, 1,
                                        static_cast<ONNXTensorElementDataType>(number), &sparse)))
      continue;
    if (!answer("  info", lib.api->GetTensorTypeAndShape(sparse, &info))) continue;
    (void)lib.api->GetTensorElementType(info, &element);
    line("  element", element);
  }
}

// A model of the editor's whose input has the number: what its session says of it.
void built() {
  const OrtModelEditorApi* editor = lib.api->GetModelEditorApi();
  for (int number = kFirst; number <= kLast; ++number) {
    OrtTensorTypeAndShapeInfo* shape = nullptr;
    (void)lib.api->CreateTensorTypeAndShapeInfo(&shape);
    (void)lib.api->SetTensorElementType(shape, static_cast<ONNXTensorElementDataType>(number));
    const int64_t dim = 5;
    (void)lib.api->SetDimensions(shape, &dim, 1);
    const std::string label = "built of " + std::to_string(number);
    OrtTypeInfo* type = nullptr;
    if (!answer(label, editor->CreateTensorTypeInfo(shape, &type))) continue;
    line("  type", described(type));
    OrtValueInfo *input = nullptr, *output = nullptr;
    (void)editor->CreateValueInfo("x", type, &input);
    (void)editor->CreateValueInfo("x", type, &output);
    OrtGraph* graph = nullptr;
    (void)editor->CreateGraph(&graph);
    answer("  inputs", editor->SetGraphInputs(graph, &input, 1));
    answer("  outputs", editor->SetGraphOutputs(graph, &output, 1));
    const char* domain = "";
    const int version = 25;
    OrtModel* model = nullptr;
    (void)editor->CreateModel(&domain, &version, 1, &model);
    (void)editor->AddGraphToModel(model, graph);
    OrtSession* session = nullptr;
    OrtStatus* status = editor->CreateSessionFromModel(lib.env, model, options(), &session);
    line(label + ", session", status ? lib.api->GetErrorCode(status) : ORT_OK);
    if (status) continue;
    OrtTypeInfo* info = nullptr;
    if (answer("  input", lib.api->SessionGetInputTypeInfo(session, 0, &info)))
      line("  input", described(info));
  }
}

// An operator whose input and output have the number.
struct Typed : OrtCustomOp {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  Typed() : OrtCustomOp{} {
    version = 22;
    GetName = [](const OrtCustomOp*) { return "Typed"; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
    GetInputType = [](const OrtCustomOp* op, size_t) {
      return static_cast<const Typed*>(op)->type;
    };
    GetOutputType = GetInputType;
    GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetOutputTypeCount = GetInputTypeCount;
    GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetOutputCharacteristic = GetInputCharacteristic;
    GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
    GetVariadicInputMinArity = [](const OrtCustomOp*) { return 1; };
    GetVariadicInputHomogeneity = GetVariadicInputMinArity;
    GetVariadicOutputMinArity = GetVariadicInputMinArity;
    GetVariadicOutputHomogeneity = GetVariadicInputMinArity;
    CreateKernel = [](const OrtCustomOp* op, const OrtApi*, const OrtKernelInfo*) {
      return const_cast<void*>(static_cast<const void*>(op));
    };
    KernelCompute = [](void*, OrtKernelContext*) {};
    KernelDestroy = [](void*) {};
    GetMayInplace = [](int**, int**) -> size_t { return 0; };
    ReleaseMayInplace = [](int*, int*) {};
    GetAliasMap = GetMayInplace;
    ReleaseAliasMap = ReleaseMayInplace;
  }
};

void operators() {
  for (int number = kFirst; number <= kLast; ++number) {
    Typed op;
    op.type = static_cast<ONNXTensorElementDataType>(number);
    OrtCustomOpDomain* domain = nullptr;
    OrtSessionOptions* with = options();
    (void)lib.api->CreateCustomOpDomain("test", &domain);
    (void)lib.api->CustomOpDomain_Add(domain, &op);
    (void)lib.api->AddCustomOpDomain(with, domain);
    for (int element = kFirst; element <= kLast; ++element) {
      const std::string type = tensor_type(element, {"5"});
      OrtSession* session = nullptr;
      const std::string bytes = model({.inputs = {port("x", type)},
                                       .outputs = {port("y", type)},
                                       .nodes = {{"Typed", {"x"}, {"y"}, {}, "typed", "test"}},
                                       .ir_version = 13,
                                       .opset = 25,
                                       .more_opsets = {opset("test", 1)}});
      OrtStatus* status =
          lib.api->CreateSessionFromArray(lib.env, bytes.data(), bytes.size(), with, &session);
      line("operator of " + std::to_string(number) + " in a model of " + std::to_string(element),
           status ? "refused" : "taken");
      if (session) lib.api->ReleaseSession(session);
    }
  }
}

}  // namespace

void numbered_type_chapter() {
  values();
  inputs();
  built();
  operators();
}

}  // namespace behaviour
