#include "tests/support/larger_samples.h"

#include <algorithm>

#include "ir/ops/reference/samples.h"
#include "providers/cpu/kernel_list.h"
#include "providers/onednn/kernel_list.h"

namespace sardonyx::onednn {
namespace {

int64_t operator""_i(unsigned long long value) {
  return static_cast<int64_t>(value);
}
using Ints = std::vector<int64_t>;

// The inputs of a gradient in both directions, with sequences of several lengths.
std::vector<SampleInput> recurrent_gradient(int64_t gates, bool has_cell) {
  constexpr int64_t kSteps = 6, kBatch = 3, kWidth = 10, kHidden = 20;
  const Shape state{2, kBatch, kHidden};
  const int64_t rows = gates * kHidden;
  std::vector<SampleInput> inputs{{{kSteps, kBatch, kWidth}},
                                  {{2, rows, kWidth}, -0.3, 0.3},
                                  {{2, rows, kHidden}, -0.3, 0.3},
                                  {{2, 2 * rows}, -0.3, 0.3},
                                  {state}};
  if (has_cell) inputs.push_back({state});
  inputs.push_back({.value = Tensor::vector<int32_t>({4, 6, 0})});
  if (has_cell) inputs.push_back({.omitted = true});
  inputs.push_back({{kSteps, 2, kBatch, kHidden}});
  inputs.push_back({state});
  if (has_cell) inputs.push_back({state});
  return inputs;
}

// Shapes with whole blocks and tails of channels, several threads' worth of work.
std::vector<NamedSample> layer_samples() {
  const Ints pads{1, 1, 1, 1}, strides{2, 2};
  return {
      {"Conv",
       {{{{1, 3, 33, 31}}, {{32, 3, 7, 7}}, {{32}}},
        {{"strides", strides}, {"pads", Ints{3, 3, 3, 3}}}}},
      {"Conv", {{{{2, 32, 14, 14}}, {{64, 32, 3, 3}}, {{64}}}, {{"pads", pads}}}},
      {"Conv", {{{{1, 24, 15, 15}}, {{20, 24, 1, 1}}}, {{"strides", strides}}}},
      {"Conv", {{{{1, 24, 15, 15}}, {{24, 1, 3, 3}}, {{24}}}, {{"group", 24_i}, {"pads", pads}}}},
      {"Conv", {{{{1, 64, 9, 9}}, {{64, 16, 3, 3}}}, {{"group", 4_i}, {"dilations", Ints{2, 2}}}}},
      {"Conv",
       {{{{1, 12, 9, 9}}, {{6, 4, 3, 3}}},
        {{"group", 3_i}, {"auto_pad", std::string("SAME_LOWER")}}}},
      {"Conv",
       {{{{1, 24, 15, 15}}, {{24, 1, 3, 3}}, {{24}}},
        {{"group", 24_i}, {"pads", Ints{2, 2, 2, 2}}, {"dilations", Ints{2, 2}}}}},
      {"Conv", {{{{2, 17, 50}}, {{19, 17, 5}}, {{19}}}, {{"auto_pad", std::string("SAME_UPPER")}}}},
      {"Conv", {{{{1, 16, 6, 7, 8}}, {{16, 16, 3, 3, 3}}}, {{"pads", Ints{1, 1, 1, 1, 1, 1}}}}},
      {"ConvTranspose", {{{{1, 32, 8, 8}}, {{32, 16, 2, 2}}, {{16}}}, {{"strides", strides}}}},
      {"ConvTranspose", {{{{2, 24, 5, 7}}, {{24, 12, 2, 3}}, {{12}}}, {{"strides", Ints{2, 3}}}}},
      {"ConvTranspose", {{{{2, 16, 9}}, {{16, 8, 4}}, {{8}}}, {{"strides", Ints{4}}}}},
      {"ConvTranspose", {{{{2, 16, 3, 4, 5}}, {{16, 8, 2, 3, 2}}}, {{"strides", Ints{2, 3, 2}}}}},
      {"ConvTranspose",
       {{{{1, 8, 7, 7}}, {{8, 6, 3, 3}}},
        {{"strides", strides}, {"output_padding", Ints{1, 1}}, {"pads", pads}}}},
      {"ConvTranspose", {{{{1, 16, 9}}, {{16, 4, 4}}}, {{"group", 2_i}, {"dilations", Ints{2}}}}},
      {"sardonyx::ConvInputGrad",
       {{{{2, 32, 7, 7}}, {{32, 16, 3, 3}}, ops::given({2, 16, 14, 14})},
        {{"strides", strides}, {"pads", pads}}}},
      {"sardonyx::ConvInputGrad",
       {{{{1, 24, 9, 9}}, {{24, 1, 3, 3}}, ops::given({1, 24, 9, 9})},
        {{"group", 24_i}, {"pads", pads}}}},
      {"sardonyx::ConvInputGrad",
       {{{{1, 12, 10}}, {{12, 4, 3}}, ops::given({1, 8, 14})},
        {{"group", 2_i}, {"dilations", Ints{2}}}}},
      {"sardonyx::ConvWeightGrad",
       {{{{2, 32, 7, 7}}, {{2, 16, 14, 14}}, ops::given({32, 16, 3, 3})},
        {{"strides", strides}, {"pads", pads}}}},
      {"sardonyx::ConvWeightGrad",
       {{{{1, 24, 9, 9}}, {{1, 24, 9, 9}}, ops::given({24, 1, 3, 3})},
        {{"group", 24_i}, {"pads", pads}}}},
      {"sardonyx::ConvWeightGrad",
       {{{{1, 12, 10}}, {{1, 8, 14}}, ops::given({12, 4, 3})},
        {{"group", 2_i}, {"dilations", Ints{2}}}}},
      {"sardonyx::FusedConv",
       {{{{1, 32, 14, 14}}, {{32, 32, 3, 3}}, {{32}}, {{1, 32, 14, 14}}},
        {{"pads", pads}, {"activation", std::string("Relu")}}}},
      {"sardonyx::FusedConv", {{{{2, 20, 9, 9}}, {{28, 20, 1, 1}}, {{28}}, {{2, 28, 9, 9}}}}},
      // One column is computed as one row; weights have no name for that layout.
      {"sardonyx::FusedConv",
       {{{{1, 32, 20, 1}}, {{48, 32, 3, 1}}, {{48}}}, {{"pads", Ints{1, 0, 1, 0}}}}},
      {"sardonyx::FusedConv",
       {{{{1, 32, 20, 1}}, {{48, 16, 3, 1}}, {{48}}, {{1, 48, 18, 1}}}, {{"group", 2_i}}}},
      {"sardonyx::FusedConv",
       {{{{2, 24, 9, 9}}, {{24, 1, 3, 3}}, {{24}}},
        {{"group", 24_i},
         {"activation", std::string("Clip")},
         {"activation_params", std::vector{0.f, 6.f}}}}},
      {"sardonyx::FusedConv",
       {{{{1, 32, 9, 9}}, {{32, 8, 3, 3}}, {{32}}, {{1, 32, 7, 7}}},
        {{"group", 4_i}, {"activation", std::string("Gelu")}}}},
      {"sardonyx::FusedConvTranspose",
       {{{{1, 32, 8, 8}}, {{32, 16, 2, 2}}, {{16}}},
        {{"strides", strides}, {"activation", std::string("Relu")}}}},
      {"MatMul", {{{{64, 96}}, {{96, 80}}}}},
      {"MatMul", {{{{2, 3, 17, 33}}, {{2, 3, 33, 29}}}}},
      {"MatMul", {{{{2, 3, 17, 33}}, {{3, 33, 29}}}}},
      {"MatMul", {{{{2, 3, 17, 33}}, {{33, 29}}}}},
      {"MatMul", {{{{9, 7}}, {{4, 2, 7, 5}}}}},
      {"Gemm", {{{{65, 70}}, {{90, 70}}, {{90}}}, {{"transB", 1_i}}}},
      {"Gemm",
       {{{{70, 65}}, {{70, 90}}, {{1, 90}}}, {{"transA", 1_i}, {"alpha", 0.5f}, {"beta", 2.f}}}},
      {"Gemm", {{{{12, 512}}, {{100, 512}}, {{1, 100}}}, {{"transB", 1_i}, {"alpha", 2.f}}}},
      {"Gemm", {{{{16, 7}}, {{7, 5}}, {{16, 5}}}, {{"beta", -1.f}}}},
      {"Gemm", {{{{16, 7}}, {{7, 5}}, {{}}}}},
      {"Einsum", {{{{64, 96}}, {{80, 96}}}, {{"equation", std::string("ij,kj->ik")}}}},
      {"Einsum",
       {{{{3, 17, 4, 33}}, {{3, 29, 4, 33}}}, {{"equation", std::string("bqhd,bkhd->bhqk")}}}},
      {"Einsum", {{{{96, 64}}, {{96, 80}}}, {{"equation", std::string("ji,jk->ik")}}}},
      {"Einsum",
       {{{{40, 24}}, {{24, 30}}, {{30, 9}}}, {{"equation", std::string("ij,jk,kl->li")}}}},
      {"sardonyx::FusedMatMul",
       {{{{2, 40, 64}}, {{64, 48}}, {{48}}, {{2, 40, 48}}}, {{"activation", std::string("Relu")}}}},
      {"sardonyx::FusedMatMul",
       {{{{2, 4, 20, 16}}, {{2, 4, 24, 16}}}, {{"transB", 1_i}, {"alpha", 0.125f}}}},
      {"sardonyx::FusedMatMul",
       {{{{2, 20, 16}}, {{24, 20}}, {{24}}},
        {{"transA", 1_i}, {"transB", 1_i}, {"activation", std::string("Gelu")}}}},
      {"MaxPool",
       {{{{2, 40, 15, 15}}}, {{"kernel_shape", Ints{3, 3}}, {"strides", strides}, {"pads", pads}}}},
      {"MaxPool",
       {{{{1, 32, 12, 12}}},
        {{"kernel_shape", Ints{3, 3}}, {"strides", strides}, {"ceil_mode", 1_i}}}},
      {"AveragePool", {{{{2, 40, 15, 15}}}, {{"kernel_shape", Ints{3, 3}}, {"pads", pads}}}},
      {"AveragePool",
       {{{{2, 40, 15, 15}}},
        {{"kernel_shape", Ints{3, 3}}, {"pads", pads}, {"count_include_pad", 1_i}}}},
      {"AveragePool",
       {{{{1, 16, 12, 12}}},
        {{"kernel_shape", Ints{3, 3}}, {"strides", strides}, {"ceil_mode", 1_i}}}},
      {"GlobalAveragePool", {{{{2, 40, 7, 7}}}}},
      {"GlobalMaxPool", {{{{2, 40, 7, 7}}}}},
      {"LRN", {{{{1, 40, 9, 9}}}, {{"size", 5_i}, {"alpha", 1e-2f}}}},
      {"BatchNormalization", {{{{2, 40, 9, 9}}, {{40}}, {{40}}, {{40}}, {{40}, 0.1, 2}}}},
      {"BatchNormalization", {{{{2, 40, 19}}, {{40}}, {{40}}, {{40}}, {{40}, 0.1, 2}}}},
      {"BatchNormalization",
       {{{{2, 48, 9, 9}}, {{48}}, {{48}}, {{48}}, {{48}, 0.1, 2}}, {{"training_mode", 1_i}}, 3}},
      {"sardonyx::BatchNormalizationGrad",
       {{{{2, 48, 9, 9}}, {{2, 48, 9, 9}}, {{48}}}, {{"epsilon", 0.01f}}, 3}},
      {"sardonyx::ReluGrad", {{{{2, 40, 9, 9}}, {{2, 40, 9, 9}}}}},
      {"sardonyx::MaxPoolGrad",
       {{{{2, 32, 8, 8}}, {{2, 32, 15, 15}}},
        {{"kernel_shape", Ints{3, 3}}, {"strides", strides}, {"pads", pads}}}},
      {"sardonyx::MaxPoolGrad",
       {{{{2, 6, 14, 14}}, {{2, 6, 28, 28}}},
        {{"kernel_shape", Ints{2, 2}}, {"strides", strides}}}},
      {"sardonyx::MaxPoolGrad",
       {{{{2, 32, 7, 7}}, {{2, 32, 15, 14}}},
        {{"kernel_shape", Ints{2, 2}}, {"strides", strides}}}},
      {"sardonyx::AveragePoolGrad",
       {{{{2, 32, 15, 15}}, ops::given({2, 32, 15, 15})},
        {{"kernel_shape", Ints{3, 3}}, {"pads", pads}}}},
      {"sardonyx::ConvInputGrad",
       {{{{2, 32, 14, 14}}, {{32, 48, 3, 3}}, ops::given({2, 48, 14, 14})}, {{"pads", pads}}}},
      {"sardonyx::ConvWeightGrad",
       {{{{2, 32, 14, 14}}, {{2, 48, 14, 14}}, ops::given({32, 48, 3, 3})}, {{"pads", pads}}}},
      {"sardonyx::RnnGrad",
       {recurrent_gradient(1, false),
        {{"activations", std::vector<std::string>{"Relu", "Relu"}},
         {"direction", std::string("bidirectional")}},
        5}},
      {"sardonyx::GruGrad",
       {recurrent_gradient(3, false),
        {{"linear_before_reset", 1_i}, {"direction", std::string("bidirectional")}},
        5}},
      {"sardonyx::LstmGrad",
       {recurrent_gradient(4, true), {{"direction", std::string("bidirectional")}}, 6}},
      {"LayerNormalization", {{{{30, 33, 70}}, {{70}}, {{70}}}}},
      {"LayerNormalization", {{{{999, 11, 7}}, {{11, 7}}}, {{"axis", int64_t{-2}}}}},
      {"Resize",
       {{{{2, 40, 5, 6}},
         {.omitted = true},
         {.value = Tensor::vector(std::vector<float>{1, 1, 2, 2})}},
        {{"nearest_mode", std::string("floor")},
         {"coordinate_transformation_mode", std::string("asymmetric")}}}},
      {"Resize",
       {{{{1, 32, 5, 6}},
         {.omitted = true},
         {.value = Tensor::vector(std::vector<float>{1, 1, 3, 2})}},
        {{"mode", std::string("linear")}}}},
      {"Resize",
       {{{{1, 32, 5, 6}},
         {.omitted = true},
         {.omitted = true},
         {.value = Tensor::vector(std::vector<int64_t>{1, 32, 7, 4})}},
        {{"mode", std::string("linear")}}}},
      {"Resize",
       {{{{2, 40, 1, 1}}, {.omitted = true}, {.omitted = true}, ops::given({2, 40, 9, 7})},
        {{"mode", std::string("linear")}}}},
      {"Concat", {{{{2, 32, 9, 9}}, {{2, 16, 9, 9}}}, {{"axis", 1_i}}}},
      {"Concat", {{{{2, 32, 9, 9}}, {{2, 32, 4, 9}}}, {{"axis", int64_t{-2}}}}},
      {"Split", {{{{2, 48, 9, 7}}, ops::given({16, 32})}, {{"axis", 1_i}}, 2}},
      {"Split", {{{{2, 40, 9, 7}}, ops::given({13, 27})}, {{"axis", 1_i}}, 2}},
      {"Split", {{{{2, 32, 9, 7}}, ops::given({3, 6})}, {{"axis", 2_i}}, 2}},
      {"Slice", {{{{2, 48, 9, 7}}, ops::given({16}), ops::given({48}), ops::given({1})}}},
      {"Slice",
       {{{{2, 40, 9, 7}}, ops::given({39}), ops::given({3}), ops::given({1}), ops::given({-2})}}},
      {"Slice",
       {{{{2, 32, 9, 7}},
         ops::given({1, 6}),
         ops::given({9, -99}),
         ops::given({2, 3}),
         ops::given({3, -1})}}},
      {"Transpose", {{{{2, 19, 9, 7}}}, {{"perm", Ints{0, 2, 3, 1}}}}},
      {"Transpose", {{{{2, 9, 7, 32}}}, {{"perm", Ints{0, 3, 1, 2}}}}},
      {"Transpose", {{{{2, 32, 9, 7}}}, {{"perm", Ints{1, 0, 3, 2}}}}},
      {"Transpose", {{{{2, 19, 40}}}, {{"perm", Ints{0, 2, 1}}}}},
      {"Transpose", {{{{2, 4, 5, 6, 16}}}, {{"perm", Ints{0, 4, 1, 2, 3}}}}},
      {"Transpose", {{{{1, 5, 1, 16}}}, {{"perm", Ints{0, 3, 1, 2}}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 34, 9, 7}}}, {{"groups", 2_i}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 51, 9, 7}}}, {{"groups", 3_i}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 136, 9, 7}}}, {{"groups", 4_i}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 24, 9, 7}}}, {{"groups", 4_i}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 48, 50}}}, {{"groups", 8_i}}}},
  };
}

