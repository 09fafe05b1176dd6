// Every kernel of the provider against the reference, on the samples of its row and on larger
// shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <thread>

#include "ir/convert.h"
#include "ir/evaluate.h"
#include "providers/onednn/entries.h"
#include "providers/onednn/kernel_run.h"

namespace sardonyx::onednn {
namespace {

Tensor random_floats(const Shape& shape, double low, double high, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(static_cast<float>(low), static_cast<float>(high));
  for (float& value : tensor.mutable_values<float>())
    value = uniform(generator);
  return tensor;
}

std::vector<Tensor> inputs_of(const Sample& sample) {
  std::vector<Tensor> inputs;
  for (const SampleInput& input : sample.inputs) {
    const auto seed = static_cast<uint32_t>(inputs.size() + 1);
    if (input.omitted)
      inputs.emplace_back();
    else if (input.value)
      inputs.push_back(*input.value);
    else
      inputs.push_back(random_floats(input.shape, input.low, input.high, seed));
  }
  return inputs;
}

// Integer products have tests of their own.
bool takes_float(const KernelEntry& entry) {
  const OpDef& op = op_named(entry.op);
  for (const TypeConstraint& constraint : op.types) {
    if (constraint.name == signature_of(op).inputs[0].type) {
      return constraint.types.tensors.has(DType::kFloat);
    }
  }
  return false;
}

// Is it a sample whose first input may be float32, and the others too where their type is open?
bool is_float_sample(const Sample& sample) {
  if (!sample.only.has(DType::kFloat)) return false;
  for (const SampleInput& input : sample.inputs) {
    if (!input.value && input.dtype != DType::kUndefined && input.dtype != DType::kFloat) {
      return false;
    }
  }
  const SampleInput& first = sample.inputs[0];
  return !first.value || first.value->dtype() == DType::kFloat;
}

struct Case {
  const OpDef& op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
};

Case make_case(const std::string& op_name, const Sample& sample) {
  const OpDef& op = op_named(op_name);
  Case made{op, Attrs::parse(*op.attrs, sample.attrs), inputs_of(sample), {}};
  std::vector<Datum> data;
  for (const Tensor& input : made.inputs) {
    data.emplace_back();
    if (input) data.back() = Datum(input);
  }
  for (const Datum& output : evaluate(op, made.attrs, data, sample.outputs)) {
    made.expected.push_back(output.tensor());
  }
  return made;
}

void expect_near_reference(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  const auto a = got.values<float>(), b = expected.values<float>();
  float largest = 0;
  for (const float value : b)
    largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0.f);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    ASSERT_NEAR(a[i], b[i], 2e-5f * std::abs(b[i]) + 5e-6f * largest + 1e-6f) << "element " << i;
  }
}

std::vector<Type> types_of(const std::vector<Tensor>& tensors) {
  std::vector<Type> types;
  for (const Tensor& tensor : tensors) {
    types.push_back(Type::tensor(tensor.dtype(), to_dims(tensor.shape())));
  }
  return types;
}

