// Every portable kernel against the reference, over the samples of its row; and what samples do not
// reach.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/provider.h"

namespace sardonyx {
namespace {

KernelTensor described(const Datum& datum, bool constant) {
  if (!datum.defined()) return {};
  const Tensor& tensor = datum.tensor();
  return {tensor.dtype(), tensor.shape(), nullptr, constant ? &tensor : nullptr};
}

// What the kernel makes; empty where it refuses. All inputs but the first are constants, unless
// they come with the run.
std::vector<Datum> run_kernel(const KernelEntry& entry, const OpDef& op, const Attrs& attrs,
                              const std::vector<Datum>& inputs, const std::vector<Datum>& expected,
                              int threads, bool come_with_the_run = false) {
  std::vector<KernelTensor> in, out;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.push_back(described(inputs[i], i > 0 && !come_with_the_run));
  for (const Datum& output : expected)
    out.push_back(described(output, false));
  KernelRequest request{op, attrs, in, out};
  request.threads = threads;
  std::vector<KernelAttempt> noted;
  request.attempts = &noted;
  const Prepared prepared = entry.prepare(request);
  for (const KernelAttempt& each : noted) {
    EXPECT_NE(std::ranges::find(entry.inner, each.name, &InnerKernel::name), entry.inner.end())
        << entry.op << " asks " << each.name << ", which its entry does not name";
  }
  EXPECT_NE(prepared.kernel == nullptr, prepared.refusal.empty());
  if (!prepared.kernel) return {};
  std::vector<Datum> made;
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_read = inputs[i].defined() && !(prepared.unread_inputs >> i & 1u);
    sources.push_back(is_read ? inputs[i].tensor().raw() : nullptr);
  }
  for (const Datum& output : expected) {
    made.emplace_back(Tensor::allocate(output.tensor().dtype(), output.tensor().shape()));
    targets.push_back(made.back().tensor().raw());
  }
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  prepared.kernel->run({sources.data(), targets.data(), scratch->data()});
  return made;
}

// Within a few units in the last place of float, for recurrences of the sizes here. What sums of
// many terms lose to rounding is of the size of the terms, however small the sum is: so a few units
// of the largest sum are granted as well. The reference may round to bfloat16 where a kernel goes
// on with sums of float.
void expect_close(const Tensor& got, const Tensor& expected) {
  if (!kNumbers.has(got.dtype())) {
    EXPECT_TRUE(got == expected);
    return;
  }
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (const double value : b)
    largest = std::max(largest, std::isfinite(value) ? std::fabs(value) : 0);
  const bool is_narrow = got.dtype() == DType::kBFloat16;
  const double relative = is_narrow ? 1. / 64 : 2e-6, of_largest = is_narrow ? 1. / 256 : 2e-7;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      EXPECT_TRUE(std::isnan(a[i])) << i << ": " << a[i] << " instead of NaN";
    } else if (a[i] != b[i]) {
      EXPECT_NEAR(a[i], b[i], relative * std::fabs(b[i]) + of_largest * largest + 4e-6)
          << "element " << i;
    }
  }
}

size_t check(const KernelEntry& entry, const OpDef& op, const Sample& sample) {
  size_t accepted = 0;
  const Attrs attrs = Attrs::parse(*op.attrs, sample.attrs);
  for (const std::vector<Datum>& inputs : sample_inputs(op, sample)) {
    const std::vector<Datum> expected = evaluate(op, attrs, inputs, sample.outputs);
    for (const int threads : {1, 2}) {
      const std::vector<Datum> got = run_kernel(entry, op, attrs, inputs, expected, threads);
      accepted += got.empty() ? 0 : 1;
      for (size_t i = 0; i < got.size(); ++i)
        expect_close(got[i].tensor(), expected[i].tensor());
    }
  }
  return accepted;
}