// Relu(x * a + b), with operands for each channel.
std::vector<NamedSample> grouped_samples() {
  using Names = std::vector<std::string>;
  const AttrMap chain{{"ops", Names{"Mul", "Add", "Relu"}},
                      {"operands", Ints{0, 1, 3, 2, 4}},
                      {"params", std::vector<float>{}},
                      {"results", Ints{5}}};
  const std::vector<std::vector<SampleInput>> inputs = {
      {{{2, 32, 5, 5}}, {{32, 1, 1}}, {{1, 32, 1, 1}}},
      {{{2, 32, 5, 5}}, {{2, 32, 1, 1}}, {{}}},
      {{{2, 32, 5, 5}}, {{2, 32, 5, 5}}, {{32, 1, 1}}},
      {{{2, 20, 3, 5}}, {{20, 1, 1}}, {{2, 20, 1, 1}}},
      {{{1, 16, 2, 3, 4}}, {{16, 1, 1, 1}}, {{1, 16, 1, 1, 1}}},
      {{{3, 16, 7}}, {{16, 1}}, {{3, 16, 7}}},
  };
  std::vector<NamedSample> samples;
  for (const auto& given : inputs)
    samples.push_back({"sardonyx::FusedElementwise", {given, chain}});
  return samples;
}

// The first sample of the op that is one of floats of one shape, with `shape` in its place.
std::optional<Sample> with_shape(const OpDef& op, const Shape& shape) {
  for (Sample sample : op.samples()) {
    const Shape& first = sample.inputs[0].shape;
    const bool is_whole = std::ranges::all_of(sample.inputs, [&](const SampleInput& input) {
      return !input.omitted && !input.value && input.dtype == DType::kUndefined &&
             input.shape == first;
    });
    if (!is_whole || !sample.only.has(DType::kFloat)) continue;
    for (SampleInput& input : sample.inputs)
      input.shape = shape;
    return sample;
  }
  return std::nullopt;
}

