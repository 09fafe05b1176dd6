// Operators of the program's: y = factor * (x + the sum of all further inputs).
#include <cstring>
#include <deque>
#include <stdexcept>

#include "executor/ort_abi/api_for_test.h"
#include "executor/ort_abi/custom_ops/domain.h"
#include "executor/ort_abi/status.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::ort_abi {
namespace {

// As much of protobuf's encoding as a model with operators of its own takes.
std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7)
    out += static_cast<char>((value & 127) | 128);
  return out + static_cast<char>(value);
}
std::string number_field(int field, uint64_t value) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(value);
}
std::string bytes_field(int field, const std::string& bytes) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string float_field(int field, float value) {
  std::string raw(4, '\0');
  std::memcpy(raw.data(), &value, 4);
  return varint(static_cast<uint64_t>(field) << 3 | 5) + raw;
}
std::string value_field(int field, const std::string& name) {
  const std::string dims = bytes_field(1, bytes_field(2, "n"));
  const std::string type = bytes_field(1, number_field(1, 1) + bytes_field(2, dims));
  return bytes_field(field, bytes_field(1, name) + bytes_field(2, type));
}

// A node of domain "test" with these inputs, float[n] all of them.
std::string custom_model(const std::string& op, const std::vector<std::string>& inputs,
                         const std::string& name = "the node") {
  std::string node, graph;
  for (const std::string& input : inputs)
    node += bytes_field(1, input);
  node += bytes_field(2, "y") + bytes_field(3, name) + bytes_field(4, op);
  node += bytes_field(5, bytes_field(1, "factor") + float_field(2, 3) + number_field(20, 1));
  node +=
      bytes_field(5, bytes_field(1, "words") + bytes_field(4, "some words") + number_field(20, 3));
  graph = bytes_field(1, node + bytes_field(7, "test")) + bytes_field(2, "custom");
  for (const std::string& input : inputs)
    graph += input.empty() ? "" : value_field(11, input);
  graph += value_field(12, "y");
  return number_field(1, 8) + bytes_field(7, graph) + bytes_field(8, number_field(2, 17)) +
         bytes_field(8, bytes_field(1, "test") + number_field(2, 1));
}

// What the functions of the operator find: they are given nothing but the operator.
struct ScaledOp : OrtCustomOp {
  const OrtApi* api = nullptr;
  int kernels = 0, destroyed = 0, inferred = 0;
  std::string node_name, words, input_name;
  size_t input_count = 0;
  bool fails = false, throws = false;
  OrtErrorCode refusal = ORT_OK;  // to be made

  struct Kernel {
    ScaledOp* op;
    float factor = 0;
  };

  ScaledOp();
  static OrtStatus* create(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                           void** kernel);
  static OrtStatus* compute(void* kernel, OrtKernelContext* context);
  static OrtStatus* infer_shape(const OrtCustomOp* op, OrtShapeInferContext* context);
};

std::string text_from(const std::function<OrtStatus*(char*, size_t*)>& read) {
  size_t size = 0;
  read(nullptr, &size);
  std::string text(size, '\0');
  read(text.data(), &size);
  text.resize(size - 1);
  return text;
}

ScaledOp::ScaledOp() : OrtCustomOp{} {
  version = 22;
  GetName = [](const OrtCustomOp*) { return "Scaled"; };
  GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
  GetInputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
  GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
  GetOutputType = GetInputType;
  GetOutputTypeCount = GetInputTypeCount;
  GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_VARIADIC; };
  GetOutputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
  GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
  GetVariadicInputMinArity = [](const OrtCustomOp*) { return 1; };
  GetVariadicInputHomogeneity = GetVariadicInputMinArity;
  GetVariadicOutputMinArity = GetVariadicInputMinArity;
  GetVariadicOutputHomogeneity = GetVariadicInputMinArity;
  CreateKernelV2 = create;
  KernelComputeV2 = compute;
  KernelDestroy = [](void* kernel) {
    ++static_cast<Kernel*>(kernel)->op->destroyed;
    delete static_cast<Kernel*>(kernel);
  };
  InferOutputShapeFn = infer_shape;
  GetStartVersion = GetVariadicInputMinArity;
  GetEndVersion = [](const OrtCustomOp*) { return 9; };
}

