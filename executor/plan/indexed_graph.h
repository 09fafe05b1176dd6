// A graph's nodes and values by number, and what planning asks of them again and again.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/plan/op_traits.h"
#include "executor/plan/shape_expressions.h"
#include "executor/plan/value_id.h"
#include "ir/core/inline_vector.h"
#include "ir/graph.h"

namespace sardonyx {

struct IndexedNode {
  static constexpr uint32_t kNoKind = UINT32_MAX;  // no other node is of its kind

  const Node* node;
  const OpTraits* op = nullptr;
  InlineVector<ValueId, 6> inputs;   // kNoValue: omitted; captures last
  InlineVector<ValueId, 2> outputs;  // kNoValue: omitted
  uint32_t formal_inputs = 0;
  // Nodes of one kind have one op, attributes and count of outputs: what is planned for them
  // follows from their inputs.
  uint32_t kind = kNoKind;
  // Whether all outputs can be computed from the sizes of the inputs, once these are known.
  bool has_formulas = false;
};

// Immutable, so that any number of runs may read it at once.
class IndexedGraph {
 public:
  IndexedGraph(std::shared_ptr<const Graph> graph, std::span<const Provider* const> providers);
  IndexedGraph(const IndexedGraph&) = delete;
  IndexedGraph& operator=(const IndexedGraph&) = delete;

  const Graph& graph() const { return *graph_; }
  std::span<const IndexedNode> nodes() const { return nodes_; }  // in the order in which they run
  std::span<const Value* const> values() const { return values_; }  // by ValueId
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> captures() const { return captures_; }
  std::span<const ValueId> outputs() const { return outputs_; }

  // The index of `value` among the graph's outputs, the first where it is there several times; -1
  // where it is none.
  int output_index(ValueId value) const { return output_index_[value]; }
  // The index of the node that reads each value last, by ValueId; SIZE_MAX for outputs of the
  // graph.
  std::span<const size_t> last_uses() const { return last_use_; }
  // The values that can be computed from the sizes of inputs and captures alone.
  const ShapeExpressions& shape_expressions() const { return shape_expressions_; }

  // The name of the value and its producer, for messages; "scratch" for kNoValue.
  std::string label(ValueId value) const;

 private:
  ValueId number(const Value* value);
  const OpTraits& traits_of(const OpDef& op, std::span<const Provider* const> providers);
  void add_nodes(std::span<const Provider* const> providers);
  void number_kinds();

  std::shared_ptr<const Graph> graph_;
  std::vector<IndexedNode> nodes_;
  std::vector<const Value*> values_;
  std::unordered_map<const Value*, ValueId> ids_;
  std::vector<int> output_index_;
  std::vector<size_t> last_use_;
  std::vector<ValueId> inputs_, captures_, outputs_;
  std::unordered_map<const OpDef*, OpTraits> ops_;
  ShapeExpressions shape_expressions_;
};

}  // namespace sardonyx