// Runs one case in one way; false where it was refused.
bool check(const Case& c, const RunOptions& options) {
  std::optional<PreparedRun> run;
  try {
    run.emplace(c.op, c.attrs, c.inputs, types_of(c.expected), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
    return false;
  }
  SCOPED_TRACE(text(full_name(c.op), " by ", run->prepared().implementation, ", threads ",
                    options.threads, ", layouts ", options.layouts, ", constants ",
                    options.constants, ", incoming ", options.incoming.size(), ", overwrite ",
                    options.overwrite.has_value()));
  run->run();
  if (!run->aliased()) run->run();  // a second time, with its memory objects in use
  const std::vector<Tensor> got = run->outputs();
  for (size_t i = 0; i < got.size(); ++i)
    expect_near_reference(got[i], c.expected[i]);
  return true;
}

// All ways to run a case; the number of those that were accepted.
int check_all_ways(const Case& c) {
  std::vector<LayoutPtr> blocked, channels_last;
  for (const Tensor& input : c.inputs) {
    blocked.push_back(blocked_layout(input.shape()));
    channels_last.push_back(channels_last_layout(input.shape()));
  }
  const std::vector<LayoutPtr> first_blocked{blocked[0]}, first_channels_last{channels_last[0]};
  int accepted = 0;
  for (const int threads : {1, 2}) {
    for (const uint32_t constants : {0u, ~1u, 0b1110u}) {
      if (threads > 1 && constants != 0b1110u) continue;
      accepted += check(c, {threads, false, constants, {}, {}});
      accepted += check(c, {threads, true, constants, {}, {}});
      accepted += check(c, {threads, true, constants, first_blocked, {}});
      accepted += check(c, {threads, true, constants, first_channels_last, {}});
      if (constants == 0) accepted += check(c, {threads, true, 0, blocked, {}});
      if (constants == 0) accepted += check(c, {threads, true, 0, channels_last, {}});
    }
  }
  for (size_t input = 0; input < c.inputs.size(); ++input) {
    accepted += check(c, {1, true, 0, first_blocked, input});
    accepted += check(c, {1, true, 0, first_channels_last, input});
    accepted += check(c, {1, true, 0, {}, input});
  }
  return accepted;
}

TEST(OnednnKernels, AgreeWithTheReferenceOnSamples) {
  for (const KernelEntry& entry : onednn_provider().kernels) {
    if (!takes_float(entry)) continue;
    for (const Sample& sample : op_named(entry.op).samples()) {
      if (!is_float_sample(sample)) continue;
      check_all_ways(make_case(std::string(entry.op), sample));
      if (HasFatalFailure()) return;
    }
  }
}

struct NamedSample {
  const char* op;
  Sample sample;
};

int64_t operator""_i(unsigned long long value) {
  return static_cast<int64_t>(value);
}
using Ints = std::vector<int64_t>;

SampleInput sizes(const Shape& shape) {
  return {.value = Tensor::vector(shape)};
}

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
std::vector<NamedSample> larger_samples() {
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
      {"ConvTranspose",
       {{{{1, 8, 7, 7}}, {{8, 6, 3, 3}}},
        {{"strides", strides}, {"output_padding", Ints{1, 1}}, {"pads", pads}}}},
      {"ConvTranspose", {{{{1, 16, 9}}, {{16, 4, 4}}}, {{"group", 2_i}, {"dilations", Ints{2}}}}},
      {"sardonyx::ConvInputGrad",
       {{{{2, 32, 7, 7}}, {{32, 16, 3, 3}}, sizes({2, 16, 14, 14})},
        {{"strides", strides}, {"pads", pads}}}},
      {"sardonyx::ConvInputGrad",
       {{{{1, 24, 9, 9}}, {{24, 1, 3, 3}}, sizes({1, 24, 9, 9})},
        {{"group", 24_i}, {"pads", pads}}}},
      {"sardonyx::ConvInputGrad",
       {{{{1, 12, 10}}, {{12, 4, 3}}, sizes({1, 8, 14})},
        {{"group", 2_i}, {"dilations", Ints{2}}}}},
      {"sardonyx::ConvWeightGrad",
       {{{{2, 32, 7, 7}}, {{2, 16, 14, 14}}, sizes({32, 16, 3, 3})},
        {{"strides", strides}, {"pads", pads}}}},
      {"sardonyx::ConvWeightGrad",
       {{{{1, 24, 9, 9}}, {{1, 24, 9, 9}}, sizes({24, 1, 3, 3})},
        {{"group", 24_i}, {"pads", pads}}}},
      {"sardonyx::ConvWeightGrad",
       {{{{1, 12, 10}}, {{1, 8, 14}}, sizes({12, 4, 3})},
        {{"group", 2_i}, {"dilations", Ints{2}}}}},
      {"sardonyx::FusedConv",
       {{{{1, 32, 14, 14}}, {{32, 32, 3, 3}}, {{32}}, {{1, 32, 14, 14}}},
        {{"pads", pads}, {"activation", std::string("Relu")}}}},
      {"sardonyx::FusedConv", {{{{2, 20, 9, 9}}, {{28, 20, 1, 1}}, {{28}}, {{2, 28, 9, 9}}}}},
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
       {{{{2, 32, 15, 15}}, sizes({2, 32, 15, 15})},
        {{"kernel_shape", Ints{3, 3}}, {"pads", pads}}}},
      {"sardonyx::ConvInputGrad",
       {{{{2, 32, 14, 14}}, {{32, 48, 3, 3}}, sizes({2, 48, 14, 14})}, {{"pads", pads}}}},
      {"sardonyx::ConvWeightGrad",
       {{{{2, 32, 14, 14}}, {{2, 48, 14, 14}}, sizes({32, 48, 3, 3})}, {{"pads", pads}}}},
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
      // Larger weights blow the rounding of one step up in the next ones.
      {"RNN", {{{{7, 13, 10}}, {{1, 20, 10}}, {{1, 20, 20}, -0.3, 0.3}, {{1, 40}}}, {}, 2}},
      {"RNN",
       {{{{7, 13, 10}}, {{2, 20, 10}}, {{2, 20, 20}, -0.3, 0.3}},
        {{"direction", std::string("bidirectional")},
         {"activations", std::vector<std::string>{"Relu", "Relu"}}},
        2}},
      {"GRU",
       {{{{7, 15, 10}}, {{1, 60, 10}}, {{1, 60, 20}}, {{1, 120}}},
        {{"direction", std::string("reverse")}},
        2}},
      {"GRU",
       {{{{7, 15, 10}}, {{2, 60, 10}}, {{2, 60, 20}}, {{2, 120}}, {.omitted = true}, {{2, 15, 20}}},
        {{"direction", std::string("bidirectional")}, {"linear_before_reset", 1_i}},
        2}},
      {"LSTM", {{{{7, 15, 10}}, {{1, 80, 10}}, {{1, 80, 20}}, {{1, 160}}}, {}, 3}},
      {"LSTM",
       {{{{7, 14, 10}},
         {{2, 80, 10}},
         {{2, 80, 20}},
         {{2, 160}},
         {.omitted = true},
         {{2, 14, 20}},
         {{2, 14, 20}}},
        {{"direction", std::string("bidirectional")}},
        3}},
      {"LSTM",
       {{{{5, 16, 33}},
         {{1, 68, 33}},
         {{1, 68, 17}},
         {.omitted = true},
         {.omitted = true},
         {.omitted = true},
         {{1, 16, 17}}},
        {{"direction", std::string("reverse")}},
        3}},
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
      {"LogSoftmax", {{{{4, 9, 100}, -8, 8}}}},
      {"Resize",
       {{{{2, 40, 1, 1}}, {.omitted = true}, {.omitted = true}, sizes({2, 40, 9, 7})},
        {{"mode", std::string("linear")}}}},
      {"Concat", {{{{2, 32, 9, 9}}, {{2, 16, 9, 9}}}, {{"axis", 1_i}}}},
      {"Concat", {{{{2, 32, 9, 9}}, {{2, 32, 4, 9}}}, {{"axis", int64_t{-2}}}}},
      {"Split", {{{{2, 48, 9, 7}}, sizes({16, 32})}, {{"axis", 1_i}}, 2}},
      {"Split", {{{{2, 40, 9, 7}}, sizes({13, 27})}, {{"axis", 1_i}}, 2}},
      {"Split", {{{{2, 32, 9, 7}}, sizes({3, 6})}, {{"axis", 2_i}}, 2}},
      {"Slice", {{{{2, 48, 9, 7}}, sizes({16}), sizes({48}), sizes({1})}}},
      {"Slice", {{{{2, 40, 9, 7}}, sizes({39}), sizes({3}), sizes({1}), sizes({-2})}}},
      {"Slice", {{{{2, 32, 9, 7}}, sizes({1, 6}), sizes({9, -99}), sizes({2, 3}), sizes({3, -1})}}},
      {"sardonyx::ChannelShuffle", {{{{2, 34, 9, 7}}}, {{"groups", 2_i}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 51, 9, 7}}}, {{"groups", 3_i}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 136, 9, 7}}}, {{"groups", 4_i}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 24, 9, 7}}}, {{"groups", 4_i}}}},
      {"sardonyx::ChannelShuffle", {{{{2, 48, 50}}}, {{"groups", 8_i}}}},
  };
}

