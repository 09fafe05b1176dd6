// Places of max pools, unpooling, bags, bilinear forms and losses of labels as functions: values
// are torch 1.13's.
#include "eager/nn/unpooling.h"

#include <gtest/gtest.h>

#include "eager/autograd/gradcheck.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::nn {
namespace {

using Doubles = std::vector<double>;

Tensor double_leaf(const Doubles& values, const Shape& shape) {
  return Tensor::of(values, shape).set_requires_grad(true);
}

bool has_right_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& function,
                         const std::vector<Tensor>& inputs) {
  return gradcheck([&](const std::vector<Tensor>& in) { return std::vector{function(in)}; },
                   inputs);
}

TEST(MaxUnpooling, PutsElementsBack) {
  const Tensor x = arange(32).to(DType::kFloat).reshape({1, 2, 4, 4});
  const auto [pooled, indices] = max_pool2d_with_indices(x, 2);
  EXPECT_EQ(indices.data().to_int64s(), (std::vector<int64_t>{5, 7, 13, 15, 5, 7, 13, 15}));
  const Tensor back = max_unpool2d(pooled, indices, 2);
  EXPECT_EQ(back.shape(), x.shape());
  EXPECT_EQ(back.sum().item<float>(), pooled.sum().item<float>());
  EXPECT_EQ(back.index({0, 1, 3, 1}).item<float>(), 29);
  EXPECT_EQ(back.index({0, 1, 0, 1}).item<float>(), 0);
  const Tensor larger = MaxUnpool2d(2)(pooled, indices, Sizes({5, 4}));
  EXPECT_EQ(larger.size(2), 5);
  const auto [line, at] = max_pool1d_with_indices(x.reshape({1, 2, 16}), 3, {.stride = 2});
  EXPECT_EQ(to_text(max_unpool1d(line, at, 3, {.stride = 2}).shape()), "[1, 2, 15]");
  const auto [cube, where_in] = max_pool3d_with_indices(x.reshape({1, 1, 2, 4, 4}), 2);
  EXPECT_EQ(where_in.data().to_int64s(), (std::vector<int64_t>{21, 23, 29, 31}));
  EXPECT_EQ(to_text(max_unpool3d(cube, where_in, 2).shape()), "[1, 1, 2, 4, 4]");
}

TEST(MaxUnpooling, HasGradientsAndIsCompiled) {
  const Tensor x = double_leaf({1, 5, 2, 7, 3, 8, 6, 4}, {1, 1, 8});
  EXPECT_TRUE(has_right_gradients(
      [](const std::vector<Tensor>& in) {
        const auto [pooled, indices] = max_pool1d_with_indices(in[0], 2);
        return max_unpool1d(square(pooled), indices, 2);
      },
      {x}));
  const auto both = compile([](const std::vector<Tensor>& in) {
    const auto [pooled, indices] = max_pool2d_with_indices(in[0], 2);
    return std::vector{max_unpool2d(pooled, indices, 2)};
  });
  const Tensor image = randn({2, 3, 6, 4});
  const auto [pooled, indices] = max_pool2d_with_indices(image, 2);
  EXPECT_EQ((both({image})[0] - max_unpool2d(pooled, indices, 2)).abs().max().item<float>(), 0);
}

TEST(MaxUnpooling, Refusals) {
  const Tensor x = zeros({1, 1, 2, 2}), at = zeros({1, 1, 2, 2}, {.dtype = DType::kInt64});
  expect_refusal(ErrorCode::kInvalidArgument, "max_unpool2d: expected int64 indices of x's shape",
                 [&] { static_cast<void>(max_unpool2d(x, x, 2)); });
  expect_refusal(ErrorCode::kInvalidArgument, "max_unpool1d: expected x [N, C, 1 spatial axes]",
                 [&] { static_cast<void>(max_unpool1d(x, at, 2)); });
  expect_refusal(ErrorCode::kInvalidArgument,
                 "output_size: expected a size between 2 and 6 along spatial axis 0, got 6",
                 [&] { static_cast<void>(max_unpool2d(x, at, 2, {.output_size = 6})); });
  expect_refusal(ErrorCode::kInvalidArgument, "16",
                 [&] { static_cast<void>(max_unpool2d(x, at + 16, 2)); });
  expect_refusal(ErrorCode::kInvalidArgument, "max_pool1d_with_indices: expected x [N, C, 1",
                 [&] { static_cast<void>(max_pool1d_with_indices(x, 2)); });
}