OrtStatus* ScaledOp::create(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                            void** kernel) {
  auto* self = const_cast<ScaledOp*>(static_cast<const ScaledOp*>(op));
  if (self->refusal != ORT_OK) return api->CreateStatus(self->refusal, "it is not to be made");
  auto made = std::make_unique<Kernel>(Kernel{self});
  if (OrtStatus* status = api->KernelInfoGetAttribute_float(info, "factor", &made->factor))
    return status;
  self->words = text_from([&](char* out, size_t* size) {
    return api->KernelInfoGetAttribute_string(info, "words", out, size);
  });
  self->node_name = text_from(
      [&](char* out, size_t* size) { return api->KernelInfo_GetNodeName(info, out, size); });
  self->input_name = text_from(
      [&](char* out, size_t* size) { return api->KernelInfo_GetInputName(info, 0, out, size); });
  if (OrtStatus* status = api->KernelInfo_GetInputCount(info, &self->input_count)) return status;
  ++self->kernels;
  *kernel = made.release();
  return nullptr;
}

OrtStatus* ScaledOp::compute(void* kernel, OrtKernelContext* context) {
  const auto* self = static_cast<Kernel*>(kernel);
  if (self->op->throws) throw std::runtime_error("it was told to throw");
  const OrtApi* api = self->op->api;
  if (self->op->fails) return api->CreateStatus(ORT_FAIL, "it was told to fail");
  size_t count = 0;
  if (OrtStatus* status = api->KernelContext_GetInputCount(context, &count)) return status;
  std::vector<float> sum;
  for (size_t i = 0; i < count; ++i) {
    const OrtValue* input = nullptr;
    if (OrtStatus* status = api->KernelContext_GetInput(context, i, &input)) return status;
    if (!input) continue;  // omitted
    OrtTensorTypeAndShapeInfo* info = nullptr;
    if (OrtStatus* status = api->GetTensorTypeAndShape(input, &info)) return status;
    size_t size = 0;
    OrtStatus* counted = api->GetTensorShapeElementCount(info, &size);
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (counted) return counted;
    const void* data = nullptr;
    if (OrtStatus* status = api->GetTensorData(input, &data)) return status;
    sum.resize(size);
    for (size_t k = 0; k < size; ++k)
      sum[k] += static_cast<const float*>(data)[k];
  }
  const int64_t shape[] = {static_cast<int64_t>(sum.size())};
  OrtValue* output = nullptr;
  if (OrtStatus* status = api->KernelContext_GetOutput(context, 0, shape, 1, &output))
    return status;
  void* data = nullptr;
  if (OrtStatus* status = api->GetTensorMutableData(output, &data)) return status;
  for (size_t k = 0; k < sum.size(); ++k)
    static_cast<float*>(data)[k] = self->factor * sum[k];
  return nullptr;
}

OrtStatus* ScaledOp::infer_shape(const OrtCustomOp* op, OrtShapeInferContext* context) {
  auto* self = const_cast<ScaledOp*>(static_cast<const ScaledOp*>(op));
  ++self->inferred;
  const OrtOpAttr* attribute = nullptr;
  if (OrtStatus* status = self->api->ShapeInferContext_GetAttribute(context, "factor", &attribute))
    return status;
  float factor = 0;
  size_t size = 0;
  if (OrtStatus* status =
          self->api->ReadOpAttr(attribute, ORT_OP_ATTR_FLOAT, &factor, sizeof factor, &size))
    return status;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  if (OrtStatus* status = self->api->ShapeInferContext_GetInputTypeShape(context, 0, &info))
    return status;
  return self->api->ShapeInferContext_SetOutputTypeShape(context, 0, info);
}

