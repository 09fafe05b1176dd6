// Einsum of two operands becomes MatMul (or Mul, where nothing is summed), with the transposes and
// reshapes that it takes. Indices are of four kinds: of the batch (in both operands and the
// output), of rows (in the first and the output), of columns (in the second and the output) and of
// the sum (in both). It does not fire
//  1. where an index occurs twice in an operand, or in one operand alone and not in the output,
//  2. where an index may have size 1 in one operand and another size in the other,
//  3. where a rank is not known, or for other elements than floats.
#include <algorithm>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/gemm/einsum.h"

namespace sardonyx::passes {
namespace {

using LabelList = std::vector<int>;

bool has(const LabelList& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

bool is_unique(const LabelList& labels) {
  return std::ranges::all_of(labels,
                             [&](int label) { return std::ranges::count(labels, label) == 1; });
}

LabelList joined(std::initializer_list<const LabelList*> lists) {
  LabelList all;
  for (const LabelList* list : lists)
    all.insert(all.end(), list->begin(), list->end());
  return all;
}

struct Kinds {
  LabelList batch, rows, columns, sum;
};

// nullopt where an index is summed over in one operand alone.
std::optional<Kinds> kinds_of(const ops::EinsumLabels& labels) {
  const LabelList &a = labels.operands[0], &b = labels.operands[1];
  Kinds kinds;
  for (const int label : a) {
    const bool is_shown = has(labels.output, label);
    if (has(b, label))
      (is_shown ? kinds.batch : kinds.sum).push_back(label);
    else if (is_shown)
      kinds.rows.push_back(label);
    else
      return std::nullopt;
  }
  for (const int label : b) {
    if (has(a, label)) continue;
    if (!has(labels.output, label)) return std::nullopt;
    kinds.columns.push_back(label);
  }
  return kinds;
}

// An operand, or the result, with the labels of its dims in their current order.
struct LabeledValue {
  Val value;
  LabelList labels;
};

LabeledValue in_order(Emitter& e, const LabeledValue& x, const LabelList& order) {
  if (x.labels == order) return x;
  std::vector<int64_t> permutation;
  for (const int label : order)
    permutation.push_back(std::ranges::find(x.labels, label) - x.labels.begin());
  return {ops::transpose(e, x.value, permutation), order};
}

class Rewriter {
 public:
  Rewriter(Emitter& e, const Node& node, const ops::EinsumLabels& labels) : e_(e) {
    for (size_t i = 0; i < 2; ++i)
      operands_[i] = {GraphEmitter::wrap(node.inputs[i]), labels.operands[i]};
  }

  Val product(const Kinds& kinds, const LabelList& output) {
    const LabeledValue a =
        in_order(e_, operands_[0], joined({&kinds.batch, &kinds.rows, &kinds.sum}));
    const LabelList shown = joined({&kinds.batch, &kinds.rows, &kinds.columns});
    if (kinds.sum.empty()) {
      const LabeledValue b = in_order(e_, operands_[1], joined({&kinds.batch, &kinds.columns}));
      return in_order(e_, {multiplied(kinds, a.value, b.value), shown}, output).value;
    }
    const LabeledValue b =
        in_order(e_, operands_[1], joined({&kinds.batch, &kinds.sum, &kinds.columns}));
    const Val left = in_matrices(a, kinds.batch, kinds.rows, kinds.sum);
    const Val right = in_matrices(b, kinds.batch, kinds.sum, kinds.columns);
    Val result = e_.call("MatMul", {left, right});
    if (kinds.rows.size() != 1 || kinds.columns.size() != 1) result = shaped(result, shown);
    return in_order(e_, {result, shown}, output).value;
  }

 private:
  // The size of an index, taken from the first operand that has it.
  Val size_of(int label) {
    for (const LabeledValue& operand : operands_) {
      const auto at = std::ranges::find(operand.labels, label);
      if (at != operand.labels.end())
        return ops::dim_of(e_, operand.value, at - operand.labels.begin());
    }
    return e_.int64s({1});
  }

  std::optional<int64_t> known(const Val& size) {
    const std::optional<Dims> dims = e_.dims_value(size);
    return dims && dims->size() == 1 ? (*dims)[0].try_value() : std::nullopt;
  }

  Val size_of(const LabelList& labels) {
    Val size = e_.int64s({1});
    for (const int label : labels) {
      const Val own = size_of(label);
      const auto a = known(size), b = known(own);
      if (a == 1)
        size = own;
      else
        size = a && b ? e_.int64s({*a * *b}) : e_.call("Mul", {size, own});
    }
    return size;
  }

  Val reshaped(const Val& x, const Vals& sizes) {
    std::vector<int64_t> shape;
    for (const Val& size : sizes) {
      if (const auto value = known(size)) shape.push_back(*value);
    }
    const Val target = shape.size() == sizes.size()
                           ? e_.int64s(shape)
                           : e_.call_many("Concat", sizes, {{"axis", int64_t{0}}}, 1)[0];
    return e_.call("Reshape", {x, target}, {{"allowzero", int64_t{1}}});
  }

  Val shaped(const Val& x, const LabelList& labels) {
    Vals sizes;
    for (const int label : labels)
      sizes.push_back(size_of(label));
    return reshaped(x, sizes);
  }

  // [batch..., height, width]
  Val in_matrices(const LabeledValue& x, const LabelList& batch, const LabelList& height,
                  const LabelList& width) {
    if (height.size() == 1 && width.size() == 1) return x.value;
    Vals sizes;
    for (const int label : batch)
      sizes.push_back(size_of(label));
    sizes.push_back(size_of(height));
    sizes.push_back(size_of(width));
    return reshaped(x.value, sizes);
  }

  // a [batch..., rows...] and b [batch..., columns...] as [batch..., rows..., columns...].
  Val multiplied(const Kinds& kinds, Val a, Val b) {
    const auto batch = static_cast<int64_t>(kinds.batch.size());
    std::vector<int64_t> behind, between;
    for (size_t i = 0; i < kinds.columns.size(); ++i)
      behind.push_back(batch + static_cast<int64_t>(kinds.rows.size() + i));
    for (size_t i = 0; i < kinds.rows.size(); ++i)
      between.push_back(batch + static_cast<int64_t>(i));
    if (!behind.empty()) a = ops::unsqueeze(e_, a, behind);
    if (!between.empty()) b = ops::unsqueeze(e_, b, between);
    return e_.call("Mul", {a, b});
  }

  Emitter& e_;
  LabeledValue operands_[2];
};

// Whether every index has one size in both operands.
bool sizes_agree(const Node& node, const ops::EinsumLabels& labels) {
  const LabelList &a = labels.operands[0], &b = labels.operands[1];
  for (size_t i = 0; i < a.size(); ++i) {
    const auto at = std::ranges::find(b, a[i]);
    if (at == b.end()) continue;
    const Dim& other = (*node.inputs[1]->type.shape)[static_cast<size_t>(at - b.begin())];
    if (!((*node.inputs[0]->type.shape)[i] == other)) return false;
  }
  return true;
}

}  // namespace

bool einsum_to_matmul(Graph& graph, Node& node) {
  if (!is_op(node, "Einsum") || node.formal_inputs() != 2) return false;
  std::vector<size_t> ranks;
  for (size_t i = 0; i < 2; ++i) {
    if (!node.inputs[i]->type.has_rank() || !kFloats.has(node.inputs[i]->type.dtype)) return false;
    ranks.push_back(node.inputs[i]->type.rank());
  }
  const ops::EinsumLabels labels =
      ops::parse_einsum(node.attrs.as<ops::EinsumAttrs>().equation, ranks);
  if (!is_unique(labels.operands[0]) || !is_unique(labels.operands[1])) return false;
  const std::optional<Kinds> kinds = kinds_of(labels);
  if (!kinds || !sizes_agree(node, labels)) return false;
  GraphEmitter emitter(graph, &node);
  emitter.set_origin(node);
  Value* result =
      GraphEmitter::unwrap(Rewriter(emitter, node, labels).product(*kinds, labels.output));
  graph.take_name(*result, *node.outputs[0]);
  graph.replace_uses(*node.outputs[0], *result);
  graph.erase(node);
  return true;
}

}  // namespace sardonyx::passes
