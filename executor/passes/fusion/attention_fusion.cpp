// Attention written out in simpler ops becomes FusedAttention:
//   MatMul(Q, K^T), scaled (or Q and K are), masked, Softmax, MatMul with V,
// where masked is Add, Where with a number, or both, and the weights may have their NaNs replaced
// by 0. Transposes that bring heads to the front, or back, are taken in as the order of axes, as
// are Gathers that take Q, K and V out of one tensor; of rank 3 is it where batch and heads are
// one. It does not fire
//  1. where somebody else reads scores or weights,
//  2. for other elements than float,
//  3. for a Softmax along another axis, or masks before the scale,
//  4. where ranks are not known, or not the same,
//  5. where the rows of Q, V or the result would not be contiguous.
#include <algorithm>
#include <array>
#include <cmath>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/core/strides.h"
#include "ir/ops/attention/fused_attention.h"
#include "ir/ops/data_movement/shape.h"

namespace sardonyx::passes {
namespace {

using AxisOrder = std::vector<int64_t>;

// Longer chains of scales, masks and Transposes are not attention.
constexpr int kMaxOps = 16;
constexpr int64_t kSize = 3;  // the axis, as of batch, heads, length and size

struct Scores {
  Node* product = nullptr;
  double scale = 1;
  Value *added = nullptr, *kept = nullptr;
  bool keeps_true = true;  // else true in the mask means filled
  float fill = 0;
  bool fills_last = false;
  int ops = 0;  // that were walked through
};

// Q, K or V as [batch, heads, length, size]: axis i is the stored axis perm[i].
struct HeadsOperand {
  Value* value;
  AxisOrder perm;
  int64_t index = 0;
  int64_t repeats = 1;  // of each head
};

std::optional<double> scalar_factor(const Node& node, size_t slot) {
  if (is_op(node, "Mul")) return scalar_constant(node, 1 - slot);
  if (!is_op(node, "Div") || slot != 0) return std::nullopt;
  const auto divisor = scalar_constant(node, 1);
  if (!divisor || *divisor == 0) return std::nullopt;
  return 1 / static_cast<double>(*divisor);
}

bool is_finite_scale(double scale) {
  const auto narrow = static_cast<float>(scale);
  return std::isfinite(narrow) && narrow != 0;
}

// A product of two matrices as they are, but for a factor and a transposed B.
bool is_plain_product(const Node& node) {
  if (is_op(node, "MatMul")) return is_float(*node.outputs[0]);
  if (!is_fused(node, "FusedMatMul") || !is_float(*node.outputs[0])) return false;
  const auto& attrs = node.attrs.as<ops::FusedMatMulAttrs>();
  return !attrs.transA && attrs.activation.empty() && !node.has_input(2) && !node.has_input(3);
}

bool is_transposed(const Node& product) {
  return is_fused(product, "FusedMatMul") && product.attrs.as<ops::FusedMatMulAttrs>().transB;
}

double alpha_of(const Node& product) {
  return is_fused(product, "FusedMatMul") ? product.attrs.as<ops::FusedMatMulAttrs>().alpha : 1;
}

// The ops between the product and input `slot` of `node`, from the last op on.
bool read_scores(const Graph& graph, const Node& node, size_t slot, Scores& scores) {
  Node* last = sole_producer(graph, node, slot);
  if (!last || last->outputs.size() != 1 || !is_float(*last->outputs[0])) return false;
  if (++scores.ops > kMaxOps) return false;
  if (is_plain_product(*last)) {
    scores.product = last;
    scores.scale *= alpha_of(*last);
    return is_finite_scale(scores.scale);
  }
  for (const size_t input : {0, 1}) {
    const auto factor = last->formal_inputs() == 2 ? scalar_factor(*last, input) : std::nullopt;
    if (!factor || !same_shape(*last->inputs[input], *last->outputs[0])) continue;
    Scores inner = scores;
    inner.scale *= *factor;
    // Masks between the product and the factor would be scaled as well, so there must be none.
    if (!read_scores(graph, *last, input, inner) || inner.added != scores.added ||
        inner.kept != scores.kept)
      continue;
    scores = inner;
    return true;
  }
  if (is_op(*last, "Add") && !scores.added) {
    for (const size_t input : {0, 1}) {
      Scores inner = scores;
      inner.added = last->inputs[1 - input];
      inner.fills_last = scores.kept != nullptr;
      if (!read_scores(graph, *last, input, inner)) continue;
      scores = inner;
      return true;
    }
  }
  if (is_op(*last, "Where") && !scores.kept) {
    for (const size_t input : {1, 2}) {
      const auto fill = scalar_constant(*last, 3 - input);
      if (!fill) continue;
      Scores inner = scores;
      inner.kept = last->inputs[0];
      inner.keeps_true = input == 1;
      inner.fill = *fill;
      if (!read_scores(graph, *last, input, inner)) continue;
      scores = inner;
      return true;
    }
  }
  return false;
}

bool is_row_softmax(const Node& node) {
  if (!is_op(node, "Softmax") || !is_float(*node.outputs[0])) return false;
  const Type& type = node.outputs[0]->type;
  if (!type.has_rank() || type.rank() < 3 || type.rank() > 4) return false;
  const auto axis = std::get<int64_t>(node.attrs.get("axis").value_or(int64_t{-1}));
  return axis_of(axis, type.rank()) + 1 == type.rank();
}

// The node that alone reads the value, which is no output of the graph.
Node* sole_reader(const Graph& graph, const Value& value) {
  return value.uses.size() == 1 && !graph.is_output(value) ? value.uses[0].node : nullptr;
}

// The node Where(IsNaN(weights), 0, weights) that reads `weights`; null if there is none.
Node* nan_to_zero(const Graph& graph, const Value& weights) {
  if (weights.uses.size() != 2 || graph.is_output(weights)) return nullptr;
  for (const Use& use : weights.uses) {
    Node& where = *use.node;
    if (!is_op(where, "Where") || use.slot != 2 || scalar_constant(where, 1) != 0.f) continue;
    const Node* test = sole_producer(graph, where, 0);
    if (test && is_op(*test, "IsNaN") && test->inputs[0] == &weights &&
        same_shape(weights, *where.outputs[0]))
      return &where;
  }
  return nullptr;
}

// The `perm` of a Transpose.
std::optional<AxisOrder> order_of(const Node& node) {
  if (!is_op(node, "Transpose") || !node.inputs[0]->type.has_rank()) return std::nullopt;
  const auto order =
      ops::permutation(node.attrs.as<ops::TransposeAttrs>(), node.inputs[0]->type.rank());
  return AxisOrder(order.begin(), order.end());
}

// The index of a Gather of one element along a dim of a tensor of rank 5.
std::optional<int64_t> taken_element(const Node& node) {
  if (!is_op(node, "Gather") || !node.has_input(1) || !node.inputs[0]->type.has_rank())
    return std::nullopt;
  const Tensor* index = node.inputs[1]->constant.get();
  if (node.inputs[0]->type.rank() != 5 || !index || index->rank() != 0) return std::nullopt;
  return index->to_int64s()[0];
}

// Heads that are repeated, each so many times in a row: Reshape(Expand(Unsqueeze(x))) where x is
// [batch, heads, length, size]. Null for any other value.
const Node* repeated_heads(const Value& value) {
  const Node* joined = value.producer;
  if (!joined || !is_op(*joined, "Reshape") || !joined->inputs[0]->producer) return nullptr;
  const Node& expanded = *joined->inputs[0]->producer;
  if (!is_op(expanded, "Expand") || !expanded.inputs[0]->producer) return nullptr;
  const Node& unsqueezed = *expanded.inputs[0]->producer;
  if (!is_op(unsqueezed, "Unsqueeze") || !unsqueezed.has_input(0)) return nullptr;
  const Type &few = unsqueezed.inputs[0]->type, &one = expanded.inputs[0]->type;
  const Type &many = joined->inputs[0]->type, &all = value.type;
  for (const Type* type : {&few, &one, &many, &all}) {
    if (!type->has_rank()) return nullptr;
  }
  if (few.rank() != 4 || one.rank() != 5 || many.rank() != 5 || all.rank() != 4) return nullptr;
  const Dims &x = *few.shape, &wide = *many.shape, &y = *all.shape;
  const Dims added{x[0], x[1], Dim(1), x[2], x[3]};
  const Dims repeated{x[0], x[1], wide[2], x[2], x[3]};
  const bool is_known = x[1].is_known() && wide[2].is_known() && y[1].is_known();
  if (!is_known || !(*one.shape == added) || !(wide == repeated)) return nullptr;
  if (x[1].value() < 2 || y[1].value() != x[1].value() * wide[2].value()) return nullptr;
  return y[0] == x[0] && y[2] == x[2] && y[3] == x[3] ? &unsqueezed : nullptr;
}

// A view of a value: the value itself, its Transpose, or a Gather of one index.
class OperandWalk {
 public:
  // The operand in `slot` of `node`; with `swaps_last_axes` its last two axes are exchanged.
  // Constant factors are multiplied into `scale` unless it is null. `is_well_ordered` tells whether
  // a kernel can read an order of axes. With `may_repeat` one head may serve several queries (GQA).
  template <typename IsWellOrdered>
  static HeadsOperand of(const Graph& graph, const Node& node, size_t slot, bool swaps_last_axes,
                         double* scale, bool may_repeat, const IsWellOrdered& is_well_ordered) {
    OperandWalk walk{graph, node.inputs[slot], &node, slot, scale != nullptr, may_repeat};
    const size_t rank = walk.value_->type.rank();
    for (size_t axis = 0; axis < rank; ++axis)
      walk.perm_.push_back(static_cast<int64_t>(axis));
    if (swaps_last_axes) std::swap(walk.perm_[rank - 2], walk.perm_[rank - 1]);
    HeadsOperand best{walk.value_, walk.perm_};
    double best_scale = 1;
    while (walk.step()) {
      if (!is_well_ordered(walk.perm_, walk.value_->type.rank())) continue;
      best = {walk.value_, walk.perm_, walk.index_, walk.repeats_};
      best_scale = walk.scale_;
    }
    if (scale) *scale *= best_scale;
    return best;
  }

