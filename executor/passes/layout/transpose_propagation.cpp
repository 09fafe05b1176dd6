// Tools that bring models from frameworks with channels last put a Transpose before and behind
// every convolution. These passes make them meet and vanish.
//
// merge-transposes: Transpose(Transpose(x)) becomes one Transpose of x.
//
// move-transposes: nodes that read Transpose(x, p), and those around them, compute on x instead,
// their axes and constants permuted; what others read of them is transposed as it was. A node takes
// part where it works element by element, or along axes that are known (Concat, Split, Slice, Pad,
// Resize, reductions and Squeeze). It does not fire
//  1. unless fewer Transposes remain, or as many and a convolution gets next to elementwise nodes,
//     which may be fused with it,
//  2. where a rank is not known.
// A reduction takes part only over the last dims of x: others are slower than those of before, and
// the passes that recognise normalizations look for the last dims.
#include <algorithm>
#include <unordered_set>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/core/strides.h"
#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/data_movement/shape.h"
#include "ir/ops/data_movement/space_depth.h"
#include "ir/ops/reduction/reduce.h"
#include "ir/reference_evaluator.h"

namespace sardonyx::passes {
namespace {

using Perm = DimValues;

// Nodes that are considered at once at most.
constexpr size_t kMaxRegionNodes = 1000;

bool is_any_of(const Node& node, std::initializer_list<std::string_view> names) {
  return node.op->domain.empty() && std::ranges::count(names, node.op->name) > 0;
}

std::optional<Perm> perm_of(const Node& node) {
  if (!is_op(node, "Transpose") || !node.inputs[0]->type.has_rank()) return std::nullopt;
  return ops::permutation(node.attrs.as<ops::TransposeAttrs>(), node.inputs[0]->type.rank());
}

std::vector<int64_t> ints(const Perm& perm) {
  return {perm.begin(), perm.end()};
}

bool is_identity(const Perm& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Perm inverse(const Perm& perm) {
  Perm result = perm;
  for (size_t i = 0; i < perm.size(); ++i)
    result[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return result;
}

// The permutation of a Transpose by `first` followed by one by `second`.
Perm composed(const Perm& first, const Perm& second) {
  Perm result = second;
  for (int64_t& dim : result)
    dim = first[static_cast<size_t>(dim)];
  return result;
}

bool has_constants(const Node& node, size_t first, size_t last) {
  for (size_t slot = first; slot < last; ++slot) {
    if (node.has_input(slot) && !node.inputs[slot]->constant) return false;
  }
  return true;
}

// The axes that a reduction or Squeeze drops or reduces; nullopt where they are not known.
std::optional<std::vector<size_t>> listed_axes(const Node& node, size_t rank) {
  if (!node.has_input(1) || !node.inputs[1]->constant) return std::nullopt;
  std::vector<size_t> axes;
  for (const int64_t axis : node.inputs[1]->constant->to_int64s())
    axes.push_back(axis_of(axis, rank));
  if (axes.empty()) return std::nullopt;
  return axes;
}

bool is_reduction(const Node& node) {
  return is_any_of(node, {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"});
}

// A node that computes on x what it computed on Transpose(x, p).
struct Moved {
  Attrs attrs;
  std::vector<std::pair<size_t, Tensor>> constants;  // inputs that become these
  bool keeps_perm = true;                            // else the result is what it was
};

template <typename T>
Tensor permuted_values(const std::vector<T>& list, const Perm& perm) {
  std::vector<T> moved = list;
  for (size_t i = 0; i < list.size(); ++i)
    moved[i / perm.size() * perm.size() + static_cast<size_t>(perm[i % perm.size()])] = list[i];
  return Tensor::vector(moved);
}

// A constant with one element for each dim, or two, for x; nullopt where it is no such.
std::optional<Tensor> permuted_list(const Tensor& list, const Perm& perm) {
  if (list.rank() != 1 || list.count() % static_cast<int64_t>(perm.size()) != 0)
    return std::nullopt;
  if (list.dtype() == DType::kInt64) return permuted_values(list.to_int64s(), perm);
  if (list.dtype() != DType::kFloat) return std::nullopt;
  const auto values = list.values<float>();
  return permuted_values(std::vector<float>(values.begin(), values.end()), perm);
}

// The axes that `axes` are in x, in the type of the constant `like`: Slice wants all of its indices
// in one type.
Tensor axes_tensor(const std::vector<size_t>& axes, const Perm& perm, const Tensor& like) {
  std::vector<int64_t> moved;
  for (const size_t axis : axes)
    moved.push_back(perm[axis]);
  if (like.dtype() == DType::kInt32)
    return Tensor::vector(std::vector<int32_t>(moved.begin(), moved.end()));
  return Tensor::vector(moved);
}

template <typename T>
Moved with_axis(const Node& node, const Perm& perm) {
  T attrs = node.attrs.as<T>();
  attrs.axis = perm[axis_of(attrs.axis, perm.size())];
  return {Attrs(attrs), {}};
}

// Whether the dims that remain after `axes` are dropped are in the same order in both layouts.
bool leaves_order(const std::vector<size_t>& axes, const Perm& perm) {
  int64_t last = -1;
  for (size_t dim = 0; dim < perm.size(); ++dim) {
    if (std::ranges::count(axes, dim) > 0) continue;
    if (perm[dim] < last) return false;
    last = perm[dim];
  }
  return true;
}

std::optional<Moved> move_dropped(const Node& node, const Perm& perm, bool keeps_dims) {
  const auto axes = listed_axes(node, perm.size());
  if (!axes || (!keeps_dims && !leaves_order(*axes, perm))) return std::nullopt;
  if (is_reduction(node)) {
    const auto rank = static_cast<int64_t>(perm.size());
    const auto kept = rank - static_cast<int64_t>(axes->size());
    if (std::ranges::any_of(*axes, [&](size_t axis) { return perm[axis] < kept; }))
      return std::nullopt;
  }
  return Moved{node.attrs, {{1, axes_tensor(*axes, perm, *node.inputs[1]->constant)}}, keeps_dims};
}

std::optional<Moved> move_slice(const Node& node, const Perm& perm) {
  if (!node.has_input(3) || !node.inputs[3]->constant) return std::nullopt;
  std::vector<size_t> axes;
  for (const int64_t axis : node.inputs[3]->constant->to_int64s())
    axes.push_back(axis_of(axis, perm.size()));
  return Moved{node.attrs, {{3, axes_tensor(axes, perm, *node.inputs[3]->constant)}}};
}

std::optional<Moved> move_pad(const Node& node, const Perm& perm) {
  if (!has_constants(node, 1, 2) || node.has_input(3)) return std::nullopt;
  const auto pads = permuted_list(*node.inputs[1]->constant, perm);
  if (!pads) return std::nullopt;
  return Moved{node.attrs, {{1, *pads}}};
}

std::optional<Moved> move_resize(const Node& node, const Perm& perm) {
  if (!has_constants(node, 1, 4) || node.attrs.as<ops::ResizeAttrs>().axes) return std::nullopt;
  Moved moved{node.attrs, {}};
  for (size_t slot = 1; slot < 4; ++slot) {
    if (!node.has_input(slot) || node.inputs[slot]->constant->count() == 0) continue;
    const auto list = permuted_list(*node.inputs[slot]->constant, perm);
    if (!list) return std::nullopt;
    moved.constants.emplace_back(slot, *list);
  }
  return moved;
}

// Whether the op is elementwise with one output and in ai.onnx: other ops may have attributes for
// some dim.
bool is_elementwise(const Node& node) {
  return node.op->is(kElementwise) && node.op->domain.empty() && node.outputs.size() == 1;
}

// The inputs of the node that hold elements, of the rank of the Transpose.
size_t data_inputs(const Node& node) {
  return is_elementwise(node) || is_op(node, "Concat") ? node.formal_inputs() : 1;
}

std::optional<Moved> moved(const Node& node, const Perm& perm) {
  if (node.captures > 0 || node.outputs.empty() || !node.outputs[0]) return std::nullopt;
  for (const Value* output : node.outputs) {
    if (output && (!output->type.has_rank() || output->dims)) return std::nullopt;
  }
  const size_t rank = perm.size();
  const Type& out = node.outputs[0]->type;
  if (is_op(node, "Squeeze")) return move_dropped(node, perm, false);
  if (is_reduction(node))
    return move_dropped(node, perm, node.attrs.as<ops::ReduceAttrs>().keepdims);
  if (out.rank() != rank) return std::nullopt;
  if (is_elementwise(node)) return Moved{node.attrs, {}};
  if (is_op(node, "Concat")) return with_axis<ops::ConcatAttrs>(node, perm);
  if (is_op(node, "Split")) return with_axis<ops::SplitAttrs>(node, perm);
  if (is_op(node, "Slice")) return move_slice(node, perm);
  if (is_op(node, "Pad")) return move_pad(node, perm);
  if (is_op(node, "Resize")) return move_resize(node, perm);
  return std::nullopt;
}

int64_t dims_above_one(const Value& value) {
  return std::ranges::count_if(*value.type.shape,
                               [](const Dim& dim) { return !dim.is_known() || dim.value() != 1; });
}

// Nodes that are to compute on what Transposes of one permutation read.
class Region {
 public:
  Region(const Graph& graph, Node& transpose) : graph_(graph), perm_(*perm_of(transpose)) {
    add_entry(transpose);
    while (!pending_.empty() && is_possible_) {
      Node& node = *pending_.back();
      pending_.pop_back();
      visit(node);
    }
  }

  bool is_worth_it(const Node& transpose) const {
    if (!is_possible_ || nodes_.empty()) return false;
    const int64_t gain = count_gain();
    return gain > 0 || (gain == 0 && frees_convolution(transpose));
  }

  void rewrite(Graph& graph) {
    for (auto at = graph.nodes().begin(); at != graph.nodes().end(); ++at) {
      if (!nodes_.contains(at->get())) continue;
      Node& node = **at;
      const auto next = std::next(at);
      const auto plan = moved(node, perm_);
      rewrite_inputs(graph, node, *plan);
      graph.set_attrs(node, plan->attrs);
      if (!plan->keeps_perm) continue;
      Node* before = next == graph.nodes().end() ? nullptr : next->get();
      for (Value* output : node.outputs) {
        if (output) transpose_for_others(graph, *output, node, before);
      }
    }
  }

 private:
  void add_entry(Node& transpose) {
    if (!entries_.insert(&transpose).second) return;
    for (const Use& use : transpose.outputs[0]->uses)
      pending_.push_back(use.node);
  }

  void visit(Node& node) {
    if (nodes_.contains(&node) || is_op(node, "Transpose")) return;
    const auto plan = moved(node, perm_);
    if (!plan || !can_read(node)) return;
    nodes_.insert(&node);
    if (nodes_.size() > kMaxRegionNodes) is_possible_ = false;
    for (size_t slot = 0; slot < data_inputs(node); ++slot) {
      if (node.inputs[slot]) visit_input(*node.inputs[slot]);
    }
    if (!plan->keeps_perm) return;
    for (const Value* output : node.outputs) {
      for (size_t i = 0; output && i < output->uses.size(); ++i)
        pending_.push_back(output->uses[i].node);
    }
  }

  bool can_read(const Node& node) const {
    for (size_t slot = 0; slot < data_inputs(node); ++slot) {
      const Value* value = node.inputs[slot];
      if (!value || value->constant) continue;
      if (!value->type.has_rank()) return false;
      if (value->type.rank() != perm_.size() && !is_scalar(*value)) return false;
    }
    return true;
  }

  void visit_input(Value& value) {
    if (value.constant || is_scalar(value) || !value.producer) return;
    const auto perm = perm_of(*value.producer);
    if (perm && *perm == perm_)
      add_entry(*value.producer);
    else if (!is_op(*value.producer, "Transpose"))
      pending_.push_back(value.producer);
  }

  static bool is_scalar(const Value& value) {
    return value.type.has_rank() && dims_above_one(value) == 0;
  }

  // Whether the region computes the value in transposed order.
  bool is_inside(const Value& value) const {
    return value.producer && nodes_.contains(value.producer) &&
           moved(*value.producer, perm_)->keeps_perm;
  }

  bool is_entry(const Value& value) const {
    return value.producer && entries_.contains(value.producer);
  }

  // The number of Transposes removed minus those added.
  int64_t count_gain() const {
    int64_t gain = 0;
    for (const Node* entry : entries_) {
      const Value& value = *entry->outputs[0];
      const bool goes =
          !graph_.is_output(value) && std::ranges::all_of(value.uses, [&](const Use& use) {
            return nodes_.contains(use.node) || is_op(*use.node, "Transpose");
          });
      if (goes) ++gain;
    }
    std::unordered_set<const Value*> outside;
    for (const Node* node : nodes_) {
      for (size_t slot = 0; slot < data_inputs(*node); ++slot) {
        const Value* value = node->inputs[slot];
        if (!value || value->constant || is_scalar(*value) || is_inside(*value) || is_entry(*value))
          continue;
        if (dims_above_one(*value) > 1 && outside.insert(value).second) --gain;
      }
      for (const Value* output : node->outputs) {
        if (output && is_inside(*output)) gain += gain_behind(*output);
      }
    }
    return gain;
  }

  int64_t gain_behind(const Value& value) const {
    int64_t gain = 0;
    bool is_read = graph_.is_output(value);
    for (const Use& use : value.uses) {
      if (nodes_.contains(use.node)) continue;
      if (is_undone(value, *use.node))
        ++gain;
      else if (!is_op(*use.node, "Transpose"))
        is_read = true;
    }
    return is_read ? gain - 1 : gain;
  }

  bool frees_convolution(const Node& transpose) const {
    const Node* product = sole_producer(graph_, transpose, 0);
    if (!product || !(is_any_of(*product, {"Conv", "ConvTranspose"}))) return false;
    const Value& value = *transpose.outputs[0];
    return value.uses.size() == 1 && !graph_.is_output(value) &&
           std::ranges::all_of(nodes_, [](const Node* node) { return is_elementwise(*node); });
  }

  void rewrite_inputs(Graph& graph, Node& node, const Moved& plan) {
    GraphEmitter emitter(graph, &node);
    emitter.set_origin(node);
    for (const auto& [slot, constant] : plan.constants)
      graph.set_input(node, slot, GraphEmitter::unwrap(emitter.constant(constant)));
    for (size_t slot = 0; slot < data_inputs(node); ++slot) {
      Value* value = node.inputs[slot];
      if (!value || rewritten_.contains(value)) continue;
      if (is_entry(*value))
        graph.set_input(node, slot, value->producer->inputs[0]);
      else if (!is_scalar(*value))
        graph.set_input(node, slot, GraphEmitter::unwrap(transposed_back(emitter, *value)));
    }
  }

  Val transposed_back(GraphEmitter& emitter, Value& value) const {
    const AttrMap attrs{{"perm", ints(inverse(perm_))}};
    if (!value.constant) return emitter.call("Transpose", {GraphEmitter::wrap(&value)}, attrs);
    Shape shape = value.constant->shape();
    shape.insert(shape.begin(), perm_.size() - shape.size(), 1);
    const OpDef& op = op_named("Transpose");
    const std::vector<Datum> data{Datum(value.constant->reshaped(shape))};
    return emitter.constant(evaluate(op, Attrs::parse(*op.attrs, attrs), data, 1)[0].tensor());
  }

  // The Transpose that gives back what the region computes in place of `value`.
  bool is_undone(const Value& value, const Node& reader) const {
    const auto perm = perm_of(reader);
    return perm && is_identity(composed(perm_, *perm)) &&
           !(graph_.is_output(value) && graph_.is_output(*reader.outputs[0]));
  }

  // `value` becomes what is computed on x; those outside of the region read its Transpose.
  void transpose_for_others(Graph& graph, Value& value, const Node& node, Node* before) {
    rewritten_.insert(&value);
    const Dims old = *value.type.shape;
    for (size_t dim = 0; dim < old.size(); ++dim)
      (*value.type.shape)[static_cast<size_t>(perm_[dim])] = old[dim];
    std::vector<Use> others;
    const std::vector<Use> uses = value.uses;
    for (const Use& use : uses) {
      if (nodes_.contains(use.node)) continue;
      if (is_undone(value, *use.node))
        skip(graph, value, *use.node);
      else
        others.push_back(use);
    }
    const bool is_output = graph.is_output(value) && !taken_.contains(&value);
    if (others.empty() && !is_output) return;
    GraphEmitter emitter(graph, before);
    emitter.set_origin(node);
    Value& back = *GraphEmitter::unwrap(
        emitter.call("Transpose", {GraphEmitter::wrap(&value)}, {{"perm", ints(perm_)}}));
    for (const Use& use : others)
      graph.set_input(*use.node, use.slot, &back);
    for (size_t i = 0; is_output && i < graph.outputs().size(); ++i) {
      if (graph.outputs()[i] == &value) graph.set_graph_output(i, &back);
    }
    if (is_output) graph.take_name(back, value);
  }

  // Makes the readers of `transpose` read `value`. Dead code elimination removes the node later.
  void skip(Graph& graph, Value& value, Node& transpose) {
    Value& result = *transpose.outputs[0];
    const bool renames = graph.is_output(result);
    graph.replace_uses(result, value);
    if (!renames) return;
    graph.take_name(value, result);
    taken_.insert(&value);
  }

  const Graph& graph_;
  Perm perm_;
  bool is_possible_ = true;
  std::vector<Node*> pending_;
  std::unordered_set<const Node*> entries_, nodes_;
  std::unordered_set<const Value*> rewritten_;
  std::unordered_set<const Value*> taken_;  // became an output of the graph in place of another
};

}  // namespace

bool merge_transposes(Graph& graph, Node& node) {
  const auto outer = perm_of(node);
  if (!outer || !node.inputs[0]->producer) return false;
  Node& first = *node.inputs[0]->producer;
  const auto inner = perm_of(first);
  if (!inner) return false;
  const Perm perm = composed(*inner, *outer);
  graph.set_attrs(node, Attrs(ops::TransposeAttrs{ints(perm)}));
  graph.set_input(node, 0, first.inputs[0]);
  const Value& between = *first.outputs[0];
  if (between.uses.empty() && !graph.is_output(between)) graph.erase(first);
  if (!is_identity(perm)) return true;
  remove_identity(graph, node);
  return true;
}

bool move_transposes(Graph& graph, Node& node) {
  const auto perm = perm_of(node);
  if (!perm || is_identity(*perm) || node.outputs[0]->uses.empty()) return false;
  Region region(graph, node);
  if (!region.is_worth_it(node)) return false;
  region.rewrite(graph);
  return true;
}

}  // namespace sardonyx::passes
