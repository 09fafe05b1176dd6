// Ops that make, move and choose elements.
#include "tools/onnx-run/op_cases/op_case.h"

namespace sardonyx::tool {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kEnd = INT64_MAX;

void add_generators(std::vector<OpCase>& cases) {
  cases.push_back({"ConstantOfShape", "", {given(Tensor::vector<int64_t>({256, 1024}))}});
  cases.push_back(
      {"Range",
       "",
       {scalar<int64_t>(0), given(Tensor::scalar<int64_t>(262144)), scalar<int64_t>(1)}});
  cases.push_back({"EyeLike", "", {input({512, 512})}});
  cases.push_back({"Bernoulli", "", {input({256, 1024}, DType::kFloat, 0, 1)}});
  cases.push_back({"RandomNormalLike", "", {input({256, 1024})}});
  cases.push_back({"RandomUniformLike", "", {input({256, 1024})}});
  cases.push_back({"RandomNormal", "", {}, {{"shape", Ints{256, 1024}}}});
  cases.push_back({"RandomUniform", "", {}, {{"shape", Ints{256, 1024}}}});
  cases.push_back({"Multinomial", "", {input({16, 1000})}, {{"sample_size", int64_t{100}}}});
}

void add_shapes(std::vector<OpCase>& cases) {
  const CaseOperand x = input({256, 1024});
  cases.push_back({"Shape", "", {x}});
  cases.push_back({"Size", "", {x}});
  cases.push_back({"Identity", "", {x}});
  cases.push_back({"Flatten", "", {input({1, 256, 1024})}});
  cases.push_back({"Reshape", "", {x, int64s({1024, 256})}});
  cases.push_back({"Squeeze", "", {input({1, 256, 1024}), int64s({0})}});
  cases.push_back({"Unsqueeze", "", {x, int64s({0})}});
  cases.push_back({"Transpose", "matrix", {x}});
  cases.push_back({"Transpose", "heads", {input({1, 128, 12, 64})}, {{"perm", Ints{0, 2, 1, 3}}}});
  cases.push_back(
      {"Transpose", "NCHW to NHWC", {input({1, 64, 56, 56})}, {{"perm", Ints{0, 2, 3, 1}}}});
  cases.push_back(
      {"Transpose", "NHWC to NCHW", {input({1, 56, 56, 64})}, {{"perm", Ints{0, 3, 1, 2}}}});
  cases.push_back({"Expand", "", {input({256, 1}), int64s({256, 1024})}});
  cases.push_back({"Tile", "", {input({64, 64}), int64s({8, 8})}});
}

void add_joins(std::vector<OpCase>& cases) {
  cases.push_back(
      {"Concat", "rows", {input({128, 1024}), input({128, 1024})}, {{"axis", int64_t{0}}}});
  cases.push_back(
      {"Concat", "columns", {input({256, 512}), input({256, 512})}, {{"axis", int64_t{1}}}});
  cases.push_back(
      {"Split", "", {input({256, 1024})}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{4}}}, 4});
  const auto slice = [&](const char* variant, Ints starts, Ints ends, Ints axes, Ints steps) {
    cases.push_back(
        {"Slice",
         variant,
         {input({256, 1024}), int64s(starts), int64s(ends), int64s(axes), int64s(steps)}});
  };
  slice("rows", {10}, {200}, {0}, {1});
  slice("columns", {10}, {900}, {1}, {1});
  slice("every second", {0}, {kEnd}, {1}, {2});
  slice("reversed", {-1}, {-kEnd}, {1}, {-1});
  const CaseOperand pads = int64s({0, 0, 1, 1, 0, 0, 1, 1});
  for (const char* mode : {"constant", "reflect", "edge", "wrap"})
    cases.push_back({"Pad", mode, {input({1, 64, 56, 56}), pads}, {{"mode", std::string(mode)}}});
  cases.push_back({"ReverseSequence", "", {input({128, 16, 256}), input({16}, kI64, 1, 128)}});
  cases.push_back({"TensorScatter",
                   "",
                   {input({1, 12, 256, 64}), input({1, 12, 1, 64}), input({1}, kI64, 0, 200)}});
  cases.push_back({"Trilu", "", {input({16, 256, 256})}});
}

