// Values: tensors, strings, sequences, maps, and what describes them.
#include "executor/ort_abi/api_for_test.h"

namespace sardonyx::ort_abi {
namespace {

class OrtValueTest : public OrtApiTest {
 protected:
  OrtValue* container(const std::vector<const OrtValue*>& parts, ONNXType type) {
    OrtValue* made = nullptr;
    ok(api->CreateValue(parts.data(), parts.size(), type, &made));
    return made ? own(made, api->ReleaseValue) : nullptr;
  }
  OrtValue* part(const OrtValue* of, int index) {
    OrtValue* made = nullptr;
    ok(api->GetValue(of, index, allocator, &made));
    return made ? own(made, api->ReleaseValue) : nullptr;
  }
};

TEST_P(OrtValueTest, a_tensor_uses_the_memory_of_the_caller) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const Shape shape{2, 3};
  OrtValue* value = nullptr;
  ok(api->CreateTensorWithDataAsOrtValue(cpu, data, sizeof data, shape.data(), 2,
                                         ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  own(value, api->ReleaseValue);
  void* raw = nullptr;
  ok(api->GetTensorMutableData(value, &raw));
  EXPECT_EQ(raw, data);
  const int64_t place[] = {1, 2};
  ok(api->TensorAt(value, place, 2, &raw));
  EXPECT_EQ(raw, data + 5);
  size_t bytes = 0;
  ok(api->GetTensorSizeInBytes(value, &bytes));
  EXPECT_EQ(bytes, sizeof data);
  const int64_t outside[] = {1, 3};
  refused(api->TensorAt(value, outside, 2, &raw), ORT_INVALID_ARGUMENT, "invalid location range");
  refused(api->TensorAt(value, place, 1, &raw), ORT_INVALID_ARGUMENT,
          "location dimensions do not match shape size");
  int is_tensor = 0, has_value = 0, is_sparse = 1;
  ok(api->IsTensor(value, &is_tensor));
  ok(api->HasValue(value, &has_value));
  ok(api->IsSparseTensor(value, &is_sparse));
  EXPECT_TRUE(is_tensor == 1 && has_value == 1 && is_sparse == 0);
  const int64_t* dims = nullptr;
  size_t rank = 0;
  ONNXTensorElementDataType type{};
  ok(api->GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
  ASSERT_EQ(rank, 2u);
  EXPECT_EQ(dims[1], 3);
  EXPECT_EQ(type, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
}

TEST_P(OrtValueTest, sizes_and_types_are_checked) {
  float data[6];
  const Shape shape{2, 3}, negative{2, -3};
  OrtValue* value = nullptr;
  const auto make = [&](size_t size, const Shape& dims, int type) {
    return api->CreateTensorWithDataAsOrtValue(cpu, data, size, dims.data(), dims.size(),
                                               static_cast<ONNXTensorElementDataType>(type),
                                               &value);
  };
  refused(make(23, shape, 1), ORT_INVALID_ARGUMENT, "not enough space: expected 24, got 23");
  refused(make(24, negative, 1), ORT_INVALID_ARGUMENT,
          "tried creating tensor with negative value in shape");
  for (const int type : {0, 14, 15, 27}) {
    refused(make(24, shape, type), ORT_NOT_IMPLEMENTED,
            text("tensor type ", type, " is not supported"));
  }
  for (const int type : {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26}) {
    ok(api->CreateTensorAsOrtValue(allocator, shape.data(), 2,
                                   static_cast<ONNXTensorElementDataType>(type), &value));
    OrtTensorTypeAndShapeInfo* info = nullptr;
    ok(api->GetTensorTypeAndShape(value, &info));
    ONNXTensorElementDataType read{};
    ok(api->GetTensorElementType(info, &read));
    // ONNX's numbers are taken, the interface's are given: float8e8m0, uint2, int2.
    const int given = type == 24 ? 26 : type > 24 ? type - 1 : type;
    EXPECT_EQ(static_cast<int>(read), given);
    api->ReleaseTensorTypeAndShapeInfo(info);
    api->ReleaseValue(value);
  }
}

struct CountingAllocator : OrtAllocator {
  int allocated = 0, freed = 0;
  OrtMemoryInfo* info = nullptr;
  CountingAllocator() : OrtAllocator{} {
    version = 16;  // of a time when the struct had four members
    Alloc = [](OrtAllocator* self, size_t size) {
      ++static_cast<CountingAllocator*>(self)->allocated;
      return std::malloc(size);
    };
    Free = [](OrtAllocator* self, void* block) {
      ++static_cast<CountingAllocator*>(self)->freed;
      std::free(block);
    };
    Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* {
      return static_cast<const CountingAllocator*>(self)->info;
    };
  }
};

TEST_P(OrtValueTest, memory_of_the_callers_allocator_is_given_back) {
  CountingAllocator own_allocator;
  own_allocator.info = cpu;
  const Shape shape{100};
  for (const auto type :
       {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING}) {
    OrtValue* value = nullptr;
    ok(api->CreateTensorAsOrtValue(&own_allocator, shape.data(), 1, type, &value));
    if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
      ok(api->FillStringTensorElement(value, "longer than what fits into the object itself", 7));
    api->ReleaseValue(value);
  }
  EXPECT_EQ(own_allocator.allocated, own_allocator.freed);
  EXPECT_GE(own_allocator.allocated, 2);
  const int freed = own_allocator.freed;
  OrtValue* adopted = nullptr;
  ok(api->CreateTensorWithDataAndDeleterAsOrtValue(&own_allocator, std::malloc(400), 400,
                                                   shape.data(), 1,
                                                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &adopted));
  EXPECT_EQ(own_allocator.freed, freed);
  api->ReleaseValue(adopted);
  EXPECT_EQ(own_allocator.freed, freed + 1);
}

TEST_P(OrtValueTest, strings) {
  OrtValue* value = tensor<std::string>({"ab", "", "straße"}, {3});
  size_t length = 0;
  ok(api->GetStringTensorDataLength(value, &length));
  ASSERT_EQ(length, 9u);
  std::string content(9, '?');
  size_t offsets[3];
  ok(api->GetStringTensorContent(value, content.data(), 9, offsets, 3));
  EXPECT_EQ(content, "abstraße");
  EXPECT_TRUE(offsets[0] == 0 && offsets[1] == 2 && offsets[2] == 2);
  refused(api->GetStringTensorContent(value, content.data(), 8, offsets, 3), ORT_FAIL,
          "output buffer is too small. Use GetStringTensorDataLength.");
  refused(api->GetStringTensorContent(value, content.data(), 9, offsets, 2), ORT_FAIL,
          "offsets buffer is not equal to tensor size");
  const char* two[] = {"a", "b"};
  refused(api->FillStringTensor(value, two, 2), ORT_INVALID_ARGUMENT,
          "input array doesn't equal tensor size");
  refused(api->FillStringTensorElement(value, "a", 3), ORT_INVALID_ARGUMENT,
          "element index is out of bounds");
  refused(api->GetStringTensorElementLength(value, 3, &length), ORT_INVALID_ARGUMENT,
          "index is out of bounds");
  ok(api->GetStringTensorElementLength(value, 2, &length));
  EXPECT_EQ(length, 7u);
  char element[8] = {};
  refused(api->GetStringTensorElement(value, 1, 0, element), ORT_FAIL,
          "buffer size is too small for string element");
  ok(api->GetStringTensorElement(value, 2, 0, element));
  EXPECT_STREQ(element, "ab");
  char* buffer = nullptr;
  ok(api->GetResizedStringTensorElementBuffer(value, 1, 3, &buffer));
  std::copy_n("xyz", 3, buffer);
  ok(api->GetStringTensorElementLength(value, 1, &length));
  EXPECT_EQ(length, 3u);
  refused(api->GetTensorSizeInBytes(value, &length), ORT_INVALID_ARGUMENT,
          "String tensors are not supported by this API");
  refused(api->FillStringTensor(tensor<float>({1}, {1}), two, 1), ORT_FAIL, "Tensor type mismatch");
}

TEST_P(OrtValueTest, a_sequence_has_copies_of_its_items) {
  OrtValue* first = tensor<float>({1, 2}, {2});
  OrtValue* sequence = container({first, tensor<float>({3}, {1})}, ONNX_TYPE_SEQUENCE);
  size_t count = 0;
  ok(api->GetValueCount(sequence, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(elements_of<float>(part(sequence, 0)), (std::vector<float>{1, 2}));
  void* data = nullptr;
  ok(api->GetTensorMutableData(part(sequence, 1), &data));
  static_cast<float*>(data)[0] = 9;
  EXPECT_EQ(elements_of<float>(part(sequence, 1)), (std::vector<float>{3}));
  ONNXType type{};
  ok(api->GetValueType(sequence, &type));
  EXPECT_EQ(type, ONNX_TYPE_SEQUENCE);
  OrtValue* none = nullptr;
  OrtStatus* beyond = api->GetValue(sequence, 2, allocator, &none);
  EXPECT_NE(beyond, nullptr);
  api->ReleaseStatus(beyond);
  refused(api->CreateValue(nullptr, 0, ONNX_TYPE_SEQUENCE, &none), ORT_FAIL,
          "Number of values should be at least 1.");
}

TEST_P(OrtValueTest, a_map_is_in_the_order_of_its_keys) {
  OrtValue* map =
      container({tensor<int64_t>({7, -2, 4}, {3}), tensor<float>({1, 2, 3}, {3})}, ONNX_TYPE_MAP);
  size_t count = 0;
  ok(api->GetValueCount(map, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(elements_of<int64_t>(part(map, 0)), (std::vector<int64_t>{-2, 4, 7}));
  EXPECT_EQ(elements_of<float>(part(map, 1)), (std::vector<float>{2, 3, 1}));
  OrtValue* none = nullptr;
  refused(api->GetValue(map, 2, allocator, &none), ORT_FAIL,
          "Invalid index requested for map type.");
  const OrtValue* one[] = {map};
  refused(api->CreateValue(one, 1, ONNX_TYPE_MAP, &none), ORT_FAIL,
          "For map type num_values MUST be 2");
  OrtValue* named = container({tensor<std::string>({"b", "a"}, {2}), tensor<int64_t>({1, 2}, {2})},
                              ONNX_TYPE_MAP);
  EXPECT_EQ(elements_of<int64_t>(part(named, 1)), (std::vector<int64_t>{2, 1}));
}

TEST_P(OrtValueTest, shape_infos_are_made_and_read) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  ok(api->CreateTensorTypeAndShapeInfo(&info));
  own(info, api->ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type{};
  ok(api->GetTensorElementType(info, &type));
  EXPECT_EQ(type, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  EXPECT_FALSE(api->TensorTypeAndShape_HasShape(info));
  const int64_t dims[] = {2, -1, 4};
  ok(api->SetDimensions(info, dims, 3));
  EXPECT_TRUE(api->TensorTypeAndShape_HasShape(info));
  size_t count = 0;
  refused(api->GetTensorShapeElementCount(info, &count), ORT_FAIL, "Integer overflow");
  const char* names[] = {"", "n"};
  ok(api->SetSymbolicDimensions(info, names, 2));
  const char* read[3] = {};
  ok(api->GetSymbolicDimensions(info, read, 3));
  EXPECT_STREQ(read[1], "n");
  ASSERT_NE(read[2], nullptr);
  EXPECT_STREQ(read[2], "");
  int64_t more[5] = {9, 9, 9, 9, 9};
  ok(api->GetDimensions(info, more, 5));
  EXPECT_TRUE(more[2] == 4 && more[3] == 9);
}

ORT_API_TESTS(OrtValueTest);

}  // namespace
}  // namespace sardonyx::ort_abi
