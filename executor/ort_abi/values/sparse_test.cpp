// Sparse tensors in each format, filled in by the program.
#include "executor/ort_abi/api_for_test.h"
#include "executor/ort_abi/values/value.h"

namespace sardonyx::ort_abi {
namespace {

class OrtSparseTest : public OrtApiTest {
 protected:
  // 3 x 4, without elements so far.
  OrtValue* fresh(ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
    const int64_t dims[] = {3, 4};
    OrtValue* made = nullptr;
    ok(api->CreateSparseTensorAsOrtValue(allocator, dims, 2, type, &made));
    return own(made, api->ReleaseValue);
  }
  OrtSparseFormat format_of(const OrtValue* value) {
    OrtSparseFormat format{};
    ok(api->GetSparseTensorFormat(value, &format));
    return format;
  }
  std::vector<float> values_of(const OrtValue* value) {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    ok(api->GetSparseTensorValuesTypeAndShape(value, &info));
    size_t count = 0;
    ok(api->GetTensorShapeElementCount(info, &count));
    api->ReleaseTensorTypeAndShapeInfo(info);
    const void* data = nullptr;
    ok(api->GetSparseTensorValues(value, &data));
    const auto* first = static_cast<const float*>(data);
    return {first, first + count};
  }
  template <typename T>
  std::vector<T> indices_of(const OrtValue* value, OrtSparseIndicesFormat format) {
    size_t count = 0;
    const void* data = nullptr;
    ok(api->GetSparseTensorIndices(value, format, &count, &data));
    const auto* first = static_cast<const T*>(data);
    return {first, first + count};
  }

