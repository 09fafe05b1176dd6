// Element types by ONNX Runtime's numbers. Those are ONNX's but for uint2, int2 and float8e8m0: the
// runtime's header has them in another order, and the runtime gives out its header's numbers, but
// takes what it is given for ONNX's. A program that works with it counts on either.
#pragma once

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/core/dtype.h"

namespace sardonyx::ort_abi {

// As given out.
ONNXTensorElementDataType element_type_of(DType dtype);
// As taken. Throws NOT_IMPLEMENTED for what no tensor has: undefined, complex and unknown numbers.
DType dtype_of_element(ONNXTensorElementDataType type);
// "tensor(float)": as ONNX Runtime writes it.
std::string tensor_type_text(DType dtype);

}  // namespace sardonyx::ort_abi
