// Lowering to bfloat16, for sessions that choose speed over precision: products and convolutions of
// float32 values are computed in bfloat16, with sums in float32, and the values between two of them
// stay in bfloat16. All else (norms, Softmax, reductions, residual sums of float32 values) keeps
// float32.
//
// narrow_products does not fire
//  1. for other element types than float32,
//  2. where float32 is faster: for transposed convolutions but those whose windows do not overlap,
//  and, on CPUs that compute bfloat16 at no more than twice its rate, for
//  convolutions and their gradients by Winograd's algorithm.
// narrow_between does not fire
//  1. unless every float input is cast up from bfloat16 or a constant, and one is cast,
//  2. for ops without kBFloat16Between: those that have it are computed in float32 inside and
//  rounded once, or only move values.
#include <algorithm>
#include <span>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "executor/passes/precision/cast_around.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"
#include "providers/providers.h"

namespace sardonyx::passes {
namespace {

bool has_windows_side_by_side(const Node& node, const ops::ConvTransposeAttrs& attrs) {
  const std::optional<Shape> weights = node.inputs[1]->type.known_shape();
  return weights && attrs.strides &&
         std::ranges::equal(*attrs.strides, std::span(*weights).subspan(2)) && attrs.group == 1 &&
         all_are(attrs.dilations, 1) && all_are(attrs.pads, 0) &&
         all_are(attrs.output_padding, 0) && !attrs.output_shape &&
         !attrs.auto_pad.starts_with("SAME");
}

bool is_faster_in_float32(const Node& node) {
  if (is_fused(node, "FusedConv")) {
    const auto& attrs = node.attrs.as<ops::FusedConvAttrs>();
    return attrs.allows_winograd && all_are(attrs.dilations, 1) && !computes_bfloat16_by_tiles();
  }
  if (is_op(node, "ConvTranspose"))
    return !has_windows_side_by_side(node, node.attrs.as<ops::ConvTransposeAttrs>());
  return is_fused(node, "FusedConvTranspose") &&
         !has_windows_side_by_side(node, node.attrs.as<ops::FusedConvTransposeAttrs>());
}

bool is_float32(DType dtype) {
  return dtype == DType::kFloat;
}

// The bfloat16 value that this one is cast up from; null where it is none.
Value* narrow_source(const Value& value) {
  const Node* cast = value.producer;
  if (!cast || !is_op(*cast, "Cast") || !is_float(value)) return nullptr;
  return cast->inputs[0]->type.dtype == DType::kBFloat16 ? cast->inputs[0] : nullptr;
}

// The weights of a convolution whose gradient the node is, or theirs; null for other nodes.
const Value* weights_of_gradient(const Node& node) {
  if (is_fused(node, "ConvInputGrad")) return node.inputs[1];
  return is_fused(node, "ConvWeightGrad") ? node.outputs[0] : nullptr;
}

// Whether the node is a gradient that Winograd's algorithm can compute in float32: of a 3x3
// convolution with one group, no strides or dilations, and at least 16 channels on either side.
bool is_winograd_gradient(const Node& node) {
  const Value* weights = weights_of_gradient(node);
  if (!weights || computes_bfloat16_by_tiles()) return false;
  const std::optional<Shape> shape = weights->type.known_shape();
  const auto& attrs = node.attrs.as<ops::ConvAttrs>();
  return shape && shape->size() == 4 && (*shape)[0] >= 16 && (*shape)[1] >= 16 &&
         (*shape)[2] == 3 && (*shape)[3] == 3 && attrs.group == 1 && all_are(attrs.strides, 1) &&
         all_are(attrs.dilations, 1);
}

}  // namespace

bool narrow_products(Graph& graph, Node& node) {
  const bool is_product = node.op->is(kProduct) || weights_of_gradient(node);
  return is_product && !is_faster_in_float32(node) && !is_winograd_gradient(node) &&
         compute_in(graph, node, DType::kBFloat16, is_float32);
}

bool narrow_between(Graph& graph, Node& node) {
  if (!node.op->is(kBFloat16Between)) return false;
  bool any = false;
  for (const Value* input : node.inputs) {
    if (!input || !input->type.is_tensor() || !is_float(*input)) continue;
    const bool is_cast = narrow_source(*input) != nullptr;
    if (!is_cast && !input->constant) return false;
    any |= is_cast;
  }
  return any && compute_in(graph, node, DType::kBFloat16, is_float32);
}

// Drops a cast to float32 and back: the round trip of a bfloat16 value is exact.
bool cancel_widening(Graph& graph, Node& node) {
  if (!is_op(node, "Cast") || node.outputs[0]->type.dtype != DType::kBFloat16) return false;
  Value* source = narrow_source(*node.inputs[0]);
  if (!source || graph.is_output(*node.outputs[0])) return false;
  graph.replace_uses(*node.outputs[0], *source);
  graph.erase(node);
  return true;
}

}  // namespace sardonyx::passes