// Elementwise ops on a tensor of blocks that are not all full.
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
    samples.push_back({"sardonyx::ElementwiseGroup", {given, chain}});
  return samples;
}

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
  for (const KernelEntry& entry : reduce_kernels())
    samples.push_back({entry.op.data(), {{{shape}, {.value = Tensor::vector<int64_t>({2, 3})}}}});
  return samples;
}

TEST(OnednnKernels, AgreeWithTheReferenceOnLargerShapes) {
  std::set<std::string> accepted;
  std::vector<NamedSample> samples = larger_samples();
  for (const auto& more : {elementwise_samples(), grouped_samples()})
    samples.insert(samples.end(), more.begin(), more.end());
  for (const NamedSample& named : samples) {
    SCOPED_TRACE(text(named.op, " ", to_text(named.sample.inputs[0].shape)));
    EXPECT_GT(check_all_ways(make_case(named.op, named.sample)), 0) << "refused in every way";
    if (HasFatalFailure()) return;
    accepted.insert(named.op);
  }
  for (const KernelEntry& entry : onednn_provider().kernels) {
    if (!takes_float(entry) || entry.op == "Cast") continue;  // Cast: see below
    EXPECT_TRUE(accepted.contains(std::string(entry.op))) << entry.op << " is not tested";
  }
}

