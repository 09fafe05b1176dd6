#include "executor/ort_abi/values/type_info.h"

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "executor/ort_abi/values/element_type.h"
#include "onnx_io/dim_names.h"

namespace sardonyx::ort_abi {
namespace {

// Dims that the file gives no name have one of ours, which begins with "?", or a formula.
std::string name_of_dim(const Dim& dim) {
  if (dim.is_known()) return "";
  const std::string text = dim.text();
  const std::set<std::string> symbols = dim.symbols();
  const bool is_name = symbols.size() == 1 && *symbols.begin() == text;
  return is_name ? std::string(name_in_file(text)) : "";
}

std::shared_ptr<const OrtTypeInfo> shared_info(const std::shared_ptr<const Type>& type) {
  return std::make_shared<const OrtTypeInfo>(type ? type_info_of(*type) : OrtTypeInfo());
}

// Part `member` of `info`, which stays its owner; null where it is of another kind.
template <typename Part>
OrtStatus* cast_info(const OrtTypeInfo* info, const Part** out,
                     std::shared_ptr<const Part> OrtTypeInfo::*member) {
  return guarded([&] {
    const Part*& place = require_place(out, "out");
    place = (require(info, "type_info").*member).get();
  });
}

// A copy, which is the caller's.
OrtStatus* copy_info(const auto* of, OrtTypeInfo** out, const auto& inner) {
  return guarded([&] {
    OrtTypeInfo*& place = require_place(out, "out");
    place = new OrtTypeInfo(*inner(require(of, "type_info")));
  });
}

}  // namespace

ONNXType kind_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return ONNX_TYPE_TENSOR;
    case Type::Kind::kSparseTensor:
      return ONNX_TYPE_SPARSETENSOR;
    case Type::Kind::kSequence:
      return ONNX_TYPE_SEQUENCE;
    case Type::Kind::kOptional:
      return ONNX_TYPE_OPTIONAL;
    case Type::Kind::kMap:
      return ONNX_TYPE_MAP;
    case Type::Kind::kOpaque:
      return ONNX_TYPE_OPAQUE;
    case Type::Kind::kNone:
      break;
  }
  return ONNX_TYPE_UNKNOWN;
}

OrtTensorTypeAndShapeInfo tensor_info_of(const Type& type) {
  OrtTensorTypeAndShapeInfo info;
  info.type = element_type_of(type.dtype);
  info.has_shape = type.has_rank();
  if (!info.has_shape) return info;
  for (const Dim& dim : *type.shape) {
    info.dims.push_back(dim.try_value().value_or(-1));
    info.names.push_back(name_of_dim(dim));
  }
  return info;
}

OrtTypeInfo type_info_of(const Type& type) {
  OrtTypeInfo info{kind_of(type)};
  switch (info.kind) {
    case ONNX_TYPE_TENSOR:
    case ONNX_TYPE_SPARSETENSOR:
      info.tensor = std::make_shared<const OrtTensorTypeAndShapeInfo>(tensor_info_of(type));
      break;
    case ONNX_TYPE_SEQUENCE:
      info.sequence = std::make_shared<const OrtSequenceTypeInfo>(
          OrtSequenceTypeInfo{shared_info(type.element)});
      break;
    case ONNX_TYPE_OPTIONAL:
      info.optional = std::make_shared<const OrtOptionalTypeInfo>(
          OrtOptionalTypeInfo{shared_info(type.element)});
      break;
    case ONNX_TYPE_MAP:
      info.map = std::make_shared<const OrtMapTypeInfo>(
          OrtMapTypeInfo{element_type_of(type.dtype), shared_info(type.element)});
      break;
    default:
      break;
  }
  return info;
}

namespace {

// Sizes that have no name get one that no file writes down.
Type tensor_type_of(const OrtTensorTypeAndShapeInfo& info) {
  const DType dtype = dtype_of_element(info.type);
  if (!info.has_shape) return Type::tensor(dtype);
  Dims dims;
  for (size_t i = 0; i < info.dims.size(); ++i) {
    const bool is_named = i < info.names.size() && !info.names[i].empty();
    if (info.dims[i] >= 0)
      dims.emplace_back(info.dims[i]);
    else
      dims.push_back(Dim::symbol(is_named ? info.names[i] : text("?", i)));
  }
  return Type::tensor(dtype, std::move(dims));
}

Type inner_type_of(const std::shared_ptr<const OrtTypeInfo>& info) {
  if (!info) refuse(ORT_INVALID_ARGUMENT, "a type lacks the type of its elements");
  return type_of(*info);
}

}  // namespace

