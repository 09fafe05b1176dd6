// Constant nodes become constants of the graph.
#include "onnx_io/import/importer.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {
namespace {

template <typename T>
const T& held(const AttrValue& value, std::string_view name) {
  const T* found = std::get_if<T>(&value);
  if (!found) {
    fail(ErrorCode::kInvalidModel, "attribute ", name, " has the wrong kind ", kind_name(value));
  }
  return *found;
}

Tensor dense(const SparseTensor& sparse, const LoadLimits& limits) {
  const size_t bytes = bytes_for(sparse.values.dtype(), element_count(sparse.shape));
  if (bytes > limits.expanded_bytes) {
    fail(ErrorCode::kResourceExhausted, "attribute sparse_value takes ", bytes,
         " bytes when dense, more than the limit of ", limits.expanded_bytes);
  }
  return sparse.to_dense();
}

Tensor constant_of(const std::string& name, const AttrValue& value, const LoadLimits& limits) {
  if (name == "value") return held<Tensor>(value, name);
  if (name == "sparse_value") return dense(held<SparseTensor>(value, name), limits);
  if (name == "value_int") return Tensor::scalar(held<int64_t>(value, name));
  if (name == "value_float") return Tensor::scalar(held<float>(value, name));
  if (name == "value_string") return Tensor::scalar(held<std::string>(value, name));
  if (name == "value_ints") return Tensor::vector(held<std::vector<int64_t>>(value, name));
  if (name == "value_floats") return Tensor::vector(held<std::vector<float>>(value, name));
  if (name == "value_strings") return Tensor::vector(held<std::vector<std::string>>(value, name));
  fail(ErrorCode::kInvalidModel, "attribute ", in_quotes(name), ": Constant has no such attribute");
}

}  // namespace

void Importer::import_constant(NameScope& frame, onnx_schema::NodeProto& node) {
  if (node.input_size() > 0) {
    fail(ErrorCode::kInvalidModel, "takes no inputs, got ", node.input_size(), " inputs");
  }
  if (node.output_size() != 1 || node.output(0).empty()) {
    fail(ErrorCode::kInvalidModel, "has ", node.output_size(),
         " outputs, expected one with a name");
  }
  const AttrMap attrs = attributes(frame, node, {}, {});
  if (attrs.size() != 1) {
    fail(ErrorCode::kInvalidModel, "has ", attrs.size(), " value attributes, expected exactly one");
  }
  const std::string& output = node.output(0);
  Tensor value = constant_of(attrs.begin()->first, attrs.begin()->second, options_.limits);
  vacate_name(frame, output);
  const bool keep = frame.names_are_final || frame.scope.empty();
  Value* constant =
      frame.graph.add_constant(keep ? output : frame.scope + "." + output, std::move(value));
  declared_type(frame, output, constant->type);  // is what the file declares of it right?
  bind(frame, output, constant);
}

}  // namespace sardonyx::onnx_import
