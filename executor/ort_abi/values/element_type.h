// Element types by ONNX Runtime's numbers, which are ONNX's.
#pragma once

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/core/dtype.h"

namespace sardonyx::ort_abi {

ONNXTensorElementDataType element_type_of(DType dtype);
// Throws NOT_IMPLEMENTED for what no tensor has: undefined, complex and unknown numbers.
DType dtype_of_element(ONNXTensorElementDataType type);
// "tensor(float)": as ONNX Runtime writes it.
std::string tensor_type_text(DType dtype);

}  // namespace sardonyx::ort_abi