  const int64_t three_ = 3;
  const std::vector<float> floats_{5, 6, 7};
};

TEST_P(OrtSparseTest, coordinates) {
  const int64_t linear[] = {1, 5, 11};
  OrtValue* value = fresh();
  EXPECT_EQ(format_of(value), ORT_SPARSE_UNDEFINED);
  const void* none = nullptr;
  refused(api->GetSparseTensorValues(value, &none), ORT_FAIL, "does not contain sparse data");
  ok(api->FillSparseTensorCoo(value, cpu, &three_, 1, floats_.data(), linear, 3));
  EXPECT_EQ(format_of(value), ORT_SPARSE_COO);
  EXPECT_EQ(values_of(value), floats_);
  EXPECT_EQ(indices_of<int64_t>(value, ORT_SPARSE_COO_INDICES), (std::vector<int64_t>{1, 5, 11}));
  size_t count = 0;
  refused(api->GetSparseTensorIndices(value, ORT_SPARSE_CSR_INNER_INDICES, &count, &none), ORT_FAIL,
          "Must contain Csr format");
  refused(api->FillSparseTensorCoo(value, cpu, &three_, 1, floats_.data(), linear, 3), ORT_FAIL,
          "already has populated");
}

TEST_P(OrtSparseTest, initializers_that_are_outputs_stay_sparse) {
  OrtSession* of_one = session(model_of([](Graph& graph) {
    const SparseTensor sparse{
        Tensor::vector<float>({5, 6, 7}), Tensor::vector<int64_t>({2, 3, 5}), {3, 4}};
    GraphEmitter emitter(graph);
    Value* value =
        GraphEmitter::unwrap(emitter.call("sardonyx::SparseConstant", {}, {{"value", sparse}}));
    graph.rename(*value, "values");
    graph.add_output(value);
  }));
  const char* output = "values";
  OrtValue* value = nullptr;
  ok(api->Run(of_one, nullptr, nullptr, nullptr, 0, &output, 1, &value));
  own(value, api->ReleaseValue);
  OrtTypeInfo* type = nullptr;
  ok(api->GetTypeInfo(value, &type));
  ONNXType kind{};
  ok(api->GetOnnxTypeFromTypeInfo(type, &kind));
  api->ReleaseTypeInfo(type);
  EXPECT_EQ(kind, ONNX_TYPE_SPARSETENSOR);
  EXPECT_EQ(format_of(value), ORT_SPARSE_COO);
  EXPECT_EQ(values_of(value), floats_);
  EXPECT_EQ(indices_of<int64_t>(value, ORT_SPARSE_COO_INDICES), (std::vector<int64_t>{2, 3, 5}));
}

TEST_P(OrtSparseTest, coordinates_are_checked) {
  const int64_t outside[] = {1, 5, 12}, four[] = {0, 1, 2, 3};
  refused(api->FillSparseTensorCoo(fresh(), cpu, &three_, 1, floats_.data(), outside, 3),
          ORT_INVALID_ARGUMENT, "12 must be in [0, 12)");
  refused(api->FillSparseTensorCoo(fresh(), cpu, &three_, 1, floats_.data(), four, 4),
          ORT_INVALID_ARGUMENT, "COO indices count");
}

TEST_P(OrtSparseTest, rows) {
  const int64_t inner[] = {1, 1, 3}, outer[] = {0, 1, 2, 3};
  OrtValue* value = fresh();
  ok(api->FillSparseTensorCsr(value, cpu, &three_, 1, floats_.data(), inner, 3, outer, 4));
  EXPECT_EQ(format_of(value), ORT_SPARSE_CSRC);
  EXPECT_EQ(values_of(value), floats_);
  EXPECT_EQ(indices_of<int64_t>(value, ORT_SPARSE_CSR_INNER_INDICES),
            (std::vector<int64_t>{1, 1, 3}));
  EXPECT_EQ(indices_of<int64_t>(value, ORT_SPARSE_CSR_OUTER_INDICES),
            (std::vector<int64_t>{0, 1, 2, 3}));
  refused(api->FillSparseTensorCsr(fresh(), cpu, &three_, 1, floats_.data(), inner, 3, outer, 3),
          ORT_INVALID_ARGUMENT, "last element must equal inner index count");
}

TEST_P(OrtSparseTest, blocks) {
  const int64_t shape[] = {1, 1, 3}, indices_shape[] = {2, 3}, too_few[] = {2, 1};
  const int32_t places[] = {0, 1, 2, 1, 2, 3};
  OrtValue* value = fresh();
  ok(api->FillSparseTensorBlockSparse(value, cpu, shape, 3, floats_.data(), indices_shape, 2,
                                      places));
  EXPECT_EQ(format_of(value), ORT_SPARSE_BLOCK_SPARSE);
  EXPECT_EQ(values_of(value), floats_);
  EXPECT_EQ(indices_of<int32_t>(value, ORT_SPARSE_BLOCK_SPARSE_INDICES),
            (std::vector<int32_t>{0, 1, 2, 1, 2, 3}));
  refused(
      api->FillSparseTensorBlockSparse(fresh(), cpu, shape, 3, floats_.data(), too_few, 2, places),
      ORT_FAIL, "Expecting index blocks: 1");
}

TEST_P(OrtSparseTest, memory_of_the_caller) {
  std::vector<float> values = floats_;
  std::vector<int64_t> linear{1, 5, 11};
  const int64_t dims[] = {3, 4};
  OrtValue* value = nullptr;
  ok(api->CreateSparseTensorWithValuesAsOrtValue(cpu, values.data(), dims, 2, &three_, 1,
                                                 ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  own(value, api->ReleaseValue);
  ok(api->UseCooIndices(value, linear.data(), linear.size()));
  const void* data = nullptr;
  ok(api->GetSparseTensorValues(value, &data));
  EXPECT_EQ(data, values.data());
}

TEST_P(OrtSparseTest, strings_are_copied) {
  const char* words[] = {"a", "bc", ""};
  const int64_t linear[] = {0, 1, 2};
  OrtValue* value = fresh(ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  ok(api->FillSparseTensorCoo(value, cpu, &three_, 1, words, linear, 3));
  const void* data = nullptr;
  refused(api->GetSparseTensorValues(value, &data), ORT_INVALID_ARGUMENT, "GetStringTensor");
}

// What a run would see of each format is the same matrix.
TEST(OrtSparse, formats_agree) {
  const OrtApi* api = ort_abi::api();
  OrtMemoryInfo* cpu = nullptr;
  ASSERT_EQ(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &cpu), nullptr);
  OrtAllocator* allocator = nullptr;
  ASSERT_EQ(api->GetAllocatorWithDefaultOptions(&allocator), nullptr);
  const int64_t dims[] = {3, 4}, three = 3, linear[] = {1, 6, 11}, inner[] = {1, 2, 3},
                outer[] = {0, 1, 2, 3}, shape[] = {1, 1, 3}, indices_shape[] = {2, 3};
  const int32_t places[] = {0, 1, 2, 1, 2, 3};
  const float values[] = {5, 6, 7};
  OrtValue* made[3] = {};
  for (OrtValue*& one : made)
    ASSERT_EQ(api->CreateSparseTensorAsOrtValue(allocator, dims, 2,
                                                ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &one),
              nullptr);
  ASSERT_EQ(api->FillSparseTensorCoo(made[0], cpu, &three, 1, values, linear, 3), nullptr);
  ASSERT_EQ(api->FillSparseTensorCsr(made[1], cpu, &three, 1, values, inner, 3, outer, 4), nullptr);
  ASSERT_EQ(
      api->FillSparseTensorBlockSparse(made[2], cpu, shape, 3, values, indices_shape, 2, places),
      nullptr);
  const std::vector<float> expected{0, 5, 0, 0, 0, 0, 6, 0, 0, 0, 0, 7};
  for (OrtValue* one : made) {
    const Tensor dense = one->datum.sparse().to_dense();
    const std::span<const float> all = dense.values<float>();
    EXPECT_EQ(std::vector<float>(all.begin(), all.end()), expected);
    api->ReleaseValue(one);
  }
  api->ReleaseMemoryInfo(cpu);
}

ORT_API_TESTS(OrtSparseTest);

}  // namespace
}  // namespace sardonyx::ort_abi
