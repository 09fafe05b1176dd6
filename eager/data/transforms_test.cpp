#include "eager/data/transforms.h"

#include <gtest/gtest.h>

#include <set>

#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/functional/functional.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::data::transforms {
namespace {

using Numbers = std::vector<double>;

// 0, 1, 2 ... of one channel.
Tensor counted(int64_t height, int64_t width) {
  return arange(height * width).to(DType::kFloat).reshape({1, height, width});
}
Numbers numbers_of(const Tensor& x) {
  return x.to(DType::kDouble).to_vector<double>();
}

struct ImageCase {
  const char* name;
  Transform change;
  Tensor in;
  Shape shape;
  Numbers out;
};

std::vector<ImageCase> image_cases() {
  const Tensor four = counted(2, 2), rgb = tensor({1.0f, 0.5f, 0.0f}).reshape({3, 1, 1});
  const Tensor bytes = tensor<uint8_t>({0, 51, 255, 102}).reshape({1, 2, 2});
  return {
      {"crop",
       [](const Tensor& x) {
         return crop(x, 1, 2, {2, 1});
       },
       counted(3, 4),
       {1, 2, 1},
       {6, 10}},
      {"CenterCrop", CenterCrop(2), counted(4, 5), {1, 2, 2}, {7, 8, 12, 13}},
      {"horizontal_flip", horizontal_flip, four, {1, 2, 2}, {1, 0, 3, 2}},
      {"vertical_flip", vertical_flip, four, {1, 2, 2}, {2, 3, 0, 1}},
      {"pad",
       [](const Tensor& x) { return pad(x, 1, 0, 0, 1, 9); },
       four,
       {1, 3, 3},
       {9, 0, 1, 9, 2, 3, 9, 9, 9}},
      {"pad by edges",
       [](const Tensor& x) { return pad(x, 0, 1, 1, 0, 0, "edge"); },
       four,
       {1, 3, 3},
       {0, 1, 1, 0, 1, 1, 2, 3, 3}},
      {"resize to half",
       Resize(2),
       counted(4, 4).reshape({1, 4, 4}),
       {1, 2, 2},
       {3.57142857142857, 5.14285714285714, 9.85714285714286, 11.4285714285714}},
      {"resize without a filter", Resize(Size(1, 2), false), counted(2, 4), {1, 1, 2}, {2.5, 4.5}},
      {"ToFloat", ToFloat(), bytes, {1, 2, 2}, {0, 0.2, 1, 0.4}},
      {"Normalize", Normalize({0.5, 0.5, 1}, {0.5, 0.25, 1}), rgb, {3, 1, 1}, {1, 0, -1}},
      {"Normalize all alike", Normalize({0.5}, {0.5}), rgb, {3, 1, 1}, {1, 0, -1}},
      {"grayscale", [](const Tensor& x) { return grayscale(x); }, rgb, {1, 1, 1}, {0.5924}},
      {"grayscale of three",
       [](const Tensor& x) { return grayscale(x, 3); },
       rgb,
       {3, 1, 1},
       {0.5924, 0.5924, 0.5924}},
      {"brightness",
       [](const Tensor& x) { return adjust_brightness(x, 1.5); },
       rgb,
       {3, 1, 1},
       {1, 0.75, 0}},
      {"contrast",
       [](const Tensor& x) { return adjust_contrast(x, 0.5); },
       rgb,
       {3, 1, 1},
       {0.7962, 0.5462, 0.2962}},
      {"saturation",
       [](const Tensor& x) { return adjust_saturation(x, 2); },
       rgb,
       {3, 1, 1},
       {1, 0.4076, 0}},
      {"nothing random",
       Compose(
           {RandomHorizontalFlip(0), RandomVerticalFlip(0), ColorJitter{}, RandomErasing{.p = 0}}),
       four,
       {1, 2, 2},
       {0, 1, 2, 3}},
      {"both flips",
       Compose({RandomHorizontalFlip(1), RandomVerticalFlip(1)}),
       four,
       {1, 2, 2},
       {3, 2, 1, 0}},
  };
}

TEST(Transforms, OfImages) {
  for (const ImageCase& one : image_cases()) {
    const Tensor found = one.change(one.in);
    EXPECT_EQ(found.shape(), to_dims(one.shape)) << one.name;
    const Numbers values = numbers_of(found);
    ASSERT_EQ(values.size(), one.out.size()) << one.name;
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], one.out[i], 1e-5) << one.name << " " << i;
  }
}

