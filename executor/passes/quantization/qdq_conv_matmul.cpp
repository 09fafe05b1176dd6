// Convolutions and matrix products between DequantizeLinear and QuantizeLinear become integer ops:
//   Conv to QLinearConv, MatMul to QLinearMatMul, Gemm to QGemm; where the result is not quantised
//   MatMul to MatMulIntegerToFloat and Gemm to QGemm. Relu and Clip before the QuantizeLinear
//   become a clamp of the integers.
// The sums are the same real numbers, taken exactly; they are scaled once, so a result that is at
// a rounding tie may fall to the other side of it. Biases are rounded to multiples of the products'
// scale: those that come as such multiples (as the quantisers of the exporters write them) stay.
// They do not fire
//  1. where somebody else reads what would be rounded later,
//  2. for scales or zero points that the run brings, blocks, and other types than 8-bit integers,
//  3. for scales of the source for each channel, and of the weights along another dim than the
//     output channels,
//  4. for a bias that is not constant, or whose rounding would move a result by more than 1/128 of
//     a quantum.
#include <cmath>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"
#include "executor/passes/quantization/qdq_pattern.h"
#include "ir/core/memory/evictable_buffer.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/gemm/matmul.h"
#include "ir/ops/quantization/qlinear_attributes.h"

namespace sardonyx::passes {
namespace {

// The real values of a constant input: a float constant, or one that DequantizeLinear makes.
std::optional<std::vector<double>> constant_values(const Node& node, size_t slot) {
  const Value& value = *node.inputs[slot];
  if (value.constant) {
    if (value.constant->dtype() != DType::kFloat) return std::nullopt;
    return value.constant->to_doubles();
  }
  const Node* producer = value.producer;
  if (!producer || !is_op(*producer, "DequantizeLinear")) return std::nullopt;
  const Tensor* integers = producer->inputs[0]->constant.get();
  const Tensor* scales = float_constant(*producer, 1);
  const Tensor* zeros = nullptr;
  if (producer->has_input(2) && !(zeros = producer->inputs[2]->constant.get())) return std::nullopt;
  const auto blocks = producer->attrs.get("block_size");
  if (!integers || !scales || (blocks && std::get<int64_t>(*blocks) != 0)) return std::nullopt;
  // Scales and zeros have one number for all elements, or one for each (a vector or a row).
  const auto fits = [&](int64_t count) { return count == 1 || count == integers->count(); };
  if (!is_integer(integers->dtype()) || !fits(scales->count())) return std::nullopt;
  if (zeros && !fits(zeros->count())) return std::nullopt;
  load_weight(*integers);
  std::vector<double> values = integers->to_doubles();
  const std::vector<double> scale = scales->to_doubles();
  const std::vector<double> zero = zeros ? zeros->to_doubles() : std::vector<double>{0};
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (values[i] - zero[i % zero.size()]) * scale[i % scale.size()];
  return values;
}

// Input `slot` of `node` in units of the products' scale of each channel, for results with the
// scale `y_scale` (0: not quantised). nullopt where it can't be had in them.
std::optional<Tensor> integer_bias(const Node& node, size_t slot, double x_scale,
                                   const std::vector<float>& weight_scales, double y_scale) {
  const auto values = constant_values(node, slot);
  if (!values) return std::nullopt;
  Tensor bias = Tensor::allocate(DType::kInt32, {static_cast<int64_t>(values->size())});
  for (size_t i = 0; i < values->size(); ++i) {
    const double unit = x_scale * weight_scales[i % weight_scales.size()];
    const double wanted = (*values)[i] / unit;
    const double rounded = std::nearbyint(wanted);
    if (!(std::abs(rounded) < 0x1p31)) return std::nullopt;
    // The scales are floats, so multiples of their product are only nearly that.
    const bool is_multiple = std::abs(wanted - rounded) <= 1e-6 * std::abs(wanted) + 1e-6;
    if (!is_multiple && (y_scale == 0 || unit > y_scale / 64)) return std::nullopt;
    bias.mutable_values<int32_t>()[i] = static_cast<int32_t>(rounded);
  }
  return bias;
}

Val weight_scales(Emitter& emitter, const DequantizedWeights& weights) {
  if (weights.scales.size() == 1) return emitter.constant(Tensor::scalar(weights.scales[0]));
  return emitter.constant(Tensor::vector(weights.scales));
}

Val weight_zeros(Emitter& emitter, const DequantizedWeights& weights) {
  const DType dtype = weights.integers->type.dtype;
  if (!weights.zero) {
    const Tensor zeros = Tensor::zeros(
        dtype,
        weights.scales.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(weights.scales.size())});
    return emitter.constant(zeros);
  }
  if (weights.scales.size() != 1) return GraphEmitter::wrap(weights.zero);
  return emitter.constant(weights.zero->constant->reshaped({}));
}

// (x, its scale and zero point, the weights, theirs, the result's scale and zero point).
Vals qlinear_inputs(Emitter& e, const Dequantized& x, const DequantizedWeights& weights,
                    const Quantization& y) {
  return {GraphEmitter::wrap(x.integers),
          scale_of(e, x.quantization),
          zero_of(e, x.quantization),
          GraphEmitter::wrap(weights.integers),
          weight_scales(e, weights),
          weight_zeros(e, weights),
          scale_of(e, y),
          zero_of(e, y)};
}

// Whether the result stays float: no reader quantizes it or applies an activation to it.
bool stays_float(const Node& node) {
  for (const Use& use : node.outputs[0]->uses) {
    if (is_quantize(*use.node) || activation_of(*use.node)) return false;
  }
  return true;
}

bool has_rank(const Value& value, size_t rank) {
  return value.type.has_rank() && value.type.rank() == rank;
}

// Whether the Gemm computes only a product and adds a bias of one row.
bool is_plain_gemm(const Node& gemm) {
  const auto& attrs = gemm.attrs.as<ops::GemmAttrs>();
  if (!gemm.has_input(2)) return true;
  const Value& bias = *gemm.inputs[2];
  if (attrs.beta != 1 || attrs.alpha != 1 || !bias.type.shape) return false;
  const Type& output = gemm.outputs[0]->type;
  const Dims& dims = *bias.type.shape;
  if (!output.shape || dims.empty() || dims.size() > 2) return false;
  return dims.back() == output.shape->back() && (dims.size() == 1 || dims[0] == 1);
}

// The product as QGemm; `y` is null where the result stays float.
std::optional<Val> emit_gemm(Emitter& e, const Node& gemm, const Quantization* y) {
  const auto& attrs = gemm.attrs.as<ops::GemmAttrs>();
  const auto a = dequantized(gemm, 0);
  const auto b = dequantized_weights(gemm, 1, attrs.transB ? 0 : 1);
  if (!a || !b || !is_plain_gemm(gemm)) return std::nullopt;
  std::optional<Tensor> bias;
  if (gemm.has_input(2)) {
    bias = integer_bias(gemm, 2, a->quantization.scale, b->scales, y ? y->scale : 0);
    if (!bias) return std::nullopt;
  }
  Vals inputs = qlinear_inputs(e, *a, *b, y ? *y : Quantization{});
  inputs.insert(inputs.begin() + 6, bias ? e.constant(std::move(*bias)) : Val());
  if (!y) inputs.resize(7);
  while (!inputs.back())
    inputs.pop_back();
  const ops::QGemmAttrs made{attrs.alpha, attrs.transA, attrs.transB};
  return e.emit(op_named("com.microsoft::QGemm"), inputs, Attrs(made), 1)[0];
}

// The weights of a MatMul, with one scale or one for each column.
std::optional<DequantizedWeights> matmul_weights(const Node& matmul) {
  const Value& b = *matmul.inputs[1];
  if (!b.type.has_rank() || b.type.rank() == 0) return std::nullopt;
  auto weights = dequantized_weights(matmul, 1, b.type.rank() - 1);
  if (weights && weights->scales.size() != 1 && !has_rank(b, 2)) return std::nullopt;
  return weights;
}

bool quantize_float_matmul(Graph& graph, Node& node) {
  const auto a = dequantized(node, 0);
  const auto b = matmul_weights(node);
  if (!a || !b || !stays_float(node)) return false;
  GraphEmitter e(graph, &node);
  e.set_origin(node);
  const Val made = e.call("com.microsoft::MatMulIntegerToFloat",
                          {GraphEmitter::wrap(a->integers), GraphEmitter::wrap(b->integers),
                           scale_of(e, a->quantization), weight_scales(e, *b),
                           zero_of(e, a->quantization), weight_zeros(e, *b)});
  replace_value(graph, *node.outputs[0], *GraphEmitter::unwrap(made));
  graph.erase(node);
  return true;
}

}  // namespace

