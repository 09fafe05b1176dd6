#include "executor/ort_abi/values/element_type.h"

#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {

ONNXTensorElementDataType element_type_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt2:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2;
    case DType::kInt2:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2;
    case DType::kFloat8E8M0:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0;
    default:
      return static_cast<ONNXTensorElementDataType>(dtype);
  }
}

DType dtype_of_element(ONNXTensorElementDataType type) {
  const int number = static_cast<int>(type);
  const bool is_complex = type == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 ||
                          type == ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
  if (number <= ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED || number >= kDTypeCount || is_complex) {
    refuse(ORT_NOT_IMPLEMENTED, "tensor type ", number, " is not supported");
  }
  return static_cast<DType>(number);
}

std::string tensor_type_text(DType dtype) {
  return text("tensor(", name_of(dtype), ")");
}

}  // namespace sardonyx::ort_abi
