// Ops that read images at points between their elements, against the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"

namespace sardonyx {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor run_kernel(std::string_view op_name, const Attrs& attrs, const std::vector<Tensor>& inputs,
                  const Tensor& expected, int threads) {
  std::vector<KernelTensor> in;
  std::vector<const void*> sources;
  for (const Tensor& input : inputs) {
    in.push_back({input.dtype(), input.shape()});
    sources.push_back(input.raw());
  }
  // What a size is made of is known ahead.
  for (size_t i = 1; i < in.size(); ++i)
    in[i].constant = &inputs[i];
  const KernelTensor out{expected.dtype(), expected.shape()};
  KernelRequest request{op_named(op_name), attrs, in, {&out, 1}};
  request.threads = threads;
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op != op_name) continue;
    const Prepared prepared = entry.prepare(request);
    EXPECT_TRUE(prepared.kernel) << prepared.refusal;
    if (!prepared.kernel) break;
    Tensor made = Tensor::allocate(expected.dtype(), expected.shape());
    void* target = made.raw();
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    prepared.kernel->run({sources.data(), &target, scratch->data()});
    return made;
  }
  return expected;
}

void check(std::string_view op_name, const AttrMap& given, const std::vector<Tensor>& inputs) {
  const OpDef& op = op_named(op_name);
  const Attrs attrs = Attrs::parse(*op.attrs, given);
  const std::vector<Datum> data(inputs.begin(), inputs.end());
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  const std::vector<double> b = expected.to_doubles();
  for (const int threads : {1, 3}) {
    const std::vector<double> a =
        run_kernel(op_name, attrs, inputs, expected, threads).to_doubles();
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) continue;
      ASSERT_NEAR(a[i], b[i], 2e-5) << "element " << i << " on " << threads << " threads";
    }
  }
}

Tensor drawn(const Shape& shape, double low, double high, uint64_t seed = 5) {
  return drawn_tensor(DType::kFloat, shape, low, high, seed);
}

AttrMap grid_attrs(const char* mode, const char* padding, bool align_corners) {
  return {{"mode", std::string(mode)},
          {"padding_mode", std::string(padding)},
          {"align_corners", int64_t{align_corners}}};
}

struct GridCase {
  Shape input, grid;
};

// Few channels and many, all lanes used or not; read often, and less often than they are large.
const GridCase kGridCases[] = {
    {{1, 1, 5, 7}, {1, 9, 15, 2}},   {{2, 2, 6, 5}, {2, 7, 9, 2}},
    {{1, 3, 9, 11}, {1, 10, 13, 2}}, {{1, 3, 33, 5}, {1, 70, 3, 2}},
    {{2, 5, 6, 7}, {2, 8, 8, 2}},    {{1, 8, 5, 5}, {1, 1, 1, 2}},
    {{1, 13, 5, 6}, {1, 11, 6, 2}},  {{2, 16, 4, 9}, {2, 5, 30, 2}},
    {{1, 37, 8, 7}, {1, 13, 17, 2}}, {{1, 20, 90, 80}, {1, 3, 3, 2}},
    {{1, 6, 1, 1}, {1, 4, 5, 2}},    {{2, 4, 17}, {2, 40, 1}},
};

TEST(GridSampleKernel, IsTheReference) {
  for (const GridCase& example : kGridCases) {
    SCOPED_TRACE(to_text(example.input));
    const std::vector<Tensor> inputs{drawn(example.input, -1, 1), drawn(example.grid, -2.2, 2.2)};
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      for (const char* padding : {"zeros", "border", "reflection"}) {
        for (const bool align : {false, true}) {
          SCOPED_TRACE(testing::Message() << mode << ' ' << padding << ' ' << align);
          check("GridSample", grid_attrs(mode, padding, align), inputs);
        }
      }
    }
  }
}

TEST(GridSampleKernel, OfVolumesIsTheReference) {
  const std::vector<Tensor> inputs{drawn({2, 5, 4, 6, 5}, -1, 1),
                                   drawn({2, 5, 3, 7, 3}, -2.2, 2.2)};
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (const bool align : {false, true})
      check("GridSample", grid_attrs("linear", padding, align), inputs);
  }
}

