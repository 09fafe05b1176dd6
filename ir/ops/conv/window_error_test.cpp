// Windows that do not fit the image that they slide over.
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

TEST(WindowRefusals, Attributes) {
  const Datum image = zeros({1, 2, 4, 4}), w = zeros({2, 1, 3, 3}), kernel = zeros({1, 2, 3, 3});
  const auto conv = [&](const AttrMap& attrs, const char* mention) {
    return Refused{"Conv", {image, kernel}, attrs, mention};
  };
  const auto transposed = [&](const AttrMap& attrs, const char* mention) {
    return Refused{"ConvTranspose", {image, w}, attrs, mention};
  };
  expect_refused(std::vector<Refused>{
      conv({{"strides", Ints{1}}}, "strides: expected 2 values, got 1"),
      conv({{"strides", Ints{1, 0}}}, "strides: expected values of at least 1, got 0"),
      conv({{"dilations", Ints{1}}}, "dilations: expected 2 values, got 1"),
      conv({{"dilations", Ints{0, 1}}}, "dilations: expected values of at least 1, got 0"),
      conv({{"pads", Ints{1, 1}}}, "pads: expected 4 values, got 2"),
      conv({{"pads", Ints{-5, 0, 9, 0}}},
           "pads: -5 crops more of spatial axis 0 than its 4 elements"),
      conv({{"pads", Ints{0, 9, 0, -5}}},
           "pads: -5 crops more of spatial axis 1 than its 4 elements"),
      conv({{"dilations", Ints{3, 1}}}, "kernel: expected at most the padded input's size 4"),
      conv({{"auto_pad", string("odd")}},
           "auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, got \"odd\""),
      {"MaxPool", {image}, {{"kernel_shape", Ints{2}}}, "kernel: expected 2 sizes, one for each"},
      {"MaxPool", {image}, {{"kernel_shape", Ints{0, 2}}}, "kernel: expected sizes of at least 1"},
      {"AveragePool",
       {image},
       {{"kernel_shape", Ints(2, int64_t{1} << 33)}},
       "[8589934592, 8589934592] has more elements than an int64 counts"},
      {"Conv", {image, zeros({1, 2, 0, 3})}, {}, "kernel: expected sizes of at least 1"},
      transposed({{"output_shape", Ints{5}}}, "output_shape: expected 2 spatial sizes, got 1"),
      transposed({{"output_shape", Ints{-1, 5}}},
                 "output_shape: expected sizes that are not negative"),
      transposed({{"pads", Ints{9, 9, 9, 9}}}, "pads: 9 and 9 leave nothing of the 6 outputs"),
      transposed({{"output_padding", Ints{1}}}, "output_padding: expected 2 values, got 1"),
      transposed({{"output_padding", Ints{-1, 0}}},
                 "output_padding: expected values of at least 0"),
      transposed({{"strides", Ints{0, 1}}}, "strides: expected values of at least 1, got 0"),
      transposed({{"group", 0}}, "group: expected at least 1, got 0"),
      {"ConvTranspose", {zeros({1, 3, 4, 4}), w}, {}, "3 and 2"},
      {"ConvTranspose", {zeros({2, 4}), w}, {}, "expected at least rank 3"},
      {"ConvTranspose", {image, zeros({2, 1})}, {}, "expected at least rank 3"},
      {"ConvTranspose", {image, w, zeros({3})}, {}, "input B (float[3])"},
  });
}

}  // namespace
}  // namespace sardonyx
