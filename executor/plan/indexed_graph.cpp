#include "executor/plan/indexed_graph.h"

#include <algorithm>

namespace sardonyx {

IndexedGraph::IndexedGraph(std::shared_ptr<const Graph> graph,
                           std::span<const Provider* const> providers)
    : graph_(std::move(graph)) {
  for (const Value* input : graph_->inputs())
    inputs_.push_back(number(input));
  for (const Value* capture : graph_->captures())
    captures_.push_back(number(capture));
  add_nodes(providers);
  for (const Value* output : graph_->outputs()) {
    outputs_.push_back(number(output));
    last_use_[outputs_.back()] = SIZE_MAX;
  }
  output_index_.resize(values_.size(), -1);
  for (size_t i = outputs_.size(); i-- > 0;)
    output_index_[outputs_[i]] = static_cast<int>(i);
  std::vector<ValueId> given = inputs_;
  given.insert(given.end(), captures_.begin(), captures_.end());
  shape_expressions_ = ShapeExpressions(values_, given);
  number_kinds();
  for (IndexedNode& indexed : nodes_) {
    indexed.has_formulas = !indexed.node->op->is(kRandom) &&
                           std::ranges::all_of(indexed.outputs, [this](ValueId output) {
                             return output != kNoValue && shape_expressions_.formula_of(output) !=
                                                              ShapeExpressions::kNoFormula;
                           });
  }
}

ValueId IndexedGraph::number(const Value* value) {
  if (!value) return kNoValue;
  const auto [at, is_new] = ids_.emplace(value, static_cast<ValueId>(values_.size()));
  if (is_new) {
    values_.push_back(value);
    last_use_.push_back(0);
  }
  return at->second;
}

void IndexedGraph::add_nodes(std::span<const Provider* const> providers) {
  for (const auto& node : graph_->nodes()) {
    IndexedNode indexed{node.get(), &traits_of(*node->op, providers)};
    indexed.formal_inputs = static_cast<uint32_t>(node->formal_inputs());
    for (const Value* input : node->inputs) {
      indexed.inputs.push_back(number(input));
      if (input) last_use_[indexed.inputs.back()] = nodes_.size();
    }
    for (const Value* output : node->outputs)
      indexed.outputs.push_back(number(output));
    nodes_.push_back(std::move(indexed));
  }
}

const OpTraits& IndexedGraph::traits_of(const OpDef& op,
                                        std::span<const Provider* const> providers) {
  const auto at = ops_.find(&op);
  if (at != ops_.end()) return at->second;
  return ops_.try_emplace(&op, op, providers).first->second;
}

// Gives one number to nodes with the same op, attributes and counts of inputs and outputs. Each
// node is compared with the last kMaxTried kinds only, which bounds the cost where few are alike.
void IndexedGraph::number_kinds() {
  constexpr size_t kMaxTried = 8;
  std::unordered_map<const OpDef*, std::vector<const IndexedNode*>> seen;  // one of each kind
  uint32_t kinds = 0;
  for (IndexedNode& indexed : nodes_) {
    const Node& node = *indexed.node;
    if (node.op->is(kRandom) || node.captures > 0 || !subgraphs_of(node).empty()) continue;
    std::vector<const IndexedNode*>& others = seen[node.op];
    const auto last = others.rbegin() + std::min(others.size(), kMaxTried);
    const auto alike = std::find_if(others.rbegin(), last, [&](const IndexedNode* other) {
      return other->outputs.size() == indexed.outputs.size() &&
             other->inputs.size() == indexed.inputs.size() && other->node->attrs == node.attrs;
    });
    indexed.kind = alike == last ? kinds++ : (*alike)->kind;
    if (alike == last) others.push_back(&indexed);
  }
}

std::string IndexedGraph::label(ValueId id) const {
  if (id == kNoValue) return "scratch";
  const Value& value = *values_[id];
  if (!value.producer) return "value " + value.name;
  return text("node ", value.producer->name, " (", full_name(*value.producer->op), "): output ",
              value.name);
}

}  // namespace sardonyx