 private:
  OperandWalk(const Graph& graph, Value* value, const Node* reader, size_t slot, bool takes_scale,
              bool may_repeat)
      : graph_(graph),
        value_(value),
        reader_(reader),
        slot_(slot),
        takes_scale_(takes_scale),
        may_repeat_(may_repeat) {}

  // Steps to the producer of the value.
  bool step() {
    const Node* node = value_->producer;
    if (!node) return false;
    if (const auto order = order_of(*node)) {
      for (int64_t& axis : perm_)
        axis = (*order)[static_cast<size_t>(axis)];
      return go_to(*node, 0);
    }
    if (const auto index = taken_element(*node); index && perm_.size() == 4) {
      if (is_taken_) return false;
      is_taken_ = true;
      index_ = *index;
      const auto axis = static_cast<int64_t>(
          axis_of(std::get<int64_t>(node->attrs.get("axis").value_or(int64_t{0})), 5));
      for (int64_t& own : perm_)
        own += own >= axis ? 1 : 0;
      return go_to(*node, 0);
    }
    if (may_repeat_ && perm_.size() == 4 && perm_[1] == 1 && !is_taken_) {
      if (const Node* repeated = repeated_heads(*value_)) {
        may_repeat_ = false;
        repeats_ = (*value_->type.shape)[1].value() / (*repeated->inputs[0]->type.shape)[1].value();
        return go_to(*repeated, 0);
      }
    }
    if (!takes_scale_ || node->formal_inputs() != 2) return false;
    if (sole_producer(graph_, *reader_, slot_) != node) return false;
    for (const size_t input : {0, 1}) {
      const auto factor = scalar_factor(*node, input);
      if (!factor || !same_shape(*node->inputs[input], *value_)) continue;
      scale_ *= *factor;
      return go_to(*node, input);
    }
    return false;
  }

