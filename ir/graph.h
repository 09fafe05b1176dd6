// The graph: an ordered list of nodes over typed values.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/emitter/emitter.h"
#include "ir/op_def.h"

namespace sardonyx {

struct Node;

// One place that reads a value: input `slot` of `node`.
struct Use {
  Node* node;
  size_t slot;
  bool operator==(const Use&) const = default;
};

// The output of a node, or an input of a graph. Its links are changed by Graph alone.
struct Value {
  std::string name;  // unique within its graph
  Type type;
  Node* producer = nullptr;  // null for inputs, captures and constants
  size_t producer_slot = 0;
  std::shared_ptr<const Tensor> constant;  // set when known before the run
  // The default of a graph input: its value where the caller gives none.
  std::shared_ptr<const Tensor> default_value;
  std::optional<Dims> dims;  // elements of a small integer tensor, where known as dims
  std::vector<Use> uses;     // written by Graph only; one entry for each slot
};

// One call of an op.
struct Node {
  const OpDef* op = nullptr;  // shared row, compared by address
  Attrs attrs;
  // Null marks an omitted optional input. Values of the enclosing graph that its subgraphs use come
  // last.
  std::vector<Value*> inputs;
  size_t captures = 0;          // how many of `inputs` are captures, at the end
  std::vector<Value*> outputs;  // fixed for the node's life; null marks an omitted optional output
  std::string name;             // for messages; rewrites pass it on
  std::string scope;            // module path: "encoder.layer3.attention"
  std::string source;           // "file.cpp:12"
  size_t formal_inputs() const { return inputs.size() - captures; }
  bool has_input(size_t slot) const { return slot < formal_inputs() && inputs[slot]; }

  // Graph's own. `order` grows along the list; nodes that were inserted since Graph::renumber()
  // share that of the node they stand before.
  std::list<std::unique_ptr<Node>>::iterator place;
  size_t order = 0;
};

// Owns its nodes and values (stable addresses) and is the only one to change links. A node's inputs
// are produced before it in the list. Subgraphs (attributes of If, Loop, Scan ...) are graphs of
// their own: a value of the enclosing graph comes in through `captures`, which match the owning
// node's captured inputs one to one.
//
// While iterating over nodes() it is allowed to erase the current node and to insert before or
// after it.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string name;
  std::string doc;