// Halfway between elements the last bit decides.
TEST(GridSampleKernel, TakesTheNearestElementOfTheReference) {
  for (const int64_t size : {3, 7, 10, 100, 333}) {
    Tensor grid = Tensor::allocate(DType::kFloat, {1, 4 * size, 1});
    for (size_t i = 0; i < static_cast<size_t>(4 * size); ++i)
      grid.mutable_values<float>()[i] =
          static_cast<float>(i) / static_cast<float>(2 * size) - 1 + (i % 3 == 0 ? 1e-7f : 0);
    for (const bool align : {false, true}) {
      check("GridSample", grid_attrs("nearest", "reflection", align),
            {drawn({1, 4, size}, -1, 1), grid});
    }
  }
}

// Neither do numbers beyond the padding spoil what is outside, nor places that are none.
TEST(GridSampleKernel, ReadsNothingAtPlacesThatAreNone) {
  for (const int64_t channels : {1, 4, 19}) {
    Tensor x = drawn({1, channels, 6, 5}, -1, 1);
    x.mutable_values<float>()[0] = kInfinity;
    Tensor grid = drawn({1, 9, 8, 2}, -4, -1.5);
    const float strange[] = {kNan, kInfinity, -kInfinity, 3e38f, -3e38f, 1e20f};
    for (size_t i = 0; i < 36; ++i)
      grid.mutable_values<float>()[4 * i + i % 3] = strange[i % 6];
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      check("GridSample", grid_attrs(mode, "zeros", false), {x, grid});
      x.mutable_values<float>()[0] = 1;
      for (const char* padding : {"border", "reflection"})
        check("GridSample", grid_attrs(mode, padding, true), {x, grid});
    }
  }
}

struct RegionCase {
  Shape input;
  int64_t regions, height, width, sampling_ratio;
  double low, high;  // of corners
};

const RegionCase kRegionCases[] = {
    {{2, 1, 9, 8}, 6, 2, 3, 2, -2, 11},   {{1, 3, 30, 40}, 1, 7, 7, 0, -5, 60},
    {{2, 3, 9, 8}, 40, 3, 2, 0, -9, 30},  {{1, 5, 12, 13}, 30, 7, 7, 2, -1, 25},
    {{3, 16, 9, 9}, 20, 5, 4, 3, 0, 20},  {{1, 21, 17, 15}, 25, 1, 1, 0, 0, 40},
    {{2, 37, 7, 11}, 30, 6, 5, 1, 0, 20}, {{1, 4, 1, 1}, 9, 2, 2, 2, -2, 3},
    {{1, 9, 6, 7}, 12, 3, 9, 40, -4, 16},
};

TEST(RoiAlignKernel, IsTheReference) {
  for (const RegionCase& example : kRegionCases) {
    SCOPED_TRACE(to_text(example.input));
    const auto last = static_cast<double>(example.input[0] - 1);
    const std::vector<Tensor> inputs{drawn(example.input, -1, 1),
                                     drawn({example.regions, 4}, example.low, example.high),
                                     drawn_tensor(DType::kInt64, {example.regions}, 0, last, 3)};
    for (const char* transform : {"half_pixel", "output_half_pixel"}) {
      SCOPED_TRACE(transform);
      check("RoiAlign",
            {{"output_height", example.height},
             {"output_width", example.width},
             {"sampling_ratio", example.sampling_ratio},
             {"spatial_scale", 0.5f},
             {"coordinate_transformation_mode", std::string(transform)}},
            inputs);
    }
  }
}

TEST(CropKernel, IsTheReference) {
  for (const Shape& input : {Shape{2, 1, 9, 8}, Shape{2, 3, 6, 7}, Shape{1, 21, 5, 9}}) {
    const auto last = static_cast<double>(input[0] - 1);
    Tensor boxes = drawn({20, 4}, -0.2, 1.2);
    boxes.mutable_values<float>()[5] = kNan;
    boxes.mutable_values<float>()[8] = kInfinity;
    for (const char* mode : {"bilinear", "nearest"}) {
      for (const std::vector<int32_t>& size : {std::vector<int32_t>{5, 4}, {1, 9}, {30, 1}}) {
        check("com.microsoft::CropAndResize",
              {{"mode", std::string(mode)}, {"extrapolation_value", 0.25f}},
              {drawn(input, -1, 1), boxes, drawn_tensor(DType::kInt32, {20}, 0, last, 3),
               Tensor::vector(size)});
      }
    }
  }
}

