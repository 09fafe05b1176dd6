// Tensors made by callers, and their elements.
#include <algorithm>
#include <cstring>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/allocator.h"
#include "executor/ort_abi/values/element_type.h"
#include "executor/ort_abi/values/value.h"

namespace sardonyx::ort_abi {
namespace {

void require_space(DType dtype, const Shape& shape, size_t size) {
  const size_t needed = bytes_for(dtype, element_count(shape));
  if (size < needed)
    refuse(ORT_INVALID_ARGUMENT, "not enough space: expected ", needed, ", got ", size);
}

// Memory of the caller's allocator, which gets it back; strings in it are ended before.
std::shared_ptr<void> kept_block(OrtAllocator& allocator, void* block, int64_t strings) {
  return {block, [&allocator, strings](void* freed) {
            std::destroy_n(static_cast<std::string*>(freed), strings);
            if (freed) allocator.Free(&allocator, freed);
          }};
}

Tensor allocated_tensor(OrtAllocator& allocator, DType dtype, Shape shape) {
  if (is_own(allocator)) return Tensor::allocate(dtype, std::move(shape));
  require(allocator.Free, "Free");
  const int64_t count = element_count(shape);
  const int64_t strings = dtype == DType::kString ? count : 0;
  const size_t bytes = bytes_for(dtype, count);
  void* block = allocate(allocator, bytes);
  std::uninitialized_default_construct_n(static_cast<std::string*>(block), strings);
  auto keeper = kept_block(allocator, block, strings);
  return Tensor(dtype, std::move(shape), Buffer::borrow(block, bytes, std::move(keeper)));
}

}  // namespace

void copy_tensor(const Tensor& from, const Tensor& to) {
  if (from.dtype() == DType::kString)
    std::ranges::copy(from.values<std::string>(), static_cast<std::string*>(to.raw()));
  else if (from.bytes() > 0)
    std::memmove(to.raw(), from.raw(), from.bytes());
}

Tensor borrowed_tensor(void* data, size_t size, const int64_t* dims, size_t rank,
                       ONNXTensorElementDataType type, std::shared_ptr<void> keeper) {
  const DType dtype = dtype_of_element(type);
  Shape shape = checked_shape(dims, rank);
  require_space(dtype, shape, size);
  const size_t needed = bytes_for(dtype, element_count(shape));
  if (needed > 0) require(static_cast<const std::byte*>(data), "p_data");
  return Tensor(dtype, std::move(shape), Buffer::borrow(data, needed, std::move(keeper)));
}

OrtStatus* Functions::CreateTensorAsOrtValue(OrtAllocator* allocator, const int64_t* shape,
                                             size_t shape_len, ONNXTensorElementDataType type,
                                             OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    OrtAllocator& from = require(allocator, "allocator");
    const DType dtype = dtype_of_element(type);
    for (size_t i = 0; i < shape_len; ++i) {
      if ((&require(shape, "shape"))[i] < 0)
        refuse(ORT_FAIL, "Tensor shape.Size() must be >= 0: dim ", i, " is ", shape[i]);
    }
    Tensor tensor = allocated_tensor(from, dtype, checked_shape(shape, shape_len));
    const OrtMemoryInfo* info = from.Info ? from.Info(&from) : nullptr;
    place = new OrtValue(std::move(tensor), info ? *info : cpu_memory_info());
  });
}

OrtStatus* Functions::CreateTensorWithDataAsOrtValue(const OrtMemoryInfo* info, void* p_data,
                                                     size_t p_data_len, const int64_t* shape,
                                                     size_t shape_len,
                                                     ONNXTensorElementDataType type,
                                                     OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    const OrtMemoryInfo& where = require(info, "info");
    place = new OrtValue(borrowed_tensor(p_data, p_data_len, shape, shape_len, type), where);
  });
}

// The memory is the value's from a call on that succeeds.
OrtStatus* Functions::CreateTensorWithDataAndDeleterAsOrtValue(
    OrtAllocator* deleter, void* p_data, size_t p_data_len, const int64_t* shape, size_t shape_len,
    ONNXTensorElementDataType type, OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    OrtAllocator& allocator = require(deleter, "deleter");
    require(allocator.Free, "Free");
    borrowed_tensor(p_data, p_data_len, shape, shape_len, type);  // throws while it is the caller's
    const OrtMemoryInfo* info = allocator.Info ? allocator.Info(&allocator) : nullptr;
    auto made = std::make_unique<OrtValue>(Datum(), info ? *info : cpu_memory_info());
    Tensor tensor = borrowed_tensor(p_data, p_data_len, shape, shape_len, type,
                                    kept_block(allocator, p_data, 0));
    made->datum = Datum(std::move(tensor));
    place = made.release();
  });
}

