// Ops on quantized integers.
#include "tools/onnx-run/op_cases/op_case.h"

namespace sardonyx::tool {
namespace {

using Ints = std::vector<int64_t>;

constexpr DType kU8 = DType::kUInt8, kI8 = DType::kInt8;

CaseOperand bytes(Shape shape) {
  return input(std::move(shape), kU8, 0, 255);
}
CaseOperand byte_weight(Shape shape) {
  return weight(std::move(shape), kI8, -100, 100);
}
// As ONNX Runtime's quantizer writes by default for uint8: without the zero point, of 120 say, they
// do not fit into int8.
CaseOperand unsigned_weight(Shape shape) {
  return weight(std::move(shape), kU8, 0, 255);
}
CaseOperand scale(float value = 0.02f) {
  return scalar(value);
}
CaseOperand zero(uint8_t value = 128) {
  return scalar<uint8_t>(value);
}
CaseOperand zero_signed() {
  return scalar<int8_t>(0);
}

void add_conversions(std::vector<OpCase>& cases) {
  const CaseOperand x = input({256, 1024});
  cases.push_back({"QuantizeLinear", "", {x, scale(), zero()}});
  cases.push_back(
      {"QuantizeLinear",
       "channels",
       {input({1, 64, 56, 56}), weight({64}, DType::kFloat, 0.01, 0.02), weight({64}, kI8, 0, 0)},
       {{"axis", int64_t{1}}}});
  cases.push_back({"DequantizeLinear", "", {bytes({256, 1024}), scale(), zero()}});
  cases.push_back({"DequantizeLinear",
                   "channels",
                   {input({64, 64, 3, 3}, kI8, -100, 100), weight({64}, DType::kFloat, 0.01, 0.02)},
                   {{"axis", int64_t{0}}}});
  cases.push_back(
      {"DequantizeLinear",
       "blocks",
       {input({1024, 256}, DType::kInt4, -8, 7), weight({32, 256}, DType::kFloat, 0.01, 0.02)},
       {{"axis", int64_t{0}}, {"block_size", int64_t{32}}}});
  cases.push_back({"DynamicQuantizeLinear", "", {x}, {}, 3});
  cases.push_back({"com.microsoft::QuantizeLinear", "", {x, scale(), zero()}});
  cases.push_back({"com.microsoft::DequantizeLinear", "", {bytes({256, 1024}), scale(), zero()}});
}

void add_quantized_products(std::vector<OpCase>& cases) {
  const AttrMap same{{"pads", Ints{1, 1, 1, 1}}};
  cases.push_back(
      {"ConvInteger", "", {bytes({1, 64, 28, 28}), byte_weight({64, 64, 3, 3}), zero()}, same});
  cases.push_back({"QLinearConv",
                   "",
                   {bytes({1, 64, 28, 28}), scale(), zero(), byte_weight({64, 64, 3, 3}), scale(),
                    zero_signed(), scale(2), zero()},
                   same});
  for (const int64_t dilation : {2, 12, 24}) {  // as in atrous pyramids
    cases.push_back({"QLinearConv",
                     text("dilated by ", dilation),
                     {bytes({1, 256, 33, 33}), scale(), zero(), byte_weight({64, 256, 3, 3}),
                      scale(), zero_signed(), scale(2), zero()},
                     {{"pads", Ints(4, dilation)}, {"dilations", Ints(2, dilation)}}});
  }
  cases.push_back({"MatMulInteger", "", {bytes({128, 768}), byte_weight({768, 768}), zero()}});
  for (const int64_t rows : {1, 3, 8}) {
    cases.push_back({"MatMulInteger",
                     text(rows, rows == 1 ? " row" : " rows"),
                     {bytes({rows, 768}), byte_weight({768, 2304}), zero()}});
    cases.push_back({"com.microsoft::DynamicQuantizeMatMul",
                     text(rows, rows == 1 ? " row" : " rows"),
                     {input({rows, 768}), byte_weight({768, 2304}), scale()}});
  }
  for (const int64_t rows : {1, 20}) {
    cases.push_back({"MatMulInteger",
                     text(rows, rows == 1 ? " row" : " rows", ", uint8 weights"),
                     {bytes({rows, 1024}), unsigned_weight({1024, 4096}), zero(), zero(120)}});
  }
  cases.push_back({"ConvInteger",
                   "uint8 weights",
                   {bytes({1, 64, 28, 28}), unsigned_weight({64, 64, 3, 3}), zero(), zero(120)},
                   same});
  cases.push_back({"QLinearMatMul",
                   "",
                   {bytes({128, 768}), scale(), zero(), byte_weight({768, 768}), scale(),
                    zero_signed(), scale(1), zero()}});
  cases.push_back({"com.microsoft::MatMulIntegerToFloat",
                   "",
                   {bytes({128, 768}), byte_weight({768, 768}), scale(), scale(), zero()}});
  cases.push_back({"com.microsoft::DynamicQuantizeMatMul",
                   "",
                   {input({128, 768}), byte_weight({768, 768}), scale()}});
  cases.push_back({"com.microsoft::QGemm",
                   "",
                   {bytes({128, 768}), scale(), zero(), byte_weight({768, 768}), scale(),
                    zero_signed(), none(), scale(1), zero()}});
  cases.push_back({"com.microsoft::QAttention",
                   "",
                   {bytes({1, 128, 768}), byte_weight({768, 2304}), weight({2304}), scale(),
                    scale(0.01f), none(), zero(), zero_signed()},
                   {{"num_heads", int64_t{12}}}});
  for (const int64_t hidden : {128, 512}) {
    const int64_t gates = 4 * hidden;
    const CaseOperand weights = byte_weight({1, hidden, gates});
    const CaseOperand scales = weight({1}, DType::kFloat, 0.01, 0.02),
                      zeros = weight({1}, kI8, 0, 0);
    cases.push_back({"com.microsoft::DynamicQuantizeLSTM",
                     hidden == 128 ? "" : text(hidden, " units"),
                     {input({20, 1, hidden}), weights, weights, weight({1, 2 * gates}), none(),
                      none(), none(), none(), scales, zeros, scales, zeros},
                     {{"hidden_size", hidden}},
                     2});
  }
}

// One type of bytes, and scales and zero points that differ.
struct ByteOperands {
  const char* variant;
  DType dtype;
  CaseOperand a_scale, a_zero, b_scale, b_zero, y_scale, y_zero;