// Elementwise ops on a tensor of blocks that are not all full.
std::vector<NamedSample> elementwise_samples() {
  const Shape shape{2, 40, 5, 5};
  std::vector<NamedSample> samples;
  for (const char* op : {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "HardSigmoid", "HardSwish",
                         "Swish", "Gelu", "Abs", "Exp", "Neg", "Mish"}) {
    samples.push_back({op, {{{shape, -6, 6}}}});
  }
  samples.push_back({"Gelu", {{{shape}}, {{"approximate", std::string("tanh")}}}});
  samples.push_back({"Sqrt", {{{shape, 0, 4}}}});
  samples.push_back({"Clip", {{{shape, -6, 6}, {{}, -1, -1}, {{}, 2, 2}}}});
  for (const char* op : {"Add", "Sub", "Mul", "Max", "Min", "Sum"}) {
    samples.push_back({op, {{{shape}, {shape}}}});
    samples.push_back({op, {{{shape}, {{40, 1, 1}}}}});
    samples.push_back({op, {{{shape}, {{2, 40, 1, 1}}}}});
    samples.push_back({op, {{{shape}, {{}}}}});
    samples.push_back({op, {{{{2, 32, 5, 5}}, {{2, 1, 5, 5}}}}});
  }
  samples.push_back({"Div", {{{{2, 32, 5, 5}}, {{2, 32, 5, 5}, 1, 2}}}});
  samples.push_back({"Div", {{{{2, 32, 5, 5}}, {{32, 1, 1}, 1, 2}}}});
  for (const KernelEntry& entry : cpu::elementwise_in_layout_kernels()) {
    const OpDef& op = op_named(entry.op);
    const bool is_known = std::ranges::find(samples, entry.op, &NamedSample::op) != samples.end();
    if (is_known || !op.types.begin()->types.tensors.has(DType::kFloat)) continue;
    if (auto sample = with_shape(op, {2, 32, 5, 5}))
      samples.push_back({entry.op.data(), std::move(*sample)});
  }
  for (const KernelEntry& entry : cpu::reduce_in_layout_kernels()) {
    const bool has_axes = signature_of(op_named(entry.op)).inputs.size() > 1;
    for (const int64_t channels : {40, 32}) {
      Sample sample{{{{2, channels, 5, 5}}}};
      if (has_axes) sample.inputs.push_back(ops::given({2, 3}));
      samples.push_back({entry.op.data(), std::move(sample)});
    }
  }
  return samples;
}

}  // namespace

std::vector<NamedSample> larger_samples() {
  std::vector<NamedSample> samples = layer_samples();
  for (const auto& more : {elementwise_samples(), grouped_samples()})
    samples.insert(samples.end(), more.begin(), more.end());
  return samples;
}

}  // namespace sardonyx::onednn
