#include "ir/subgraph_extraction.h"

#include <algorithm>

#include "ir/core/error.h"

namespace sardonyx {
namespace {

// Copies a graph's parts one by one into another.
class GraphCopy {
 public:
  explicit GraphCopy(const Graph& graph) {
    copy_->name = graph.name;
    copy_->doc = graph.doc;
  }

  // Makes any value an input of the copy: what computes it is not copied.
  void add_input(const Value& value) {
    Value* twin = copy_->add_input(value.name, value.type);
    twin->default_value = value.default_value;
    twin->dims = value.dims;
    twins_[&value] = twin;
  }
  void add_capture(const Value& capture) {
    copy_facts(capture, *copy_->add_capture(capture.name, capture.type));
  }
  void add_node(const Node& node) {
    std::vector<Value*> inputs;
    for (const Value* input : node.inputs)
      inputs.push_back(twin_of(input));
    std::vector<std::string> names;
    for (const Value* output : node.outputs)
      names.push_back(output ? output->name : "");
    Node* twin = copy_->append(*node.op, clone_subgraphs(node.attrs), std::move(inputs),
                               std::move(names), node.captures);
    twin->name = node.name;
    twin->scope = node.scope;
    twin->source = node.source;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i]) copy_facts(*node.outputs[i], *twin->outputs[i]);
    }
  }
  void add_output(const Value& value) { copy_->add_output(twin_of(&value)); }
  std::shared_ptr<Graph> take() { return std::move(copy_); }

 private:
  void copy_facts(const Value& value, Value& twin) {
    twin.type = value.type;
    twin.constant = value.constant;
    twin.default_value = value.default_value;
    twin.dims = value.dims;
    twins_.emplace(&value, &twin);  // what was made an input stays that, for who uses it
  }
  Value* twin_of(const Value* value) {
    const auto at = twins_.find(value);
    if (at != twins_.end()) return at->second;
    SARDONYX_CHECK(value->constant && !value->producer);
    copy_facts(*value, *copy_->add_constant(value->name, *value->constant));
    return twins_[value];
  }

  std::shared_ptr<Graph> copy_ = std::make_shared<Graph>();
  std::unordered_map<const Value*, Value*> twins_{{nullptr, nullptr}};
};

std::vector<const Value*> values_named(const Graph& graph, std::span<const std::string> names,
                                       const char* role) {
  std::vector<const Value*> values;
  for (const std::string& name : names) {
    const Value* value = graph.find_value(name);
    if (!value)
      fail(ErrorCode::kInvalidArgument, role, " '", name, "': the graph has no such value");
    if (std::ranges::find(values, value) != values.end())
      fail(ErrorCode::kInvalidArgument, role, " '", name, "' is named twice");
    values.push_back(value);
  }
  return values;
}

// The nodes that must run to compute some values, given others.
class Needed {
 public:
  Needed(const Graph& graph, const std::vector<const Value*>& given,
         const std::vector<const Value*>& wanted)
      : given_(given.begin(), given.end()) {
    for (const Value* value : wanted)
      reach(value);
    for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
      if (!nodes_.contains(node->get())) continue;
      for (const Value* input : (*node)->inputs)
        reach(input);
    }
  }
  bool has(const Value& value) const { return values_.contains(&value); }
  bool has(const Node& node) const { return nodes_.contains(&node); }

 private:
  void reach(const Value* value) {
    if (!value || !values_.insert(value).second || given_.contains(value)) return;
    if (value->producer) nodes_.insert(value->producer);
  }

  std::unordered_set<const Value*> given_, values_;
  std::unordered_set<const Node*> nodes_;
};

void check_inputs(const Graph& graph, const std::vector<const Value*>& given,
                  const Needed& needed) {
  for (const Value* input : given) {
    if (!needed.has(*input))
      fail(ErrorCode::kInvalidArgument, "input '", input->name, "': no output depends on it");
  }
  for (const Value* input : graph.inputs()) {
    if (needed.has(*input) && std::ranges::find(given, input) == given.end()) {
      fail(ErrorCode::kInvalidArgument, "the outputs also depend on the graph's input '",
           input->name, "'; name it, or a value between it and them, among the inputs");
    }
  }
}

}  // namespace

std::shared_ptr<Graph> clone(const Graph& graph) {
  GraphCopy copy(graph);
  for (const Value* input : graph.inputs())
    copy.add_input(*input);
  for (const Value* capture : graph.captures())
    copy.add_capture(*capture);
  for (const auto& node : graph.nodes())
    copy.add_node(*node);
  for (const Value* output : graph.outputs())
    copy.add_output(*output);
  return copy.take();
}

std::shared_ptr<Graph> extract(const Graph& graph, std::span<const std::string> inputs,
                               std::span<const std::string> outputs) {
  const std::vector<const Value*> wanted = values_named(graph, outputs, "output");
  std::vector<const Value*> given = values_named(graph, inputs, "input");
  const Needed needed(graph, given, wanted);
  if (given.empty()) {
    std::ranges::copy_if(graph.inputs(), std::back_inserter(given),
                         [&](const Value* input) { return needed.has(*input); });
  }
  check_inputs(graph, given, needed);
  GraphCopy copy(graph);
  for (const Value* input : given)
    copy.add_input(*input);
  for (const auto& node : graph.nodes()) {
    if (needed.has(*node)) copy.add_node(*node);
  }
  for (const Value* output : wanted)
    copy.add_output(*output);
  return copy.take();
}

}  // namespace sardonyx
