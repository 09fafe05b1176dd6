#include "ir/layout.h"

#include <gtest/gtest.h>

namespace sardonyx {
namespace {

using Kind = Layout::Kind;

TEST(ImageLayout, names_ranks_and_sizes) {
  const LayoutPtr last = image_layout(Kind::kNHWC, DType::kUInt8, {2, 3, 4, 5});
  EXPECT_EQ(last->text(), "NHWC");
  EXPECT_EQ(last->bytes(), 2u * 3 * 4 * 5);
  const LayoutPtr blocks = image_layout(Kind::kNCHW16c, DType::kFloat, {2, 17, 4, 5});
  EXPECT_EQ(blocks->text(), "NCHW16c");
  EXPECT_EQ(blocks->bytes(), 2u * 32 * 4 * 5 * 4);  // the second block is filled with zeros
  EXPECT_EQ(image_layout(Kind::kNHWC, DType::kFloat, {1, 2, 3})->text(), "NWC");
  EXPECT_EQ(image_layout(Kind::kNCHW16c, DType::kFloat, {1, 2, 3, 4, 5})->text(), "NCDHW16c");
}

TEST(ImageLayout, of_one_channel_or_one_pixel_is_row_major) {
  EXPECT_EQ(image_layout(Kind::kNHWC, DType::kFloat, {2, 1, 4, 5}), nullptr);
  EXPECT_EQ(image_layout(Kind::kNHWC, DType::kFloat, {2, 3, 1, 1}), nullptr);
  EXPECT_EQ(image_layout(Kind::kNCHW16c, DType::kFloat, {2, 32, 1, 1}), nullptr);
  EXPECT_NE(image_layout(Kind::kNCHW16c, DType::kFloat, {2, 3, 1, 1}), nullptr);  // padded
  EXPECT_NE(image_layout(Kind::kNCHW16c, DType::kFloat, {2, 16, 1, 2}), nullptr);
}

// A layout that only its maker understands.
class Foreign : public Layout {
 public:
  Foreign() : Layout(Kind::kOpaque) {}
  size_t bytes() const override { return 4; }
  bool equals(const Layout& other) const override { return &other == this; }
  std::string text() const override { return "foreign"; }
};

TEST(ImageLayout, equals_one_of_the_same_kind_type_and_shape) {
  const Shape shape{2, 3, 4, 5};
  const LayoutPtr layout = image_layout(Kind::kNHWC, DType::kFloat, shape);
  EXPECT_TRUE(same_layout(layout, image_layout(Kind::kNHWC, DType::kFloat, shape)));
  EXPECT_FALSE(same_layout(layout, image_layout(Kind::kNCHW16c, DType::kFloat, shape)));
  EXPECT_FALSE(same_layout(layout, image_layout(Kind::kNHWC, DType::kUInt8, shape)));
  EXPECT_FALSE(same_layout(layout, image_layout(Kind::kNHWC, DType::kFloat, {2, 3, 5, 4})));
  EXPECT_FALSE(same_layout(layout, nullptr));
  EXPECT_FALSE(same_layout(layout, std::make_shared<const Foreign>()));
  EXPECT_TRUE(same_layout(nullptr, nullptr));
}

}  // namespace
}  // namespace sardonyx
