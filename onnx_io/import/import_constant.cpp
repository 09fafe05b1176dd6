// Constant nodes become constants of the graph.
#include <algorithm>

#include "onnx_io/import/importer.h"
#include "onnx_io/import/parse.h"
#include "onnx_io/metadata.h"

namespace sardonyx::onnx_import {

using onnx_schema::NodeProto;

namespace {

bool is_constant(const NodeProto& node) {
  return node.op_type() == "Constant" && canonical_domain(node.domain()).empty();
}

// A constant that is written as a tensor; null: another one, or none.
const onnx_schema::TensorProto* tensor_of(const NodeProto& node) {
  const bool is_one = is_constant(node) && node.output_size() == 1 && node.attribute_size() == 1;
  return is_one && node.attribute(0).has_t() ? &node.attribute(0).t() : nullptr;
}

bool is_equal(const NodeProto& a, const NodeProto& b) {
  return a.attribute(0).SerializeAsString() == b.attribute(0).SerializeAsString();
}

// Whether two constants, both written as tensors, have the same type.
bool has_equal_type(const NodeProto& a, const NodeProto& b) {
  const auto *first = tensor_of(a), *second = tensor_of(b);
  return first && second && first->data_type() == second->data_type() &&
         std::ranges::equal(first->dims(), second->dims());
}

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

// Before nodes are sorted: what a Constant node is given counts for nothing.
void Importer::mend_constants(NodeList& nodes) const {
  for (NodeProto& node : nodes) {
    if (!is_constant(node) || node.input_size() == 0) continue;
    leniency_.tolerate(kConstantInput, "node ", label_of(node), ": takes no inputs, got ",
                       node.input_size(), " inputs; they are left out");
    node.clear_input();
  }
  drop_repeated_constants(nodes);
}

// Tools that merge graphs leave Constant nodes that give one name to two values. ONNX Runtime takes
// the last where they have one type and shape.
void Importer::drop_repeated_constants(NodeList& nodes) const {
  std::unordered_map<std::string, const NodeProto*> last;
  const auto is_repeated = [&](const NodeProto* node) {
    if (!is_constant(*node) || node->output_size() != 1 || node->attribute_size() != 1)
      return false;
    const auto [known, is_new] = last.emplace(node->output(0), node);
    if (is_new) return false;
    const bool is_same = is_equal(*node, *known->second);
    if (!is_same && !has_equal_type(*node, *known->second)) return false;
    leniency_.tolerate(kRepeatedConstant, "value ", in_quotes(node->output(0)),
                       " is produced by two Constant nodes",
                       is_same ? " of one value; one counts" : "; the last one counts");
    return true;
  };
  // From the last to the first, so that the last ones stay.
  const auto begin = nodes.pointer_begin(), end = nodes.pointer_end();
  std::vector<NodeProto*> kept, dropped;
  for (auto node = end; node != begin;) {
    --node;
    (is_repeated(*node) ? dropped : kept).push_back(*node);
  }
  if (dropped.empty()) return;
  std::reverse_copy(kept.begin(), kept.end(), begin);
  std::ranges::copy(dropped, begin + static_cast<ptrdiff_t>(kept.size()));
  nodes.DeleteSubrange(static_cast<int>(kept.size()), static_cast<int>(dropped.size()));
}

// Tools that turn Constant nodes into initializers may leave both: ONNX Runtime takes the node's.
void Importer::prefer_constants(NameScope& name_scope, NodeList& nodes) {
  for (NodeProto& node : nodes) {
    if (!tensor_of(node)) continue;
    const std::string& name = node.output(0);
    const auto found = name_scope.values.find(name);
    if (found == name_scope.values.end() || !found->second || !found->second->constant) continue;
    const Tensor& other = *found->second->constant;
    const Tensor& own = tensors_.tensor(*node.mutable_attribute(0)->mutable_t());
    if (own.dtype() != other.dtype() || own.shape() != other.shape()) continue;
    leniency_.tolerate(kRepeatedConstant, "value ", in_quotes(name),
                       " is an initializer and produced by a Constant node; the node counts");
    vacate_name(name_scope, name);
    name_scope.values.erase(found);
  }
}

void Importer::import_constant(NameScope& name_scope, onnx_schema::NodeProto& node) {
  if (node.output_size() != 1 || node.output(0).empty()) {
    fail(ErrorCode::kInvalidModel, "has ", node.output_size(),
         " outputs, expected one with a name");
  }
  const AttrMap attrs = attributes(name_scope, node, {}, {});
  if (attrs.size() != 1) {
    fail(ErrorCode::kInvalidModel, "has ", attrs.size(), " value attributes, expected exactly one");
  }
  const std::string& output = node.output(0);
  Tensor value = constant_of(attrs.begin()->first, attrs.begin()->second, options_.limits);
  vacate_name(name_scope, output);
  const bool keep = name_scope.names_are_final || name_scope.scope.empty();
  Value* constant = name_scope.graph.add_constant(keep ? output : name_scope.scope + "." + output,
                                                  std::move(value));
  declared_type(name_scope, output, constant->type);  // is what the file declares of it right?
  bind(name_scope, output, constant);
}

}  // namespace sardonyx::onnx_import