TEST(CpuKernels, agree_with_the_reference_on_all_samples) {
  for (const KernelEntry& entry : cpu_provider().kernels) {
    const OpDef& op = op_named(entry.op);
    size_t accepted = 0;
    for (const Sample& sample : op.samples()) {
      SCOPED_TRACE(testing::Message() << entry.op);
      accepted += check(entry, op, sample);
    }
    EXPECT_GT(accepted, 0u) << entry.op << ": no sample is taken";
  }
}

SampleInput floats(Shape shape) {
  return {.shape = std::move(shape), .low = -2, .high = 2, .dtype = DType::kFloat};
}

// Sizes past whole vectors and past one thread's share.
TEST(CpuKernels, ClipByBoundsOfTheRun) {
  const OpDef& op = op_named("Clip");
  const float kNan = std::nanf(""), kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values{kNan, kInfinity, -kInfinity, -0.0f};
  for (int i = -500; i < 500; ++i)
    values.push_back(0.01f * static_cast<float>(i));
  const auto entries = cpu::elementwise_f32_kernels();
  const auto entry = std::ranges::find(entries, "Clip", &KernelEntry::op);
  ASSERT_NE(entry, entries.end());
  const std::optional<float> bounds[] = {std::nullopt, -1.5f, 0.0f, 2.0f, kNan, kInfinity};
  for (const std::optional<float>& low : bounds) {
    for (const std::optional<float>& high : bounds) {
      std::vector<Datum> inputs{Tensor::vector(values)};
      for (const std::optional<float>& bound : {low, high})
        inputs.push_back(bound ? Datum(Tensor::scalar(*bound)) : Datum());
      const std::vector<Datum> expected = evaluate(op, Attrs(), inputs, 1);
      const std::vector<Datum> made = run_kernel(*entry, op, Attrs(), inputs, expected, 1, true);
      ASSERT_EQ(made.size(), 1u);
      EXPECT_EQ(std::memcmp(made[0].tensor().raw(), expected[0].tensor().raw(),
                            expected[0].tensor().bytes()),
                0)
          << low.value_or(-9) << " " << high.value_or(9);
    }
  }
}