  // The nodes in an order in which they can run.
  const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& captures() const { return captures_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  const std::unordered_map<Value*, std::unique_ptr<Value>>& values() const { return values_; }

  // `name` is made unique by a suffix where it is taken; an empty one is invented.
  Value* add_input(std::string name, Type type);
  Value* add_capture(std::string name, Type type);
  Value* add_constant(std::string name, Tensor value);
  // A node at the end, or before `before`. Its outputs get the given names ("" = invented) and no
  // types: see infer_node.
  Node* append(const OpDef& op, Attrs attrs, std::vector<Value*> inputs,
               std::vector<std::string> output_names, size_t captures = 0, Node* before = nullptr);
  // Adds `count` outputs to the graph's list / replaces output `index`.
  void add_output(Value* value);
  void set_graph_output(size_t index, Value* value);

  // Input `slot` becomes `value`; null omits it.
  void set_input(Node& node, size_t slot, Value* value);
  void set_attrs(Node& node, Attrs attrs) { node.attrs = std::move(attrs); }
  // Changes what a node is, keeping its place and outputs.
  void set_op(Node& node, const OpDef& op, Attrs attrs, std::vector<Value*> inputs,
              size_t captures = 0);
  // Every use of `from`, the graph's outputs included, becomes one of `to`.
  void replace_uses(Value& from, Value& to);
  // Swaps names, so that a graph output keeps its name when another value takes its place.
  void take_name(Value& to, Value& from);
  // The node's outputs must have no uses.
  void erase(Node& node);
  // An unused value without producer (input, capture or constant).
  void erase_value(Value& value);
  void remove_capture(Node& owner, size_t index);
  // Adds `value` to the captures of `owner` and a capture to each of its subgraphs (one per
  // subgraph, in `inner`).
  void add_captured(Node& owner, Value* value, const std::vector<Value*>& inner);
  // To another place in the list; order is the caller's responsibility (see verify).
  void move_before(Node& node, Node& before);
  // Numbers the nodes along the list, so that Node::order compares places.
  void renumber();

  bool is_output(const Value& value) const { return output_counts_.contains(&value); }
  // Whether it is among inputs(); linear in their number.
  bool is_input(const Value& value) const;
  // Null where no value has that name.
  Value* find_value(std::string_view name) const;
  // A name that no value has: `base`, or `base` with a number.
  std::string fresh_name(std::string_view base);
  // "?0", "?1" ...: a dim that nothing is known of, another one at each call in this process, so
  // that symbols of a graph and its subgraphs are never taken for each other.
  static Dim fresh_symbol();
  // A name that is taken gets a number; an empty one is invented.
  void rename(Value& value, std::string name);

 private:
  Value* add_value(std::string name, Type type);
  void unlink(Value* value, Node* node, size_t slot);

  std::list<std::unique_ptr<Node>> nodes_;
  std::vector<Value*> inputs_, captures_, outputs_;
  std::unordered_map<const Value*, int> output_counts_;
  std::unordered_map<Value*, std::unique_ptr<Value>> values_;
  std::unordered_map<std::string, Value*> names_;
  size_t next_name_ = 0;
};

// A graph with what a file says about it.
struct Model {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  int64_t ir_version = 0;  // of the file it came from
  std::map<std::string, int64_t>
      opsets;  // of the file it came from; `graph` itself is always in newest form
  std::string producer_name, producer_version, domain, doc;
  int64_t model_version = 0;
  std::map<std::string, std::string> metadata;
};

// The subgraphs among a node's attributes.
std::vector<GraphPtr> subgraphs_of(const Node& node);
std::vector<GraphPtr> subgraphs_of(const Attrs& attrs);
// A deep copy, subgraphs included; constants are shared.
std::shared_ptr<Graph> clone(const Graph& graph);
// A copy of the attributes, with copies of the subgraphs among them.
Attrs clone_subgraphs(const Attrs& attrs);

// The inferred type, completed by what was known before (names of dims, a shape where none was
// inferred); throws kInvalidModel naming the value where the two contradict each other.
Type merge_types(const Type& inferred, const Type& known, std::string_view name);
// Infers the types of one node's outputs from its inputs and sets them (and dims, and declared
// names stay). Errors carry the node's name. A type that was set before is kept where it says more.
void infer_node(Graph& graph, Node& node);
// Infers the types of all nodes in order, subgraphs included.
void infer_types(Graph& graph);

// Checks that order, links, uses and types are consistent; throws kInternal (or kInvalidModel from
// inference).
void verify(const Graph& graph);

// Records ops in a graph, at its end or before a node.
class GraphEmitter : public Emitter {
 public:
  explicit GraphEmitter(Graph& graph, Node* before = nullptr) : graph_(graph), before_(before) {}

  // Subgraphs among the attributes are copied: each node has its own.
  Vals emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs, size_t outputs,
            size_t captures = 0) override;
  Val constant(Tensor value) override;
  Type type(const Val& val) const override;
  std::optional<Tensor> constant_value(const Val& val) const override;
  std::optional<Dims> dims_value(const Val& val) const override;

  static Val wrap(Value* value) {
    return value ? Val(std::shared_ptr<void>(std::shared_ptr<void>{}, value)) : Val();
  }
  static Value* unwrap(const Val& val) { return val.as<Value>(); }

  // Sets the name, scope and source that new nodes are given.
  void set_origin(const Node& node);
  void set_origin(std::string name, std::string scope, std::string source);

 private:
  Graph& graph_;
  Node* before_;
  std::string name_, scope_, source_;
};

// Replaces `node` by what its row's body emits (throws if the row has none).
void inline_body(Graph& graph, Node& node);

// Emits a whole graph through an emitter: the interpreter, the inliner and the way to retrace an
// imported model.
Vals replay(const Graph& graph, Emitter& emitter, std::span<const Val> inputs,
            std::span<const Val> captures = {});

}  // namespace sardonyx
