#include "ir/ops/resampling/resize_axis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sardonyx::ops {
namespace {

ResizeAxis sized(int64_t in, int64_t out) {
  return {.in = in,
          .out = out,
          .scale = static_cast<float>(out) / static_cast<float>(in),
          .length = static_cast<double>(out)};
}

ResizeAxis scaled(int64_t in, float scale) {
  return {.in = in,
          .out = scaled_length(in, scale),
          .scale = scale,
          .length = static_cast<double>(scale) * static_cast<double>(in)};
}

TEST(ResizeAxis, Coordinates) {
  struct Case {
    const char* mode;
    ResizeAxis axis;
    int64_t index;
    float expected;
  };
  ResizeAxis crop = sized(5, 3);
  crop.roi_begin = 0.25f;
  crop.roi_end = 0.75f;
  ResizeAxis crop_to_one = crop;
  crop_to_one.out = 1;
  const Case cases[] = {
      {"half_pixel", sized(4, 8), 0, -0.25f},
      {"half_pixel", sized(4, 8), 7, 3.25f},
      {"asymmetric", sized(4, 8), 7, 3.5f},
      {"align_corners", sized(4, 8), 7, 3.0f},
      {"align_corners", sized(4, 1), 0, 0.0f},
      {"align_corners", scaled(4, 0.8f), 2, 2 * 3 / 2.2f},  // from the length 3.2, not 3
      {"pytorch_half_pixel", sized(4, 2), 1, 2.5f},
      {"pytorch_half_pixel", sized(4, 1), 0, 0.0f},
      {"half_pixel_symmetric", sized(4, 8), 0, -0.25f},
      // 2 of 2.3 elements stay: what is lost is lost on both sides.
      {"half_pixel_symmetric", scaled(1, 2.3f), 0, 0.5f * (1 - 2 / 2.3f) + 0.5f / 2.3f - 0.5f},
      {"tf_crop_and_resize", crop, 0, 1.0f},
      {"tf_crop_and_resize", crop, 2, 3.0f},
      {"tf_crop_and_resize", crop_to_one, 0, 2.0f},
  };
  for (const Case& c : cases) {
    ResizeAttrs attrs;
    attrs.coordinate_transformation_mode = c.mode;
    EXPECT_NEAR(original_coordinate(attrs, c.axis, c.index), c.expected, 1e-6) << c.mode;
  }
}

TEST(ResizeAxis, NearestModesAtTies) {
  const std::pair<const char*, std::pmr::vector<int64_t>> cases[] = {
      // 3 -> 6 asymmetric: coordinates 0, 0.5, 1, 1.5, 2, 2.5
      {"round_prefer_floor", {0, 0, 1, 1, 2, 2}},
      {"round_prefer_ceil", {0, 1, 1, 2, 2, 2}},
      {"floor", {0, 0, 1, 1, 2, 2}},
      {"ceil", {0, 1, 1, 2, 2, 2}},
  };
  for (const auto& [mode, expected] : cases) {
    ResizeAttrs attrs;
    attrs.coordinate_transformation_mode = "asymmetric";
    attrs.nearest_mode = mode;
    EXPECT_EQ(nearest_elements(attrs, sized(3, 6)), expected) << mode;
  }
}

TEST(ResizeAxis, CropLeavesTheInput) {
  ResizeAttrs attrs;
  attrs.coordinate_transformation_mode = "tf_crop_and_resize";
  ResizeAxis axis = sized(3, 3);
  axis.roi_begin = -0.5f;
  axis.roi_end = 0.5f;
  EXPECT_EQ(nearest_elements(attrs, axis), (std::pmr::vector<int64_t>{-1, 0, 1}));
  attrs.mode = "linear";
  const ResizeBlend blend = blended_elements(attrs, axis);
  EXPECT_TRUE(blend.of(0).empty());
  EXPECT_FALSE(blend.of(1).empty());
}

// Whatever the mode, weights add up to 1 and elements are inside the input.
TEST(ResizeAxis, WeightsAddUpToOne) {
  for (const char* transform : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                "align_corners", "asymmetric"}) {
    for (int variant = 0; variant < 8; ++variant) {
      ResizeAttrs attrs;
      attrs.coordinate_transformation_mode = transform;
      attrs.mode = variant & 1 ? "cubic" : "linear";
      attrs.antialias = variant & 2;
      attrs.exclude_outside = variant & 4;
      for (int64_t in = 1; in <= 7; ++in) {
        for (int64_t out = 1; out <= 9; ++out) {
          const ResizeBlend blend = blended_elements(attrs, sized(in, out));
          for (int64_t i = 0; i < out; ++i) {
            double sum = 0;
            for (const ResizeBlend::WeightedElement& part : blend.of(i)) {
              sum += part.weight;
              ASSERT_TRUE(part.element >= 0 && part.element < in);
            }
            ASSERT_NEAR(sum, 1, 1e-6) << transform << ' ' << variant << ' ' << in << ' ' << out;
          }
        }
      }
    }
  }
}

TEST(ResizeAxis, AspectRatio) {
  const Shape in{4, 10}, sizes{8, 15};
  EXPECT_FLOAT_EQ(common_scale("not_larger", in, sizes), 1.5f);
  EXPECT_FLOAT_EQ(common_scale("not_smaller", in, sizes), 2.0f);
  EXPECT_EQ(rounded_length(3, 0.5f), 2);
}

}  // namespace
}  // namespace sardonyx::ops
