// Tensors, strings, sequences and maps, sparse tensors, and the infos of their types.
#include <cstring>

#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

OrtValue* made(int element, const std::vector<int64_t>& shape, const std::string& label) {
  OrtValue* value = nullptr;
  answer(label,
         lib.api->CreateTensorAsOrtValue(lib.allocator, shape.data(), shape.size(),
                                         static_cast<ONNXTensorElementDataType>(element), &value));
  return value;
}

void over(int element, const std::vector<int64_t>& shape, size_t bytes, const std::string& label) {
  static char memory[256];
  OrtValue* value = nullptr;
  answer(label, lib.api->CreateTensorWithDataAsOrtValue(
                    lib.cpu, memory, bytes, shape.data(), shape.size(),
                    static_cast<ONNXTensorElementDataType>(element), &value));
  size_t size = 0;
  void* data = nullptr;
  if (!value) return;
  if (answer("  size", lib.api->GetTensorSizeInBytes(value, &size))) line("  size", size);
  if (answer("  data", lib.api->GetTensorMutableData(value, &data)))
    line("  place", data == memory ? "the caller's" : "another");
  lib.api->ReleaseValue(value);
}

void elements() {
  for (int element = -1; element < 29; ++element) {
    OrtValue* value = made(element, {5}, "element " + std::to_string(element));
    if (value) {
      size_t bytes = 0;
      if (answer("  size", lib.api->GetTensorSizeInBytes(value, &bytes))) line("  size", bytes);
    }
    over(element, {5}, 256, "element over " + std::to_string(element));
    over(element, {5}, 2, "element over 2 bytes " + std::to_string(element));
  }
}

