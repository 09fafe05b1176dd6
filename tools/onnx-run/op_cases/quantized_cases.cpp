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
  cases.push_back({"MatMulInteger", "", {bytes({128, 768}), byte_weight({768, 768}), zero()}});
  for (const int64_t rows : {1, 3, 8}) {
    cases.push_back({"MatMulInteger",
                     text(rows, rows == 1 ? " row" : " rows"),
                     {bytes({rows, 768}), byte_weight({768, 2304}), zero()}});
    cases.push_back({"com.microsoft::DynamicQuantizeMatMul",
                     text(rows, rows == 1 ? " row" : " rows"),
                     {input({rows, 768}), byte_weight({768, 2304}), scale()}});
  }
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
  cases.push_back(
      {"com.microsoft::DynamicQuantizeLSTM",
       "",
       {input({20, 1, 128}), byte_weight({1, 128, 512}), byte_weight({1, 128, 512}),
        weight({1, 1024}), none(), none(), none(), none(), weight({1}, DType::kFloat, 0.01, 0.02),
        weight({1}, kI8, 0, 0), weight({1}, DType::kFloat, 0.01, 0.02), weight({1}, kI8, 0, 0)},
       {{"hidden_size", int64_t{128}}},
       2});
}

void add_contrib(std::vector<OpCase>& cases) {
  const CaseOperand x = bytes({256, 1024}), image = bytes({1, 64, 56, 56});
  for (const char* op : {"com.microsoft::QLinearAdd", "com.microsoft::QLinearMul"})
    cases.push_back({op, "", {x, scale(), zero(), x, scale(), zero(), scale(), zero()}});
  for (const char* op : {"com.microsoft::QLinearSigmoid", "com.microsoft::QLinearLeakyRelu"})
    cases.push_back({op, "", {x, scale(), zero(), scale(0.005f), zero()}});
  cases.push_back({"com.microsoft::QLinearSoftmax",
                   "",
                   {x, scale(), zero(), scale(0.004f), zero(0)},
                   {{"opset", int64_t{13}}}});
  cases.push_back({"com.microsoft::QLinearAveragePool",
                   "",
                   {image, scale(), zero(), scale(), zero()},
                   {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}}});
  cases.push_back(
      {"com.microsoft::QLinearGlobalAveragePool", "", {image, scale(), zero(), scale(), zero()}});
  cases.push_back({"com.microsoft::QLinearReduceMean",
                   "",
                   {x, scale(), zero(), scale(), zero()},
                   {{"axes", Ints{1}}, {"keepdims", int64_t{1}}}});
  cases.push_back({"com.microsoft::QLinearConcat",
                   "",
                   {scale(), zero(), x, scale(), zero(), x, scale(0.03f), zero()},
                   {{"axis", int64_t{1}}}});
  cases.push_back({"com.microsoft::QLinearWhere",
                   "",
                   {input({256, 1024}, DType::kBool, 0, 1), x, scale(), zero(), x, scale(0.03f),
                    zero(), scale(), zero()}});
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
