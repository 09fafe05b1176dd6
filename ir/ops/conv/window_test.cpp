#include "ir/ops/conv/window.h"

#include <gtest/gtest.h>

#include "ir/core/error.h"

namespace sardonyx::ops {
namespace {

struct WindowCase {
  int64_t in, kernel, stride, dilation, pad_begin, pad_end;
  bool ceil_mode;
};

// The number of windows, by trying each.
int64_t count_windows(const WindowCase& c) {
  const int64_t extent = (c.kernel - 1) * c.dilation + 1;
  int64_t count = 0;
  while (true) {
    const int64_t start = count * c.stride;
    if (start + extent > c.in + c.pad_begin + c.pad_end) break;
    ++count;
  }
  const int64_t last_end = (count - 1) * c.stride + extent;
  const bool rest = last_end < c.in + c.pad_begin + c.pad_end;
  return count + (c.ceil_mode && rest && count * c.stride < c.in + c.pad_begin);
}

TEST(Window, CountsWindowsLikeBruteForce) {
  int64_t tried = 0;
  for (int64_t code = 0; code < 9 * 4 * 4 * 3 * 3 * 3 * 2; ++code) {
    int64_t rest = code;
    const auto take = [&rest](int64_t choices) {
      const int64_t choice = rest % choices;
      rest /= choices;
      return choice;
    };
    const WindowCase c{take(9) + 1, take(4) + 1, take(4) + 1, take(3) + 1,
                       take(3),     take(3),     take(2) == 1};
    const int64_t extent = (c.kernel - 1) * c.dilation + 1;
    if (extent > c.in + c.pad_begin + c.pad_end) continue;
    const std::vector<int64_t> strides{c.stride}, dilations{c.dilation},
        pads{c.pad_begin, c.pad_end};
    const WindowSpec spec{.op = "MaxPool",
                          .strides = strides,
                          .dilations = dilations,
                          .pads = pads,
                          .ceil_mode = c.ceil_mode};
    const Window window = make_window(spec, {c.in}, {c.kernel});
    // In ceil_mode padding behind the input may hold whole windows; none of them begins there.
    const int64_t limit = (c.in + c.pad_begin + c.stride - 1) / c.stride;
    const int64_t expected = c.ceil_mode ? std::min(count_windows(c), limit) : count_windows(c);
    ASSERT_EQ(window.out[0], expected) << "case " << code;
    // The symbolic form gives the same once the symbol is known.
    const Dims symbolic = window_dims(spec, {Dim::symbol("n")}, {c.kernel});
    ASSERT_EQ(symbolic[0].substitute([&](std::string_view) { return Dim(c.in); }), expected);
    ++tried;
  }
  EXPECT_GT(tried, 4000);
}

TEST(Window, TapsInsideLikeBruteForce) {
  for (int64_t start = -9; start <= 9; ++start) {
    for (int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (int64_t dilation = 1; dilation <= 3; ++dilation) {
        for (int64_t size = 0; size <= 5; ++size) {
          const TapRange taps = taps_inside(start, kernel, dilation, size);
          for (int64_t k = 0; k < kernel; ++k) {
            const int64_t at = start + k * dilation;
            ASSERT_EQ(at >= 0 && at < size, k >= taps.begin && k < taps.end)
                << start << ' ' << kernel << ' ' << dilation << ' ' << size << ' ' << k;
          }
        }
      }
    }
  }
}

TEST(Window, AutoPad) {
  const std::vector<int64_t> strides{2};
  const auto window = [&](std::string_view auto_pad, int64_t in, int64_t kernel) {
    return make_window({.op = "Conv", .auto_pad = auto_pad, .strides = strides}, {in}, {kernel});
  };
  const Window upper = window("SAME_UPPER", 6, 3);
  EXPECT_EQ(upper.out, Shape{3});
  EXPECT_EQ(upper.pads_begin, Shape{0});
  EXPECT_EQ(upper.pads_end, Shape{1});
  const Window lower = window("SAME_LOWER", 6, 3);
  EXPECT_EQ(lower.pads_begin, Shape{1});
  EXPECT_EQ(lower.pads_end, Shape{0});
  EXPECT_EQ(window("VALID", 6, 3).out, Shape{2});
  EXPECT_THROW(window("SAME", 6, 3), Error);
}

TEST(Window, Transposed) {
  const std::vector<int64_t> strides{3, 2}, shape{10, 8};
  const Window larger = make_transposed_window(
      {.op = "ConvTranspose", .strides = strides, .output_shape = shape}, {3, 3}, {3, 3});
  EXPECT_EQ(larger.out, (Shape{10, 8}));  // 9 and 7 are reached; zeros follow
  EXPECT_EQ(larger.pads_begin, (Shape{0, 0}));
  EXPECT_EQ(larger.pads_end, (Shape{-1, -1}));
  const Window same = make_transposed_window(
      {.op = "ConvTranspose", .auto_pad = "SAME_UPPER", .strides = strides}, {3, 3}, {4, 4});
  EXPECT_EQ(same.out, (Shape{9, 6}));
  EXPECT_EQ(same.pads_begin, (Shape{0, 1}));
  EXPECT_EQ(same.pads_end, (Shape{1, 1}));
  const std::vector<int64_t> padding{1, 1};
  const Dims symbolic =
      transposed_window_dims({.op = "ConvTranspose", .strides = strides, .output_padding = padding},
                             {Dim::symbol("h"), 3}, {3, 3});
  EXPECT_EQ(symbolic[0], Dim::symbol("h") * 3 + 1);
  EXPECT_EQ(symbolic[1], 8);
}

TEST(Window, Refuses) {
  const int64_t huge = int64_t{1} << 62;
  const std::vector<int64_t> zero{0}, two{1, 1}, crop{-6, 0}, wide{huge, huge};
  const auto refused = [](const WindowSpec& spec, int64_t in, int64_t kernel) {
    try {
      make_window(spec, {in}, {kernel});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused({.op = "Conv", .strides = zero}, 5, 3).find("Conv: strides"),
            std::string::npos);
  EXPECT_NE(refused({.op = "Conv", .strides = two}, 5, 3).find("expected 1 values"),
            std::string::npos);
  EXPECT_NE(refused({.op = "Conv", .dilations = zero}, 5, 3).find("dilations"), std::string::npos);
  EXPECT_NE(refused({.op = "Conv", .pads = crop}, 5, 3).find("crops more"), std::string::npos);
  EXPECT_NE(refused({.op = "Conv", .pads = wide}, 5, 3).find("pads"), std::string::npos);
  EXPECT_NE(refused({.op = "Conv"}, 5, 7).find("kernel"), std::string::npos);
  EXPECT_NE(refused({.op = "Conv"}, 5, 0).find("kernel"), std::string::npos);
  EXPECT_EQ(refused({.op = "Conv"}, 0, 7), "");
}

}  // namespace
}  // namespace sardonyx::ops