TEST(CpuKernels, agree_with_the_reference_on_larger_shapes) {
  struct Case {
    std::string_view op;
    Sample sample;
  };
  const Sample lstm{{floats({7, 3, 19}),
                     floats({2, 84, 19}),
                     floats({2, 84, 21}),
                     floats({2, 168}),
                     {.omitted = true},
                     floats({2, 3, 21}),
                     floats({2, 3, 21})},
                    {{"direction", std::string("bidirectional")}, {"hidden_size", int64_t{21}}},
                    3};
  const auto gru = [](int64_t linear, const char* direction) {
    return Sample{{floats({5, 2, 8}), floats({1, 111, 8}), floats({1, 111, 37}), floats({1, 222})},
                  {{"direction", std::string(direction)},
                   {"hidden_size", int64_t{37}},
                   {"linear_before_reset", linear}},
                  2};
  };
  const auto with_lengths = [](Sample sample, std::vector<int32_t> lengths) {
    sample.inputs.resize(std::max<size_t>(sample.inputs.size(), 5));
    sample.inputs[4] = {.value = Tensor::vector(lengths)};
    return sample;
  };
  // Larger weights blow the rounding of one step up in the next ones.
  SampleInput weights = floats({2, 21, 21});
  weights.low = -0.3;
  weights.high = 0.3;
  const Sample rnn{{floats({4, 5, 19}), floats({2, 21, 19}), weights, floats({2, 42})},
                   {{"direction", std::string("bidirectional")}, {"hidden_size", int64_t{21}}},
                   2};
  // So much work that threads share sequences, or take a direction each.
  const auto shared = [](int64_t gates, int64_t steps, int64_t batch, const char* direction) {
    const int64_t directions = direction == std::string("bidirectional") ? 2 : 1, hidden = 41;
    const auto small = [](Shape shape) {
      SampleInput input = floats(std::move(shape));
      input.low = -0.2, input.high = 0.2;
      return input;
    };
    return Sample{
        {floats({steps, batch, 9}), small({directions, gates * hidden, 9}),
         small({directions, gates * hidden, hidden}), floats({directions, 2 * gates * hidden})},
        {{"direction", std::string(direction)}, {"hidden_size", hidden}},
        gates == 4 ? size_t{3} : size_t{2}};
  };
  const auto with_functions = [](Sample sample, std::vector<std::string> names) {
    const auto& direction = std::get<std::string>(sample.attrs.at("direction"));
    const size_t count = names.size();
    for (size_t i = 0; i < count && direction == "bidirectional"; ++i)
      names.push_back(names[i]);
    sample.attrs["activations"] = std::move(names);
    sample.attrs["activation_alpha"] = std::vector<float>(2, 0.3f);
    sample.attrs["activation_beta"] = std::vector<float>(2, 0.4f);
    return sample;
  };
  const auto with = [](Sample sample, const char* name, AttrValue value) {
    sample.attrs[name] = std::move(value);
    return sample;
  };
  Sample calm = lstm;
  for (const size_t matrix : {1, 2}) {
    calm.inputs[matrix].low = -0.3;
    calm.inputs[matrix].high = 0.3;
  }
  Sample peeping = calm;
  peeping.inputs.push_back(floats({2, 63}));
  peeping.attrs["clip"] = 0.9f;
  const auto batch_first = [&](Sample sample, int64_t sequences, int64_t steps) {
    for (const size_t state : {5, 6}) {
      if (sample.inputs.size() > state && !sample.inputs[state].omitted)
        std::swap(sample.inputs[state].shape[0], sample.inputs[state].shape[1]);
    }
    sample.inputs[0].shape[0] = sequences;
    sample.inputs[0].shape[1] = steps;
    return with(sample, "layout", int64_t{1});
  };
  const Sample apart = with(calm, "activations",
                            std::vector<std::string>{"Sigmoid", "LeakyRelu", "Tanh", "HardSigmoid",
                                                     "Tanh", "ThresholdedRelu"});
  const auto nbits = [](int64_t bits, int64_t block, bool has_zeros, int64_t rows) {
    const int64_t k = 310, n = 70, blocks = (k + block - 1) / block;
    const auto bytes = [](Shape shape) {
      return SampleInput{.shape = std::move(shape), .low = 0, .high = 255, .dtype = DType::kUInt8};
    };
    SampleInput scales = floats({n, blocks}), zeros = bytes({n * ((blocks * bits + 7) / 8)});
    scales.low = 0.001;
    scales.high = 0.01;
    zeros.omitted = !has_zeros;
    return Sample{{floats({2, rows, k}),
                   bytes({n, blocks, block * bits / 8}),
                   scales,
                   zeros,
                   {.omitted = true},
                   floats({n})},
                  {{"K", k}, {"N", n}, {"bits", bits}, {"block_size", block}}};
  };
  std::vector<float> coefficients;
  for (int i = 0; i < 5 * 37; ++i)
    coefficients.push_back(static_cast<float>(i % 23 - 11) / 16);
  const std::vector<float> intercepts{0.5f, 0, -1, 2, 1};
  const auto known = [](Shape shape, DType dtype, double low, double high) {
    return SampleInput{.shape = std::move(shape), .low = low, .high = high, .dtype = dtype};
  };
  const auto doubles = [&](Shape shape) { return known(std::move(shape), DType::kDouble, -2, 2); };
  const auto sizes = [](const std::vector<int64_t>& values) {
    return SampleInput{.value = Tensor::vector(values)};
  };
  const AttrMap windows{{"group", int64_t{2}},
                        {"strides", std::vector<int64_t>{2, 1}},
                        {"dilations", std::vector<int64_t>{1, 2}},
                        {"pads", std::vector<int64_t>{1, 2, 0, 1}}};
  // Without zero points the weights are int8, with them they are not.
  const auto quantized_lstm = [&](const char* direction, std::vector<int32_t> lengths,
                                  bool has_zeros = true) {
    const int64_t directions = direction == std::string("bidirectional") ? 2 : 1;
    const auto codes = [&](Shape shape) {
      return known(std::move(shape), DType::kInt8, -100, 100);
    };
    const auto zeros = [&](Shape shape) {
      const int most = has_zeros ? 100 : 0;
      return known(std::move(shape), DType::kInt8, -most, most);
    };
    const auto scales = [&](Shape shape) {
      return known(std::move(shape), DType::kFloat, 0.001, 0.005);
    };
    Sample sample{{floats({7, 3, 19}),
                   codes({directions, 19, 84}),
                   codes({directions, 21, 84}),
                   floats({directions, 168}),
                   {.value = Tensor::vector(lengths)},
                   floats({directions, 3, 21}),
                   floats({directions, 3, 21}),
                   {.omitted = true},
                   scales({directions, 84}),
                   zeros({directions, 84}),
                   scales({directions}),
                   zeros({directions})},
                  {{"direction", std::string(direction)}, {"hidden_size", int64_t{21}}},
                  3};
    sample.inputs[4].omitted = lengths.empty();
    return sample;
  };
  using Ints = std::vector<int64_t>;
  const auto pool = [](Shape shape, Ints kernel, Ints strides, Ints dilations, Ints pads) {
    if (pads.empty()) pads.assign(2 * kernel.size(), 0);
    return Sample{{floats(std::move(shape))},
                  {{"kernel_shape", kernel},
                   {"strides", strides},
                   {"dilations", dilations},
                   {"pads", pads},
                   {"ceil_mode", int64_t{1}}}};
  };
  const Sample words{{known({3, 9}, DType::kInt32, 0, 299), floats({37, 1, 4, 5}), floats({37}),
                      floats({300, 5})}};
  const Case cases[] = {
      {"com.microsoft::WordConvEmbedding", words},
      {"com.microsoft::DynamicQuantizeLSTM", quantized_lstm("forward", {})},
      {"com.microsoft::DynamicQuantizeLSTM", quantized_lstm("reverse", {4, 7, 0})},
      {"com.microsoft::DynamicQuantizeLSTM", quantized_lstm("bidirectional", {3, 5, 6})},
      {"com.microsoft::DynamicQuantizeLSTM", quantized_lstm("forward", {}, false)},
      {"com.microsoft::DynamicQuantizeLSTM", quantized_lstm("bidirectional", {3, 5, 6}, false)},
      {"ai.onnx.ml::LinearClassifier",
       {{floats({70, 37})},
        {{"coefficients", coefficients},
         {"intercepts", intercepts},
         {"classlabels_ints", std::vector<int64_t>{9, 7, 5, 3, 1}},
         {"post_transform", std::string("SOFTMAX")}},
        2}},
      {"ai.onnx.ml::LinearClassifier",
       {{floats({70, 3})},
        {{"coefficients", std::vector<float>(coefficients.begin(), coefficients.begin() + 60)},
         {"classlabels_ints", std::vector<int64_t>(20)},
         {"post_transform", std::string("SOFTMAX")}},
        2}},
      {"ai.onnx.ml::LinearRegressor",
       {{floats({70, 37})},
        {{"coefficients", coefficients}, {"intercepts", intercepts}, {"targets", int64_t{5}}}}},
      {"com.microsoft::MatMulNBits", nbits(4, 32, true, 2)},
      {"com.microsoft::MatMulNBits", nbits(4, 16, false, 1)},
      {"com.microsoft::MatMulNBits", nbits(8, 64, true, 2)},
      {"com.microsoft::MatMulNBits", nbits(2, 16, true, 2)},
      {"com.microsoft::MatMulNBits", nbits(4, 32, true, 3)},
      {"com.microsoft::MatMulNBits", nbits(4, 16, false, 9)},
      {"com.microsoft::MatMulNBits", nbits(8, 128, true, 7)},
      {"com.microsoft::MatMulNBits", nbits(8, 16, false, 3)},
      {"com.microsoft::MatMulNBits", nbits(2, 16, true, 5)},
      {"Add", {{floats({3, 1, 257, 65}), floats({5, 1, 65})}}},
      // Short rows that are repeated, for each image or for all.
      {"Sub", {{floats({2, 3000, 7}), floats({7})}}},
      {"Sub", {{floats({2, 1, 97}), floats({2, 400, 97})}}},
      {"Mul", {{floats({3, 2, 90, 16}), floats({3, 2, 1, 16})}}},
      {"Mul", {{floats({40000}), floats({})}}},
      {"Relu", {{floats({40001})}}},
      {"Transpose", {{floats({3, 67, 2, 101})}, {{"perm", std::vector<int64_t>{2, 0, 3, 1}}}}},
      {"Transpose", {{floats({37, 515})}, {{"perm", std::vector<int64_t>{1, 0}}}}},
      {"Concat", {{floats({150, 3}), floats({150, 130})}, {{"axis", int64_t{1}}}}},
      {"sardonyx::BatchNormalizationGrad",
       {{floats({2, 4, 2200}), floats({2, 4, 2200}), floats({4})}, {}, 3}},
      {"Conv", {{doubles({2, 6, 13, 11}), doubles({8, 3, 3, 2}), doubles({8})}, windows}},
      {"Conv", {{doubles({1, 3, 50}), doubles({5, 3, 4})}}},
      {"Conv",
       {{doubles({2, 2, 5, 6, 7}), doubles({3, 2, 2, 3, 2})},
        {{"pads", std::vector<int64_t>{1, 0, 2, 0, 3, 1}}}}},
      {"Conv", {{doubles({1, 40, 50, 45}), doubles({9, 40, 3, 3})}}},
      {"sardonyx::ConvInputGrad",
       {{doubles({2, 8, 6, 12}), doubles({8, 3, 3, 2}), sizes({2, 6, 13, 11})}, windows}},
      {"sardonyx::ConvInputGrad",
       {{doubles({1, 9, 48, 43}), doubles({9, 40, 3, 3}), sizes({1, 40, 50, 45})}}},
      {"sardonyx::ConvWeightGrad",
       {{doubles({2, 8, 6, 12}), doubles({2, 6, 13, 11}), sizes({8, 3, 3, 2})}, windows}},
      {"sardonyx::ConvWeightGrad",
       {{doubles({1, 9, 48, 43}), doubles({1, 40, 50, 45}), sizes({9, 40, 3, 3})}}},
      {"Greater", {{floats({1001}), floats({1001})}}},
      {"LessOrEqual", {{floats({37, 50}), floats({})}}},
      {"Equal", {{floats({}), floats({130})}}},
      {"Where", {{known({1001}, DType::kBool, 0, 1), floats({1001}), floats({})}}},
      {"Where", {{known({1001}, DType::kBool, 0, 1), floats({1}), floats({1001})}}},
      {"sardonyx::GroupNormalizationGrad",
       {{floats({3, 8, 37, 70}), floats({3, 8, 37, 70}), floats({8})},
        {{"num_groups", int64_t{4}}},
        3}},
      {"sardonyx::GroupNormalizationGrad",
       {{floats({2, 5, 4001}), floats({2, 5, 4001}), floats({5})}, {}, 3}},
      {"BatchNormalization",
       {{floats({3, 5, 67, 70}), floats({5}), floats({5}), floats({5}), floats({5})},
        {{"training_mode", int64_t{1}}},
        3}},
      {"sardonyx::ReluGrad", {{floats({40001}), floats({40001})}}},
      {"sardonyx::HardSigmoidGrad",
       {{floats({40001}), {.shape = {40001}, .low = -1, .high = 2, .dtype = DType::kFloat}},
        {{"alpha", 0.3f}}}},
      {"sardonyx::HardSwishGrad",
       {{floats({40001}), {.shape = {40001}, .low = -5, .high = 5, .dtype = DType::kFloat}}}},
      {"AveragePool", pool({3, 5, 120}, {25}, {1}, {1}, {0, 0})},
      {"AveragePool", pool({2, 3, 131}, {4}, {3}, {2}, {3, 2})},
      {"AveragePool", pool({1, 2, 9000}, {5}, {2}, {1}, {2, 2})},
      {"AveragePool", pool({1, 3, 1000}, {200}, {100}, {1}, {50, 70})},
      {"AveragePool", pool({2, 3, 30, 37}, {3, 2}, {2, 2}, {1, 3}, {1, 0, 2, 1})},
      {"AveragePool", pool({1, 2, 7, 9, 40}, {3, 1, 5}, {1, 2, 3}, {2, 1, 1}, {1, 0, 2, 1, 0, 2})},
      {"MaxPool", pool({2, 3, 131}, {4}, {3}, {2}, {3, 2})},
      {"MaxPool", pool({1, 3, 1000}, {200}, {100}, {1}, {50, 70})},
      {"MaxPool", pool({2, 3, 30, 67}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1})},
      {"MaxPool", pool({1, 2, 3, 4, 5, 40}, {2, 2, 1, 3}, {1, 1, 2, 4}, {1, 2, 1, 1}, {})},
      {"LpPool", pool({2, 3, 30, 67}, {3, 2}, {2, 1}, {1, 1}, {1, 1, 1, 0})},
      {"sardonyx::AveragePoolGrad",
       {{floats({2, 9, 20, 20}), {.value = Tensor::vector(std::vector<int64_t>{2, 9, 41, 41})}},
        {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"strides", std::vector<int64_t>{2, 2}}}}},
      {"ReduceSum",
       {{floats({4, 6, 9, 11}), {.value = Tensor::vector(std::vector<int64_t>{0, 2, 3})}}}},
      {"ReduceL2", {{floats({5, 4, 6, 9}), {.value = Tensor::vector(std::vector<int64_t>{1, 3})}}}},
      {"ReduceSumSquare",
       {{floats({4, 6, 9}), {.value = Tensor::vector(std::vector<int64_t>{0, 2})}}}},
      {"sardonyx::LayerNormalizationGrad",
       {{floats({12, 1500}), floats({12, 1500}), floats({1500})}, {}, 2}},
      {"sardonyx::SoftmaxGrad", {{floats({12, 5003}), floats({12, 5003})}}},
      {"sardonyx::SoftmaxGrad",
       {{floats({3, 40, 700}), floats({3, 40, 700})}, {{"axis", int64_t{1}}}}},
      {"sardonyx::MaxPoolGrad",
       {{floats({2, 9, 20, 20}), floats({2, 9, 41, 41})},
        {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"strides", std::vector<int64_t>{2, 2}}}}},
      {"sardonyx::MaxPoolGrad",
       {{floats({3, 5, 2, 10, 21}), floats({3, 5, 2, 21, 43})},
        {{"kernel_shape", std::vector<int64_t>{1, 2, 2}},
         {"strides", std::vector<int64_t>{1, 2, 2}}}}},
      {"sardonyx::SgdProductStep",
       {{floats({37, 75}), floats({600, 37}), floats({600, 75}), {.value = Tensor::scalar(0.1)}},
        {{"transA", int64_t{1}}}}},
      {"sardonyx::SgdProductStep",
       {{floats({300, 130}),
         floats({300, 70}),
         floats({70, 130}),
         {.value = Tensor::scalar(0.1f)},
         {.value = Tensor::scalar<int64_t>(2)},
         floats({300, 130})},
        {{"momentum", std::vector<float>{0.75f}}, {"nesterov", int64_t{1}}},
        3}},
      {"sardonyx::AdamProductStep",
       {{floats({130, 65}),
         floats({70, 130}),
         floats({70, 65}),
         {.value = Tensor::scalar(0.1)},
         {.value = Tensor::scalar<int64_t>(0)},
         floats({130, 65}),
         {.shape = {130, 65}, .low = 0.5, .dtype = DType::kFloat},
         {.shape = {130, 65}, .low = 0.5, .dtype = DType::kFloat}},
        {{"transA", int64_t{1}}},
        5}},
      {"LayerNormalization", {{floats({2, 9, 70}), floats({70}), floats({70})}}},
      {"LayerNormalization", {{floats({2, 9, 7}), floats({9, 7})}, {{"axis", int64_t{-2}}}}},
      {"LayerNormalization", {{floats({3, 200}), floats({200})}, {}, 3}},
      {"RMSNormalization", {{floats({5, 131}), floats({131})}}},
      {"LSTM", lstm},
      {"LSTM", with_lengths(lstm, {7, 0, 4})},
      {"LSTM", with_lengths(lstm, {5, 5, 2})},
      {"LSTM", with_functions(lstm, {"HardSigmoid", "Tanh", "Relu"})},
      {"LSTM", with_functions(calm, {"Softsign", "Elu", "ScaledTanh"})},
      {"LSTM", with_functions(calm, {"Sigmoid", "Softplus", "Affine"})},
      {"LSTM", apart},
      {"LSTM", peeping},
      {"LSTM", with(peeping, "input_forget", int64_t{1})},
      {"LSTM", batch_first(peeping, 3, 7)},
      {"LSTM", batch_first(with_lengths(lstm, {2, 7, 4}), 3, 7)},
      {"RNN", rnn},
      {"RNN", with(with_functions(rnn, {"Elu"}), "clip", 0.5f)},
      {"GRU", batch_first(with_lengths(gru(0, "reverse"), {3, 5}), 2, 5)},
      {"GRU", with(with_functions(gru(1, "reverse"), {"Sigmoid", "Softsign"}), "clip", 0.7f)},
      {"RNN", with_lengths(rnn, {4, 4, 1, 0, 2})},
      {"RNN", with_functions(rnn, {"HardSigmoid"})},
      {"GRU", with_functions(gru(1, "forward"), {"HardSigmoid", "Sigmoid"})},
      {"GRU", with_functions(shared(3, 5, 2, "forward"), {"HardSigmoid", "Relu"})},
      {"GRU", with_lengths(gru(0, "reverse"), {3, 5})},
      {"GRU", gru(0, "forward")},
      {"GRU", gru(1, "reverse")},
      {"LSTM", shared(4, 9, 9, "forward")},
      {"LSTM", with_lengths(shared(4, 12, 11, "reverse"), {3, 12, 0, 7, 7, 1, 12, 5, 2, 9, 4})},
      {"LSTM", shared(4, 20, 3, "bidirectional")},
      {"LSTM", shared(4, 5, 16, "reverse")},
      {"GRU", shared(3, 7, 15, "bidirectional")},
      {"RNN", shared(1, 7, 13, "bidirectional")},
      {"GRU", shared(3, 12, 8, "bidirectional")},
      {"GRU", with_lengths(shared(3, 40, 3, "bidirectional"), {40, 3, 0})},
      {"RNN", shared(1, 40, 10, "forward")},
  };
  for (const Case& example : cases) {
    SCOPED_TRACE(example.op);
    size_t accepted = 0;
    for (const KernelEntry& entry : cpu_provider().kernels) {
      if (entry.op == example.op) accepted += check(entry, op_named(example.op), example.sample);
    }
    EXPECT_GT(accepted, 0u);
  }
}

// The first of them is the greatest until a number comes, wherever the window is.
TEST(CpuKernels, MaximaPassOverNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), low = -HUGE_VALF;
  std::vector<float> values(80, nan);
  values[3] = 1;
  values[40] = low;
  values[79] = -2;
  Sample sample{
      {{.value = Tensor::of(values, {1, 1, 2, 40})}},
      {{"kernel_shape", std::vector<int64_t>{2, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}};
  for (const int64_t stride : {1, 2}) {
    sample.attrs["strides"] = std::vector<int64_t>{1, stride};
    size_t accepted = 0;
    for (const KernelEntry& entry : cpu_provider().kernels) {
      if (entry.op == "MaxPool") accepted += check(entry, op_named(entry.op), sample);
    }
    EXPECT_GT(accepted, 0u);
  }
}

}  // namespace
}  // namespace sardonyx