TEST(Transforms, RandomOnesReachAllPlaces) {
  manual_seed(11);
  std::set<double> corners, sums;
  int flips = 0;
  for (int i = 0; i < 300; ++i) {
    const Tensor part = RandomCrop(2)(counted(3, 4));
    EXPECT_EQ(part.shape(), (Dims{1, 2, 2}));
    corners.insert(numbers_of(part)[0]);
    flips += numbers_of(RandomHorizontalFlip()(counted(1, 2)))[0] == 1;
    const Tensor resized = RandomResizedCrop({3, 5})(counted(8, 8));
    EXPECT_EQ(resized.shape(), (Dims{1, 3, 5}));
    const double share =
        RandomErasing{.p = 1, .scale = {0.2, 0.5}}(ones({1, 20, 20})).mean().item<double>();
    EXPECT_GT(share, 0.45);
    EXPECT_LT(share, 0.85);
    sums.insert(ColorJitter{.brightness = 0.5}(full({3, 1, 1}, 0.5)).sum().item<double>());
  }
  EXPECT_EQ(corners, (std::set<double>{0, 1, 2, 4, 5, 6}));
  EXPECT_NEAR(flips, 150, 40);
  EXPECT_GT(sums.size(), 100u);
  EXPECT_GT(*sums.begin(), 0.74);
  EXPECT_LT(*sums.rbegin(), 2.26);
  // Padded first; and an image that no rectangle of the ratio fits into.
  EXPECT_EQ(RandomCrop(4, 1)(counted(2, 2)).shape(), (Dims{1, 4, 4}));
  EXPECT_EQ(RandomResizedCrop(2, {1, 1}, {1, 1})(counted(1, 9)).shape(), (Dims{1, 2, 2}));
  manual_seed(5);
  const Numbers first = numbers_of(RandomCrop(2)(counted(9, 9)));
  manual_seed(5);
  EXPECT_EQ(numbers_of(RandomCrop(2)(counted(9, 9))), first);
}

TEST(TransformRefusals, Arguments) {
  const Tensor image = counted(3, 4), bytes = zeros({3, 2, 2}, {.dtype = DType::kUInt8});
  expect_refusals({
      {"crop: 4 x 1 at (0, 0) is not within float[1, 3, 4]",
       [&] {
         crop(image, 0, 0, {4, 1});
       }},
      {"crop: expected an image [channels, height, width], got float[2]",
       [] { crop(ones({2}), 0, 0, 1); }},
      {"resize: expected floating elements, got uint8[3, 2, 2]; ToFloat comes first",
       [&] { resize(bytes, 1); }},
      {"resize: expected a size of at least 1 x 1", [&] { resize(image, 0); }},
      {"grayscale: expected 3 channels", [&] { grayscale(image); }},
      {"Normalize: expected a mean and a std (not 0)", [] { Normalize({1}, {0}); }},
      {"Normalize: expected 2 channels, got float[1, 3, 4]",
       [&] {
         Normalize({1, 1}, {1, 1})(image);
       }},
      {"ToFloat: expected uint8 or floating elements, got int64[1]", [] { ToFloat()(arange(1)); }},
      {"RandomResizedCrop: expected 0 < low <= high as scale, got 0 and 1",
       [] {
         RandomResizedCrop(2, {0, 1});
       }},
      {"RandomErasing: expected 0 < low <= high as ratio",
       [&] {
         RandomErasing{.p = 1, .ratio = {2, 1}}(image);
       }},
      {"crop: 5 x 5 at (0, 0)", [&] { RandomCrop(5)(image); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::data::transforms
