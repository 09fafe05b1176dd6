#include "ir/graph.h"

#include <algorithm>
#include <atomic>

#include "ir/core/bools.h"

namespace sardonyx {

Value* Graph::add_value(std::string name, Type type) {
  auto owned = std::make_unique<Value>();
  Value* value = owned.get();
  value->name = name.empty() || names_.contains(name) ? fresh_name(name) : std::move(name);
  value->type = std::move(type);
  names_.emplace(value->name, value);
  values_.emplace(value, std::move(owned));
  return value;
}

std::string Graph::fresh_name(std::string_view base) {
  std::string name;
  do {
    name = (base.empty() ? "v" : std::string(base) + "_") + std::to_string(next_name_++);
  } while (names_.contains(name));
  return name;
}

Dim Graph::fresh_symbol() {
  static std::atomic<uint64_t> next = 0;
  return Dim::symbol("?" + std::to_string(next++));
}

Value* Graph::add_input(std::string name, Type type) {
  return inputs_.emplace_back(add_value(std::move(name), std::move(type)));
}

Value* Graph::add_capture(std::string name, Type type) {
  return captures_.emplace_back(add_value(std::move(name), std::move(type)));
}

Value* Graph::add_constant(std::string name, Tensor constant) {
  Value* value =
      add_value(std::move(name), Type::tensor(constant.dtype(), to_dims(constant.shape())));
  value->constant = std::make_shared<const Tensor>(with_normal_bools(constant));
  return value;
}

Node* Graph::append(const OpDef& op, Attrs attrs, std::vector<Value*> inputs,
                    std::vector<std::string> output_names, size_t captures, Node* before) {
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->op = &op;
  node->attrs = std::move(attrs);
  node->inputs = std::move(inputs);
  node->captures = captures;
  for (size_t slot = 0; slot < node->inputs.size(); ++slot) {
    if (node->inputs[slot]) node->inputs[slot]->uses.push_back({node, slot});
  }
  for (std::string& name : output_names) {
    Value* output = add_value(std::move(name), Type::none());
    output->producer = node;
    output->producer_slot = node->outputs.size();
    node->outputs.push_back(output);
  }
  node->order = before ? before->order : nodes_.empty() ? 0 : nodes_.back()->order + 1;
  node->place = nodes_.insert(before ? before->place : nodes_.end(), std::move(owned));
  return node;
}

void Graph::add_output(Value* value) {
  outputs_.push_back(value);
  ++output_counts_[value];
}

void Graph::set_graph_output(size_t index, Value* value) {
  Value* old = outputs_.at(index);
  if (--output_counts_[old] == 0) output_counts_.erase(old);
  outputs_[index] = value;
  ++output_counts_[value];
}

void Graph::unlink(Value* value, Node* node, size_t slot) {
  if (!value) return;
  // From the back: the last uses go first where nodes are removed.
  const auto at = std::find(value->uses.rbegin(), value->uses.rend(), Use{node, slot});
  SARDONYX_CHECK(at != value->uses.rend());
  value->uses.erase(std::next(at).base());
}

void Graph::set_input(Node& node, size_t slot, Value* value) {
  unlink(node.inputs.at(slot), &node, slot);
  node.inputs[slot] = value;
  if (value) value->uses.push_back({&node, slot});
}

void Graph::set_op(Node& node, const OpDef& op, Attrs attrs, std::vector<Value*> inputs,
                   size_t captures) {
  for (size_t slot = node.inputs.size(); slot-- > 0;)
    unlink(node.inputs[slot], &node, slot);
  node.op = &op;
  node.attrs = std::move(attrs);
  node.inputs = std::move(inputs);
  node.captures = captures;
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
    if (node.inputs[slot]) node.inputs[slot]->uses.push_back({&node, slot});
  }
}

void Graph::replace_uses(Value& from, Value& to) {
  if (&from == &to) return;
  for (const Use& use : from.uses) {
    use.node->inputs[use.slot] = &to;
    to.uses.push_back(use);
  }
  from.uses.clear();
  for (size_t i = 0; is_output(from) && i < outputs_.size(); ++i) {
    if (outputs_[i] == &from) set_graph_output(i, &to);
  }
}