TEST(RoiAlignKernel, TakesCornersThatAreNone) {
  const float strange[] = {kNan, 0, kInfinity, -kInfinity, 3e38f, 2, -3e38f, 4, 1e9f, -1e9f};
  for (const int64_t ratio : {0, 2}) {
    for (const int64_t channels : {1, 16}) {
      Tensor rois = Tensor::allocate(DType::kFloat, {50, 4});
      for (size_t i = 0; i < 200; ++i)
        rois.mutable_values<float>()[i] = strange[(i * 7 + i / 10) % std::size(strange)];
      check(
          "RoiAlign",
          {{"output_height", int64_t{3}}, {"output_width", int64_t{2}}, {"sampling_ratio", ratio}},
          {drawn({1, channels, 8, 8}, -1, 1), rois, Tensor::zeros(DType::kInt64, {50})});
    }
  }
}

AttrMap resize_attrs(const char* mode, const char* transform) {
  return {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(transform)}};
}

TEST(ResizeKernel, IsTheReference) {
  const std::vector<int64_t> outputs[] = {{1, 21, 65, 65}, {2, 3, 17, 50}, {1, 2, 3, 5},
                                          {2, 37, 4, 9},   {1, 4, 1, 1},   {3, 1, 7, 133}};
  for (const std::vector<int64_t>& sizes : outputs) {
    const Tensor x = drawn({sizes[0], sizes[1], 9, 7}, -1, 1);
    for (const char* mode : {"linear", "cubic"}) {
      for (const char* transform : {"align_corners", "half_pixel", "asymmetric"}) {
        for (const char* flag : {"", "antialias", "exclude_outside"}) {
          SCOPED_TRACE(testing::Message() << mode << ' ' << transform << ' ' << flag);
          AttrMap attrs = resize_attrs(mode, transform);
          if (*flag) attrs[flag] = int64_t{1};
          const Tensor none = Tensor::allocate(DType::kFloat, {0});
          check("Resize", attrs, {x, none, none, Tensor::vector(sizes)});
        }
      }
    }
  }
}

TEST(ResizeKernel, OfChannelsLastIsTheReference) {
  for (const int64_t channels : {3, 15, 40}) {
    for (const char* mode : {"linear", "cubic"}) {
      const Tensor none = Tensor::allocate(DType::kFloat, {0});
      check("Resize", resize_attrs(mode, "half_pixel"),
            {drawn({2, 9, 7, channels}, -1, 1), none, none,
             Tensor::vector(std::vector<int64_t>{2, 13, 5, channels})});
    }
  }
}

// What is outside is filled, so that outputs have different numbers of parts.
TEST(ResizeKernel, FillsWhatIsOutside) {
  AttrMap attrs = resize_attrs("linear", "tf_crop_and_resize");
  attrs["extrapolation_value"] = 3.0f;
  const Tensor roi = Tensor::vector(std::vector<float>{0, 0, -0.2f, 0.1f, 1, 1, 0.7f, 1.4f});
  check("Resize", attrs,
        {drawn({2, 9, 8, 7}, -1, 1), roi, Tensor::allocate(DType::kFloat, {0}),
         Tensor::vector(std::vector<int64_t>{2, 9, 11, 30})});
}

struct BlockCase {
  std::vector<int64_t> image, block, strides, dilations, pads;
};