bool quantize_conv(Graph& graph, Node& node) {
  const auto tail = quantized_tail(graph, node);
  if (!tail || !is_op(*tail->core, "Conv")) return false;
  const Node& conv = *tail->core;
  const auto x = dequantized(conv, 0);
  const auto w = dequantized_weights(conv, 1, 0);
  if (!x || !w) return false;
  std::optional<Tensor> bias;
  if (conv.has_input(2)) {
    bias = integer_bias(conv, 2, x->quantization.scale, w->scales, tail->quantization.scale);
    if (!bias) return false;
  }
  GraphEmitter e(graph, &node);
  e.set_origin(conv);
  Vals inputs = qlinear_inputs(e, *x, *w, tail->quantization);
  if (bias) inputs.push_back(e.constant(std::move(*bias)));
  const auto& attrs = conv.attrs.as<ops::ConvAttrs>();
  finish_tail(graph, node, e, *tail, e.emit(op_named("QLinearConv"), inputs, Attrs(attrs), 1)[0]);
  return true;
}

bool quantize_matmul(Graph& graph, Node& node) {
  if (is_op(node, "MatMul")) return quantize_float_matmul(graph, node);
  const auto tail = quantized_tail(graph, node);
  if (!tail || !is_op(*tail->core, "MatMul")) return false;
  const Node& matmul = *tail->core;
  const auto a = dequantized(matmul, 0);
  if (!a) return false;
  GraphEmitter e(graph, &node);
  e.set_origin(matmul);
  Vals inputs;
  if (const auto b = matmul_weights(matmul)) {
    inputs = qlinear_inputs(e, *a, *b, tail->quantization);
  } else if (const auto other = dequantized(matmul, 1)) {
    const DequantizedWeights same{other->integers, {other->quantization.scale}, nullptr};
    inputs = qlinear_inputs(e, *a, same, tail->quantization);
    inputs[5] = zero_of(e, other->quantization);
  } else {
    return false;
  }
  finish_tail(graph, node, e, *tail, e.emit(op_named("QLinearMatMul"), inputs, Attrs(), 1)[0]);
  return true;
}

bool quantize_gemm(Graph& graph, Node& node) {
  if (is_op(node, "Gemm")) {  // with a result that stays float
    if (!stays_float(node)) return false;
    GraphEmitter e(graph, &node);
    e.set_origin(node);
    const auto made = emit_gemm(e, node, nullptr);
    if (!made) return false;
    replace_value(graph, *node.outputs[0], *GraphEmitter::unwrap(*made));
    graph.erase(node);
    return true;
  }
  const auto tail = quantized_tail(graph, node);
  if (!tail || !is_op(*tail->core, "Gemm")) return false;
  GraphEmitter e(graph, &node);
  e.set_origin(*tail->core);
  const auto made = emit_gemm(e, *tail->core, &tail->quantization);
  if (!made) return false;
  finish_tail(graph, node, e, *tail, *made);
  return true;
}

}  // namespace sardonyx::passes
