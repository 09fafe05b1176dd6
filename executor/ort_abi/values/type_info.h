// Types of values as the interface describes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/type.h"

struct OrtTensorTypeAndShapeInfo {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  bool has_shape = false;
  std::vector<int64_t> dims;       // -1: not known
  std::vector<std::string> names;  // of dims; "": none
};

struct OrtMapTypeInfo {
  ONNXTensorElementDataType key;
  std::shared_ptr<const OrtTypeInfo> value;
};

struct OrtSequenceTypeInfo {
  std::shared_ptr<const OrtTypeInfo> element;
};

struct OrtOptionalTypeInfo {
  std::shared_ptr<const OrtTypeInfo> contained;
};

struct OrtTypeInfo {
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  // That of the kind; the others are null.
  std::shared_ptr<const OrtTensorTypeAndShapeInfo> tensor = {};
  std::shared_ptr<const OrtMapTypeInfo> map = {};
  std::shared_ptr<const OrtSequenceTypeInfo> sequence = {};
  std::shared_ptr<const OrtOptionalTypeInfo> optional = {};
  std::string denotation = {};
};

namespace sardonyx::ort_abi {

OrtTypeInfo type_info_of(const Type& type);
// The other way; throws where an element type is not known.
Type type_of(const OrtTypeInfo& info);
OrtTensorTypeAndShapeInfo tensor_info_of(const Type& type);
ONNXType kind_of(const Type& type);

}  // namespace sardonyx::ort_abi