  bool go_to(const Node& node, size_t slot) {
    if (++ops_ > kMaxOps) return false;
    reader_ = &node;
    slot_ = slot;
    value_ = node.inputs[slot];
    return true;
  }

  const Graph& graph_;
  Value* value_;
  const Node* reader_;
  size_t slot_;
  bool takes_scale_, may_repeat_;
  AxisOrder perm_;
  bool is_taken_ = false;
  int64_t index_ = 0, repeats_ = 1;
  double scale_ = 1;
  int ops_ = 0;
};

struct Attention {
  HeadsOperand q, k, v;
  Scores scores;
  bool zeroes_nan = false;
  Node* last = nullptr;  // its output is the result
  AxisOrder out_perm;
};

bool ends_with(const AxisOrder& perm, size_t rank, int64_t axis) {
  return perm[static_cast<size_t>(axis) + perm.size() - 4] + 1 == static_cast<int64_t>(rank);
}

std::optional<Attention> attention_of(const Graph& graph, Node& softmax) {
  Attention found;
  if (!is_row_softmax(softmax) || !read_scores(graph, softmax, 0, found.scores))
    return std::nullopt;
  Value* weights = softmax.outputs[0];
  if (Node* replaced = nan_to_zero(graph, *weights)) {
    found.zeroes_nan = true;
    weights = replaced->outputs[0];
  }
  Node* last = sole_reader(graph, *weights);
  if (!last || !is_plain_product(*last) || last->inputs[0] != weights || alpha_of(*last) != 1)
    return std::nullopt;
  const size_t rank = weights->type.rank();
  const Node& first = *found.scores.product;
  for (const Value* value : {first.inputs[0], first.inputs[1], last->inputs[1]}) {
    if (!value->type.has_rank() || value->type.rank() != rank) return std::nullopt;
  }
  double& scale = found.scores.scale;
  const auto has_rows = [](const AxisOrder& perm, size_t rank) {
    return ends_with(perm, rank, kSize);
  };
  const auto has_any = [](const AxisOrder& perm, size_t rank) {
    return ends_with(perm, rank, kSize) || ends_with(perm, rank, kSize - 1);
  };
  found.q = OperandWalk::of(graph, first, 0, false, &scale, false, has_rows);
  found.k = OperandWalk::of(graph, first, 1, !is_transposed(first), &scale, true, has_any);
  found.v = OperandWalk::of(graph, *last, 1, is_transposed(*last), nullptr, true, has_rows);
  if (!has_rows(found.q.perm, found.q.value->type.rank()) ||
      !has_rows(found.v.perm, found.v.value->type.rank()) || !is_finite_scale(scale))
    return std::nullopt;
  found.last = last;
  if (Node* transposed = sole_reader(graph, *last->outputs[0])) {
    const auto perm = order_of(*transposed);
    if (perm && perm->back() + 1 == static_cast<int64_t>(rank)) {
      found.out_perm = *perm;
      found.last = transposed;
    }
  }
  return found;
}

// The permutation with a leading batch axis of one (`is_added`, where the graph has batch and heads
// in one axis); empty if it is the identity.
AxisOrder with_batch(AxisOrder perm, bool is_added) {
  if (is_added) {
    for (int64_t& axis : perm)
      ++axis;
    perm.insert(perm.begin(), 0);
  }
  const bool is_plain = std::ranges::is_sorted(perm) && (perm.empty() || perm.back() < 4);
  return is_plain ? AxisOrder{} : perm;
}

Val operand_value(GraphEmitter& emitter, const HeadsOperand& operand, bool adds_batch) {
  const Val value = GraphEmitter::wrap(operand.value);
  return adds_batch ? emitter.call("Unsqueeze", {value, emitter.int64s({0})}) : value;
}

Val emitted(GraphEmitter& emitter, const Attention& found, bool adds_batch) {
  const Scores& scores = found.scores;
  ops::FusedAttentionAttrs attrs;
  attrs.scale = static_cast<float>(scores.scale);
  attrs.fill = scores.fill;
  attrs.fills_last = scores.fills_last;
  attrs.zeroes_nan = found.zeroes_nan;
  attrs.q_perm = with_batch(found.q.perm, adds_batch);
  attrs.k_perm = with_batch(found.k.perm, adds_batch);
  attrs.v_perm = with_batch(found.v.perm, adds_batch);
  if (!found.out_perm.empty()) attrs.out_perm = with_batch(found.out_perm, adds_batch);
  attrs.q_index = found.q.index;
  attrs.k_index = found.k.index;
  attrs.v_index = found.v.index;
  attrs.k_repeats = found.k.repeats;
  attrs.v_repeats = found.v.repeats;
  Vals inputs;
  for (const HeadsOperand* operand : {&found.q, &found.k, &found.v})
    inputs.push_back(operand_value(emitter, *operand, adds_batch));
  if (scores.added || scores.kept) inputs.push_back(GraphEmitter::wrap(scores.added));
  if (scores.kept) {
    const Val kept = GraphEmitter::wrap(scores.kept);
    inputs.push_back(scores.keeps_true ? kept : emitter.call("Not", {kept}));
  }
  const Val y = emitter.emit(op_named("sardonyx::FusedAttention"), inputs, Attrs(attrs), 1)[0];
  return adds_batch ? emitter.call("Squeeze", {y, emitter.int64s({0})}) : y;
}

}  // namespace

bool recognize_attention(Graph& graph, Node& node) {
  const auto found = attention_of(graph, node);
  if (!found) return false;
  Value& old = *found->last->outputs[0];
  if (old.uses.empty() && !graph.is_output(old)) return false;  // it was recognized before
  GraphEmitter emitter(graph, found->last);
  emitter.set_origin(*found->scores.product);
  const bool adds_batch = node.outputs[0]->type.rank() == 3;
  Value& result = *GraphEmitter::unwrap(emitted(emitter, *found, adds_batch));
  const bool renames = graph.is_output(old);
  graph.replace_uses(old, result);
  if (renames) graph.take_name(result, old);
  return true;
}

}  // namespace sardonyx::passes