// oneDNN has reference implementations alone for these, which are slower than ours, or computes for
// long; and nothing ends it.
TEST(OnednnKernels, LeaveWhatOnednnHasNoFastFormFor) {
  const NamedSample samples[] = {
      {"Gemm", {{{{70, 65}}, {{65, 90}}, {{70, 1}}}}},
      {"MaxPool", {{{{1, 16, 12, 12}}}, {{"kernel_shape", Ints{3, 3}}, {"dilations", Ints{2, 2}}}}},
      {"MaxPool", {{{{1, 1, 2048, 2048}}}, {{"kernel_shape", Ints{1024, 1024}}}}},
      {"Conv", {{{{1, 1, 1024, 1024}}, {{1, 1, 512, 512}}}}},
      {"ConvTranspose", {{{{1, 1, 512, 512}}, {{1, 1, 512, 512}}}}},
      {"LRN", {{{{1, 2048, 64, 64}}}, {{"size", 2047_i}}}},
  };
  for (const NamedSample& named : samples) {
    const OpDef& op = op_named(named.op);
    const Attrs attrs = Attrs::parse(*op.attrs, named.sample.attrs);
    std::vector<InferInput> given;
    std::vector<KernelTensor> inputs, outputs;
    for (const SampleInput& input : named.sample.inputs) {
      given.push_back({Type::tensor(DType::kFloat, to_dims(input.shape))});
      inputs.push_back({DType::kFloat, input.shape});
    }
    for (const InferOutput& output :
         infer(op, attrs, given, given.size(), 1, [] { return Dim::symbol("unknown"); }))
      outputs.push_back({DType::kFloat, output.type.known_shape().value()});
    const Provider* const providers[] = {&onednn_provider()};
    EXPECT_EQ(prepare_kernel(providers, {op, attrs, inputs, outputs}).implementation, "reference");
  }
}

// The same case on bfloat16 values, with what the reference makes of them.
Case narrowed(const Case& c) {
  Case narrow{c.op, c.attrs, {}, {}};
  std::vector<Datum> data;
  for (const Tensor& input : c.inputs) {
    Tensor made = input;
    if (input && input.dtype() == DType::kFloat) {
      made = Tensor::allocate(DType::kBFloat16, input.shape());
      store_numbers(DType::kBFloat16, made.raw(), 0, made.count(), input.to_doubles().data());
    }
    narrow.inputs.push_back(made);
    data.push_back(made ? Datum(made) : Datum());
  }
  for (const Datum& output : evaluate(c.op, c.attrs, data, c.expected.size()))
    narrow.expected.push_back(output.tensor());
  return narrow;
}

// Both sides round to bfloat16 once, from sums whose terms are added in different orders.
void expect_close_narrow(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  double largest = 0;
  for (const double value : b)
    largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], std::fabs(b[i]) / 64 + largest / 256) << "element " << i;
}