class OrtCustomOpTest : public OrtApiTest {
 protected:
  OrtSessionOptions* with_op(const OrtCustomOp& op) {
    OrtCustomOpDomain* domain = nullptr;
    ok(api->CreateCustomOpDomain("test", &domain));
    own(domain, api->ReleaseCustomOpDomain);
    ok(api->CustomOpDomain_Add(domain, &op));
    OrtSessionOptions* made = options();
    ok(api->AddCustomOpDomain(made, domain));
    return made;
  }
  // It outlives the sessions that use it.
  ScaledOp& scaled() {
    ScaledOp& op = ops_.emplace_back();
    op.api = api;
    return op;
  }

 private:
  std::deque<ScaledOp> ops_;
};

TEST_P(OrtCustomOpTest, a_node_is_computed_by_the_program) {
  ScaledOp& op = scaled();
  OrtSessionOptions* with = with_op(op);
  const std::string model = custom_model("Scaled", {"a", "b"});
  OrtSession* loaded = nullptr;
  ok(api->CreateSessionFromArray(env, model.data(), model.size(), with, &loaded));
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(op.kernels, 1);
  EXPECT_EQ(op.node_name, "the node");
  EXPECT_EQ(op.words, "some words");
  EXPECT_EQ(op.input_name, "a");
  EXPECT_EQ(op.input_count, 2u);
  EXPECT_GE(op.inferred, 1);
  for (const int64_t count : {3, 5}) {
    const OrtValue* x = tensor<float>(std::vector<float>(static_cast<size_t>(count), 2), {count});
    OrtValue* y = output_of(loaded, {"a", "b"}, {x, x}, "y");
    ASSERT_NE(y, nullptr);
    EXPECT_EQ(elements_of<float>(y), std::vector<float>(static_cast<size_t>(count), 12));
  }
  api->ReleaseSession(loaded);
  EXPECT_EQ(op.destroyed, 1);
}

TEST_P(OrtCustomOpTest, an_error_of_the_kernel_is_that_of_the_run) {
  ScaledOp& op = scaled();
  OrtSession* loaded = session(custom_model("Scaled", {"a"}), with_op(op));
  ASSERT_NE(loaded, nullptr);
  op.fails = true;
  std::vector<OrtValue*> y(1);
  refused(run(loaded, {"a"}, {tensor<float>({1}, {1})}, {"y"}, y), ORT_FAIL, "it was told to fail");
  op.fails = false;
  op.throws = true;
  refused(run(loaded, {"a"}, {tensor<float>({1}, {1})}, {"y"}, y), ORT_RUNTIME_EXCEPTION,
          "it was told to throw");
  op.throws = false;
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"a"}, {tensor<float>({1}, {1})}, "y")),
            (std::vector<float>{3}));
}

TEST_P(OrtCustomOpTest, a_kernel_that_is_not_made_has_one_code) {
  ScaledOp& op = scaled();
  const std::string model = custom_model("Scaled", {"a"});
  for (const OrtErrorCode code : {ORT_INVALID_ARGUMENT, ORT_NOT_IMPLEMENTED, ORT_EP_FAIL}) {
    op.refusal = code;
    OrtSession* none = nullptr;
    refused(api->CreateSessionFromArray(env, model.data(), model.size(), with_op(op), &none),
            ORT_RUNTIME_EXCEPTION, "it is not to be made");
  }
}

TEST_P(OrtCustomOpTest, a_node_may_have_no_name) {
  ScaledOp& op = scaled();
  ASSERT_NE(session(custom_model("Scaled", {"a"}, ""), with_op(op)), nullptr);
  EXPECT_EQ(op.node_name, "");
}

TEST_P(OrtCustomOpTest, an_input_may_be_omitted_before_one_that_is_given) {
  ScaledOp& op = scaled();
  op.GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 2; };
  op.GetInputCharacteristic = [](const OrtCustomOp*, size_t index) {
    return index == 0 ? INPUT_OUTPUT_OPTIONAL : INPUT_OUTPUT_REQUIRED;
  };
  op.InferOutputShapeFn = nullptr;
  OrtSession* loaded = session(custom_model("Scaled", {"", "b"}), with_op(op));
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"b"}, {tensor<float>({1, 2}, {2})}, "y")),
            (std::vector<float>{3, 6}));
}

