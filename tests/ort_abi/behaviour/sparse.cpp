// Sparse tensors and opaque values.
#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

void infos_of(OrtValue* value) {
  OrtSparseFormat format{};
  ANSWER(GetSparseTensorFormat(value, &format));
  line("format", format);
  OrtTensorTypeAndShapeInfo* info = nullptr;
  OrtTypeInfo* type = nullptr;
  ONNXType kind{};
  ANSWER(GetValueType(value, &kind));
  line("kind", kind);
  int is = -1;
  ANSWER(IsSparseTensor(value, &is));
  line("is", is);
  ANSWER(IsTensor(value, &is));
  line("is", is);
  if (ANSWER(GetTypeInfo(value, &type))) line("type", described(type));
  size_t count = 0;
  if (ANSWER(GetTensorTypeAndShape(value, &info))) {
    ANSWER(GetTensorShapeElementCount(info, &count));
    line("count", count);
  }
  if (ANSWER(GetSparseTensorValuesTypeAndShape(value, &info))) {
    ANSWER(GetTensorShapeElementCount(info, &count));
    line("values", count);
  }
  const void* values = nullptr;
  if (ANSWER(GetSparseTensorValues(value, &values)) && values)
    line("first value", static_cast<int64_t>(*static_cast<const float*>(values)));
  for (int format_index = 0; format_index < 4; ++format_index) {
    const auto which = static_cast<OrtSparseIndicesFormat>(format_index);
    if (ANSWER(GetSparseTensorIndicesTypeShape(value, which, &info))) {
      size_t rank = 0;
      ANSWER(GetDimensionsCount(info, &rank));
      ANSWER(GetTensorShapeElementCount(info, &count));
      line("indices", std::to_string(rank) + " " + std::to_string(count));
    }
    const void* indices = nullptr;
    if (ANSWER(GetSparseTensorIndices(value, which, &count, &indices))) line("indices", count);
  }
}

OrtValue* fresh() {
  const int64_t dense[] = {3, 4};
  OrtValue* value = nullptr;
  ANSWER(CreateSparseTensorAsOrtValue(lib.allocator, dense, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                      &value));
  return value;
}

}  // namespace

void sparse_chapter() {
  const float values[] = {5, 6, 7};
  const int64_t three = 3, linear[] = {1, 5, 11}, pairs[] = {0, 1, 1, 1, 2, 3},
                outside[] = {1, 5, 12};
  OrtValue* coo = fresh();
  infos_of(coo);
  ANSWER(FillSparseTensorCoo(coo, lib.cpu, &three, 1, values, linear, 3));
  infos_of(coo);
  ANSWER(FillSparseTensorCoo(coo, lib.cpu, &three, 1, values, linear, 3));
  ANSWER(FillSparseTensorCoo(fresh(), lib.cpu, &three, 1, values, pairs, 6));
  ANSWER(FillSparseTensorCoo(fresh(), lib.cpu, &three, 1, values, pairs, 4));
  ANSWER(FillSparseTensorCoo(fresh(), lib.cpu, &three, 1, values, outside, 3));
  const int64_t inner[] = {1, 1, 3}, outer[] = {0, 1, 2, 3};
  OrtValue* csr = fresh();
  ANSWER(FillSparseTensorCsr(csr, lib.cpu, &three, 1, values, inner, 3, outer, 4));
  infos_of(csr);
  ANSWER(FillSparseTensorCsr(fresh(), lib.cpu, &three, 1, values, inner, 2, outer, 4));
  ANSWER(FillSparseTensorCsr(fresh(), lib.cpu, &three, 1, values, inner, 3, outer, 3));
  const int64_t block[] = {1, 1, 3}, block_indices[] = {2, 3};
  const int32_t at[] = {0, 1, 2, 0, 2, 3};
  OrtValue* blocks = fresh();
  ANSWER(FillSparseTensorBlockSparse(blocks, lib.cpu, block, 3, values, block_indices, 2, at));
  infos_of(blocks);
  const int64_t one_index[] = {2, 1}, transposed[] = {3, 2};
  ANSWER(FillSparseTensorBlockSparse(fresh(), lib.cpu, block, 3, values, transposed, 2, at));
  ANSWER(FillSparseTensorBlockSparse(fresh(), lib.cpu, block, 3, values, one_index, 2, at));
  float own[] = {5, 6, 7};
  const int64_t dense[] = {3, 4};
  OrtValue* over = nullptr;
  ANSWER(CreateSparseTensorWithValuesAsOrtValue(lib.cpu, own, dense, 2, &three, 1,
                                                ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &over));
  infos_of(over);
  ANSWER(UseCooIndices(over, const_cast<int64_t*>(linear), 3));
  infos_of(over);
  const void* raw = nullptr;
  ANSWER(GetSparseTensorValues(over, &raw));
  line("values", raw == own ? "the caller's" : "another's");
  OrtValue* over_csr = nullptr;
  ANSWER(CreateSparseTensorWithValuesAsOrtValue(lib.cpu, own, dense, 2, &three, 1,
                                                ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &over_csr));
  ANSWER(UseCsrIndices(over_csr, const_cast<int64_t*>(inner), 3, const_cast<int64_t*>(outer), 4));
  infos_of(over_csr);
  OrtValue* dense_value = tensor<float>({2}, {1, 2});
  OrtSparseFormat format{};
  ANSWER(GetSparseTensorFormat(dense_value, &format));
  ANSWER(GetSparseTensorValues(dense_value, &raw));
  ANSWER(FillSparseTensorCoo(dense_value, lib.cpu, &three, 1, values, linear, 3));
  OrtTensorTypeAndShapeInfo* info = nullptr;
  ANSWER(GetSparseTensorValuesTypeAndShape(dense_value, &info));
  OrtValue* opaque = nullptr;
  ANSWER(CreateOpaqueValue("no.domain", "no_type", "x", 1, &opaque));
  char content = 0;
  ANSWER(GetOpaqueValue("no.domain", "no_type", dense_value, &content, 1));
  OrtSession* session = load("relu", relu());
  run("sparse for dense", session, {"x"}, {coo}, {"y"});
}

}  // namespace behaviour
