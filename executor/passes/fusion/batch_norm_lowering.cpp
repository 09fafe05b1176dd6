// BatchNormalization in inference that no layer can take in.
// 1. Mul or Div of its output by a constant for each channel goes into its scale and bias; Add or
//    Sub of one goes into its bias.
// 2. Where an elementwise op alone reads its output, it becomes a Mul and an Add for each channel,
//    which groups take in.
// They do not fire in training mode, where the running statistics are asked for, where somebody
// else reads the output, where a parameter is no float constant, or where a factor is not finite.
#include <algorithm>
#include <cmath>

#include "executor/passes/all_passes.h"
#include "executor/passes/fusion/per_channel_weights.h"
#include "executor/passes/pattern.h"
#include "ir/ops/elementwise/fused_elementwise.h"
#include "ir/ops/normalization/batch_group_norm.h"

namespace sardonyx::passes {
namespace {

enum BatchNormInput : size_t { kX, kScale, kBias, kMean, kVariance, kInputs };

bool has_constant_parameters(const Node& node) {
  if (!is_op(node, "BatchNormalization") || node.outputs.size() != 1) return false;
  if (node.attrs.as<ops::BatchNormalizationAttrs>().training_mode) return false;
  const Tensor* scale = float_constant(node, kScale);
  if (!scale || !node.inputs[kX]->type.has_rank()) return false;
  for (size_t slot = kBias; slot < kInputs; ++slot) {
    const Tensor* values = float_constant(node, slot);
    if (!values || values->count() != scale->count()) return false;
  }
  return true;
}

std::span<const float> values_of(const Node& node, BatchNormInput input) {
  return float_constant(node, input)->values<float>();
}

bool are_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

// Whether the value has a single reader that elementwise fusion can take into a group: an
// activation, or a grouped op without parameters.
bool is_read_by_group(const Graph& graph, const Value& value) {
  if (value.uses.size() != 1 || graph.is_output(value)) return false;
  const Node& reader = *value.uses[0].node;
  if (activation_of(reader)) return true;
  const ops::GroupedOp* op = ops::find_grouped_op(reader.op->name);
  return reader.op->domain.empty() && op && op->params == 0;
}

Val per_channel_constant(GraphEmitter& e, const std::vector<float>& values, size_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = static_cast<int64_t>(values.size());
  return e.constant(Tensor::vector(values).reshaped(std::move(shape)));
}

}  // namespace

bool scale_batch_norm(Graph& graph, Node& node) {
  const bool divides = is_op(node, "Div"), subtracts = is_op(node, "Sub");
  const bool scales = is_op(node, "Mul") || divides, shifts = is_op(node, "Add") || subtracts;
  if (!scales && !shifts) return false;
  for (const size_t slot : {0, 1}) {
    if (slot == 1 && (divides || subtracts)) continue;
    const Tensor* constant = float_constant(node, 1 - slot);
    Node* norm = sole_producer(graph, node, slot);
    if (!constant || !norm || !has_constant_parameters(*norm)) continue;
    if (!same_shape(*node.inputs[slot], *node.outputs[0])) continue;
    const auto scale = values_of(*norm, kScale), bias = values_of(*norm, kBias);
    const auto given = per_channel(*constant, node.outputs[0]->type.rank(), scale.size());
    if (given.empty()) continue;
    std::vector<float> new_scale(scale.begin(), scale.end()), new_bias(bias.begin(), bias.end());
    for (size_t i = 0; i < given.size(); ++i) {
      const double factor = divides ? 1 / double{given[i]} : scales ? given[i] : 1;
      const double term = subtracts ? -given[i] : shifts ? given[i] : 0;
      new_scale[i] = static_cast<float>(scale[i] * factor);
      new_bias[i] = static_cast<float>(bias[i] * factor + term);
    }
    if (!are_finite(new_scale) || !are_finite(new_bias)) return false;
    std::vector<Value*> inputs = norm->inputs;
    inputs[kScale] = graph.add_constant(norm->name + ".scale", Tensor::vector(new_scale));
    inputs[kBias] = graph.add_constant(norm->name + ".bias", Tensor::vector(new_bias));
    absorb(graph, node, *norm, *norm->op, norm->attrs, std::move(inputs));
    return true;
  }
  return false;
}

bool spell_batch_norm(Graph& graph, Node& node) {
  if (!has_constant_parameters(node) || !is_read_by_group(graph, *node.outputs[0])) return false;
  const size_t rank = node.inputs[kX]->type.rank();
  if (rank < 2) return false;
  const double epsilon = node.attrs.as<ops::BatchNormalizationAttrs>().epsilon;
  const auto scale = values_of(node, kScale), bias = values_of(node, kBias),
             mean = values_of(node, kMean), variance = values_of(node, kVariance);
  std::vector<float> factors(scale.size()), terms(scale.size());
  for (size_t i = 0; i < scale.size(); ++i) {
    const double factor = scale[i] / std::sqrt(variance[i] + epsilon);
    factors[i] = static_cast<float>(factor);
    terms[i] = static_cast<float>(bias[i] - mean[i] * factor);
  }
  if (!are_finite(factors) || !are_finite(terms)) return false;
  GraphEmitter e(graph, &node);
  e.set_origin(node);
  const Val x = GraphEmitter::wrap(node.inputs[kX]);
  const Val scaled = e.call("Mul", {x, per_channel_constant(e, factors, rank)});
  const Val shift = per_channel_constant(e, terms, rank);
  graph.set_op(node, op_named("Add"), Attrs(),
               {GraphEmitter::unwrap(scaled), GraphEmitter::unwrap(shift)});
  return true;
}

}  // namespace sardonyx::passes
