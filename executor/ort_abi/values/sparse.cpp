#include "executor/ort_abi/values/sparse.h"

#include <algorithm>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/element_type.h"
#include "executor/ort_abi/values/sparse_formats.h"
#include "executor/ort_abi/values/type_info.h"
#include "executor/ort_abi/values/value.h"

namespace sardonyx::ort_abi {
namespace {

const SparseTensor& sparse_of(const OrtValue* value) {
  const Datum& datum = require(value, "value").datum;
  if (!datum.is_sparse()) refuse(ORT_RUNTIME_EXCEPTION, "the value is no sparse tensor");
  return datum.sparse();
}

// What a caller filled in, or what a run gave: coordinates.
SparseParts parts_of(const OrtValue* value) {
  const SparseTensor& sparse = sparse_of(value);
  if (value->sparse) return *value->sparse;
  return {ORT_SPARSE_COO, sparse.values, sparse.indices, {}};
}

SparseParts filled_parts(const OrtValue* value) {
  SparseParts parts = parts_of(value);
  if (parts.format == ORT_SPARSE_UNDEFINED)
    refuse(ORT_FAIL, "Sparse Tensor does not contain sparse data");
  return parts;
}

const Tensor& indices_of(const SparseParts& parts, OrtSparseIndicesFormat format) {
  switch (format) {
    case ORT_SPARSE_COO_INDICES:
      if (parts.format == ORT_SPARSE_COO) return parts.first;
      refuse(ORT_FAIL, "Must contain Coo format. Got: ", static_cast<int>(parts.format));
    case ORT_SPARSE_CSR_INNER_INDICES:
    case ORT_SPARSE_CSR_OUTER_INDICES:
      if (parts.format == ORT_SPARSE_CSRC)
        return format == ORT_SPARSE_CSR_INNER_INDICES ? parts.first : parts.second;
      refuse(ORT_FAIL, "Must contain Csr format. Contains: ", static_cast<int>(parts.format));
    case ORT_SPARSE_BLOCK_SPARSE_INDICES:
      if (parts.format == ORT_SPARSE_BLOCK_SPARSE) return parts.first;
      refuse(ORT_FAIL, "Must contain BlockSparse format. Got: ", static_cast<int>(parts.format));
  }
  refuse(ORT_INVALID_ARGUMENT, "indices_format: ", static_cast<int>(format), " is not known");
}

// Of a value that has no elements so far.
SparseParts empty_parts(const OrtValue* value) {
  SparseParts parts = parts_of(value);
  if (parts.format != ORT_SPARSE_UNDEFINED)
    refuse(ORT_FAIL, "this tensor already has populated sparse_indices");
  return parts;
}

// Takes the elements of these parts, which fit the shape.
void fill(OrtValue& value, SparseParts parts) {
  const Shape& dense = value.datum.sparse().shape;
  check_sparse_parts(parts, dense);
  Datum datum = coordinates_of(parts, dense);
  value.sparse = std::make_shared<const SparseParts>(std::move(parts));
  value.datum = std::move(datum);
}

// Elements are copied into the value.
Tensor copied_values(const OrtValue* value, const OrtMemoryInfo* where, const int64_t* dims,
                     size_t rank, const void* values) {
  const DType dtype = sparse_of(value).values.dtype();
  require(where, "data_mem_info");
  const Shape shape = checked_shape(dims, rank);
  Tensor copy = Tensor::allocate(dtype, shape);
  if (copy.count() == 0) return copy;
  const auto* from = &require(static_cast<const std::byte*>(values), "values");
  if (dtype != DType::kString) {
    copy_tensor(
        Tensor(dtype, shape, Buffer::borrow(const_cast<std::byte*>(from), copy.bytes(), {})), copy);
    return copy;
  }
  const auto* strings = static_cast<const char* const*>(values);
  std::transform(strings, strings + copy.count(), static_cast<std::string*>(copy.raw()),
                 [](const char* string) { return std::string(&require(string, "values")); });
  return copy;
}

template <typename T>
Tensor borrowed_indices(const T* data, Shape shape) {
  const size_t bytes = static_cast<size_t>(element_count(shape)) * sizeof(T);
  if (bytes > 0) require(data, "indices");
  return Tensor(dtype_of<T>(), std::move(shape), Buffer::borrow(const_cast<T*>(data), bytes, {}));
}
Tensor list_of(const int64_t* data, size_t count) {
  return borrowed_indices(data, {static_cast<int64_t>(count)});
}
// One index for each value, or one for each axis of it.
Tensor coo_indices(const int64_t* data, size_t count, int64_t values) {
  const auto number = static_cast<int64_t>(count);
  if (number == values) return borrowed_indices(data, {number});
  if (number == 2 * values) return borrowed_indices(data, {values, 2});
  refuse(ORT_INVALID_ARGUMENT, "COO indices count must be equal to or twice the values count.");
}

OrtValue* made_value(Tensor values, const int64_t* dims, size_t rank, const OrtMemoryInfo& where) {
  const Shape dense = checked_shape(dims, rank);
  SparseTensor none{Tensor::allocate(values.dtype(), {0}), Tensor::allocate(DType::kInt64, {0}),
                    dense};
  auto made = std::make_unique<OrtValue>(Datum(std::move(none)), where);
  made->sparse = std::make_shared<const SparseParts>(
      SparseParts{ORT_SPARSE_UNDEFINED, std::move(values), {}, {}});
  return made.release();
}

// What the value is made of is the caller's.
OrtStatus* use(OrtValue* value, OrtSparseFormat format, const auto& first, const auto& second) {
  return guarded([&] {
    SparseParts parts = empty_parts(value);
    parts.format = format;
    parts.first = first(parts.values);
    parts.second = second();
    fill(*value, std::move(parts));
  });
}

Tensor no_indices() {
  return {};
}

OrtTensorTypeAndShapeInfo* info_of(const Tensor& tensor) {
  return new OrtTensorTypeAndShapeInfo(tensor_info_of(Datum(tensor).type()));
}

// Elements of a sparse tensor are whole bytes.
DType sparse_dtype(ONNXTensorElementDataType type) {
  const DType dtype = dtype_of_element(type);
  if (is_packed(dtype))
    refuse(ORT_NOT_IMPLEMENTED, "sparse tensor type ", static_cast<int>(type), " is not supported");
  return dtype;
}

}  // namespace

OrtStatus* Functions::CreateSparseTensorAsOrtValue(OrtAllocator* allocator,
                                                   const int64_t* dense_shape,
                                                   size_t dense_shape_len,
                                                   ONNXTensorElementDataType type, OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    const OrtMemoryInfo* info = nullptr;
    if (require(allocator, "allocator").Info) info = allocator->Info(allocator);
    place = made_value(Tensor::allocate(sparse_dtype(type), {0}), dense_shape, dense_shape_len,
                       info ? *info : cpu_memory_info());
  });
}