TEST_P(OrtCustomOpTest, a_node_has_as_many_inputs_as_its_operator_says) {
  ScaledOp& op = scaled();
  op.GetVariadicInputMinArity = [](const OrtCustomOp*) { return 4; };
  const std::string model = custom_model("Scaled", {"a", "b"});
  OrtSession* none = nullptr;
  refused(api->CreateSessionFromArray(env, model.data(), model.size(), with_op(op), &none),
          ORT_INVALID_GRAPH, "has input size 2 not in range [min=4");
}

TEST_P(OrtCustomOpTest, an_output_of_any_type_has_that_of_the_model) {
  ScaledOp& op = scaled();
  op.GetInputType = [](const OrtCustomOp*, size_t) {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  };
  op.GetOutputType = op.GetInputType;
  OrtSession* loaded = session(custom_model("Scaled", {"a"}), with_op(op));
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(elements_of<float>(output_of(loaded, {"a"}, {tensor<float>({2}, {1})}, "y")),
            (std::vector<float>{6}));
}

// y = a + b by ONNX's Add, which the kernel calls.
struct AddingOp : OrtCustomOp {
  const OrtApi* api;
  explicit AddingOp(const OrtApi* of) : OrtCustomOp{}, api(of) {
    version = 12;
    GetName = [](const OrtCustomOp*) { return "Adding"; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };
    GetInputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
    GetOutputType = GetInputType;
    GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 2; };
    GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetOutputCharacteristic = GetInputCharacteristic;
    CreateKernel = [](const OrtCustomOp* op, const OrtApi*, const OrtKernelInfo* info) -> void* {
      auto* kernel = new Kernel{static_cast<const AddingOp*>(op)->api};
      EXPECT_EQ(kernel->api->CreateOp(info, "Add", "", 14, nullptr, nullptr, 0, nullptr, 0, 2, 1,
                                      &kernel->add),
                nullptr);
      OrtOp* none = nullptr;
      OrtStatus* status =
          kernel->api->CreateOp(info, "None", "", 14, nullptr, nullptr, 0, nullptr, 0, 2, 1, &none);
      EXPECT_NE(status, nullptr);
      kernel->api->ReleaseStatus(status);
      return kernel;
    };
    KernelCompute = [](void* of, OrtKernelContext* context) {
      const Kernel& kernel = *static_cast<Kernel*>(of);
      const OrtValue* inputs[2] = {};
      OrtValue* sum = nullptr;
      const int64_t two = 2;
      for (size_t i = 0; i < 2; ++i)
        EXPECT_EQ(kernel.api->KernelContext_GetInput(context, i, &inputs[i]), nullptr);
      EXPECT_EQ(kernel.api->KernelContext_GetOutput(context, 0, &two, 1, &sum), nullptr);
      EXPECT_EQ(kernel.api->InvokeOp(context, kernel.add, inputs, 2, &sum, 1), nullptr);
      OrtStatus* status = kernel.api->InvokeOp(context, kernel.add, inputs, 1, &sum, 1);
      EXPECT_NE(status, nullptr);
      kernel.api->ReleaseStatus(status);
    };
    KernelDestroy = [](void* of) {
      auto* kernel = static_cast<Kernel*>(of);
      kernel->api->ReleaseOp(kernel->add);
      delete kernel;
    };
  }
  struct Kernel {
    const OrtApi* api;
    OrtOp* add = nullptr;
  };
};

