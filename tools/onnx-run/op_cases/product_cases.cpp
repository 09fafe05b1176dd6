// Products, recurrent layers, attention, reductions, losses and signals.
#include "tools/onnx-run/op_cases/op_case.h"

namespace sardonyx::tool {
namespace {

using Ints = std::vector<int64_t>;

void add_products(std::vector<OpCase>& cases) {
  cases.push_back({"MatMul", "", {input({128, 768}), weight({768, 768})}});
  cases.push_back({"MatMul", "one row", {input({1, 768}), weight({768, 768})}});
  cases.push_back({"MatMul", "batch", {input({12, 128, 64}), input({12, 64, 128})}});
  cases.push_back({"MatMul",
                   "double",
                   {input({128, 256}, DType::kDouble), weight({256, 256}, DType::kDouble)}});
  cases.push_back({"MatMul",
                   "double, one column",
                   {input({9, 3072}, DType::kDouble), weight({3072, 1}, DType::kDouble)}});
  cases.push_back({"MatMul",
                   "double, 3 columns",
                   {input({64, 512}, DType::kDouble), weight({512, 3}, DType::kDouble)}});
  cases.push_back({"MatMul",
                   "float16",
                   {input({128, 256}, DType::kFloat16), weight({256, 256}, DType::kFloat16)}});
  cases.push_back(
      {"MatMul",
       "int32",
       {input({64, 128}, DType::kInt32, 0, 10), input({128, 64}, DType::kInt32, 0, 10)}});
  cases.push_back({"Gemm",
                   "",
                   {input({64, 512}), weight({1000, 512}), weight({1000})},
                   {{"transB", int64_t{1}}}});
  cases.push_back(
      {"Gemm", "double", {input({64, 256}, DType::kDouble), weight({256, 256}, DType::kDouble)}});
  cases.push_back({"Det", "", {input({64, 16, 16})}});
  const auto einsum = [&](const char* equation, CaseOperand a, CaseOperand b) {
    cases.push_back(
        {"Einsum", equation, {std::move(a), std::move(b)}, {{"equation", std::string(equation)}}});
  };
  einsum("bhid,bhjd->bhij", input({1, 12, 128, 64}), input({1, 12, 128, 64}));
  einsum("bij,jk->bik", input({1, 128, 256}), weight({256, 256}));
  einsum("bhwc,hkc->bhwk", input({8, 14, 14, 64}), input({14, 14, 64}));
  einsum("i,j->ij", input({512}), input({512}));
  cases.push_back(
      {"Einsum", "bii->bi", {input({16, 128, 128})}, {{"equation", std::string("bii->bi")}}});
}

void add_recurrent(std::vector<OpCase>& cases) {
  const auto layer = [&](const char* op, int64_t gates, const char* variant, int64_t length,
                         int64_t batch, AttrMap attrs = {}) {
    attrs["hidden_size"] = int64_t{128};
    cases.push_back({op,
                     variant,
                     {input({length, batch, 128}), weight({1, gates * 128, 128}),
                      weight({1, gates * 128, 128}), weight({1, gates * 256})},
                     std::move(attrs),
                     2});
  };
  using Names = std::vector<std::string>;
  layer("LSTM", 4, "clip", 50, 1, {{"clip", 3.0f}});
  layer("LSTM", 4, "HardSigmoid", 50, 1, {{"activations", Names{"HardSigmoid", "Tanh", "Tanh"}}});
  layer("LSTM", 4, "Softsign", 50, 1, {{"activations", Names{"Sigmoid", "Softsign", "Relu"}}});
  layer("GRU", 3, "HardSigmoid", 50, 1, {{"activations", Names{"HardSigmoid", "Tanh"}}});
  for (const auto& [op, gates] : {std::pair("LSTM", 4), {"GRU", 3}, {"RNN", 1}}) {
    layer(op, gates, "", 50, 1);
    layer(op, gates, "batch 16", 20, 16);
  }
}

void add_attention(std::vector<OpCase>& cases) {
  const CaseOperand heads = input({1, 12, 128, 64});
  cases.push_back({"Attention", "", {heads, heads, heads}});
  cases.push_back({"Attention", "causal", {heads, heads, heads}, {{"is_causal", int64_t{1}}}});
  cases.push_back({"Attention",
                   "decode",
                   {input({1, 12, 1, 64}), input({1, 12, 1, 64}), input({1, 12, 1, 64}), none(),
                    input({1, 12, 255, 64}), input({1, 12, 255, 64})},
                   {},
                   3});
  cases.push_back({"Attention",
                   "decode, small heads",
                   {input({1, 32, 1, 8}), input({1, 32, 1, 8}), input({1, 32, 1, 8}), none(),
                    input({1, 32, 255, 8}), input({1, 32, 255, 8})},
                   {},
                   3});
  cases.push_back({"RotaryEmbedding",
                   "",
                   {input({1, 12, 128, 64}), weight({128, 32}), weight({128, 32}),
                    input({1, 128}, DType::kInt64, 0, 127)}});
  cases.push_back(
      {"LinearAttention",
       "",
       {input({1, 64, 256}), input({1, 64, 256}), input({1, 64, 256}), none(),
        input({1, 64, 4}, DType::kFloat, -1, 0), input({1, 64, 4}, DType::kFloat, 0, 1)},
       {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{4}}},
       2});
  cases.push_back({"ai.onnx.preview::FlexAttention", "", {heads, heads, heads}});
}

void add_reductions(std::vector<OpCase>& cases) {
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    const double low = op == std::string_view("ReduceLogSum") ? 0.5 : -1;
    cases.push_back({op, "rows", {input({256, 1024}, DType::kFloat, low, 1), int64s({-1})}});
    cases.push_back({op, "columns", {input({256, 1024}, DType::kFloat, low, 1), int64s({0})}});
    cases.push_back({op, "all", {input({256, 1024}, DType::kFloat, low, 1)}});
  }
  cases.push_back({"ReduceMean", "apart", {input({8, 64, 8, 64}), int64s({0, 2})}});
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceProd"})
    cases.push_back({op, "int64", {input({256, 1024}, DType::kInt64, 0, 3), int64s({-1})}});
  for (const char* op : {"ReduceMean", "ReduceSum"})
    cases.push_back({op, "float16", {input({256, 1024}, DType::kFloat16), int64s({-1})}});
  for (const char* op : {"ArgMax", "ArgMin"}) {
    cases.push_back({op, "rows", {input({256, 1024})}, {{"axis", int64_t{-1}}}});
    cases.push_back({op, "channels", {input({1, 21, 128, 128})}, {{"axis", int64_t{1}}}});
  }
  cases.push_back({"TopK", "10", {input({64, 4096}), int64s({10})}, {}, 2});
  cases.push_back({"TopK", "1000", {input({1, 65536}), int64s({1000})}, {}, 2});
  cases.push_back({"TopK", "300", {input({1, 8400}), int64s({300})}, {}, 2});
  cases.push_back({"TopK", "sort", {input({64, 1024}), int64s({1024})}, {}, 2});
  for (const char* op : {"CumSum", "CumProd"}) {
    cases.push_back({op, "rows", {input({256, 1024}), scalar<int64_t>(1)}});
    cases.push_back({op, "columns", {input({256, 1024}), scalar<int64_t>(0)}});
  }
  cases.push_back(
      {"CumSum", "int64", {input({256, 1024}, DType::kInt64, 0, 3), scalar<int64_t>(1)}});
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    cases.push_back({op, "rows", {input({256, 1024})}});
    cases.push_back({op, "channels", {input({1, 21, 128, 128})}, {{"axis", int64_t{1}}}});
  }
  for (const int64_t length : {2, 4, 10, 16, 32})
    cases.push_back({"Softmax", text("rows of ", length), {input({4096, length})}});
  cases.push_back({"LogSoftmax", "rows of 10", {input({4096, 10})}});
  cases.push_back({"Softmax", "float16", {input({256, 1024}, DType::kFloat16)}});
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    cases.push_back({op, "double", {input({256, 1024}, DType::kDouble)}});
    cases.push_back(
        {op, "double channels", {input({1, 21, 4096}, DType::kDouble)}, {{"axis", int64_t{1}}}});
  }
}

