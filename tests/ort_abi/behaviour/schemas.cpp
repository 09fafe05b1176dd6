// How operators of the program's declare inputs and outputs, against what nodes have.
#include <memory>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
               kAny = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED,
               kInt64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64,
               kString = ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
constexpr auto kOne = INPUT_OUTPUT_REQUIRED, kMaybe = INPUT_OUTPUT_OPTIONAL,
               kMany = INPUT_OUTPUT_VARIADIC;

// What an operator declares.
struct Schema {
  std::vector<ONNXTensorElementDataType> inputs, outputs;
  std::vector<OrtCustomOpInputOutputCharacteristic> input_kinds, output_kinds;
  int least_inputs = 1, least_outputs = 1;
  bool same_inputs = true, same_outputs = true;
};

struct Op : OrtCustomOp {
  Schema schema;
  explicit Op(Schema of);
};
const Schema& schema_of(const OrtCustomOp* op) {
  return static_cast<const Op*>(op)->schema;
}

// Each output is one element of 7.
void compute(void*, OrtKernelContext* context) {
  size_t count = 0;
  (void)lib.api->KernelContext_GetOutputCount(context, &count);
  for (size_t i = 0; i < count; ++i) {
    const int64_t one = 1;
    OrtValue* made = nullptr;
    (void)lib.api->KernelContext_GetOutput(context, i, &one, 1, &made);
  }
}

Op::Op(Schema of) : OrtCustomOp{}, schema(std::move(of)) {
  version = 22;
  CreateKernel = [](const OrtCustomOp* op, const OrtApi*, const OrtKernelInfo*) {
    return static_cast<void*>(const_cast<OrtCustomOp*>(op));
  };
  GetName = [](const OrtCustomOp*) { return "Declared"; };
  GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
  GetInputType = [](const OrtCustomOp* op, size_t i) { return schema_of(op).inputs[i]; };
  GetInputTypeCount = [](const OrtCustomOp* op) { return schema_of(op).inputs.size(); };
  GetOutputType = [](const OrtCustomOp* op, size_t i) { return schema_of(op).outputs[i]; };
  GetOutputTypeCount = [](const OrtCustomOp* op) { return schema_of(op).outputs.size(); };
  KernelCompute = compute;
  KernelDestroy = [](void*) {};
  GetInputCharacteristic = [](const OrtCustomOp* op, size_t i) {
    return schema_of(op).input_kinds[i];
  };
  GetOutputCharacteristic = [](const OrtCustomOp* op, size_t i) {
    return schema_of(op).output_kinds[i];
  };
  GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
  GetVariadicInputMinArity = [](const OrtCustomOp* op) { return schema_of(op).least_inputs; };
  GetVariadicOutputMinArity = [](const OrtCustomOp* op) { return schema_of(op).least_outputs; };
  GetVariadicInputHomogeneity = [](const OrtCustomOp* op) {
    return int{schema_of(op).same_inputs};
  };
  GetVariadicOutputHomogeneity = [](const OrtCustomOp* op) {
    return int{schema_of(op).same_outputs};
  };
}

// A node with inputs and outputs of these types; "" for an input: omitted.
std::string declared_model(const std::vector<int>& inputs, const std::vector<int>& outputs) {
  ModelParts parts;
  Node node{"Declared", {}, {}, {}, "the_node", "test"};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "in" + std::to_string(i);
    node.inputs.push_back(inputs[i] ? name : "");
    if (inputs[i]) parts.inputs.push_back(port(name, tensor_type(inputs[i], {"1"})));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    node.outputs.push_back("out" + std::to_string(i));
    parts.outputs.push_back(port(node.outputs.back(), tensor_type(outputs[i], {"1"})));
  }
  parts.nodes = {node};
  parts.more_opsets = {opset("test", 1)};
  return model(parts);
}

