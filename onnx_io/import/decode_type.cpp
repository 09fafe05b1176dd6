#include "onnx_io/import/decode_type.h"

#include "ir/core/error.h"
#include "onnx_io/import/decode_tensor.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {

using onnx_schema::TensorShapeProto;
using onnx_schema::TypeProto;

namespace {

bool says_nothing(std::string_view param) {
  return param.empty() || param == "?";
}

// A file's own "?0" must not meet the symbols that inference invents.
bool looks_invented(std::string_view param) {
  return param.front() == '?';
}

}  // namespace

Dim TypeDecoder::named_dim(const std::string& param, std::string_view what) {
  // Exporters write these for "not known": equal ones need not be equal sizes. The name is kept for
  // those who ask what the file says.
  if (param == "None" || param == "-1") return Dim::symbol(param + fresh_symbol_().text());
  if (says_nothing(param)) return fresh_symbol_();
  if (!is_utf8(param)) {
    leniency_.tolerate(kNotUtf8, what, ": dim_param ", in_quotes(param),
                       " is not valid UTF-8; the dim is taken for unknown");
    return fresh_symbol_();
  }
  if (looks_invented(param)) {
    const auto found = unknown_names_.find(param);
    return found != unknown_names_.end()
               ? found->second
               : unknown_names_.emplace(param, fresh_symbol_()).first->second;
  }
  const std::optional<Dim> read = parse_dim(param);
  if (!read) return Dim::symbol(param);
  const bool holds_invented = [&] {
    for (const std::string& symbol : read->symbols()) {
      if (looks_invented(symbol)) return true;
    }
    return false;
  }();
  // A name that is written as a number is a name all the same: sizes stand in dim_value.
  if (holds_invented || read->is_known()) return fresh_symbol_();
  return *read;
}

std::optional<Dims> TypeDecoder::dims(const TensorShapeProto& proto, std::string_view what) {
  Dims dims;
  limits_.check_rank(what, static_cast<size_t>(proto.dim_size()));
  for (const auto& dim : proto.dim()) {
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      leniency_.tolerate(kNegativeDim, what, " has the negative dim ", dim.dim_value(),
                         "; taken for unknown");
    }
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      dims.emplace_back(dim.dim_value());
    } else {  // -1 is how some exporters write an unknown dim
      dims.push_back(named_dim(dim.dim_param(), what));
    }
  }
  return dims;
}

Type TypeDecoder::type(const TypeProto& proto, std::string_view what) {
  const auto missing = [&](std::string_view part) {
    fail(ErrorCode::kInvalidModel, what, " has a type without ", part);
  };
  switch (proto.value_case()) {
    case TypeProto::kTensorType: {
      const auto& tensor = proto.tensor_type();
      const DType dtype = checked_dtype(tensor.elem_type(), what);
      return Type::tensor(dtype, tensor.has_shape() ? dims(tensor.shape(), what) : std::nullopt);
    }
    case TypeProto::kSparseTensorType: {
      const auto& tensor = proto.sparse_tensor_type();
      const DType dtype = checked_dtype(tensor.elem_type(), what);
      Type sparse =
          Type::tensor(dtype, tensor.has_shape() ? dims(tensor.shape(), what) : std::nullopt);
      sparse.kind = Type::Kind::kSparseTensor;
      return sparse;
    }
    case TypeProto::kSequenceType:
      if (!proto.sequence_type().has_elem_type()) missing("the type of its elements");
      return Type::sequence(type(proto.sequence_type().elem_type(), what));
    case TypeProto::kOptionalType:
      if (!proto.optional_type().has_elem_type()) missing("the type of its element");
      return Type::optional(type(proto.optional_type().elem_type(), what));
    case TypeProto::kMapType: {
      if (!proto.map_type().has_value_type()) missing("the type of its values");
      const DType key = checked_dtype(proto.map_type().key_type(), text("the key of ", what));
      if (!is_integer(key) && key != DType::kString) {
        fail(ErrorCode::kInvalidModel, what, " is a map with ", key,
             " keys, expected integers or strings");
      }
      return Type::map(key, type(proto.map_type().value_type(), what));
    }
    case TypeProto::kOpaqueType:
      fail(ErrorCode::kUnsupported, what, " has the opaque type ",
           in_quotes(proto.opaque_type().domain() + "." + proto.opaque_type().name()));
    case TypeProto::VALUE_NOT_SET:
      break;
  }
  fail(ErrorCode::kInvalidModel, what, " has no type");
}

}  // namespace sardonyx::onnx_import