void add_losses(std::vector<OpCase>& cases) {
  const CaseOperand labels = input({256}, DType::kInt64, 0, 999);
  cases.push_back({"NegativeLogLikelihoodLoss", "", {input({256, 1000}), labels}});
  cases.push_back({"SoftmaxCrossEntropyLoss", "", {input({256, 1000}), labels}});
  for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"})
    cases.push_back({op, "", {given(Tensor::scalar<int64_t>(65536))}});
  cases.push_back({"DFT", "power of 2", {input({16, 1024, 1}), none(), scalar<int64_t>(1)}});
  cases.push_back({"DFT", "1000", {input({16, 1000, 1}), none(), scalar<int64_t>(1)}});
  cases.push_back({"STFT",
                   "",
                   {input({1, 16000, 1}), scalar<int64_t>(160), weight({400})},
                   {{"onesided", int64_t{1}}}});
  cases.push_back({"MelWeightMatrix",
                   "",
                   {given(Tensor::scalar<int64_t>(80)), scalar<int64_t>(400),
                    scalar<int64_t>(16000), scalar(0.f), scalar(8000.f)}});
}

}  // namespace

std::vector<OpCase> product_cases() {
  std::vector<OpCase> cases;
  add_products(cases);
  add_recurrent(cases);
  add_attention(cases);
  add_reductions(cases);
  add_losses(cases);
  return cases;
}

}  // namespace sardonyx::tool