void shapes() {
  const std::vector<std::vector<int64_t>> all = {{},
                                                 {0},
                                                 {2, 0, 3},
                                                 {-1},
                                                 {2, -3},
                                                 {INT64_MAX, 2},
                                                 {int64_t{1} << 40, int64_t{1} << 40},
                                                 {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  for (const auto& shape : all) {
    std::string label = "shape";
    for (const int64_t dim : shape)
      label += " " + std::to_string(dim);
    OrtValue* value = made(1, shape, label);
    if (!value) continue;
    void* elements = nullptr;  // which nobody has written yet
    size_t bytes = 0;
    (void)lib.api->GetTensorMutableData(value, &elements);
    (void)lib.api->GetTensorSizeInBytes(value, &bytes);
    if (bytes > 0) std::memset(elements, 0, bytes);
    line("  it is", described(value));
    over(1, shape, 24, label + " over");
  }
  over(1, {2, 3}, 23, "short");
  over(1, {2, 3}, 25, "long");
  over(8, {2}, 63, "short strings");
  OrtValue* value = nullptr;
  const int64_t two = 2;
  ANSWER(CreateTensorWithDataAsOrtValue(lib.cpu, nullptr, 0, &two, 1,
                                        ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  const int64_t none = 0;
  ANSWER(CreateTensorWithDataAsOrtValue(lib.cpu, nullptr, 0, &none, 1,
                                        ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
}

void places() {
  OrtValue* value = tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::vector<int64_t>> all = {{1, 2},  {0, 0}, {2, 0}, {0, 3},
                                                 {-1, 0}, {1},    {},     {0, 0, 0}};
  for (const auto& at : all) {
    void* place = nullptr;
    std::string label = "at";
    for (const int64_t index : at)
      label += " " + std::to_string(index);
    if (answer(label, lib.api->TensorAt(value, at.data(), at.size(), &place)))
      line("  element", static_cast<int64_t>(*static_cast<float*>(place)));
  }
  OrtValue* text = strings({2}, {"a", "b"});
  void* place = nullptr;
  const int64_t one = 1;
  ANSWER(TensorAt(text, &one, 1, &place));
  int is = -1;
  ANSWER(IsTensor(value, &is));
  line("is", is);
  ANSWER(IsSparseTensor(value, &is));
  line("is", is);
  ANSWER(HasValue(value, &is));
  line("is", is);
  const OrtMemoryInfo* info = nullptr;
  const char* name = nullptr;
  ANSWER(GetTensorMemoryInfo(value, &info));
  ANSWER(MemoryInfoGetName(info, &name));
  line("memory", name);
  OrtAllocatorType type{};
  ANSWER(MemoryInfoGetType(info, &type));
  line("type", type);
}

void infos() {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  ANSWER(CreateTensorTypeAndShapeInfo(&info));
  size_t rank = 9, count = 0;
  ANSWER(GetDimensionsCount(info, &rank));
  line("rank", rank);
  ANSWER(GetTensorShapeElementCount(info, &count));
  line("count", count);
  line("has shape", lib.api->TensorTypeAndShape_HasShape(info));
  ONNXTensorElementDataType element{};
  ANSWER(GetTensorElementType(info, &element));
  line("element", element);
  for (const int type : {-1, 0, 1, 8, 14, 23, 26, 27, 99}) {
    answer("set " + std::to_string(type),
           lib.api->SetTensorElementType(info, static_cast<ONNXTensorElementDataType>(type)));
    ANSWER(GetTensorElementType(info, &element));
    line("  element", element);
  }
  const int64_t dims[] = {2, -1, 0};
  const char* names[] = {"a", "b", ""};
  ANSWER(SetDimensions(info, dims, 3));
  ANSWER(SetSymbolicDimensions(info, names, 3));
  const char* read[5] = {"?", "?", "?", "?", "?"};
  int64_t sizes[5] = {9, 9, 9, 9, 9};
  ANSWER(GetDimensions(info, sizes, 2));
  ANSWER(GetSymbolicDimensions(info, read, 5));
  for (int i = 0; i < 5; ++i)
    line("dim", std::to_string(sizes[i]) + read[i]);
  ANSWER(GetTensorShapeElementCount(info, &count));
  ANSWER(SetSymbolicDimensions(info, names, 1));
  ANSWER(GetSymbolicDimensions(info, read, 3));
  line("name", read[1]);
  ANSWER(SetDimensions(info, dims, 1));
  ANSWER(GetTensorShapeElementCount(info, &count));
  line("count", count);
}

}  // namespace

void value_chapter() {
  elements();
  shapes();
  places();
  infos();
}

void string_chapter() {
  OrtValue* text = strings({3}, {"a", "", "caf\xc3\xa9"});
  size_t length = 99;
  ANSWER(GetStringTensorDataLength(text, &length));
  line("length", length);
  char content[16] = "";
  size_t offsets[4] = {9, 9, 9, 9};
  for (const size_t size : {5, 6, 7, 16}) {
    for (const size_t count : {2, 3, 4}) {
      answer("content " + std::to_string(size) + " " + std::to_string(count),
             lib.api->GetStringTensorContent(text, content, size, offsets, count));
    }
  }
  line("offsets",
       std::to_string(offsets[0]) + std::to_string(offsets[1]) + std::to_string(offsets[2]));
  const char* few[] = {"x", "y", "z", "u"};
  ANSWER(FillStringTensor(text, few, 2));
  ANSWER(FillStringTensor(text, few, 4));
  ANSWER(FillStringTensorElement(text, "e", 3));
  ANSWER(FillStringTensorElement(text, "e", 1));
  ANSWER(GetStringTensorElementLength(text, 3, &length));
  ANSWER(GetStringTensorElement(text, 1, 3, content));
  ANSWER(GetStringTensorElement(text, 0, 1, content));
  char* buffer = nullptr;
  ANSWER(GetResizedStringTensorElementBuffer(text, 0, 4, &buffer));
  std::memcpy(buffer, "four", 4);
  ANSWER(GetResizedStringTensorElementBuffer(text, 3, 4, &buffer));
  ANSWER(GetResizedStringTensorElementBuffer(text, 2, 0, &buffer));
  line("text", described(text));
  ANSWER(GetTensorSizeInBytes(text, &length));
  void* data = nullptr;
  ANSWER(GetTensorMutableData(text, &data));
  OrtValue* numbers = tensor<float>({1}, {1});
  ANSWER(GetStringTensorDataLength(numbers, &length));
  ANSWER(GetStringTensorContent(numbers, content, 16, offsets, 1));
  ANSWER(GetStringTensorElementLength(numbers, 0, &length));
  ANSWER(GetStringTensorElement(numbers, 1, 0, content));
  ANSWER(FillStringTensor(numbers, few, 1));
  ANSWER(FillStringTensorElement(numbers, "e", 0));
  ANSWER(GetResizedStringTensorElementBuffer(numbers, 0, 4, &buffer));
  OrtValue* none = strings({0}, {});
  ANSWER(GetStringTensorDataLength(none, &length));
  line("length", length);
  ANSWER(GetStringTensorContent(none, content, 0, offsets, 0));
}

void container_chapter() {
  const auto make = [](const std::string& label, Values items, int type) {
    OrtValue* value = nullptr;
    if (answer(label, lib.api->CreateValue(items.data(), items.size(), static_cast<ONNXType>(type),
                                           &value)))
      line("  it is", described(value));
    return value;
  };
  OrtValue* numbers = tensor<float>({2}, {1, 2});
  OrtValue* keys = tensor<int64_t>({2}, {7, 3});
  OrtValue* words = strings({2}, {"b", "a"});
  OrtValue* sequence = make("sequence", {numbers, tensor<float>({}, {3})}, 2);
  make("sequence of strings", {words, words}, 2);
  make("sequence of two types", {numbers, keys}, 2);
  make("sequence of nothing", {}, 2);
  make("sequence of sequences", {sequence, sequence}, 2);
  make("sequence and tensor", {numbers, sequence}, 2);
  OrtValue* map = make("map", {keys, numbers}, 3);
  make("map of words", {words, numbers}, 3);
  make("map to int64", {keys, keys}, 3);
  make("map to words", {keys, words}, 3);
  make("map from words to words", {words, words}, 3);
  make("map to doubles", {words, tensor<double>({2}, {1, 2})}, 3);
  make("map from floats", {numbers, numbers}, 3);
  make("map from int32", {tensor<int32_t>({2}, {1, 2}), numbers}, 3);
  make("map to int32", {keys, tensor<int32_t>({2}, {1, 2})}, 3);
  make("map of other sizes", {keys, tensor<float>({3}, {1, 2, 3})}, 3);
  make("map of matrices", {tensor<int64_t>({1, 2}, {1, 2}), tensor<float>({1, 2}, {1, 2})}, 3);
  make("map of one", {keys}, 3);
  make("map of three", {keys, numbers, numbers}, 3);
  make("map with a key twice", {tensor<int64_t>({2}, {7, 7}), numbers}, 3);
  make("map of nothing", {tensor<int64_t>({0}, {}), tensor<float>({0}, {})}, 3);
  make("map of scalars", {tensor<int64_t>({}, {1}), tensor<float>({}, {1})}, 3);
  make("sequence of maps", {map, map}, 2);
  make("tensor", {numbers}, 1);
  make("unknown", {numbers}, 0);
  make("opaque", {numbers}, 4);
  make("optional", {numbers}, 6);
  make("type 9", {numbers}, 9);
  OrtValue* item = nullptr;
  ANSWER(GetValue(sequence, 2, lib.allocator, &item));
  ANSWER(GetValue(sequence, -1, lib.allocator, &item));
  ANSWER(GetValue(map, 2, lib.allocator, &item));
  ANSWER(GetValue(map, -1, lib.allocator, &item));
  ANSWER(GetValue(numbers, 0, lib.allocator, &item));
  size_t count = 0;
  ANSWER(GetValueCount(numbers, &count));
  int is = -1;
  ANSWER(IsTensor(sequence, &is));
  line("is", is);
  OrtTensorTypeAndShapeInfo* info = nullptr;
  OrtTypeInfo* type = nullptr;
  void* data = nullptr;
  const OrtMemoryInfo* memory = nullptr;
  ANSWER(GetTensorTypeAndShape(sequence, &info));
  ANSWER(GetTensorTypeAndShape(map, &info));
  ANSWER(GetTensorMutableData(sequence, &data));
  ANSWER(GetTensorMemoryInfo(sequence, &memory));
  ANSWER(GetTensorSizeInBytes(sequence, &count));
  for (const OrtValue* value : {sequence, map, numbers, words}) {
    if (ANSWER(GetTypeInfo(value, &type))) line("type", described(type));
    ONNXType kind{};
    ANSWER(GetValueType(value, &kind));
    line("kind", kind);
  }
}

}  // namespace behaviour