bool check_narrow(const Case& c, const RunOptions& options) {
  std::optional<PreparedRun> run;
  try {
    run.emplace(c.op, c.attrs, c.inputs, types_of(c.expected), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
    return false;
  }
  run->run();
  const std::vector<Tensor> got = run->outputs();
  for (size_t i = 0; i < got.size(); ++i)
    expect_close_narrow(got[i], c.expected[i]);
  return true;
}

TEST(OnednnKernels, ComputeInBFloat16WhereItIsChosen) {
  if (!onednn_computes_bfloat16()) GTEST_SKIP() << "this CPU has no bfloat16 instructions";
  std::set<std::string> accepted;
  std::vector<NamedSample> samples = larger_samples();
  for (NamedSample& named : elementwise_samples())
    samples.push_back(std::move(named));
  for (const DType to : {DType::kFloat, DType::kBFloat16})
    samples.push_back({"Cast", {{{{2, 40, 5, 5}}}, {{"to", static_cast<int64_t>(to)}}}});
  for (const NamedSample& named : samples) {
    const std::string_view op = named.op;
    if (op.ends_with("Grad") || op == "Resize") continue;  // have inputs that stay float32
    SCOPED_TRACE(text(named.op, " ", to_text(named.sample.inputs[0].shape)));
    const Case c = narrowed(make_case(named.op, named.sample));
    for (const bool layouts : {false, true}) {
      for (const uint32_t constants : {0u, 0b1110u}) {
        const RunOptions options{1, layouts, constants, {}, {}, Precision::kBFloat16};
        if (check_narrow(c, options)) accepted.insert(named.op);
        if (HasFatalFailure()) return;
      }
    }
    // Not where nobody chose it.
    EXPECT_FALSE(check_narrow(c, {1, true, 0, {}, {}}));
  }
  for (const char* op : {"Conv", "ConvTranspose", "MatMul", "Gemm", "sardonyx::FusedConv",
                         "sardonyx::FusedConvTranspose", "sardonyx::FusedMatMul", "MaxPool",
                         "AveragePool", "GlobalAveragePool", "Relu", "Add", "Cast"})
    EXPECT_TRUE(accepted.contains(op)) << op;
}

TEST(OnednnKernels, RunFromManyThreadsAtOnce) {
  const Case c = make_case("sardonyx::FusedConv", {{{{1, 24, 9, 9}}, {{20, 24, 3, 3}}, {{20}}},
                                                   {{"activation", std::string("Relu")}}});
  PreparedRun shared(c.op, c.attrs, c.inputs, types_of(c.expected), {});
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (Tensor& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        result = shared.run_apart(c.inputs)[0];
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const Tensor& result : results)
    expect_near_reference(result, c.expected[0]);
}

TEST(OnednnKernels, ResidualsThatAreOnlyReadTakeNoSlowFallback) {
  const Case c = make_case("sardonyx::FusedConv",
                           {{{{1, 64, 8, 8}}, {{64, 64, 1, 1}}, {{64}}, {{1, 64, 8, 8}}},
                            {{"activation", std::string("Relu")}}});
  for (const bool layouts : {false, true}) {
    const PreparedRun run(c.op, c.attrs, c.inputs, types_of(c.expected),
                          {1, layouts, 0b110, {}, {}});
    EXPECT_FALSE(run.prepared().implementation.starts_with("ref"));
  }
}

TEST(OnednnReorder, BackAndForth) {
  for (const Shape& shape : {Shape{2, 40, 5, 5}, Shape{1, 3, 7}, Shape{1, 16, 2, 3, 4}}) {
    const LayoutPtr blocked = blocked_layout(shape);
    ASSERT_NE(blocked, nullptr);
    const Tensor values = random_floats(shape, -1, 1, 5);
    const auto there = with_layout(values.raw(), DType::kFloat, shape, nullptr, blocked, 2);
    const auto back = with_layout(there->data(), DType::kFloat, shape, blocked, nullptr, 1);
    EXPECT_EQ(Tensor(DType::kFloat, shape, back), values);
  }
}

TEST(OnednnLayout, RowMajorInDisguiseIsPlain) {
  using Tag = memory::format_tag;
  const auto layout = [](const Extents& dims, Tag tag) {
    return layout_of(Desc(dims, memory::data_type::f32, tag));
  };
  EXPECT_EQ(layout({3, 32, 1, 1}, Tag::aBcd16b), nullptr);
  EXPECT_EQ(layout({3, 32, 1, 1}, Tag::acdb), nullptr);
  EXPECT_NE(layout({3, 24, 1, 1}, Tag::aBcd16b), nullptr);  // padded
  EXPECT_NE(layout({3, 32, 2, 1}, Tag::aBcd16b), nullptr);
  EXPECT_EQ(layout({3, 32, 2, 1}, Tag::aBcd16b)->text(), "aBcd16b");
}

}  // namespace
}  // namespace sardonyx::onednn