OrtSession* declared(const std::string& label, const std::string& bytes,
                     std::vector<Schema> kernels) {
  OrtCustomOpDomain* domain = nullptr;
  (void)lib.api->CreateCustomOpDomain("test", &domain);
  for (Schema& schema : kernels)
    (void)lib.api->CustomOpDomain_Add(domain, new Op(std::move(schema)));  // outlives the session
  OrtSessionOptions* with = options();
  (void)lib.api->AddCustomOpDomain(with, domain);
  OrtSession* made = load(label, bytes, with);
  if (made) line("load " + label, "OK");
  return made;
}

void write_counts() {
  const std::string three = declared_model({8, 8, 8}, {7, 7, 7});
  declared("variadic", three, {{{kString}, {kInt64}, {kMany}, {kMany}}});
  declared("one and variadic", three,
           {{{kString, kString}, {kInt64, kInt64}, {kOne, kMany}, {kOne, kMany}}});
  declared("variadic first", three, {{{kString, kString}, {kInt64}, {kMany, kOne}, {kMany}}});
  declared("variadic output first", three, {{{kString}, {kInt64, kInt64}, {kMany}, {kMany, kOne}}});
  declared("four inputs at least", three, {{{kString}, {kInt64}, {kMany}, {kMany}, 4}});
  declared("four outputs at least", three, {{{kString}, {kInt64}, {kMany}, {kMany}, 1, 4}});
  declared("two inputs", three, {{{kString, kString}, {kInt64}, {kOne, kOne}, {kMany}}});
  declared("an optional fourth", three,
           {{{kString, kString, kString, kString}, {kInt64}, {kOne, kOne, kOne, kMaybe}, {kMany}}});
  declared("two outputs", three, {{{kString}, {kInt64, kInt64}, {kMany}, {kOne, kOne}}});
  declared("no inputs", three, {{{}, {kInt64}, {}, {kMany}}});
  const std::string omits = declared_model({1, 0, 1}, {1});
  declared("omitted", omits, {{{kFloat, kFloat, kFloat}, {kFloat}, {kOne, kMaybe, kOne}, {kOne}}});
  declared("omitted though required", omits,
           {{{kFloat, kFloat, kFloat}, {kFloat}, {kOne, kOne, kOne}, {kOne}}});
}

void write_types() {
  const std::string mixed = declared_model({8, 7, 1}, {1, 7, 8});
  const Schema any{{kAny}, {kAny}, {kMany}, {kMany}, 1, 1, false, false};
  if (OrtSession* session = declared("any types", mixed, {any})) {
    run("any types", session, {"in0", "in1", "in2"},
        {strings({1}, {"a"}), tensor<int64_t>({1}, {2}), tensor<float>({1}, {3})}, {"out2"});
  }
  Schema same = any;
  same.same_inputs = true;
  declared("one type for all", mixed, {same});
  declared("strings alone", mixed, {{{kString}, {kAny}, {kMany}, {kMany}, 1, 1, false, false}});
}

void write_kernels() {
  const std::string number = declared_model({7}, {7});
  const Schema real{{kFloat}, {kFloat}, {kOne}, {kOne}},
      integer{{kInt64}, {kInt64}, {kOne}, {kOne}};
  declared("of two types", number, {real, integer});
  declared("of another type", number, {real});
  declared("with more inputs", number, {real, {{kInt64, kInt64}, {kInt64}, {kOne, kOne}, {kOne}}});
  declared("with more outputs", number, {real, {{kInt64}, {kInt64, kInt64}, {kOne}, {kOne, kOne}}});
  declared("with an optional input", number, {real, {{kInt64}, {kInt64}, {kMaybe}, {kOne}}});
  declared("with an optional output", number, {real, {{kInt64}, {kInt64}, {kOne}, {kMaybe}}});
  declared("twice", number, {integer, integer});
}

}  // namespace

void schema_chapter() {
  write_counts();
  write_types();
  write_kernels();
}

}  // namespace behaviour