OrtStatus* Functions::CreateSparseTensorWithValuesAsOrtValue(
    const OrtMemoryInfo* info, void* p_data, const int64_t* dense_shape, size_t dense_shape_len,
    const int64_t* values_shape, size_t values_shape_len, ONNXTensorElementDataType type,
    OrtValue** out) {
  return guarded([&] {
    OrtValue*& place = require_place(out, "out");
    const OrtMemoryInfo& where = require(info, "info");
    const Shape shape = checked_shape(values_shape, values_shape_len);
    const size_t bytes = bytes_for(sparse_dtype(type), element_count(shape));
    place = made_value(borrowed_tensor(p_data, bytes, values_shape, values_shape_len, type),
                       dense_shape, dense_shape_len, where);
  });
}

OrtStatus* Functions::FillSparseTensorCoo(OrtValue* ort_value, const OrtMemoryInfo* data_mem_info,
                                          const int64_t* values_shape, size_t values_shape_len,
                                          const void* values, const int64_t* indices_data,
                                          size_t indices_num) {
  return guarded([&] {
    empty_parts(ort_value);
    Tensor copy = copied_values(ort_value, data_mem_info, values_shape, values_shape_len, values);
    const Tensor indices = coo_indices(indices_data, indices_num, copy.count());
    fill(*ort_value, {ORT_SPARSE_COO, std::move(copy), indices.clone(), {}});
  });
}

OrtStatus* Functions::FillSparseTensorCsr(OrtValue* ort_value, const OrtMemoryInfo* data_mem_info,
                                          const int64_t* values_shape, size_t values_shape_len,
                                          const void* values, const int64_t* inner_indices_data,
                                          size_t inner_indices_num,
                                          const int64_t* outer_indices_data,
                                          size_t outer_indices_num) {
  return guarded([&] {
    empty_parts(ort_value);
    Tensor copy = copied_values(ort_value, data_mem_info, values_shape, values_shape_len, values);
    fill(*ort_value,
         {ORT_SPARSE_CSRC, std::move(copy), list_of(inner_indices_data, inner_indices_num).clone(),
          list_of(outer_indices_data, outer_indices_num).clone()});
  });
}