Type type_of(const OrtTypeInfo& info) {
  if (info.kind == ONNX_TYPE_SEQUENCE && info.sequence)
    return Type::sequence(inner_type_of(info.sequence->element));
  if (info.kind == ONNX_TYPE_OPTIONAL && info.optional)
    return Type::optional(inner_type_of(info.optional->contained));
  if (info.kind == ONNX_TYPE_MAP && info.map)
    return Type::map(dtype_of_element(info.map->key), inner_type_of(info.map->value));
  const bool is_sparse = info.kind == ONNX_TYPE_SPARSETENSOR;
  if ((info.kind != ONNX_TYPE_TENSOR && !is_sparse) || !info.tensor)
    refuse(ORT_INVALID_ARGUMENT, "a type of kind ", static_cast<int>(info.kind), " is not known");
  Type type = tensor_type_of(*info.tensor);
  if (is_sparse) type.kind = Type::Kind::kSparseTensor;
  return type;
}

OrtStatus* Functions::CastTypeInfoToTensorInfo(const OrtTypeInfo* type_info,
                                               const OrtTensorTypeAndShapeInfo** out) {
  return cast_info(type_info, out, &OrtTypeInfo::tensor);
}
OrtStatus* Functions::CastTypeInfoToMapTypeInfo(const OrtTypeInfo* type_info,
                                                const OrtMapTypeInfo** out) {
  return cast_info(type_info, out, &OrtTypeInfo::map);
}
OrtStatus* Functions::CastTypeInfoToSequenceTypeInfo(const OrtTypeInfo* type_info,
                                                     const OrtSequenceTypeInfo** out) {
  return cast_info(type_info, out, &OrtTypeInfo::sequence);
}
OrtStatus* Functions::CastTypeInfoToOptionalTypeInfo(const OrtTypeInfo* type_info,
                                                     const OrtOptionalTypeInfo** out) {
  return cast_info(type_info, out, &OrtTypeInfo::optional);
}

OrtStatus* Functions::GetOnnxTypeFromTypeInfo(const OrtTypeInfo* type_info, ONNXType* out) {
  return guarded([&] { require(out, "out") = require(type_info, "type_info").kind; });
}

OrtStatus* Functions::GetDenotationFromTypeInfo(const OrtTypeInfo* type_info,
                                                const char** denotation, size_t* len) {
  return guarded([&] {
    const OrtTypeInfo& info = require(type_info, "type_info");
    require(denotation, "denotation");
    require(len, "len") = info.denotation.size();
    *denotation = info.denotation.c_str();
  });
}

OrtStatus* Functions::GetMapKeyType(const OrtMapTypeInfo* map_type_info,
                                    ONNXTensorElementDataType* out) {
  return guarded([&] { require(out, "out") = require(map_type_info, "map_type_info").key; });
}
OrtStatus* Functions::GetMapValueType(const OrtMapTypeInfo* map_type_info,
                                      OrtTypeInfo** type_info) {
  return copy_info(map_type_info, type_info,
                   [](const OrtMapTypeInfo& map) { return map.value.get(); });
}
OrtStatus* Functions::GetSequenceElementType(const OrtSequenceTypeInfo* sequence_type_info,
                                             OrtTypeInfo** type_info) {
  return copy_info(sequence_type_info, type_info,
                   [](const OrtSequenceTypeInfo& sequence) { return sequence.element.get(); });
}
OrtStatus* Functions::GetOptionalContainedTypeInfo(const OrtOptionalTypeInfo* optional_type_info,
                                                   OrtTypeInfo** out) {
  return copy_info(optional_type_info, out,
                   [](const OrtOptionalTypeInfo& optional) { return optional.contained.get(); });
}

void Functions::ReleaseTypeInfo(OrtTypeInfo* input) {
  delete input;
}
void Functions::ReleaseMapTypeInfo(OrtMapTypeInfo* input) {
  delete input;
}
void Functions::ReleaseSequenceTypeInfo(OrtSequenceTypeInfo* input) {
  delete input;
}

}  // namespace sardonyx::ort_abi
