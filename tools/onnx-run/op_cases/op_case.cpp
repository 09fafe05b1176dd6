#include "tools/onnx-run/op_cases/op_case.h"

#include <set>

#include "ir/op_samples.h"

namespace sardonyx::tool {
namespace {

constexpr uint64_t kSeed = 17;

const Shape& usual_shape() {
  static const Shape shape{256, 1024};
  return shape;
}

// The type that models use most, of those that parameter `type` allows.
DType usual_type(const OpDef& op, std::string_view type) {
  for (const TypeConstraint& constraint : op.types) {
    if (constraint.name != type) continue;
    const DTypeSet set = constraint.types.tensors;
    for (const DType dtype : {DType::kFloat, DType::kInt64, DType::kInt32, DType::kUInt8}) {
      if (set.has(dtype)) return dtype;
    }
    for (int code = 1; code < kDTypeCount; ++code) {
      if (set.has(static_cast<DType>(code))) return static_cast<DType>(code);
    }
  }
  return dtype_named(type);
}

// Every required operand of the usual shape; two where there may be any number.
OpCase usual_case(const OpDef& op, std::string_view name) {
  OpCase made{.op = name};
  const Signature& signature = signature_of(op);
  const bool is_variadic = signature.max_inputs == SIZE_MAX;
  const size_t count = is_variadic ? std::max<size_t>(2, signature.min_inputs)
                                   : std::max<size_t>(1, signature.min_inputs);
  for (size_t i = 0; i < count; ++i)
    made.operands.push_back(input(usual_shape(), usual_type(op, signature.input(i).type)));
  made.outputs = std::max<size_t>(1, signature.min_outputs);
  return made;
}

std::vector<OpCase> named_cases() {
  std::vector<OpCase> all;
  for (const auto family : {elementwise_cases, network_cases, product_cases, arrange_cases,
                            quantized_cases, contrib_cases, classic_cases}) {
    for (OpCase& made : family())
      all.push_back(std::move(made));
  }
  return all;
}

// Names of rows, which cases refer to.
std::string_view lasting_name(const OpDef& op) {
  static std::set<std::string> names;
  return *names.insert(full_name(op)).first;
}

}  // namespace

std::vector<OpCase> all_op_cases() {
  std::vector<OpCase> all = named_cases();
  std::set<std::string, std::less<>> known;
  for (const OpCase& made : all)
    known.emplace(made.op);
  for (const OpDef* op : all_ops()) {
    if (op->is(kElementwise) && !known.contains(full_name(*op)))
      all.push_back(usual_case(*op, lasting_name(*op)));
  }
  return all;
}

std::vector<const OpDef*> ops_without_case() {
  std::set<std::string, std::less<>> known;
  for (const OpCase& made : all_op_cases())
    known.emplace(made.op);
  std::vector<const OpDef*> left;
  for (const OpDef* op : all_ops()) {
    if (!known.contains(full_name(*op))) left.push_back(op);
  }
  return left;
}

Model model_of(const OpCase& what, std::map<std::string, Datum, std::less<>>& feeds) {
  const OpDef& op = op_named(what.op);
  Model model;
  Graph& graph = *model.graph;
  graph.name = "one";
  std::vector<Value*> inputs;
  for (size_t i = 0; i < what.operands.size(); ++i) {
    const CaseOperand& operand = what.operands[i];
    if (operand.is_omitted) {
      inputs.push_back(nullptr);
      continue;
    }
    const std::string name = text("x", i);
    Tensor value = operand.value ? operand.value
                                 : drawn_tensor(operand.dtype, operand.shape, operand.low,
                                                operand.high, kSeed + i);
    if (operand.is_constant) {
      inputs.push_back(graph.add_constant(name, std::move(value)));
      continue;
    }
    inputs.push_back(graph.add_input(name, Datum(value).type()));
    feeds[name] = std::move(value);
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < what.outputs; ++i)
    names.push_back(text("y", i));
  Node* node = graph.append(op, Attrs::parse(*op.attrs, what.attrs), inputs, names);
  node->name = "op";
  for (Value* output : node->outputs)
    graph.add_output(output);
  infer_types(graph);
  return model;
}

}  // namespace sardonyx::tool