const BlockCase kBlockCases[] = {
    {{28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{9, 40}, {2, 5}, {1, 1}, {2, 3}, {0, 4, 1, 2}},
    {{11, 37}, {3, 4}, {2, 3}, {1, 2}, {1, 0, 2, 5}},
    {{8, 8}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
    {{3, 50}, {1, 40}, {1, 1}, {1, 1}, {0, 19, 0, 20}},
    {{2, 3}, {2, 3}, {1, 1}, {1, 1}, {3, 5, 3, 5}},
    {{50}, {4}, {1}, {3}, {2, 5}},
    {{50}, {4}, {3}, {1}, {0, 1}},
};

TEST(Col2ImKernel, IsTheReference) {
  for (const BlockCase& example : kBlockCases) {
    SCOPED_TRACE(to_text(example.image) + " of " + to_text(example.block));
    int64_t taps = 1, blocks = 1;
    for (size_t axis = 0; axis < example.image.size(); ++axis) {
      taps *= example.block[axis];
      const int64_t padded =
          example.image[axis] + example.pads[axis] + example.pads[axis + example.image.size()];
      const int64_t extent = (example.block[axis] - 1) * example.dilations[axis] + 1;
      blocks *= (padded - extent) / example.strides[axis] + 1;
    }
    check("Col2Im",
          {{"strides", example.strides}, {"dilations", example.dilations}, {"pads", example.pads}},
          {drawn({2, 5 * taps, blocks}, -1, 1), Tensor::vector(example.image),
           Tensor::vector(example.block)});
  }
}

struct DeformCase {
  Shape x;
  int64_t outputs, group, offset_group;
  std::vector<int64_t> kernel, strides, dilations, pads;
  bool has_bias, has_mask;
};

const DeformCase kDeformCases[] = {
    {{1, 2, 9, 11}, 3, 1, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, false, false},
    {{2, 6, 9, 11}, 4, 2, 2, {3, 2}, {2, 1}, {1, 2}, {0, 1, 2, 1}, true, true},
    {{1, 21, 12, 13}, 7, 1, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, true},
    {{2, 36, 8, 8}, 8, 4, 2, {1, 3}, {1, 1}, {1, 1}, {0, 1, 0, 1}, false, true},
    {{1, 5, 60, 50}, 2, 1, 1, {1, 1}, {29, 29}, {1, 1}, {0, 0, 0, 0}, true, false},
};

TEST(DeformKernel, IsTheReference) {
  for (const DeformCase& c : kDeformCases) {
    SCOPED_TRACE(to_text(c.x));
    Shape out;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t room = c.x[i + 2] + c.pads[i] + c.pads[i + 2];
      out.push_back((room - (c.kernel[i] - 1) * c.dilations[i] - 1) / c.strides[i] + 1);
    }
    const int64_t taps = c.kernel[0] * c.kernel[1];
    Tensor offsets = drawn({c.x[0], 2 * c.offset_group * taps, out[0], out[1]}, -3, 3);
    offsets.mutable_values<float>()[0] = kNan;
    offsets.mutable_values<float>()[1] = kInfinity;
    offsets.mutable_values<float>()[2] = -3e38f;
    std::vector<Tensor> inputs{
        drawn(c.x, -1, 1),
        drawn({c.outputs, c.x[1] / c.group, c.kernel[0], c.kernel[1]}, -0.3, 0.3), offsets,
        c.has_bias ? drawn({c.outputs}, -1, 1) : Tensor::zeros(DType::kFloat, {c.outputs})};
    if (c.has_mask) inputs.push_back(drawn({c.x[0], c.offset_group * taps, out[0], out[1]}, 0, 1));
    check("DeformConv",
          {{"group", c.group},
           {"offset_group", c.offset_group},
           {"strides", c.strides},
           {"dilations", c.dilations},
           {"pads", c.pads}},
          inputs);
  }
}

// An infinite element that a point is on the line of, but does not read.
TEST(DeformKernel, ReadsNothingWithoutWeight) {
  for (const int64_t channels : {1, 16}) {
    Tensor x = drawn({1, channels, 8, 8}, -1, 1);
    x.mutable_values<float>()[27] = kInfinity;
    check("DeformConv", {},
          {x, drawn({1, channels, 2, 2}, 0.1, 1), Tensor::zeros(DType::kFloat, {1, 8, 7, 7})});
  }
}

}  // namespace
}  // namespace sardonyx
