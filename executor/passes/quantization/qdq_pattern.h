// Matchers for QuantizeLinear and DequantizeLinear around an op (QDQ), shared by the passes on
// quantised graphs.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace sardonyx::passes {

// The affine quantization of a tensor of 8-bit integers: (integer - zero) * scale, with one scale,
// known before the run, positive and normal.
struct Quantization {
  float scale = 1;
  int32_t zero = 0;
  DType dtype = DType::kUndefined;  // int8 or uint8
  bool operator==(const Quantization&) const = default;

  int32_t lowest() const { return dtype == DType::kInt8 ? -128 : 0; }
  int32_t highest() const { return lowest() + 255; }
  // `value` quantized as QuantizeLinear does it.
  int32_t quantized(float value) const;
};

// The scale and zero point of a QuantizeLinear from float or a DequantizeLinear to float; nullopt
// for any other node.
std::optional<Quantization> quantization_of(const Node& node);
bool is_quantize(const Node& node);
bool is_dequantize(const Node& node);

// An operand that a DequantizeLinear produces.
struct Dequantized {
  Value* integers;
  Quantization quantization;
};
// nullopt where no DequantizeLinear produces input `slot`, or not with a single scale.
std::optional<Dequantized> dequantized(const Node& node, size_t slot);

// Constant weights that come out of a DequantizeLinear with one scale, or one for each index of
// `axis` (those of one number fit any axis).
struct DequantizedWeights {
  Value* integers;
  std::vector<float> scales;
  Value* zero;  // null where there is none
};
std::optional<DequantizedWeights> dequantized_weights(const Node& node, size_t slot, size_t axis);

// The producer of a QuantizeLinear's input, which nobody else reads: `core`, and a clamp of the
// quantized integers to [low, high] in place of the Relu and Clip between the two. Since rounding
// keeps order, clamping before or after it is the same.
struct QuantizedTail {
  Node* core;
  Quantization quantization;
  int32_t low, high;
  bool clamps() const { return low > quantization.lowest() || high < quantization.highest(); }
};
std::optional<QuantizedTail> quantized_tail(const Graph& graph, const Node& quantize);

// Emits the scale or the zero point as a scalar constant, as the integer ops read it.
Val scale_of(Emitter& emitter, const Quantization& quantization);
Val zero_of(Emitter& emitter, const Quantization& quantization);
Val byte_scalar(Emitter& emitter, DType dtype, int32_t value);

// x mapped through 256 bytes of `type`; entry i is for the byte i.
Val byte_table(Emitter& emitter, const Val& x, DType type, const std::vector<uint8_t>& entries);
// `result` with the tail's clamp, in place of what `quantize` made; `quantize` is erased.
void finish_tail(Graph& graph, Node& quantize, Emitter& emitter, const QuantizedTail& tail,
                 const Val& result);
// Replaces all uses of `old` by `made`, which takes its name if it is an output of the graph.
void replace_value(Graph& graph, Value& old, Value& made);

}  // namespace sardonyx::passes
