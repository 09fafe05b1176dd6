// Ops of com.microsoft on real numbers.
#include "tools/onnx-run/op_cases/op_case.h"

namespace sardonyx::tool {
namespace {

using Ints = std::vector<int64_t>;

const AttrMap kHeads{{"num_heads", int64_t{12}}};

void add_contrib_attention(std::vector<OpCase>& cases) {
  const CaseOperand x = input({1, 128, 768});
  cases.push_back(
      {"com.microsoft::Attention", "", {x, weight({768, 2304}), weight({2304})}, kHeads});
  cases.push_back({"com.microsoft::Attention",
                   "mask",
                   {x, weight({768, 2304}), weight({2304}), input({1, 128}, kI32, 0, 1)},
                   kHeads});
  cases.push_back({"com.microsoft::MultiHeadAttention", "", {x, x, x}, kHeads});
  cases.push_back({"com.microsoft::MultiHeadAttention", "bias", {x, x, x, weight({2304})}, kHeads});
  AttrMap grouped{{"num_heads", int64_t{12}}, {"kv_num_heads", int64_t{4}}};
  const auto past = [](int32_t length) { return given(Tensor::vector<int32_t>({length})); };
  cases.push_back({"com.microsoft::GroupQueryAttention",
                   "prompt",
                   {x, input({1, 128, 256}), input({1, 128, 256}), none(), none(), past(127),
                    fixed(Tensor::vector<int32_t>({128}))},
                   grouped,
                   3});
  grouped["do_rotary"] = int64_t{1};
  cases.push_back({"com.microsoft::GroupQueryAttention",
                   "decode",
                   {input({1, 1, 768}), input({1, 1, 256}), input({1, 1, 256}),
                    input({1, 4, 255, 64}), input({1, 4, 255, 64}), past(255),
                    fixed(Tensor::vector<int32_t>({256})), weight({512, 32}), weight({512, 32})},
                   grouped,
                   3});
  cases.push_back({"com.microsoft::RotaryEmbedding",
                   "",
                   {input({1, 12, 128, 64}), input({1, 128}, DType::kInt64, 0, 127),
                    weight({128, 32}), weight({128, 32})}});
}

void add_contrib_normalizations(std::vector<OpCase>& cases) {
  const CaseOperand x = input({1, 128, 768}), gamma = weight({768}, DType::kFloat, 0.5, 1.5);
  const CaseOperand beta = weight({768});
  cases.push_back({"com.microsoft::LayerNormalization", "", {x, gamma, beta}});
  cases.push_back({"com.microsoft::SimplifiedLayerNormalization", "", {x, gamma}});
  cases.push_back({"com.microsoft::SkipLayerNormalization", "", {x, x, gamma, beta, beta}});
  cases.push_back({"com.microsoft::SkipSimplifiedLayerNormalization", "", {x, x, gamma}});
  const CaseOperand ids = input({1, 128}, kI32, 0, 1);
  cases.push_back({"com.microsoft::EmbedLayerNormalization",
                   "",
                   {input({1, 128}, kI32, 0, 999), ids, weight({1000, 768}), weight({512, 768}),
                    weight({2, 768}), gamma, beta, ids},
                   {},
                   2});
}

void add_contrib_products(std::vector<OpCase>& cases) {
  const AttrMap same{{"pads", Ints{1, 1, 1, 1}}};
  const CaseOperand image = input({1, 64, 56, 56});
  AttrMap relu = same;
  relu["activation"] = std::string("Relu");
  cases.push_back(
      {"com.microsoft::FusedConv", "", {image, weight({64, 64, 3, 3}), weight({64})}, relu});
  cases.push_back(
      {"com.microsoft::NhwcConv", "", {input({1, 56, 56, 64}), weight({64, 3, 3, 64})}, same});
  cases.push_back(
      {"com.microsoft::NhwcFusedConv", "", {input({1, 56, 56, 64}), weight({64, 3, 3, 64})}, relu});
  cases.push_back({"com.microsoft::FusedMatMul",
                   "",
                   {input({128, 768}), weight({768, 768})},
                   {{"transB", int64_t{1}}, {"alpha", 0.5f}}});
  cases.push_back({"com.microsoft::TransposeMatMul",
                   "",
                   {input({128, 768}), weight({768, 768})},
                   {{"transB", int64_t{1}}}});
  cases.push_back({"com.microsoft::FusedGemm",
                   "",
                   {input({64, 512}), weight({512, 1000}), weight({1000})},
                   {{"activation", std::string("Relu")}}});
  for (const int64_t rows : {1, 16, 32}) {
    cases.push_back({"com.microsoft::MatMulNBits",
                     rows == 1 ? "one row" : text(rows, " rows"),
                     {input({rows, 1024}), weight({1024, 32, 16}, DType::kUInt8, 0, 255),
                      weight({1024 * 32}, DType::kFloat, 0.01, 0.02)},
                     {{"K", int64_t{1024}}, {"N", int64_t{1024}}, {"block_size", int64_t{32}}}});
  }
  cases.push_back({"com.microsoft::GatherBlockQuantized",
                   "",
                   {weight({8000, 256}, DType::kUInt4, 0, 15), input({128}, DType::kInt64, 0, 7999),
                    weight({8000, 8}, DType::kFloat, 0.01, 0.02)},
                   {{"block_size", int64_t{32}}, {"quantize_axis", int64_t{1}}}});
}

void add_others(std::vector<OpCase>& cases) {
  const CaseOperand x = input({1, 128, 3072}), bias = weight({3072});
  cases.push_back({"com.microsoft::Gelu", "", {x}});
  cases.push_back({"com.microsoft::BiasGelu", "", {x, bias}});
  cases.push_back({"com.microsoft::FastGelu", "", {x, bias}});
  cases.push_back({"com.microsoft::QuickGelu", "", {x}});
  cases.push_back({"com.microsoft::CDist",
                   "",
                   {input({256, 64}, DType::kFloat), input({256, 64}, DType::kFloat)},
                   {{"metric", std::string("sqeuclidean")}}});
  cases.push_back({"com.microsoft::Inverse", "", {input({64, 16, 16})}});
  cases.push_back({"com.microsoft::Trilu", "", {input({16, 256, 256})}});
  cases.push_back({"com.microsoft::Unique", "", {input({65536})}, {}, 3});
  cases.push_back(
      {"com.microsoft::Pad", "", {input({1, 64, 56, 56}), int64s({0, 0, 1, 1, 0, 0, 1, 1})}});
  cases.push_back({"com.microsoft::ExpandDims", "", {x, scalar<int32_t>(0)}});
  cases.push_back({"com.microsoft::GridSample",
                   "",
                   {input({1, 32, 56, 56}), input({1, 56, 56, 2}, DType::kFloat, -1, 1)}});
  cases.push_back({"com.microsoft::CropAndResize",
                   "",
                   {input({1, 64, 56, 56}), input({16, 4}, DType::kFloat, 0, 1),
                    input({16}, kI32, 0, 0), fixed(Tensor::vector<int32_t>({14, 14}))}});
  cases.push_back(
      {"com.microsoft::WordConvEmbedding",
       "",
       {input({128, 20}, kI32, 1, 90), weight({64, 1, 3, 16}), weight({64}), weight({100, 16})},
       {{"conv_window_size", int64_t{3}},
        {"embedding_size", int64_t{64}},
        {"char_embedding_size", int64_t{16}}}});
  for (const auto& [variant, separator] :
       {std::pair{"", "."}, std::pair{"literal", "1"}, std::pair{"classes", "[2-4]+"}}) {
    cases.push_back({"com.microsoft::Tokenizer",
                     variant,
                     {input({1000}, DType::kString, 0, 100)},
                     {{"mark", int64_t{1}},
                      {"mincharnum", int64_t{1}},
                      {"pad_value", std::string("#")},
                      {"separators", std::vector<std::string>{separator}}}});
  }
}

}  // namespace

std::vector<OpCase> contrib_cases() {
  std::vector<OpCase> cases;
  add_contrib_attention(cases);
  add_contrib_normalizations(cases);
  add_contrib_products(cases);
  add_others(cases);
  return cases;
}

}  // namespace sardonyx::tool