OrtStatus* Functions::FillSparseTensorBlockSparse(
    OrtValue* ort_value, const OrtMemoryInfo* data_mem_info, const int64_t* values_shape,
    size_t values_shape_len, const void* values, const int64_t* indices_shape_data,
    size_t indices_shape_len, const int32_t* indices_data) {
  return guarded([&] {
    empty_parts(ort_value);
    Tensor copy = copied_values(ort_value, data_mem_info, values_shape, values_shape_len, values);
    const Tensor indices =
        borrowed_indices(indices_data, checked_shape(indices_shape_data, indices_shape_len));
    fill(*ort_value, {ORT_SPARSE_BLOCK_SPARSE, std::move(copy), indices.clone(), {}});
  });
}

OrtStatus* Functions::UseCooIndices(OrtValue* ort_value, int64_t* indices_data,
                                    size_t indices_num) {
  return use(
      ort_value, ORT_SPARSE_COO,
      [&](const Tensor& values) { return coo_indices(indices_data, indices_num, values.count()); },
      no_indices);
}

OrtStatus* Functions::UseCsrIndices(OrtValue* ort_value, int64_t* inner_data, size_t inner_num,
                                    int64_t* outer_data, size_t outer_num) {
  return use(
      ort_value, ORT_SPARSE_CSRC, [&](const Tensor&) { return list_of(inner_data, inner_num); },
      [&] { return list_of(outer_data, outer_num); });
}

OrtStatus* Functions::UseBlockSparseIndices(OrtValue* ort_value, const int64_t* indices_shape,
                                            size_t indices_shape_len, int32_t* indices_data) {
  return use(
      ort_value, ORT_SPARSE_BLOCK_SPARSE,
      [&](const Tensor&) {
        return borrowed_indices(indices_data, checked_shape(indices_shape, indices_shape_len));
      },
      no_indices);
}

OrtStatus* Functions::GetSparseTensorFormat(const OrtValue* ort_value, OrtSparseFormat* out) {
  return guarded([&] { require(out, "out") = parts_of(ort_value).format; });
}

OrtStatus* Functions::GetSparseTensorValuesTypeAndShape(const OrtValue* ort_value,
                                                        OrtTensorTypeAndShapeInfo** out) {
  return guarded([&] {
    OrtTensorTypeAndShapeInfo*& place = require_place(out, "out");
    place = info_of(filled_parts(ort_value).values);
  });
}

// Strings are read by GetStringTensor... of the values as a tensor, which there is no handle to.
OrtStatus* Functions::GetSparseTensorValues(const OrtValue* ort_value, const void** out) {
  return guarded([&] {
    const void*& place = require_place(out, "out");
    const SparseParts parts = filled_parts(ort_value);
    if (parts.values.dtype() == DType::kString)
      refuse(ORT_INVALID_ARGUMENT, "Use GetStringTensor*() API to retrieve strings");
    place = parts.values.raw();
  });
}

OrtStatus* Functions::GetSparseTensorIndicesTypeShape(const OrtValue* ort_value,
                                                      OrtSparseIndicesFormat indices_format,
                                                      OrtTensorTypeAndShapeInfo** out) {
  return guarded([&] {
    OrtTensorTypeAndShapeInfo*& place = require_place(out, "out");
    place = info_of(indices_of(filled_parts(ort_value), indices_format));
  });
}

OrtStatus* Functions::GetSparseTensorIndices(const OrtValue* ort_value,
                                             OrtSparseIndicesFormat indices_format,
                                             size_t* num_indices, const void** indices) {
  return guarded([&] {
    const void*& place = require_place(indices, "indices");
    const SparseParts parts = filled_parts(ort_value);
    const Tensor& tensor = indices_of(parts, indices_format);
    require(num_indices, "num_indices") = static_cast<size_t>(tensor.count());
    place = tensor.raw();
  });
}

// There is no registry of opaque types.
OrtStatus* Functions::CreateOpaqueValue(const char* domain_name, const char* type_name, const void*,
                                        size_t, OrtValue** out) {
  return guarded([&] {
    require_place(out, "out");
    refuse(ORT_FAIL, "Specified domain and type names combination does not refer to a registered ",
           "opaque type: ", &require(domain_name, "domain_name"), ".",
           &require(type_name, "type_name"));
  });
}
OrtStatus* Functions::GetOpaqueValue(const char* domain_name, const char* type_name,
                                     const OrtValue*, void*, size_t) {
  return guarded([&] {
    refuse(ORT_FAIL, "Specified domain and type names combination does not refer to a registered ",
           "opaque type: ", &require(domain_name, "domain_name"), ".",
           &require(type_name, "type_name"));
  });
}

}  // namespace sardonyx::ort_abi
