#include "tests/ort_abi/behaviour/transcript.h"

namespace behaviour {
namespace {

std::string failed(OrtStatus* status) {
  if (!status) return "";
  const std::string text =
      "[" + std::to_string(lib.api->GetErrorCode(status)) + "] " + lib.api->GetErrorMessage(status);
  lib.api->ReleaseStatus(status);
  return text;
}

template <typename T>
std::string listed(const T* elements, size_t count) {
  std::string text;
  for (size_t i = 0; i < count && i < 20; ++i)
    text += (i ? " " : "") + std::to_string(elements[i]);
  return text;
}

std::string described(const OrtTensorTypeAndShapeInfo* info) {
  ONNXTensorElementDataType element{};
  size_t rank = 0;
  std::string text;
  text += failed(lib.api->GetTensorElementType(info, &element));
  text += failed(lib.api->GetDimensionsCount(info, &rank));
  std::vector<int64_t> dims(rank);
  std::vector<const char*> names(rank);
  text += failed(lib.api->GetDimensions(info, dims.data(), rank));
  text += failed(lib.api->GetSymbolicDimensions(info, names.data(), rank));
  text += "element " + std::to_string(element);
  if (!lib.api->TensorTypeAndShape_HasShape(info)) text += " no shape";
  text += " (";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? "," : "") + std::to_string(dims[i]) + (names[i] ? names[i] : "NULL");
  return text + ")";
}

std::string elements(const OrtValue* value, ONNXTensorElementDataType type, size_t count) {
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      size_t length = 0;
      text += failed(lib.api->GetStringTensorElementLength(value, i, &length));
      std::string element(length, ' ');
      text += failed(lib.api->GetStringTensorElement(value, length, i, element.data()));
      text += "'" + element + "'";
    }
    return text;
  }
  const void* data = nullptr;
  if (OrtStatus* status = lib.api->GetTensorData(value, &data)) return failed(status);
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return listed(static_cast<const float*>(data), count);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return listed(static_cast<const double*>(data), count);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return listed(static_cast<const int64_t*>(data), count);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
      return listed(static_cast<const int32_t*>(data), count);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
      return listed(static_cast<const uint8_t*>(data), count);
    default:
      return "...";
  }
}

std::string described_tensor(const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  if (OrtStatus* status = lib.api->GetTensorTypeAndShape(value, &info)) return failed(status);
  size_t count = 0;
  ONNXTensorElementDataType element{};
  std::string text = "tensor " + described(info) + " ";
  text += failed(lib.api->GetTensorShapeElementCount(info, &count));
  text += failed(lib.api->GetTensorElementType(info, &element));
  lib.api->ReleaseTensorTypeAndShapeInfo(info);
  return text + elements(value, element, count);
}

}  // namespace

std::string described(const OrtValue* value) {
  if (!value) return "NULL";
  int has_value = 0;
  ONNXType type{};
  std::string text = failed(lib.api->HasValue(value, &has_value));
  if (!has_value) return text + "no value";
  text += failed(lib.api->GetValueType(value, &type));
  if (type == ONNX_TYPE_TENSOR) return text + described_tensor(value);
  size_t count = 0;
  text += "type " + std::to_string(type) + failed(lib.api->GetValueCount(value, &count)) + " of " +
          std::to_string(count) + " {";
  for (size_t i = 0; i < count; ++i) {
    OrtValue* item = nullptr;
    text += failed(lib.api->GetValue(value, static_cast<int>(i), lib.allocator, &item));
    text += (i ? "; " : "") + described(item);
    lib.api->ReleaseValue(item);
  }
  return text + "}";
}

std::string described(const OrtTypeInfo* info) {
  ONNXType type{};
  const char* denotation = nullptr;
  size_t length = 0;
  std::string text = failed(lib.api->GetOnnxTypeFromTypeInfo(info, &type));
  text += failed(lib.api->GetDenotationFromTypeInfo(info, &denotation, &length));
  text +=
      std::to_string(type) + " '" + std::string(denotation ? denotation : "NULL", length) + "' ";
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  const OrtSequenceTypeInfo* sequence = nullptr;
  const OrtMapTypeInfo* map = nullptr;
  const OrtOptionalTypeInfo* optional = nullptr;
  OrtTypeInfo* inner = nullptr;
  text += failed(lib.api->CastTypeInfoToTensorInfo(info, &tensor));
  text += failed(lib.api->CastTypeInfoToSequenceTypeInfo(info, &sequence));
  text += failed(lib.api->CastTypeInfoToMapTypeInfo(info, &map));
  text += failed(lib.api->CastTypeInfoToOptionalTypeInfo(info, &optional));
  if (tensor) text += described(tensor);
  if (sequence) text += "sequence " + failed(lib.api->GetSequenceElementType(sequence, &inner));
  if (optional)
    text += "optional " + failed(lib.api->GetOptionalContainedTypeInfo(optional, &inner));
  if (map) {
    ONNXTensorElementDataType key{};
    text += "map " + failed(lib.api->GetMapKeyType(map, &key)) + std::to_string(key) + " ";
    text += failed(lib.api->GetMapValueType(map, &inner));
  }
  if (inner) text += "[" + described(inner) + "]";
  lib.api->ReleaseTypeInfo(inner);
  return text;
}

void run(const std::string& label, OrtSession* session, const Names& inputs, const Values& values,
         const Names& outputs, Values results, const OrtRunOptions* with) {
  if (!session) return line(label, "no session");
  results.resize(outputs.size());
  const Values given = results;
  if (!answer("run " + label,
              lib.api->Run(session, with, inputs.data(), values.data(), inputs.size(),
                           outputs.data(), outputs.size(), results.data())))
    return;
  for (size_t i = 0; i < results.size(); ++i) {
    line("  " + std::string(outputs[i]) + (given[i] && given[i] == results[i] ? " in place" : ""),
         described(results[i]));
    if (!given[i]) lib.api->ReleaseValue(results[i]);
  }
}

}  // namespace behaviour
