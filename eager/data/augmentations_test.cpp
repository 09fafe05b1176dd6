// Images rotated, moved, blurred and recoloured.
#include "eager/data/augmentations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::data::transforms {
namespace {

constexpr CloseOptions kNear{.rtol = 1e-4, .atol = 1e-5};

Tensor image() {
  return rand({3, 6, 6}, {.generator = Generator(5)});
}

TEST(Augmentations, RotateByQuarterTurns) {
  const Tensor x = image();
  EXPECT_TRUE(allclose(rotate(x, 90), rot90(x, 1, 1, 2), kNear));
  EXPECT_TRUE(allclose(rotate(x, -90), rot90(x, -1, 1, 2), kNear));
  EXPECT_TRUE(allclose(rotate(x, 180, /*bilinear=*/true), flip(x, {1, 2}), kNear));
  // Of an image that is not square, the middle stays whole.
  const Tensor wide = rand({1, 4, 8}, {.generator = Generator(6)});
  EXPECT_TRUE(
      allclose(rotate(wide, 90).slice(2, {2, 6}), rot90(wide.slice(2, {2, 6}), 1, 1, 2), kNear));
}

TEST(Augmentations, MoveAndScale) {
  const Tensor x = image();
  const Tensor right = affine(x, {.translate = {1.0 / 3, 0}});
  EXPECT_TRUE(allclose(right.slice(2, {2, 6}), x.slice(2, {0, 4}), kNear));
  EXPECT_TRUE(allclose(right.slice(2, {0, 2}), zeros({3, 6, 2})));
  const Tensor doubled = affine(x, {.scale = 2});
  EXPECT_TRUE(allclose(doubled[0][2][2], x[0][2][2], kNear));
  EXPECT_TRUE(allclose(doubled[0][0][0], x[0][1][1], kNear));
}

TEST(Augmentations, BlurKeepsWhatIsEven) {
  EXPECT_TRUE(allclose(gaussian_blur(ones({3, 6, 6}), 3, 1), ones({3, 6, 6}), kNear));
  const Tensor point = zeros({1, 5, 5}).index_put({0, 2, 2}, ones({}));
  const Tensor blurred = gaussian_blur(point, 3, 1);
  EXPECT_NEAR(blurred.sum().item<float>(), 1, 1e-5);
  EXPECT_NEAR(blurred.index({0, 2, 1}).item<float>() / blurred.index({0, 2, 2}).item<float>(),
              std::exp(-0.5), 1e-5);
}

TEST(Augmentations, HuesGoRound) {
  const Tensor x = image();
  EXPECT_TRUE(allclose(adjust_hue(x, 0), x, kNear));
  EXPECT_TRUE(allclose(adjust_hue(x, 1.0 / 3), stack({x[2], x[0], x[1]}), kNear));
  EXPECT_TRUE(allclose(adjust_hue(adjust_hue(x, 0.2), -0.2), x, kNear));
  const Tensor grey = full({3, 2, 2}, 0.5);
  EXPECT_TRUE(allclose(adjust_hue(grey, 0.4), grey));
}

TEST(Augmentations, DrawFromTheGenerator) {
  const Compose augment({RandomApply({GaussianBlur(3)}, 1),
                         RandomChoice({RandomRotation(20), RandomGrayscale{1}}),
                         RandomAffine{.degrees = 5, .translate = {0.1, 0.1}, .scale = {0.9, 1.1}},
                         ColorJitter{.hue = 0.1}, Pad({1, 2, 3, 4}), Grayscale{3}, ToTensor()});
  const auto drawn = [&](uint64_t seed) {
    const UseGenerator draws{Generator(seed)};
    return augment(image());
  };
  EXPECT_EQ(drawn(1).data().shape(), (Shape{3, 12, 10}));
  EXPECT_TRUE(equal(drawn(1), drawn(1)));
  EXPECT_FALSE(equal(drawn(1), drawn(2)));
}

TEST(Augmentations, Refusals) {
  expect_refusals({
      {"affine: expected a scale above 0, got 0", [] { affine(image(), {.scale = 0}); }},
      {"gaussian_blur: expected an odd kernel and a sigma above 0, got 4 and 1",
       [] { gaussian_blur(image(), 4, 1); }},
      {"adjust_hue: expected 3 channels and a factor within [-0.5, 0.5]",
       [] { adjust_hue(image(), 0.6); }},
      {"of floating elements, got uint8[3, 2, 2]",
       [] {
         rotate(zeros({3, 2, 2}, {.dtype = DType::kUInt8}), 10);
       }},
      {"Pad: expected {left, top, right, bottom}, got 2 numbers",
       [] {
         Pad(std::vector<int64_t>{1, 2});
       }},
      {"RandomChoice: expected some transforms", [] { RandomChoice({}); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::data::transforms