TEST_P(OrtCustomOpTest, a_kernel_calls_operators) {
  AddingOp op(api);
  OrtCustomOpDomain* domain = nullptr;
  ok(api->CreateCustomOpDomain("test", &domain));
  own(domain, api->ReleaseCustomOpDomain);
  ok(api->CustomOpDomain_Add(domain, &op));
  OrtSessionOptions* with = options();
  ok(api->AddCustomOpDomain(with, domain));
  const std::string model = custom_model("Adding", {"a", "b"});
  OrtSession* loaded = nullptr;
  ok(api->CreateSessionFromArray(env, model.data(), model.size(), with, &loaded));
  ASSERT_NE(loaded, nullptr);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(
        elements_of<float>(output_of(
            loaded, {"a", "b"}, {tensor<float>({1, 2}, {2}), tensor<float>({10, 20}, {2})}, "y")),
        (std::vector<float>{11, 22}));
  }
  api->ReleaseSession(loaded);
}

TEST_P(OrtCustomOpTest, a_saved_model_has_the_attributes_of_its_nodes) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "saved.onnx";
  ScaledOp& op = scaled();
  OrtSessionOptions* with = with_op(op);
  ok(api->SetOptimizedModelFilePath(with, path.c_str()));
  ASSERT_NE(session(custom_model("Scaled", {"a"}), with), nullptr);
  op.words.clear();
  OrtSession* again = nullptr;
  ok(api->CreateSession(env, path.c_str(), with_op(op), &again));
  ASSERT_NE(again, nullptr);
  own(again, api->ReleaseSession);
  EXPECT_EQ(op.words, "some words");
  EXPECT_EQ(elements_of<float>(output_of(again, {"a"}, {tensor<float>({1}, {1})}, "y")),
            (std::vector<float>{3}));
}

TEST_P(OrtCustomOpTest, an_operator_that_nobody_has_is_refused) {
  ScaledOp& op = scaled();
  OrtSession* none = nullptr;
  const std::string model = custom_model("Other", {"a"});
  refused(api->CreateSessionFromArray(env, model.data(), model.size(), with_op(op), &none),
          ORT_FAIL, "test:Other(-1) is not a registered function/op");
}

TEST_P(OrtCustomOpTest, libraries_are_looked_for) {
  void* library = nullptr;
  refused(api->RegisterCustomOpsLibrary(options(), "there is no such library", &library), ORT_FAIL,
          "Failed to load library there is no such library with error: ");
  refused(api->RegisterCustomOpsLibrary(options(), "libm.so.6", &library), ORT_FAIL,
          "Failed to get symbol RegisterCustomOps with error: ");
}

TEST_P(OrtCustomOpTest, attributes_by_themselves) {
  const int64_t numbers[] = {1, 2, 3};
  OrtOpAttr* attribute = nullptr;
  ok(api->CreateOpAttr("numbers", numbers, 3, ORT_OP_ATTR_INTS, &attribute));
  own(attribute, api->ReleaseOpAttr);
  const char* name = nullptr;
  ok(api->OpAttr_GetName(attribute, &name));
  EXPECT_STREQ(name, "numbers");
  OrtOpAttrType type{};
  ok(api->OpAttr_GetType(attribute, &type));
  EXPECT_EQ(type, ORT_OP_ATTR_INTS);
  int64_t read[3] = {};
  size_t size = 0;
  ok(api->ReadOpAttr(attribute, ORT_OP_ATTR_INTS, read, sizeof read, &size));
  EXPECT_TRUE(size == sizeof read && read[2] == 3);
}

TEST(OrtCustomOps, operators_of_no_version_are_refused) {
  ScaledOp op;
  op.version = 0;
  op.GetName = [](const OrtCustomOp*) { return "Unversioned"; };
  OrtCustomOpDomain domain{"test", {&op}};
  const OrtLogger logger({}, ORT_LOGGING_LEVEL_FATAL, "");
  const OrtKeyValuePairs config;
  try {
    SessionCustomOps ops({&domain}, logger, config);
    FAIL() << "version 0 was taken";
  } catch (const Failure& failure) {
    EXPECT_EQ(std::string(failure.what()), "Unsupported version '0' in custom op 'Unversioned'");
  }
}

ORT_API_TESTS(OrtCustomOpTest);

}  // namespace
}  // namespace sardonyx::ort_abi
