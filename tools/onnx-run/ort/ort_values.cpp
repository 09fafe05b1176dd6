#include "tools/onnx-run/ort/ort_values.h"

#include <cstring>
#include <vector>

namespace sardonyx::tool::ort {
namespace {

Allocator* default_allocator(const Api& api) {
  Allocator* allocator = nullptr;
  api.call(kGetAllocatorWithDefaultOptions, &allocator);
  return allocator;
}

OwnedValue tensor_value(const Api& api, const Tensor& tensor) {
  OwnedValue value(api);
  const int64_t* shape = tensor.shape().data();
  const size_t rank = tensor.rank();
  const int type = static_cast<int>(tensor.dtype());
  if (tensor.dtype() == DType::kString) {
    api.call(kCreateTensorAsOrtValue, default_allocator(api), shape, rank, type, value.out());
    std::vector<const char*> strings;
    for (const std::string& element : tensor.values<std::string>())
      strings.push_back(element.c_str());
    api.call(kFillStringTensor, value.get(), static_cast<const char* const*>(strings.data()),
             strings.size());
    return value;
  }
  OwnedMemoryInfo memory(api);
  api.call(kCreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory, memory.out());
  api.call(kCreateTensorWithDataAsOrtValue, static_cast<const MemoryInfo*>(memory.get()),
           tensor.raw(), tensor.bytes(), shape, rank, type, value.out());
  return value;
}

OwnedValue joined(const Api& api, const std::vector<OwnedValue>& parts, ValueKind kind) {
  std::vector<const Value*> pointers;
  for (const OwnedValue& part : parts)
    pointers.push_back(part.get());
  OwnedValue value(api);
  api.call(kCreateValue, static_cast<const Value* const*>(pointers.data()), pointers.size(),
           static_cast<int>(kind), value.out());
  return value;
}

void copy_strings(const Api& api, Value* value, Tensor& tensor) {
  size_t bytes = 0;
  api.call(kGetStringTensorDataLength, static_cast<const Value*>(value), &bytes);
  std::string all(bytes, '\0');
  const auto count = static_cast<size_t>(tensor.count());
  std::vector<size_t> offsets(count + 1, bytes);
  api.call(kGetStringTensorContent, static_cast<const Value*>(value),
           static_cast<void*>(all.data()), bytes, offsets.data(), count);
  for (size_t i = 0; i < count; ++i)
    tensor.mutable_values<std::string>()[i] = all.substr(offsets[i], offsets[i + 1] - offsets[i]);
}

// The interface numbers three types otherwise than ONNX where it gives them out, and not where it
// takes them.
DType dtype_of_given(int type) {
  constexpr int kUInt2 = 24, kInt2 = 25, kFloat8E8M0 = 26;
  if (type == kUInt2) return DType::kUInt2;
  if (type == kInt2) return DType::kInt2;
  if (type == kFloat8E8M0) return DType::kFloat8E8M0;
  if (type <= 0 || type >= kDTypeCount)
    fail(ErrorCode::kUnsupported, "the other runtime gave elements of type number ", type);
  return static_cast<DType>(type);
}

Tensor to_tensor(const Api& api, Value* value) {
  OwnedTensorInfo info(api);
  api.call(kGetTensorTypeAndShape, static_cast<const Value*>(value), info.out());
  const TensorInfo* known = info.get();
  int type = 0;
  size_t rank = 0;
  api.call(kGetTensorElementType, known, &type);
  api.call(kGetDimensionsCount, known, &rank);
  Shape shape(rank);
  api.call(kGetDimensions, known, shape.data(), rank);
  Tensor tensor = Tensor::allocate(dtype_of_given(type), shape);
  if (tensor.count() == 0) return tensor;
  if (tensor.dtype() == DType::kString) {
    copy_strings(api, value, tensor);
    return tensor;
  }
  void* data = nullptr;
  api.call(kGetTensorMutableData, value, &data);
  std::memcpy(tensor.raw(), data, tensor.bytes());
  return tensor;
}

OwnedValue part_of(const Api& api, Value* value, int index) {
  OwnedValue part(api);
  api.call(kGetValue, static_cast<const Value*>(value), index, default_allocator(api), part.out());
  return part;
}

}  // namespace

OwnedValue to_value(const Api& api, const Datum& datum) {
  if (datum.is_tensor()) return tensor_value(api, datum.tensor());
  std::vector<OwnedValue> parts;
  if (datum.is_sequence()) {
    for (const Datum& item : datum.sequence().items)
      parts.push_back(to_value(api, item));
    return joined(api, parts, kSequenceValue);
  }
  if (datum.is_map()) {
    parts.push_back(tensor_value(api, datum.map().keys));
    parts.push_back(tensor_value(api, datum.map().values));
    return joined(api, parts, kMapValue);
  }
  if (datum.is_optional() && datum.optional().value())
    return to_value(api, *datum.optional().value());
  fail(ErrorCode::kUnsupported, "a value of type ", datum.type(),
       " can't be handed to the other runtime");
}

Datum to_datum(const Api& api, Value* value) {
  if (!value) return Datum();
  int kind = 0;
  api.call(kGetValueType, static_cast<const Value*>(value), &kind);
  if (kind == kTensorValue) return to_tensor(api, value);
  if (kind == kMapValue) {
    return Map{.keys = to_tensor(api, part_of(api, value, 0).get()),
               .values = to_tensor(api, part_of(api, value, 1).get())};
  }
  if (kind != kSequenceValue)
    fail(ErrorCode::kUnsupported, "the other runtime gave a value of kind ", kind);
  size_t count = 0;
  api.call(kGetValueCount, static_cast<const Value*>(value), &count);
  Sequence sequence;
  for (size_t i = 0; i < count; ++i)
    sequence.items.push_back(to_datum(api, part_of(api, value, static_cast<int>(i)).get()));
  if (count > 0) {
    sequence.element = sequence.items[0].type();
    sequence.element.shape.reset();
  }
  return sequence;
}

}  // namespace sardonyx::tool::ort
