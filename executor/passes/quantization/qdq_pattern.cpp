#include "executor/passes/quantization/qdq_pattern.h"

#include <algorithm>
#include <cmath>

#include "executor/passes/pattern.h"

namespace sardonyx::passes {
namespace {

bool is_byte(const Value& value) {
  const DType dtype = value.type.dtype;
  return value.type.is_tensor() && (dtype == DType::kInt8 || dtype == DType::kUInt8);
}

int64_t integer(const Node& node, std::string_view name, int64_t otherwise) {
  const auto value = node.attrs.get(name);
  return value ? std::get<int64_t>(*value) : otherwise;
}

// Whether the scale is a float constant and not blockwise, and the computation in float.
bool is_plain(const Node& node) {
  const auto precision = static_cast<DType>(integer(node, "precision", 0));
  return float_constant(node, 1) && integer(node, "block_size", 0) == 0 &&
         (precision == DType::kUndefined || precision == DType::kFloat);
}

bool are_normal(std::span<const float> scales) {
  return std::ranges::all_of(scales, [](float scale) { return scale > 0 && std::isnormal(scale); });
}

}  // namespace

int32_t Quantization::quantized(float value) const {
  const float shifted = std::nearbyint(value / scale) + static_cast<float>(zero);
  const auto low = static_cast<float>(lowest()), high = static_cast<float>(highest());
  return static_cast<int32_t>(shifted >= low ? std::min(shifted, high) : low);
}

bool is_quantize(const Node& node) {
  return is_op(node, "QuantizeLinear") && is_float(*node.inputs[0]) && is_byte(*node.outputs[0]);
}

bool is_dequantize(const Node& node) {
  return is_op(node, "DequantizeLinear") && is_byte(*node.inputs[0]) && is_float(*node.outputs[0]);
}

std::optional<Quantization> quantization_of(const Node& node) {
  const bool quantizes = is_quantize(node);
  if (!quantizes && !is_dequantize(node)) return std::nullopt;
  const auto scale = scalar_constant(node, 1);
  if (!is_plain(node) || !scale || !are_normal({&*scale, 1})) return std::nullopt;
  Quantization quantization{*scale, 0, (quantizes ? node.outputs : node.inputs)[0]->type.dtype};
  if (node.has_input(2)) {
    const Tensor* zero = node.inputs[2]->constant.get();
    if (!zero || zero->count() != 1) return std::nullopt;
    quantization.zero = static_cast<int32_t>(zero->to_int64s()[0]);
  }
  return quantization;
}

std::optional<Dequantized> dequantized(const Node& node, size_t slot) {
  if (!node.has_input(slot)) return std::nullopt;
  const Node* producer = node.inputs[slot]->producer;
  if (!producer || !is_dequantize(*producer)) return std::nullopt;
  const auto quantization = quantization_of(*producer);
  if (!quantization) return std::nullopt;
  return Dequantized{producer->inputs[0], *quantization};
}

std::optional<DequantizedWeights> dequantized_weights(const Node& node, size_t slot, size_t axis) {
  if (!node.has_input(slot)) return std::nullopt;
  const Node* producer = node.inputs[slot]->producer;
  if (!producer || !is_dequantize(*producer) || !is_plain(*producer)) return std::nullopt;
  const Value& integers = *producer->inputs[0];
  const Tensor& scales = *float_constant(*producer, 1);
  if (!integers.constant || !are_normal(scales.values<float>())) return std::nullopt;
  const Shape& shape = integers.constant->shape();
  Value* zero = producer->has_input(2) ? producer->inputs[2] : nullptr;
  if (zero && (!zero->constant || zero->constant->count() != scales.count())) return std::nullopt;
  if (scales.count() != 1) {
    int64_t own = shape.size() == 1 ? 0 : integer(*producer, "axis", 1);
    if (own < 0) own += static_cast<int64_t>(shape.size());
    if (own != static_cast<int64_t>(axis) || scales.rank() != 1) return std::nullopt;
  }
  const auto values = scales.values<float>();
  return DequantizedWeights{producer->inputs[0], {values.begin(), values.end()}, zero};
}

std::optional<QuantizedTail> quantized_tail(const Graph& graph, const Node& quantize) {
  const auto quantization = is_quantize(quantize) ? quantization_of(quantize) : std::nullopt;
  if (!quantization) return std::nullopt;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  Node* core = sole_producer(graph, quantize, 0);
  while (core) {
    const auto activation = activation_of(*core);
    float inner_low = 0, inner_high = std::numeric_limits<float>::infinity();
    if (activation && activation->name == "Clip") {
      inner_low = activation->params[0];
      inner_high = activation->params[1];
    } else if (!activation || activation->name != "Relu") {
      break;
    }
    low = std::clamp(inner_low, low, high);
    high = std::clamp(inner_high, low, high);
    core = sole_producer(graph, *core, 0);
  }
  if (!core) return std::nullopt;
  return QuantizedTail{core, *quantization, quantization->quantized(low),
                       quantization->quantized(high)};
}

Val scale_of(Emitter& emitter, const Quantization& quantization) {
  return emitter.constant(Tensor::scalar(quantization.scale));
}

Val byte_scalar(Emitter& emitter, DType dtype, int32_t value) {
  const Tensor tensor = Tensor::allocate(dtype, {});
  *static_cast<uint8_t*>(tensor.raw()) = static_cast<uint8_t>(value);
  return emitter.constant(tensor);
}

Val zero_of(Emitter& emitter, const Quantization& quantization) {
  return byte_scalar(emitter, quantization.dtype, quantization.zero);
}

Val byte_table(Emitter& emitter, const Val& x, DType type, const std::vector<uint8_t>& entries) {
  const Tensor table = Tensor::allocate(type, {256});
  std::ranges::copy(entries, static_cast<uint8_t*>(table.raw()));
  return emitter.call("sardonyx::ByteTable", {x, emitter.constant(table)});
}

void finish_tail(Graph& graph, Node& quantize, Emitter& emitter, const QuantizedTail& tail,
                 const Val& result) {
  Val clamped = result;
  if (tail.clamps()) {
    std::vector<uint8_t> entries(256);
    for (int32_t value = tail.quantization.lowest(); value <= tail.quantization.highest();
         ++value) {
      entries[static_cast<uint8_t>(value)] =
          static_cast<uint8_t>(std::clamp(value, tail.low, tail.high));
    }
    clamped = byte_table(emitter, result, tail.quantization.dtype, entries);
  }
  replace_value(graph, *quantize.outputs[0], *GraphEmitter::unwrap(clamped));
  graph.erase(quantize);
}

void replace_value(Graph& graph, Value& old, Value& made) {
  const bool renames = graph.is_output(old);
  graph.replace_uses(old, made);
  if (renames) graph.take_name(made, old);
}

}  // namespace sardonyx::passes
