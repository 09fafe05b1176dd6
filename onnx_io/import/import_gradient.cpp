// The operator Gradient: it names values of its graph, so it can't stand for itself. It is replaced
// by the ops that compute the gradients.
#include <algorithm>
#include <memory>

#include "ir/autodiff/autodiff.h"
#include "onnx_io/import/importer.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {

using onnx_schema::NodeProto;

namespace {

template <typename T>
const T& required_attribute(const RawCall& call, const std::string& name) {
  const auto found = call.attrs.find(name);
  if (found == call.attrs.end() || !std::holds_alternative<T>(found->second)) {
    fail(ErrorCode::kInvalidModel, "Gradient: attribute ", name, " is missing or of another kind");
  }
  return std::get<T>(found->second);
}

Value* named_value(const NameScope& name_scope, const std::string& name,
                   std::string_view attribute) {
  const auto found = name_scope.values.find(name);
  if (found == name_scope.values.end() || !found->second) {
    fail(ErrorCode::kInvalidModel, "Gradient: attribute ", attribute, ": ", in_quotes(name),
         " is no value of the graph that is known before the node");
  }
  return found->second;
}

// The nodes between some values and y, with other values put in the place of the former.
class Between {
 public:
  Between(GraphEmitter& emitter, const Value& y, const std::vector<Value*>& begins,
          std::span<const Val> in_their_place)
      : emitter_(emitter) {
    for (size_t i = 0; i < begins.size(); ++i)
      known_[begins[i]] = in_their_place[i];
    collect(y);
    std::ranges::sort(nodes_, {}, &Node::order);
    for (Node* node : nodes_)
      take(*node);
  }

  std::vector<const RecordedStep*> steps() const {
    std::vector<const RecordedStep*> all;
    for (const auto& step : steps_)
      all.push_back(step.get());
    return all;
  }
  Val place_of(const Value* value) const {
    const auto at = known_.find(value);
    return at == known_.end() ? GraphEmitter::wrap(const_cast<Value*>(value)) : at->second;
  }

 private:
  // The producers of `value` and of what they read, up to the values where it begins.
  void collect(const Value& value) {
    std::vector<const Value*> open{&value};
    std::unordered_set<const Node*> seen;
    while (!open.empty()) {
      const Value* next = open.back();
      open.pop_back();
      if (!next || known_.contains(next) || !next->producer) continue;
      if (!seen.insert(next->producer).second) continue;
      nodes_.push_back(next->producer);
      open.insert(open.end(), next->producer->inputs.begin(), next->producer->inputs.end());
    }
  }

  // A node that reads nothing new stays as it is; another one is emitted again.
  void take(Node& node) {
    Vals inputs, outputs;
    bool is_same = true;
    for (const Value* input : node.inputs) {
      inputs.push_back(input ? place_of(input) : Val());
      is_same = is_same && GraphEmitter::unwrap(inputs.back()) == input;
    }
    if (is_same) {
      for (Value* output : node.outputs)
        outputs.push_back(GraphEmitter::wrap(output));
    } else {
      outputs = emitter_.emit(*node.op, inputs, node.attrs, node.outputs.size(), node.captures);
      for (size_t i = 0; i < outputs.size(); ++i)
        known_[node.outputs[i]] = outputs[i];
    }
    steps_.push_back(std::make_unique<RecordedStep>(
        RecordedStep{node.op, node.attrs, inputs, node.captures, outputs}));
  }

  GraphEmitter& emitter_;
  std::unordered_map<const Value*, Val> known_;
  std::vector<Node*> nodes_;
  std::vector<std::unique_ptr<RecordedStep>> steps_;
};

}  // namespace

void Importer::import_gradient(NameScope& name_scope, const NodeProto& node, RawCall& call,
                               GraphEmitter& emitter) {
  using Names = std::vector<std::string>;
  const Names& xs = required_attribute<Names>(call, "xs");
  const Names zs = call.attrs.contains("zs") ? required_attribute<Names>(call, "zs") : Names();
  const Value* y = named_value(name_scope, required_attribute<std::string>(call, "y"), "y");
  if (call.inputs.size() != xs.size() + zs.size()) {
    fail(ErrorCode::kInvalidModel, "Gradient: expected an input for each of the ", xs.size(),
         " xs and ", zs.size(), " zs, got ", call.inputs.size());
  }
  if (call.outputs > xs.size()) {
    fail(ErrorCode::kInvalidModel, "Gradient: expected at most ", xs.size(),
         " outputs, one for each of xs, got ", call.outputs);
  }
  if (!y->type.is_tensor() || !is_floating(y->type.dtype)) {
    fail(ErrorCode::kInvalidModel, "Gradient: y must be a tensor of floats, it is ", y->type);
  }
  std::vector<Value*> begins;
  for (const std::string& name : xs)
    begins.push_back(named_value(name_scope, name, "xs"));
  for (const std::string& name : zs)
    begins.push_back(named_value(name_scope, name, "zs"));
  for (const Val& input : call.inputs) {
    if (!input) fail(ErrorCode::kInvalidModel, "Gradient: an input is omitted");
  }
  name_scope.graph.renumber();
  const Between between(emitter, *y, begins, call.inputs);
  const std::span<const Val> at = std::span(call.inputs).first(xs.size());
  Vals found =
      differentiate(emitter, between.steps(), std::vector{between.place_of(y)}, Vals(1), at);
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) found[i] = full_like(emitter, at[i], 0);
  }
  bind_outputs(name_scope, node, found, emitter);
}

}  // namespace sardonyx::onnx_import