  CaseOperand bytes(Shape shape) const {
    const bool is_signed = dtype == kI8;
    return input(std::move(shape), dtype, is_signed ? -128 : 0, is_signed ? 127 : 255);
  }
};

void add_contrib_of(const ByteOperands& of, std::vector<OpCase>& cases) {
  const CaseOperand x = of.bytes({256, 1024}), image = of.bytes({1, 64, 56, 56});
  const auto add = [&](const char* op, std::vector<CaseOperand> operands, AttrMap attrs = {}) {
    cases.push_back({op, of.variant, std::move(operands), std::move(attrs)});
  };
  // ONNX Runtime's QLinearAdd works in fixed point and rounds ties up: a few elements differ by 1.
  for (const char* op : {"com.microsoft::QLinearAdd", "com.microsoft::QLinearMul"})
    add(op, {x, of.a_scale, of.a_zero, x, of.b_scale, of.b_zero, of.y_scale, of.y_zero});
  for (const char* op : {"com.microsoft::QLinearSigmoid", "com.microsoft::QLinearLeakyRelu"})
    add(op, {x, of.a_scale, of.a_zero, scale(0.005f), of.y_zero});
  // Of 1 / y_scale ONNX Runtime takes the integer part.
  add("com.microsoft::QLinearSoftmax",
      {x, of.a_scale, of.a_zero, scale(1.0f / 256),
       of.dtype == kI8 ? scalar<int8_t>(-128) : zero(0)},
      {{"opset", int64_t{13}}});
  const std::vector<CaseOperand> pooled{image, of.a_scale, of.a_zero, of.y_scale, of.y_zero};
  add("com.microsoft::QLinearAveragePool", pooled,
      {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}});
  add("com.microsoft::QLinearGlobalAveragePool", pooled);
  add("com.microsoft::QLinearReduceMean", {x, of.a_scale, of.a_zero, of.y_scale, of.y_zero},
      {{"axes", Ints{1}}, {"keepdims", int64_t{1}}});
  add("com.microsoft::QLinearConcat",
      {of.y_scale, of.y_zero, x, of.a_scale, of.a_zero, x, of.b_scale, of.b_zero},
      {{"axis", int64_t{1}}});
  add("com.microsoft::QLinearWhere", {input({256, 1024}, DType::kBool, 0, 1), x, of.a_scale,
                                      of.a_zero, x, of.b_scale, of.b_zero, of.y_scale, of.y_zero});
}

void add_contrib(std::vector<OpCase>& cases) {
  add_contrib_of({"", kU8, scale(), zero(), scale(0.0317f), zero(), scale(0.053f), zero()}, cases);
  add_contrib_of({"int8", kI8, scale(0.0173f), scalar<int8_t>(-7), scale(0.0311f),
                  scalar<int8_t>(20), scale(0.047f), scalar<int8_t>(5)},
                 cases);
}

}  // namespace

std::vector<OpCase> quantized_cases() {
  std::vector<OpCase> cases;
  add_conversions(cases);
  add_quantized_products(cases);
  add_contrib(cases);
  return cases;
}

}  // namespace sardonyx::tool