TEST(EmbeddingBags, AsAFunction) {
  const Tensor weight = double_leaf({0.5, 1, -1, 2, 3, -2}, {3, 2});
  const Tensor indices = tensor<int64_t>({0, 2, 1, 1}), offsets = tensor<int64_t>({0, 2, 2});
  const Tensor factors = double_leaf({2, 0.5, 1, -1}, {4});
  const auto weighted = [&](const std::vector<Tensor>& in) {
    return embedding_bag(indices, in[0], offsets, {.mode = "sum"}, in[1]);
  };
  EXPECT_EQ(weighted({weight, factors}).data().to_doubles(), (Doubles{2.5, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(has_right_gradients(weighted, {weight, factors}));
  EXPECT_EQ(embedding_bag(indices.reshape({2, 2}), weight).data().to_doubles(),
            (Doubles{1.75, -0.5, -1, 2}));
  expect_refusal(ErrorCode::kInvalidArgument,
                 "per_sample_weights: expected weights of the indices' shape in mode sum",
                 [&] { static_cast<void>(embedding_bag(indices, weight, offsets, {}, factors)); });
  expect_refusal(ErrorCode::kInvalidArgument, "expected mode sum, mean or max, got min", [&] {
    static_cast<void>(embedding_bag(indices, weight, offsets, {.mode = "min"}));
  });
}

TEST(BilinearForm, IsTheLayersFunction) {
  const Bilinear layer(3, 4, 2);
  const Tensor a = randn({5, 3}), b = randn({5, 4});
  const Tensor y = bilinear(a, b, layer.weight, layer.bias);
  EXPECT_EQ((y - layer(a, b)).abs().max().item<float>(), 0);
}

TEST(RandomSlopes, InTrainingOnly) {
  const Tensor x = tensor({-2.f, -1.f, 0.f, 3.f}).expand({256, 4});
  const Tensor fixed = rrelu(x);
  EXPECT_FLOAT_EQ(fixed.index({0, 0}).item<float>(), -2 * (1.f / 8 + 1.f / 3) / 2);
  RReLU layer(0.25, 0.5);
  const Tensor y = layer(x);
  EXPECT_EQ((y.select(1, 3) - 3).abs().max().item<float>(), 0);
  EXPECT_GE(y.select(1, 1).min().item<float>(), -0.5f);
  EXPECT_LE(y.select(1, 1).max().item<float>(), -0.25f);
  EXPECT_GT(y.select(1, 1).std().item<float>(), 0.03f);
  layer.eval();
  EXPECT_FLOAT_EQ(layer(x).index({7, 1}).item<float>(), -0.375f);
  expect_refusal(ErrorCode::kInvalidArgument,
                 "rrelu: expected floating elements and lower <= upper",
                 [&] { static_cast<void>(rrelu(x, 0.5, 0.25)); });
}

TEST(LabelLosses, OfSeveralLabels) {
  const Tensor x = double_leaf({0.1, 0.2, 0.4, 0.8, 0.3, -0.1, 0.9, 0.2}, {2, 4});
  const Tensor y = tensor<int64_t>({3, 0, -1, 1, 1, -1, 0, 0}).reshape({2, 4});
  const Tensor loss = multilabel_margin_loss(x, y);
  EXPECT_NEAR(loss.item<double>(), 1.0125, 1e-12);
  loss.backward();
  EXPECT_EQ(x.grad().data().to_doubles(),
            (Doubles{-0.25, 0.25, 0.25, -0.25, 0.125, -0.375, 0.125, 0.125}));
  const Tensor one =
      multilabel_margin_loss(x.select(0, 0), y.select(0, 0), {.reduction = Reduction::kNone});
  EXPECT_NEAR(one.item<double>(), 0.85, 1e-12);
  expect_refusal(ErrorCode::kInvalidArgument, "expected scores [N, C] or [C] and integer labels",
                 [&] { static_cast<void>(multilabel_margin_loss(x, x)); });
}

TEST(TripletLosses, WithADistance) {
  const Tensor a = randn({4, 3}), b = randn({4, 3}), c = randn({4, 3});
  const auto likeness = [](const Tensor& p, const Tensor& q) {
    return 1 - cosine_similarity(p, q);
  };
  const Tensor plain = relu(likeness(a, b) - likeness(a, c) + 0.5).mean();
  const Tensor found =
      triplet_margin_with_distance_loss(a, b, c, {.distance_function = likeness, .margin = 0.5});
  EXPECT_FLOAT_EQ(found.item<float>(), plain.item<float>());
  EXPECT_FLOAT_EQ(triplet_margin_with_distance_loss(a, b, c, {.swap = true}).item<float>(),
                  triplet_margin_loss(a, b, c, {.swap = true}).item<float>());
}

}  // namespace
}  // namespace sardonyx::eager::nn