OrtStatus* Functions::GetTensorMutableData(OrtValue* value, void** out) {
  return guarded([&] {
    void*& place = require_place(out, "out");
    place = tensor_of(value).raw();
  });
}

OrtStatus* Functions::GetTensorData(const OrtValue* value, const void** out) {
  return guarded([&] {
    const void*& place = require_place(out, "out");
    place = tensor_of(value).raw();
  });
}

OrtStatus* Functions::GetTensorSizeInBytes(const OrtValue* ort_value, size_t* size) {
  return guarded([&] {
    require(size, "size") = 0;
    if (!require(ort_value, "value").datum.is_tensor())
      refuse(ORT_INVALID_ARGUMENT, "OrtValue is expected to contain a tensor");
    const Tensor& tensor = ort_value->datum.tensor();
    if (tensor.dtype() == DType::kString)
      refuse(ORT_INVALID_ARGUMENT, "String tensors are not supported by this API");
    *size = tensor.bytes();
  });
}

OrtStatus* Functions::TensorAt(OrtValue* value, const int64_t* location_values,
                               size_t location_values_count, void** out) {
  return guarded([&] {
    void*& place = require_place(out, "out");
    const Tensor& tensor = tensor_of(value);
    if (tensor.dtype() == DType::kString)
      refuse(ORT_INVALID_ARGUMENT, "this API does not support strings");
    if (is_packed(tensor.dtype()))
      refuse(ORT_INVALID_ARGUMENT, "this API does not support elements of less than a byte");
    const Shape& shape = tensor.shape();
    if (location_values_count != shape.size())
      refuse(ORT_INVALID_ARGUMENT, "location dimensions do not match shape size");
    if (!shape.empty()) require(location_values, "location_values");
    int64_t offset = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (location_values[i] < 0 || location_values[i] >= shape[i])
        refuse(ORT_INVALID_ARGUMENT, "invalid location range");
      offset = offset * shape[i] + location_values[i];
    }
    place = static_cast<std::byte*>(tensor.raw()) + bytes_for(tensor.dtype(), offset);
  });
}

OrtStatus* Functions::GetTensorElementTypeAndShapeDataReference(
    const OrtValue* value, ONNXTensorElementDataType* elem_type, const int64_t** shape_data,
    size_t* shape_data_count) {
  return guarded([&] {
    const int64_t*& place = require_place(shape_data, "shape_data");
    const Tensor& tensor = tensor_of(value);
    require(shape_data_count, "shape_data_count") = tensor.rank();
    require(elem_type, "elem_type") = element_type_of(tensor.dtype());
    if (tensor.rank() > 0) place = tensor.shape().data();
  });
}

OrtStatus* Functions::CopyTensors(const OrtEnv* env, const OrtValue* const* src_tensors,
                                  OrtValue* const* dst_tensors, OrtSyncStream* stream,
                                  size_t num_tensors) {
  return guarded([&] {
    require(env, "env");
    if (stream) refuse(ORT_INVALID_ARGUMENT, "stream: memory of the CPU is copied without one");
    if (num_tensors == 0)
      refuse(ORT_INVALID_ARGUMENT, "Invalid arguments provided to CopyTensors.");
    require(src_tensors, "src_tensors");
    require(dst_tensors, "dst_tensors");
    for (size_t i = 0; i < num_tensors; ++i) {
      const Tensor& from = tensor_of(src_tensors[i]);
      const Tensor& to = tensor_of(dst_tensors[i]);
      if (from.dtype() != to.dtype() || from.bytes() != to.bytes())
        refuse(ORT_INVALID_ARGUMENT, "tensor ", i, ": ", to.dtype(), to_text(to.shape()),
               " can't take ", from.dtype(), to_text(from.shape()));
      copy_tensor(from, to);
    }
  });
}

}  // namespace sardonyx::ort_abi