void add_indexed(std::vector<OpCase>& cases) {
  cases.push_back({"Gather", "embedding", {weight({30000, 256}), input({1024}, kI64, 0, 29999)}});
  cases.push_back({"Gather",
                   "columns",
                   {input({256, 1024}), input({512}, kI64, 0, 1023)},
                   {{"axis", int64_t{1}}}});
  cases.push_back(
      {"Gather", "one", {input({1, 256, 768}), scalar<int64_t>(0)}, {{"axis", int64_t{1}}}});
  for (const int64_t axis : {0, 1}) {
    cases.push_back({"GatherElements",
                     axis ? "rows" : "columns",
                     {input({256, 1024}), input({256, 1024}, kI64, 0, 255)},
                     {{"axis", axis}}});
    cases.push_back({"ScatterElements",
                     axis ? "rows" : "columns",
                     {input({256, 1024}), input({256, 512}, kI64, 0, 255), input({256, 512})},
                     {{"axis", axis}}});
  }
  cases.push_back({"ScatterElements",
                   "add",
                   {input({256, 1024}), input({256, 512}, kI64, 0, 255), input({256, 512})},
                   {{"axis", int64_t{1}}, {"reduction", std::string("add")}}});
  cases.push_back({"GatherND", "rows", {input({256, 1024}), input({1000, 1}, kI64, 0, 255)}});
  cases.push_back({"GatherND", "elements", {input({256, 1024}), input({50000, 2}, kI64, 0, 255)}});
  cases.push_back({"ScatterND",
                   "rows",
                   {input({256, 1024}), input({128, 1}, kI64, 0, 255), input({128, 1024})}});
  cases.push_back({"ScatterND",
                   "elements",
                   {input({256, 1024}), input({50000, 2}, kI64, 0, 255), input({50000})}});
  cases.push_back(
      {"OneHot",
       "",
       {input({1024}, kI64, 0, 255), scalar<int64_t>(256), fixed(Tensor::vector<float>({0, 1}))}});
  cases.push_back({"Compress",
                   "",
                   {input({1024, 256}), input({1024}, DType::kBool, 0, 1)},
                   {{"axis", int64_t{0}}}});
  cases.push_back({"NonZero", "", {input({256, 1024}, DType::kBool, 0, 1)}});
  cases.push_back({"NonZero", "float", {input({256, 1024})}});
  cases.push_back({"Unique", "int64", {input({65536}, kI64, 0, 1000)}, {}, 4});
  cases.push_back({"Unique", "float", {input({65536})}, {}, 4});
  cases.push_back({"Unique", "rows", {input({4096, 4}, kI64, 0, 3)}, {{"axis", int64_t{0}}}, 4});
  cases.push_back({"NonMaxSuppression",
                   "",
                   {input({1, 2000, 4}, DType::kFloat, 0, 1),
                    input({1, 10, 2000}, DType::kFloat, 0, 1), int64s({100}),
                    fixed(Tensor::vector<float>({0.5f})), fixed(Tensor::vector<float>({0.3f}))}});
  cases.push_back({"NonMaxSuppression",
                   "classes",
                   {input({1, 8400, 4}, DType::kFloat, 0, 1),
                    input({1, 80, 8400}, DType::kFloat, 0, 1), int64s({300}),
                    fixed(Tensor::vector<float>({0.7f})), fixed(Tensor::vector<float>({0.95f}))}});
}

void add_texts(std::vector<OpCase>& cases) {
  const CaseOperand words = input({10000}, DType::kString, 0, 100);
  cases.push_back({"StringConcat", "", {words, words}});
  cases.push_back({"StringSplit", "", {words}, {{"delimiter", std::string(".")}}, 2});
  cases.push_back(
      {"StringNormalizer", "", {words}, {{"case_change_action", std::string("UPPER")}}});
  cases.push_back({"RegexFullMatch", "", {words}, {{"pattern", std::string("1.*\\.5.*")}}});
  cases.push_back({"TfIdfVectorizer",
                   "",
                   {input({64, 128}, kI64, 0, 99)},
                   {{"mode", std::string("TF")},
                    {"min_gram_length", int64_t{1}},
                    {"max_gram_length", int64_t{2}},
                    {"max_skip_count", int64_t{0}},
                    {"ngram_counts", Ints{0, 4}},
                    {"ngram_indexes", Ints{0, 1, 2, 3, 4, 5, 6}},
                    {"pool_int64s", Ints{2, 3, 5, 4, 5, 6, 7, 8, 6, 7}}}});
  const AttrMap rates{{"norm_coefficient", 0.001f}};
  const CaseOperand x = input({256, 1024}), rate = scalar(0.1f);
  const CaseOperand count = given(Tensor::scalar<int64_t>(3));
  const CaseOperand squares = input({256, 1024}, DType::kFloat, 0.1, 1);
  cases.push_back(
      {"ai.onnx.preview.training::Adagrad", "", {rate, count, x, x, squares}, rates, 2});
  cases.push_back(
      {"ai.onnx.preview.training::Adam", "", {rate, count, x, x, x, squares}, rates, 3});
  cases.push_back({"ai.onnx.preview.training::Momentum",
                   "",
                   {rate, count, x, x, x},
                   {{"alpha", 0.9f},
                    {"beta", 0.1f},
                    {"norm_coefficient", 0.f},
                    {"mode", std::string("standard")}},
                   2});
}

}  // namespace

std::vector<OpCase> arrange_cases() {
  std::vector<OpCase> cases;
  add_generators(cases);
  add_shapes(cases);
  add_joins(cases);
  add_indexed(cases);
  add_texts(cases);
  return cases;
}

}  // namespace sardonyx::tool