void Graph::take_name(Value& to, Value& from) {
  std::swap(to.name, from.name);
  names_[to.name] = &to;
  names_[from.name] = &from;
}

void Graph::rename(Value& value, std::string name) {
  names_.erase(value.name);
  value.name = name.empty() || names_.contains(name) ? fresh_name(name) : std::move(name);
  names_.emplace(value.name, &value);
}

void Graph::erase(Node& node) {
  for (Value* output : node.outputs)
    SARDONYX_CHECK(!output || (output->uses.empty() && !is_output(*output)));
  for (size_t slot = node.inputs.size(); slot-- > 0;)
    unlink(node.inputs[slot], &node, slot);
  for (Value* output : node.outputs) {
    if (!output) continue;
    names_.erase(output->name);
    values_.erase(output);
  }
  nodes_.erase(node.place);
}

void Graph::erase_value(Value& value) {
  SARDONYX_CHECK(!value.producer && value.uses.empty() && !is_output(value));
  std::erase(inputs_, &value);
  std::erase(captures_, &value);
  names_.erase(value.name);
  values_.erase(&value);
}

void Graph::remove_capture(Node& owner, size_t index) {
  const size_t slot = owner.formal_inputs() + index;
  std::vector<Value*> inputs = owner.inputs;
  inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(slot));
  set_op(owner, *owner.op, owner.attrs, std::move(inputs), owner.captures - 1);
  for (const GraphPtr& graph : subgraphs_of(owner))
    graph->erase_value(*graph->captures_.at(index));
}

void Graph::add_captured(Node& owner, Value* value, const std::vector<Value*>& inner) {
  const std::vector<GraphPtr> graphs = subgraphs_of(owner);
  SARDONYX_CHECK(inner.size() == graphs.size());
  for (size_t i = 0; i < graphs.size(); ++i)
    SARDONYX_CHECK(graphs[i]->captures_.back() == inner[i]);
  owner.inputs.push_back(value);
  owner.captures += 1;
  value->uses.push_back({&owner, owner.inputs.size() - 1});
}

void Graph::move_before(Node& node, Node& before) {
  nodes_.splice(before.place, nodes_, node.place);
  node.order = before.order;
}

void Graph::renumber() {
  size_t order = 0;
  for (const auto& node : nodes_)
    node->order = order++;
}

bool Graph::is_input(const Value& value) const {
  return std::find(inputs_.begin(), inputs_.end(), &value) != inputs_.end();
}

Value* Graph::find_value(std::string_view name) const {
  const auto at = names_.find(std::string(name));
  return at == names_.end() ? nullptr : at->second;
}

std::vector<GraphPtr> subgraphs_of(const Attrs& attrs) {
  static const size_t kOne = AttrKinds(GraphPtr()).index();
  static const size_t kMany = AttrKinds(std::vector<GraphPtr>()).index();
  std::vector<GraphPtr> graphs;
  for (const AttrField& field : attrs.schema().fields) {
    // Asked for at every node: the values of other fields are not copied for it.
    if (field.kind != kOne && field.kind != kMany) continue;
    const std::optional<AttrValue> value = attrs.get(field.name);
    if (!value) continue;
    if (const auto* one = std::get_if<GraphPtr>(&*value); one && *one) graphs.push_back(*one);
    if (const auto* many = std::get_if<std::vector<GraphPtr>>(&*value)) {
      graphs.insert(graphs.end(), many->begin(), many->end());
    }
  }
  return graphs;
}

std::vector<GraphPtr> subgraphs_of(const Node& node) {
  return subgraphs_of(node.attrs);
}

Attrs clone_subgraphs(const Attrs& attrs) {
  if (subgraphs_of(attrs).empty()) return attrs;
  AttrMap map = attrs.to_map();
  for (auto& [name, value] : map) {
    if (auto* one = std::get_if<GraphPtr>(&value)) *one = clone(**one);
    if (auto* many = std::get_if<std::vector<GraphPtr>>(&value)) {
      for (GraphPtr& graph : *many)
        graph = clone(*graph);
    }
  }
  return Attrs::parse(attrs.schema(), map);
}

}  // namespace sardonyx
