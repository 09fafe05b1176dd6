// Layers against numbers that torch's formulas, written down in numpy in float64, give: parameter i
// of a module has the elements 0.5 * sin(0.3 * k + i), inputs cos(0.7 * k) for k = 0, 1 ...
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager::nn {
namespace {

Tensor wave_of(const Dims& shape) {
  const Tensor steps = arange(element_count(shape), {.dtype = DType::kDouble});
  return cos(steps * 0.7).reshape(shape);
}
void set_waves(const Module& module) {
  module.to(DType::kDouble);
  double phase = 0;
  for (const Tensor& parameter : module.parameters()) {
    const Tensor steps = arange(parameter.numel(), {.dtype = DType::kDouble});
    parameter.assign((sin(steps * 0.3 + phase) * 0.5).reshape(parameter.shape()).detach());
    phase += 1;
  }
}

void expect_near(const Tensor& tensor, const std::vector<double>& expected,
                 double tolerance = 1e-10) {
  const std::vector<double> values = tensor.detach().data().to_doubles();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

TEST(Layers, LstmOfTwoLayers) {
  const LSTM lstm(3, 2, {.layers = 2});
  set_waves(lstm);
  const RecurrentResult result = lstm(wave_of({2, 1, 3}));
  expect_near(result.output, {0.2441553988, 0.242640703922, 0.411519662909, 0.421034588307});
  expect_near(result.hidden, {0.0345579798352, -0.0319922296833, 0.411519662909, 0.421034588307});
  expect_near(result.cell, {0.0719173088794, -0.137240749904, 0.650197733473, 0.753664797971});
  const LSTM first(3, 2, {.batch_first = true});
  EXPECT_EQ(first(ones({5, 7, 3})).output.shape(), (Dims{5, 7, 2}));
  EXPECT_THROW(first(ones({5, 3})), Error);
  EXPECT_THROW(first(ones({5, 7, 3}), {.hidden = ones({2, 5, 2})}), Error);
}

TEST(Layers, GruBothWaysAndRnn) {
  const GRU gru(3, 2, {.bidirectional = true});
  set_waves(gru);
  const RecurrentResult result = gru(wave_of({2, 1, 3}));
  expect_near(result.output, {-0.202231910034, -0.445154610934, 0.303517671229, 0.245420537322,
                              0.401004336731, 0.247705170437, -0.116283640586, 0.0823847684037});
  expect_near(result.hidden, {0.401004336731, 0.247705170437, 0.303517671229, 0.245420537322});
  const RNN rnn(3, 2, {}, RNN::Nonlinearity::kRelu);
  set_waves(rnn);
  expect_near(rnn(wave_of({2, 1, 3})).output,
              {0.686207212049, 1.12684530687, 0.953206475774, 0.0662247536208});
}

TEST(Layers, CausalAttention) {
  const MultiheadAttention attention(4, 2, {.batch_first = true});
  set_waves(attention);
  const Tensor x = wave_of({1, 3, 4});
  const std::vector<double> expected{-0.630062700796,  0.370906908475,   0.805324847637,
                                     -0.0496807141685, -0.128951418552,  0.251390700156,
                                     0.217598315652,   -0.356099038602,  -0.0201795379716,
                                     0.0509782059106,  -0.0364156076957, -0.339774374097};
  expect_near(attention(x, x, x, {.is_causal = true}), expected);
  // The same by a mask, with keys and values that are other tensors.
  const Tensor mask = triu(ones({3, 3}), 1) > 0.5;
  const AttentionResult result = attention.with_weights(x, x * 1.0, x * 1.0, {.attention = mask});
  expect_near(result.output, expected);
  expect_near(result.weights, {1, 0, 0, 0.609333571782, 0.390666428218, 0, 0.239122804265,
                               0.425873396551, 0.335003799184});
  const Tensor padding = tensor<double>({{0, 0, 1}}) > 0.5;
  const AttentionResult padded = attention.with_weights(x, x, x, {.key_padding = padding});
  EXPECT_EQ(padded.weights.index({0, 0, 2}).item<double>(), 0);
}

TEST(Layers, EncoderLayer) {
  const TransformerEncoderLayer layer(4, 2, {.feedforward = 3, .dropout = 0, .batch_first = true});
  set_waves(layer);
  expect_near(layer(wave_of({1, 3, 4})),
              {-0.750799987774, -0.800931131492, -0.309762925114, 0.460212158529, -0.07681530223,
               -0.42012954465, -0.910528891725, -0.618731484922, -0.642950549131, -0.890903764023,
               -0.409761562934, 0.487409581209});
  const TransformerDecoder decoder(2, 8, 2, {.feedforward = 16, .norm_first = true}, true);
  EXPECT_EQ(decoder(ones({3, 2, 8}), ones({5, 2, 8})).shape(), (Dims{3, 2, 8}));
  EXPECT_TRUE(decoder.state_dict().contains("layers.1.multihead_attn.out_proj.bias"));
  EXPECT_TRUE(decoder.state_dict().contains("norm.weight"));
}

TEST(Layers, BatchNormMovesItsStatistics) {
  const BatchNorm1d norm(2);
  norm.to(DType::kDouble);
  const Tensor x = tensor<double>({{1, 2}, {3, 6}, {5, 10}});
  const double root = std::sqrt(1.5);  // 2 / sqrt(8/3)
  expect_near(norm(x), {-root, -root, 0, 0, root, root}, 1e-4);
  expect_near(norm.running_mean, {0.3, 0.6});
  expect_near(norm.running_var, {0.9 + 0.1 * 4, 0.9 + 0.1 * 16});
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 1);
  norm.eval();
  expect_near(norm(x.slice(0, {0, 1})), {0.7 / std::sqrt(1.3 + 1e-5), 1.4 / std::sqrt(2.5 + 1e-5)},
              1e-7);
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 1);
  const BatchNorm1d mean_of_all(2, {.momentum = {}});
  mean_of_all.to(DType::kDouble);
  (void)mean_of_all(x);
  (void)mean_of_all(x + 1.0);
  expect_near(mean_of_all.running_mean, {3.5, 6.5});
  EXPECT_THROW(mean_of_all(x.slice(0, {0, 1})), Error);
  EXPECT_THROW(BatchNorm2d(2)(x), Error);
}

TEST(Layers, OtherNorms) {
  const Tensor x = wave_of({2, 4, 3});
  const LayerNorm layer(3, {.elementwise_affine = false});
  expect_near(layer(x).mean({-1}), std::vector<double>(8, 0), 1e-12);
  expect_near(var(layer(x), {-1}, false, 0), std::vector<double>(8, 1), 1e-3);
  const GroupNorm group(2, 4, {.affine = false});
  expect_near(group(x).reshape({2, 2, 6}).mean({-1}), std::vector<double>(4, 0), 1e-12);
  const InstanceNorm1d instance(4, {.track_running_stats = true});
  instance.to(DType::kDouble);
  expect_near(instance(x).mean({-1}), std::vector<double>(8, 0), 1e-12);
  const Tensor means = x.mean({0, 2}) * 0.1;
  expect_near(instance.running_mean, means.to_vector<double>());
  const RMSNorm rms(3);
  rms.to(DType::kDouble);
  expect_near(square(rms(x)).mean({-1}), std::vector<double>(8, 1), 1e-9);
  EXPECT_THROW(layer(ones({2, 4})), Error);
}

TEST(Layers, ConvolutionsAndPools) {
  const Conv2d conv(2, 3, {3, 1}, {.stride = {2, 1}, .padding = {1, 0}});
  EXPECT_EQ(conv.weight.shape(), (Dims{3, 2, 3, 1}));
  EXPECT_EQ(conv(ones({4, 2, 8, 5})).shape(), (Dims{4, 3, 4, 5}));
  EXPECT_EQ(Conv1d(2, 4, 4, {.same = true})(ones({1, 2, 9})).shape(), (Dims{1, 4, 9}));
  EXPECT_EQ(Conv3d(2, 4, 3, {.groups = 2})(ones({1, 2, 5, 5, 5})).shape(), (Dims{1, 4, 3, 3, 3}));
  EXPECT_EQ(
      ConvTranspose2d(3, 2, 3, {.stride = 2, .padding = 1, .output_padding = 1})(ones({1, 3, 4, 4}))
          .shape(),
      (Dims{1, 2, 8, 8}));
  const Conv1d around(1, 1, 3, {.padding = 1, .bias = false, .padding_mode = "circular"});
  around.weight.assign(ones({1, 1, 3}));
  expect_near(around(tensor({1.f, 2.f, 4.f}).reshape({1, 1, 3})), {7, 7, 7}, 1e-6);
  EXPECT_THROW(conv(ones({2, 8, 5})), Error);
  EXPECT_THROW(Conv2d(3, 4, 3, {.groups = 2}), Error);
  EXPECT_THROW(Conv2d(3, 4, {3, 3, 3}), Error);

  const Tensor x = arange(10, {.dtype = DType::kDouble}).reshape({1, 1, 10});
  expect_near(MaxPool1d(2)(x), {1, 3, 5, 7, 9});
  expect_near(AvgPool1d(3, {.stride = 3, .padding = 1})(x), {1.0 / 3, 3, 6, 17.0 / 3});
  // torch's windows of 10 to 4: [0,3) [2,5) [5,8) [7,10).
  expect_near(AdaptiveAvgPool1d(4)(x), {1, 3, 6, 8});
  expect_near(AdaptiveMaxPool1d(4)(x), {2, 4, 7, 9});
  expect_near(AdaptiveAvgPool1d(5)(x), {0.5, 2.5, 4.5, 6.5, 8.5});
  expect_near(AdaptiveAvgPool1d(1)(x), {4.5});
  const Tensor image = wave_of({2, 3, 7, 5});
  EXPECT_EQ(AdaptiveAvgPool2d({3, 2})(image).shape(), (Dims{2, 3, 3, 2}));
  expect_near(GlobalAvgPool()(image), image.mean({2, 3}).to_vector<double>());
}

TEST(Layers, EmbeddingDropoutAndShapes) {
  const Embedding words(5, 3, {.padding_idx = -1});
  const Tensor indices = tensor<int64_t>({{0, 4}, {4, 2}});
  EXPECT_EQ(words(indices).shape(), (Dims{2, 2, 3}));
  expect_near(words.weight[4], {0, 0, 0});
  EXPECT_THROW(words(tensor<int64_t>({5})), Error);

  const Dropout dropout(0.25);
  const Tensor x = ones({100, 100});
  const double kept = (dropout(x) > 0.5).to(DType::kFloat).mean().item<double>();
  EXPECT_NEAR(kept, 0.75, 0.03);
  EXPECT_NEAR(dropout(x).mean().item<double>(), 1, 0.04);
  dropout.eval();
  EXPECT_TRUE(dropout(x).is_same(x));
  EXPECT_THROW(Dropout(1.5), Error);
  EXPECT_EQ(Flatten()(ones({2, 3, 4})).shape(), (Dims{2, 12}));
  EXPECT_EQ(Unflatten(1, {3, -1})(ones({2, 12})).shape(), (Dims{2, 3, 4}));
  EXPECT_EQ(Upsample({.scale_factor = {2}, .mode = "bilinear"})(ones({1, 1, 3, 4})).shape(),
            (Dims{1, 1, 6, 8}));
  EXPECT_EQ(PixelShuffle(2)(ones({1, 8, 3, 3})).shape(), (Dims{1, 2, 6, 6}));
}

TEST(Init, Formulas) {
  manual_seed(3);
  const Tensor x = zeros({64, 32, 3, 3});
  const auto deviation = [&] { return std::sqrt(var(x).item<double>()); };
  const auto greatest = [&] { return abs(x).amax().item<double>(); };
  init::kaiming_uniform(x);  // bound sqrt(6 / (32 * 9))
  EXPECT_LE(greatest(), std::sqrt(6.0 / 288));
  EXPECT_GT(greatest(), 0.99 * std::sqrt(6.0 / 288));
  init::kaiming_normal(x, {.fan_out = true, .nonlinearity = "relu"});
  EXPECT_NEAR(deviation(), std::sqrt(2.0 / 576), 0.001);
  init::xavier_normal(x);
  EXPECT_NEAR(deviation(), std::sqrt(2.0 / 864), 0.001);
  init::trunc_normal(x, 0, 1, -1, 1);
  EXPECT_LE(greatest(), 1);
  EXPECT_NEAR(deviation(), 0.5396, 0.01);  // of the standard normal cut to [-1, 1]
  const Linear linear(100, 7);
  EXPECT_LE(abs(linear.weight).amax().item<double>(), 0.1);
  for (const Dims& shape : {Dims{3, 8}, Dims{8, 3}}) {
    const Tensor q = zeros(shape, {.dtype = DType::kDouble});
    init::orthogonal(q, 2);
    const Tensor product = shape[0].value() < 8 ? matmul(q, q.t()) : matmul(q.t(), q);
    expect_near(product, (eye(3) * 4).data().to_doubles(), 1e-12);
  }
  EXPECT_THROW(init::gain("nothing"), Error);
}

TEST(Losses, ByHand) {
  const Tensor s = wave_of({3, 4});
  const Tensor t = tensor<int64_t>({1, 0, 3});
  const Tensor weight = tensor<double>({0.5, 1, 2, 0.25});
  expect_near(cross_entropy(s, t), {1.65883824566});
  expect_near(nll_loss(log_softmax(s, 1), t), {1.65883824566});
  expect_near(cross_entropy(s, t, {.weight = weight}), {1.46655887196});
  expect_near(cross_entropy(s, t, {.weight = weight, .label_smoothing = 0.1}), {1.55563175023});
  expect_near(cross_entropy(s, t, {.ignore_index = 0, .label_smoothing = 0.1}), {1.53403121925});
  const Tensor p = softmax(s * 2.0 + 1.0, 1);
  expect_near(cross_entropy(s, p, {.label_smoothing = 0.1}), {1.17930462981});
  const Tensor target = full({3, 4}, 0.3, {.dtype = DType::kDouble});
  expect_near(bce_with_logits(s, target, {.pos_weight = tensor<double>({2.0})}), {0.989245755173});
  expect_near(bce_with_logits(s, target),
              binary_cross_entropy(sigmoid(s), target).to_vector<double>());
  expect_near(kl_div(log_softmax(s, 1), p, {.batch_mean = true}), {0.0670421629684});
  const Tensor a = tensor<double>({0, 0.5, 3}), b = tensor<double>({0, 0, 0});
  expect_near(mse_loss(a, b), {(0.25 + 9) / 3});
  expect_near(l1_loss(a, b, {Reduction::kSum}), {3.5});
  expect_near(huber_loss(a, b, {.delta = 2, .reduction = Reduction::kNone}), {0, 0.125, 4});
  expect_near(smooth_l1_loss(a, b, {.beta = 2, .reduction = Reduction::kNone}), {0, 0.0625, 2});
  EXPECT_THROW(mse_loss(a, tensor<double>({1, 2})), Error);
  EXPECT_THROW(cross_entropy(s, t, {.label_smoothing = 2}), Error);
  expect_near(cosine_similarity(a, tensor<double>({0, 1, 6}), {.axis = 0}), {1});
}

// Against the sum over all paths.
TEST(Losses, Ctc) {
  const Tensor one = log_softmax(wave_of({4, 1, 3}), -1);
  const Tensor logs = one.expand({4, 4, 3});
  const Tensor targets = tensor<int64_t>({{1, 2}, {1, 1}, {2, 0}, {0, 0}});
  const Tensor input_lengths = tensor<int64_t>({4, 3, 4, 2});
  const Tensor target_lengths = tensor<int64_t>({2, 2, 1, 0});
  const std::vector<double> expected{1.5491635019, 3.06350623097, 1.84834090625, 1.63123826203};
  expect_near(
      ctc_loss(logs, targets, input_lengths, target_lengths, {.reduction = Reduction::kNone}),
      expected);
  expect_near(ctc_loss(logs, targets, input_lengths, target_lengths),
              {(expected[0] / 2 + expected[1] / 2 + expected[2] + expected[3]) / 4});
  const Tensor impossible = tensor<int64_t>({2, 2, 4, 2});
  EXPECT_TRUE(
      std::isinf(ctc_loss(logs, targets, impossible, target_lengths, {.reduction = Reduction::kSum})
                     .item<double>()));
  EXPECT_FALSE(std::isinf(ctc_loss(logs, targets, impossible, target_lengths,
                                   {.zero_infinity = true, .reduction = Reduction::kSum})
                              .item<double>()));
}

TEST(Metrics, Counts) {
  const Tensor scores = tensor({{0.9f, 0.1f, 0.f}, {0.2f, 0.3f, 0.5f}, {0.1f, 0.8f, 0.1f}});
  const Tensor target = tensor<int64_t>({0, 1, 1});
  EXPECT_DOUBLE_EQ(accuracy(scores, target), 2.0 / 3);
  EXPECT_DOUBLE_EQ(accuracy(scores, target, 2), 1);
  ConfusionMatrix matrix(3);
  matrix.add(scores, target);
  EXPECT_EQ(matrix.count(1, 2), 1);
  EXPECT_DOUBLE_EQ(matrix.accuracy(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(matrix.recall(1), 0.5);
  EXPECT_DOUBLE_EQ(matrix.precision(1), 1);
  EXPECT_DOUBLE_EQ(matrix.f1(1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(matrix.precision(2), 0);
  EXPECT_THROW(matrix.add(tensor<int64_t>({3}), tensor<int64_t>({0})), Error);
  RunningMean mean;
  EXPECT_TRUE(std::isnan(mean.mean()));
  mean.add(1, 3);
  mean.add(5);
  EXPECT_DOUBLE_EQ(mean.mean(), 2);
}

}  // namespace
}  // namespace sardonyx::eager::nn
