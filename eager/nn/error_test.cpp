// Losses, layers, initialisers and measures: settings and tensors that do not fit.
#include "tests/support/expect_error.h"

#include "eager/create.h"
#include "eager/nn/activation.h"
#include "eager/nn/attention.h"
#include "eager/nn/cells.h"
#include "eager/nn/convolution.h"
#include "eager/nn/init.h"
#include "eager/nn/linear.h"
#include "eager/nn/loss/losses.h"
#include "eager/nn/loss/metrics.h"
#include "eager/nn/normalization.h"
#include "eager/nn/padding.h"
#include "eager/nn/parameters/reparametrize.h"
#include "eager/nn/pooling.h"
#include "eager/nn/recurrent.h"
#include "eager/nn/resampling.h"
#include "eager/nn/transformer.h"

namespace sardonyx::eager::nn {
namespace {

Tensor classes(const Shape& shape) {
  return zeros(to_dims(shape), {.dtype = DType::kInt64});
}

TEST(LossRefusals, Arguments) {
  const Tensor a = ones({2, 3}), b = ones({3, 2}), labels = classes({2});
  const char* const kShapes =
      "expected input and target of one shape, got float[2, 3] and float[3, 2]";
  const auto losses = [&](auto loss) { return [=] { loss(a, b); }; };
  expect_refusals({
      {kShapes, losses([](auto x, auto y) { mse_loss(x, y); })},
      {kShapes, losses([](auto x, auto y) { l1_loss(x, y); })},
      {kShapes, losses([](auto x, auto y) { smooth_l1_loss(x, y); })},
      {kShapes, losses([](auto x, auto y) { huber_loss(x, y); })},
      {kShapes, losses([](auto x, auto y) { bce_with_logits(x, y); })},
      {kShapes, losses([](auto x, auto y) { binary_cross_entropy(x, y); })},
      {kShapes, losses([](auto x, auto y) { kl_div(x, y); })},
      {"smooth_l1_loss: expected beta >= 0, got -1", [&] { smooth_l1_loss(a, a, {.beta = -1}); }},
      {"huber_loss: expected delta > 0, got 0", [&] { huber_loss(a, a, {.delta = 0}); }},
      {"cross_entropy: expected label_smoothing within [0, 1], got 2",
       [&] { cross_entropy(a, labels, {.label_smoothing = 2}); }},
      {"cross_entropy: expected a target of int64 or int32 classes, got bool[2]",
       [&] { cross_entropy(a, zeros({2}, {.dtype = DType::kBool})); }},
      {"cross_entropy: expected input and target of one shape, got float[2, 3] and float[3, 2]",
       [&] { cross_entropy(a, b); }},
      {"nll_loss: expected a target of int64 or int32 classes, got float[2]",
       [&] { nll_loss(a, ones({2})); }},
      {"ctc_loss: expected log-probabilities [T, N, C], targets [N, S] and lengths [N]",
       [&] {
         ctc_loss(a, classes({2, 2}), labels, labels);
       }},
      {"ctc_loss: expected integer targets and lengths, got float[2, 2]",
       [&] {
         ctc_loss(ones({4, 2, 3}), ones({2, 2}), labels, labels);
       }},
      {"ctc_loss: the input has no steps",
       [&] {
         ctc_loss(ones({0, 2, 3}), classes({2, 2}), labels, labels);
       }},
  });
}

TEST(LayerRefusals, Settings) {
  const Tensor row = ones({3}), matrix = ones({2, 3});
  expect_refusals({
      {"expected a positive size, got 0", [] { Linear made(0, 1); }},
      {"Embedding: expected padding_idx within 3 rows, got 3",
       [] { Embedding made(3, 2, {.padding_idx = 3}); }},
      {"Dropout: expected a probability within [0, 1], got 2", [] { Dropout made(2); }},
      {"DropoutChannels: expected x [N, C, ...], got float[3]", [&] { DropoutChannels()(row); }},
      {"Unflatten: expected an axis of float[3], got 1",
       [&] {
         Unflatten(1, {3, 1})(row);
       }},
      {"Upsample: expected mode nearest, nearest-exact, linear, bilinear",
       [] { Upsample made({.scale_factor = {2}, .mode = "odd"}); }},
      {"Upsample: expected either a size or a scale_factor", [] { Upsample made({}); }},
      {"Upsample: expected either a size or a scale_factor",
       [] { Upsample made({.size = {2}, .scale_factor = {2}}); }},
      {"interpolate: scale_factor has 2 numbers for x float[1, 1, 4]",
       [] {
         Upsample({.scale_factor = {2, 2}})(ones({1, 1, 4}));
       }},
      {"groups divide, got 3 -> 4", [] { Conv2d made(3, 4, 3, {.groups = 2}); }},
      {"groups divide, got 3 -> 4", [] { ConvTranspose2d made(3, 4, 3, {.groups = 2}); }},
      {"expected padding_mode zeros, reflect, replicate or circular, got odd",
       [] { Conv2d made(1, 1, 3, {.padding_mode = "odd"}); }},
      {"same padding needs strides of 1, got 2",
       [] { Conv2d made(1, 1, 3, {.stride = 2, .same = true}); }},
      {"kernel: expected 1 or 2 sizes, got 3",
       [] {
         Conv2d made(1, 1, {3, 3, 3});
       }},
      {"expected x [N, C, 2 spatial axes], got float[2, 3]; unsqueeze(0) makes a batch of one",
       [&] { Conv2d(1, 1, 1)(matrix); }},
      {"expected x [N, C, 2 spatial axes], got float[2, 3]", [&] { MaxPool2d(2)(matrix); }},
      {"expected x [N, C, 2 spatial axes], got float[2, 3]", [&] { AdaptiveAvgPool2d(1)(matrix); }},
      {"expected x [N, C, 2 spatial axes], got float[2, 3]", [&] { AdaptiveMaxPool2d(1)(matrix); }},
      {"expected padding of at most half the kernel (2), got 2",
       [] { MaxPool2d made(2, {.padding = 2}); }},
      {"GroupNorm: 2 groups do not divide 3 channels", [] { GroupNorm made(2, 3); }},
      {"InstanceNorm: expected x [N, C, ...], got float[2, 3]", [&] { InstanceNorm(3)(matrix); }},
      {"LayerNorm: expected x to end in [4], got float[2, 3]", [&] { LayerNorm(4)(matrix); }},
      {"rms_norm: expected x to end in [4], got float[2, 3]", [&] { RMSNorm(4)(matrix); }},
      {"expected a positive size, got 0", [] { BatchNorm2d made(0); }},
      {"expected positive sizes, got 0 -> 3, 1 layers", [] { LSTM made(0, 3); }},
      {"MultiheadAttention: 2 heads do not divide an embedding of 3",
       [] { MultiheadAttention made(3, 2); }},
      {"MultiheadAttention: expected [length, batch, width], got float[2, 3]",
       [&] { MultiheadAttention(3, 1)(matrix, matrix, matrix); }},
      {"transformer layer: expected activation relu or gelu, got odd",
       [] { TransformerEncoderLayer made(4, 2, {.activation = "odd"}); }},
      {"transformer layer: expected activation relu or gelu, got odd",
       [] { TransformerDecoderLayer made(4, 2, {.activation = "odd"}); }},
      {"transformer: expected at least one layer, got 0", [] { TransformerEncoder made(0, 4, 2); }},
      {"to: expected a floating type, got int64", [] { Linear(1, 1).to(DType::kInt64); }},
  });
}

// Layers that cannot be made name the line that made them, whatever they are made of.
TEST(LayerRefusals, ConstructorsNameTheLine) {
  const std::function<void()> makers[] = {
      [] { Linear made(0, 1); },
      [] { Bilinear made(1, 1, 0); },
      [] { Embedding made(3, 2, {.padding_idx = 3}); },
      [] { Embedding::from_pretrained(ones({3})); },
      [] { Embedding::from_pretrained(Tensor()); },
      [] { EmbeddingBag made(3, 2, {.mode = "odd"}); },
      [] { Dropout made(2); },
      [] { Dropout2d made(-1); },
      [] { AlphaDropout made(2); },
      [] { PReLU made(0); },
      [] { Upsample made({}); },
      [] { UpsamplingNearest2d made({}); },
      [] { UpsamplingBilinear2d made({}); },
      [] { Conv2d made(3, 4, 3, {.groups = 2}); },
      [] { Conv1d made(1, 1, 3, {.padding_mode = "odd"}); },
      [] { ConvTranspose2d made(3, 4, 3, {.groups = 2}); },
      [] { MaxPool2d made(2, {.padding = 2}); },
      [] {
        AvgPool2d made({1, 2, 3});
      },
      [] {
        AdaptiveAvgPool2d made({1, 2, 3});
      },
      [] {
        AdaptiveMaxPool2d made({1, 2, 3});
      },
      [] {
        ZeroPad2d made({1, 2, 3});
      },
      [] {
        ConstantPad1d made({1, 2, 3}, 0);
      },
      [] { BatchNorm2d made(0); },
      [] { InstanceNorm2d made(0); },
      [] { LayerNorm made(0); },
      [] { LayerNorm made(std::vector<int64_t>{}); },
      [] { GroupNorm made(2, 3); },
      [] { GroupNorm made(1, 0); },
      [] { RMSNorm made(0); },
      [] { RNN made(0, 3); },
      [] { GRU made(1, 0); },
      [] { LSTM made(0, 3); },
      [] { RNNCell made(0, 3); },
      [] { GRUCell made(0, 3); },
      [] { LSTMCell made(0, 3); },
      [] { MultiheadAttention made(3, 2); },
      [] { MultiheadAttention made(4, 2, {.key_size = 0}); },
      [] { TransformerEncoderLayer made(4, 3); },
      [] { TransformerEncoderLayer made(4, 2, {.activation = "odd"}); },
      [] { TransformerDecoderLayer made(4, 2, {.feedforward = 0}); },
      [] { TransformerEncoder made(0, 4, 2); },
      [] { TransformerDecoder made(1, 4, 3); },
      [] { Transformer made({.embed = 5}); },
      [] { weight_norm(Linear(1, 1), {.dim = 2}); },
      [] { spectral_norm(Linear(1, 1), {.n_power_iterations = 0}); },
  };
  for (size_t i = 0; i < std::size(makers); ++i) {
    SCOPED_TRACE(i);
    expect_refusal(ErrorCode::kInvalidArgument, "error_test.cpp:", makers[i]);
  }
}

TEST(InitRefusals, Arguments) {
  const Tensor row = ones({3}), matrix = ones({2, 3});
  expect_refusals({
      {"fans: expected rank 2 or more, got shape [3]", [&] { init::fans_of(row); }},
      {"trunc_normal: expected low < high and a positive deviation, got 1, 1 and 1",
       [&] { init::trunc_normal(row, 0, 1, 1, 1); }},
      {"trunc_normal: expected low < high and a positive deviation, got -2, 2 and 0",
       [&] { init::trunc_normal(row, 0, 0); }},
      {"orthogonal: expected rank 2 or more, got shape [3]", [&] { init::orthogonal(row); }},
      {"eye: expected rank 2 to 2, got shape [3]", [&] { init::eye(row); }},
      {"dirac: expected rank 3 to 5, got shape [2, 3]", [&] { init::dirac(matrix); }},
      {"sparse: expected rank 2 to 2, got shape [3]", [&] { init::sparse(row, 0.5); }},
      {"sparse: expected a share within [0, 1], got 2", [&] { init::sparse(matrix, 2); }},
      {"gain: expected linear, conv, sigmoid", [] { init::gain("odd"); }},
  });
}

TEST(MetricRefusals, Arguments) {
  const Tensor scores = ones({2, 3}), odd = tensor({int64_t{0}, int64_t{3}});
  expect_refusals({
      {"accuracy: expected scores [N, C] and targets [N], got float[2, 3] and int64[3]",
       [&] { accuracy(scores, classes({3})); }},
      {"accuracy: target 3 is none of 3 classes", [&] { accuracy(scores, odd); }},
      {"ConfusionMatrix: expected 1 to", [] { ConfusionMatrix made(0); }},
      {"ConfusionMatrix: 2 predictions for 3 targets",
       [&] { ConfusionMatrix(3).add(classes({2}), classes({3})); }},
      {"ConfusionMatrix: prediction 3 is none of 3 classes",
       [&] { ConfusionMatrix(3).add(odd, classes({2})); }},
      {"ConfusionMatrix: target 3 is none of 3 classes",
       [&] { ConfusionMatrix(3).add(classes({2}), odd); }},
      {"ConfusionMatrix: target -1 is none of 3 classes", [] { ConfusionMatrix(3).count(-1, 0); }},
      {"ConfusionMatrix: prediction 3 is none of 3", [] { ConfusionMatrix(3).count(0, 3); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::nn
