// Gathering, joining, making and resizing of tensors: calls that do not fit.
#include <cmath>

#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

const Datum x = zeros({2, 3}), scalar = zeros({}), zero = ints({0});

Datum places(const Shape& shape) {
  return zeros(shape, DType::kInt64);
}

TEST(ShapeRefusals, Gather) {
  Tensor third = Tensor::zeros(DType::kBool, {3});
  third.mutable_values<bool>()[2] = true;
  expect_refused(std::vector<Refused>{
      {"Gather", {scalar, zero}, {}, "input data (float[]): expected rank 1 or more"},
      {"Gather", {x, zero}, {{"axis", 2}}, "axis 2 is out of range [-2, 1] for rank 2"},
      {"Gather", {x, ints({2})}, {}, "index 2 is out of range for axis 0 of size 2", kBadArgument},
      {"Gather", {x, ints({-3})}, {}, "index -3 is out of range for axis 0", kBadArgument},
      {"GatherElements", {x, zero}, {}, "input indices (int64[1]): expected rank 2, got 1"},
      {"GatherElements", {scalar, places({})}, {}, "expected rank 1 or more"},
      {"GatherElements", {x, places({2, 4})}, {}, "dim 1 exceeds that of the data, 3"},
      {"GatherElements",
       {x, Tensor::of<int64_t>({5}, {1, 1})},
       {},
       "index 5 is out of range for axis 0 of size 2",
       kBadArgument},
      {"GatherND", {x, places({1, 1})}, {{"batch_dims", -1}}, "batch_dims: expected at least 0"},
      {"GatherND", {x, places({2, 1})}, {{"batch_dims", 2}}, "batch_dims 2 must be less than both"},
      {"GatherND", {scalar, places({1})}, {}, "batch_dims 0 must be less than both ranks, 0 and 1"},
      {"GatherND", {x, places({1, 3})}, {}, "tuples have 3 elements, expected at most 2"},
      {"GatherND", {x, places({3, 1})}, {{"batch_dims", 1}}, "batch dim 0: 2 and 3 differ"},
      {"GatherND", {x, Tensor::of<int64_t>({0, 3}, {1, 2})}, {}, "index 3 is out", kBadArgument},
      {"OneHot", {zero, ints({2, 3}), zeros({2})}, {}, "input depth (int64[2]): expected a scalar"},
      {"OneHot", {zero, floats({-1}), zeros({2})}, {}, "depth: expected a size, got -1"},
      {"OneHot", {zero, floats({1e16f}), zeros({2})}, {}, "depth: expected a size, got 1e+16"},
      {"OneHot", {zero, ints({-1}), zeros({2})}, {}, "depth: expected "},
      {"OneHot", {zero, ints({2}), zeros({3})}, {}, "expected the two elements [off, on]"},
      {"OneHot", {zero, ints({2}), zeros({2, 1})}, {}, "expected the two elements [off, on]"},
      {"Compress",
       {x, zeros({1, 2}, DType::kBool)},
       {},
       "input condition (bool[1, 2]): expected ra"},
      {"Compress",
       {x, third},
       {{"axis", 0}},
       "index 2 is out of range for axis 0 of size 2",
       kBadArgument},
      {"ReverseSequence",
       {x, ints({1, 1})},
       {{"batch_axis", 0}, {"time_axis", 0}},
       "must be 0 and 1 or 1 and 0, got"},
      {"ReverseSequence",
       {x, ints({1, 1})},
       {{"batch_axis", 2}, {"time_axis", 0}},
       "must be 0 and 1 or 1 and 0, got 2 and 0"},
      {"ReverseSequence",
       {x, places({1, 3})},
       {},
       "input sequence_lens (int64[1, 3]): expected ran"},
      {"ReverseSequence", {zeros({3}), ints({1})}, {}, "expected rank 2 or more"},
      {"ReverseSequence", {x, ints({1, 1})}, {}, "sequence_lens: 3 and 2 differ"},
      {"ReverseSequence",
       {x, ints({1, 3, 1})},
       {},
       "element 1 is 3, expected 0 to 2",
       kBadArgument},
  });
}

TEST(ShapeRefusals, Joins) {
  expect_refused(std::vector<Refused>{
      {"Concat", {scalar, scalar}, {{"axis", 0}}, "expected inputs of rank 1 or more, got scalars"},
      {"Concat",
       {x, zeros({2})},
       {{"axis", 0}},
       "input inputs #1 (float[2]): expected rank 2, got"},
      {"Concat", {x, zeros({2, 4})}, {{"axis", 0}}, "axis 1: 3 and 4 differ"},
      {"Split",
       {x, ints({1, 2})},
       {{"axis", 1}, {"num_outputs", 2}},
       "both split and num_outputs",
       kBadModel,
       2},
      {"Split", {x, places({1, 2})}, {{"axis", 1}}, "expected one dimension, got 2", kBadModel, 2},
      {"Split", {x, ints({1, 2})}, {{"axis", 1}}, "split has 2 sizes for 3 outputs", kBadModel, 3},
      {"Split",
       {x, ints({4, -1})},
       {{"axis", 1}},
       "split: expected sizes of at least 0, got -1",
       kBadModel,
       2},
      {"Split",
       {x, ints({1, 1})},
       {{"axis", 1}},
       "the sizes add up to 2, the axis has 3",
       kBadModel,
       2},
      {"Split",
       {x},
       {{"axis", 1}, {"num_outputs", 3}},
       "num_outputs is 3, but there are 2 outputs",
       kBadModel,
       2},
      {"Tile",
       {x, places({1, 2})},
       {},
       "input repeats (int64[1, 2]): expected one dimension, got 2"},
      {"Tile", {x, ints({1})}, {}, "repeats has 1 elements, the input 2 dims"},
      {"Tile", {x, ints({1, -1})}, {}, "repeats: expected at least 0, got -1"},
  });
}

TEST(ShapeRefusals, Makers) {
  expect_refused(std::vector<Refused>{
      {"Constant", {}, {}, "expected exactly one attribute that gives the value, got 0"},
      {"Constant",
       {},
       {{"value_int", 1}, {"value_float", 1.f}},
       "expected exactly one attribute that gives the value, got 2"},
      {"ConstantOfShape",
       {ints({1})},
       {{"value", Tensor::vector<float>({1, 2})}},
       "value: expected one element, got 2"},
      {"ConstantOfShape",
       {ints({1})},
       {{"value", Tensor::zeros(DType::kString, {1})}},
       "value: expected one of"},
      {"ConstantOfShape", {places({1, 1})}, {}, "expected one dimension, got 2"},
      {"ConstantOfShape", {ints({2, -1})}, {}, "negative dimension in [2, -1]"},
      {"Range",
       {scalar, scalar, scalar},
       {{"stash_type", 7}},
       "stash_type: expected float or double, got int64"},
      {"Range",
       {scalar, Tensor::scalar(1e30f), Tensor::scalar(1.f)},
       {},
       "from 0 to 1e+30 by 1 makes a range that is too large"},
      {"Range",
       {scalar, Tensor::scalar(NAN), Tensor::scalar(1.f)},
       {},
       "makes a range that is too large"},
      {"Range", {scalar, scalar, scalar}, {}, "input delta (float[]): must not be 0"},
      {"Range",
       {Tensor::scalar(INT64_MIN), Tensor::scalar(INT64_MAX), Tensor::scalar(int64_t{1})},
       {},
       "from -9223372036854775808 to 9223372036854775807 by 1 is too long a range"},
      {"Range", {x, scalar, scalar}, {}, "input start (float[2, 3]): expected a scalar"},
      {"Range", {scalar, x, scalar}, {}, "input limit (float[2, 3]): expected a scalar"},
      {"Range", {scalar, scalar, x}, {}, "input delta (float[2, 3]): expected a scalar"},
      {"EyeLike", {zeros({2})}, {}, "input input (float[2]): expected rank 2, got 1"},
      {"EyeLike", {x}, {{"dtype", 8}}, "dtype: expected one of"},
      {"HannWindow", {ints({1, 2})}, {}, "expected a scalar or one element"},
      {"HannWindow", {ints({4})}, {{"output_datatype", 8}}, "output_datatype: expected one of"},
      {"HannWindow", {ints({-4})}, {}, "must not be negative"},
      {"RandomNormal", {}, {{"shape", Ints{2, -1}}}, "shape: negative dimension in [2, -1]"},
      {"RandomNormal", {}, {{"shape", Ints{2}}, {"dtype", 7}}, "dtype: expected one of"},
      {"Multinomial", {x}, {{"sample_size", 0}}, "sample_size: expected a positive number, got 0"},
      {"Multinomial", {zeros({2})}, {}, "input input (float[2]): expected rank 2"},
      {"Multinomial", {zeros({2, 0})}, {}, "there must be at least one outcome to choose from"},
      {"Multinomial", {x}, {{"dtype", 1}}, "dtype: expected one of"},
      {"Bernoulli", {x}, {{"dtype", 8}}, "dtype: expected one of"},
  });
}

TEST(ShapeRefusals, Images) {
  const Datum image = zeros({1, 4, 4, 4}), row = zeros({1, 2, 4}), grid = zeros({1, 2, 2, 2});
  const Datum theta = zeros({1, 2, 3});
  const auto i64 = [](Ints values) { return ints(std::move(values)); };
  std::vector<Refused> refused{
      {"DepthToSpace", {image}, {{"blocksize", 0}}, "blocksize: expected at least 1, got 0"},
      {"DepthToSpace", {image}, {{"blocksize", int64_t{1} << 31}}, "2147483648 is too large"},
      {"DepthToSpace",
       {image},
       {{"blocksize", 2}, {"mode", string("odd")}},
       "mode: expected DCR or CRD, got \"odd\""},
      {"DepthToSpace", {row}, {{"blocksize", 2}}, "input input (float[1, 2, 4]): expected rank 4"},
      {"DepthToSpace", {image}, {{"blocksize", 3}}, "blocksize * blocksize"},
      {"SpaceToDepth", {image}, {{"blocksize", -1}}, "blocksize: expected at least 1, got -1"},
      {"SpaceToDepth", {row}, {{"blocksize", 2}}, "expected rank 4, got 3"},
      {"SpaceToDepth", {zeros({1, 1, 3, 4})}, {{"blocksize", 2}}, "rows"},
      {"SpaceToDepth", {zeros({1, 1, 4, 3})}, {{"blocksize", 2}}, "columns"},
      {"CenterCropPad", {x, places({1, 2})}, {}, "expected one dimension, got 2"},
      {"CenterCropPad", {x, ints({1})}, {}, "sizes, one for each axis"},
      {"CenterCropPad", {x, ints({1, -2})}, {}, "expected sizes that are not negative, got -2"},
      {"CenterCropPad", {x, ints({1, 1})}, {{"axes", Ints{0, 0}}}, "axes: axis 0 is given twice"},
      {"CenterCropPad", {x, ints({1})}, {{"axes", Ints{2}}}, "axes 2 is out of range"},
      {"AffineGrid", {x, i64({1, 1, 2, 2})}, {}, "input theta (float[2, 3]): expected rank 3"},
      {"AffineGrid", {theta, places({1, 4})}, {}, "expected one dimension, got 2"},
      {"AffineGrid",
       {zeros({1, 4, 5}), ints({1, 1, 2, 2, 2, 2})},
       {},
       "theta: expected 2 or 3 rows"},
      {"AffineGrid",
       {zeros({1, 2, 4}), i64({1, 1, 2, 2})},
       {},
       "columns of theta and its rows + 1"},
      {"AffineGrid", {theta, ints({1, 1, 2})}, {}, "sizes: batch, channels and spatial ones"},
      {"AffineGrid",
       {theta, i64({1, 1, -2, 2})},
       {},
       "expected sizes that are not negative, got -2"},
      {"AffineGrid", {theta, i64({2, 1, 2, 2})}, {}, "batch of theta and size: 1 and 2 differ"},
      {"GridSample", {image, grid}, {{"mode", string("odd")}}, "mode: expected linear, nearest or"},
      {"GridSample",
       {image, grid},
       {{"padding_mode", string("odd")}},
       "padding_mode: expected zero"},
      {"GridSample", {zeros({1, 1, 2, 2}, DType::kString), grid}, {}, "strings can't be blended"},
      {"GridSample", {x, x}, {}, "input X (float[2, 3]): expected at least rank 3, got 2"},
      {"GridSample", {image, row}, {}, "input grid (float[1, 2, 4]): expected rank 4, got 3"},
      {"GridSample", {image, zeros({1, 2, 2, 3})}, {}, "grid's last dim and the spatial axes of X"},
      {"GridSample", {image, zeros({2, 2, 2, 2})}, {}, "batch of X and grid: 1 and 2 differ"},
      {"GridSample",
       {zeros({1, 1, 0, 2}), grid},
       {},
       "expected elements to sample, got an empty axis"},
      {"GridSample",
       {zeros(Shape(12, 1)), zeros({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10})},
       {},
       "10 spatial axes; at most",
       kNotSupported},
  };
  expect_refused(refused);
}

TEST(ShapeRefusals, Convolutions) {
  const Datum image = zeros({1, 2, 4, 4}), weight = zeros({2, 2, 3, 3}), bias = zeros({2});
  const Datum offset = zeros({1, 18, 2, 2}), mask = zeros({1, 9, 2, 2}), columns = zeros({1, 4, 4});
  const Datum four = ints({4, 4}), two = ints({2, 2});
  const Datum rows = zeros({1, 2, 4}), taps = zeros({2, 1, 3});
  const char* causal = "CausalConvWithState";
  expect_refused(std::vector<Refused>{
      {"Conv", {x, weight}, {}, "input X (float[2, 3]): expected at least rank 3"},
      {"Conv", {image, x}, {}, "input W (float[2, 3]): expected at least rank 3"},
      {"Conv",
       {image, zeros({2, 2, 3})},
       {},
       "expected the rank of input X (float[1, 2, 4, 4]), 4"},
      {"Conv", {image, weight}, {{"group", 0}}, "group: expected at least 1, got 0"},
      {"Conv",
       {image, weight},
       {{"kernel_shape", Ints{3}}},
       "kernel_shape: expected 2 sizes, got 1"},
      {"Conv", {image, weight}, {{"kernel_shape", Ints{3, 2}}}, "kernel_shape and the weight's"},
      {"Conv", {image, weight, zeros({1, 2})}, {}, "expected one dim, 2 "},
      {"Conv", {image, weight, zeros({3})}, {}, "input B (float[3])"},
      {"Conv", {zeros({1, 3, 4, 4}), weight}, {}, "channels"},
      {"Conv", {zeros({1, 4, 4, 4}), zeros({3, 2, 3, 3})}, {{"group", 2}}, "output channels"},
      {"DeformConv",
       {image, weight, offset},
       {{"offset_group", 0}},
       "offset_group: expected at least"},
      {"DeformConv", {image, weight, offset}, {{"offset_group", 3}}, "offset_group"},
      {"DeformConv",
       {zeros({1, 3, 4, 4}), weight, offset},
       {},
       "channels of the input and the weig"},
      {"DeformConv",
       {zeros({1, 4, 4, 4}), zeros({3, 2, 3, 3}), offset},
       {{"group", 2}},
       "output chan"},
      {"DeformConv", {image, weight, offset, zeros({3})}, {}, "input B (float[3])"},
      {"DeformConv",
       {image, weight, zeros({1, 18, 2})},
       {},
       "input offset (float[1, 18, 2]): expected"},
      {"DeformConv",
       {image, weight, zeros({1, 18, 2, 3})},
       {},
       "input offset (float[1, 18, 2, 3])"},
      {"DeformConv",
       {image, weight, offset, bias, zeros({1, 8, 2, 2})},
       {},
       "input mask (float[1, 8,"},
      {"DeformConv",
       {zeros(Shape(11, 1)), zeros(Shape(11, 1)), zeros(Shape(11, 1))},
       {},
       "9 spatial axes; at most 8 are handled",
       kNotSupported},
      {"Col2Im",
       {columns, places({1, 2}), two},
       {},
       "input image_shape (int64[1, 2]): expected one"},
      {"Col2Im",
       {columns, four, places({1, 2})},
       {},
       "input block_shape (int64[1, 2]): expected one"},
      {"Col2Im", {x, four, two}, {}, "input input (float[2, 3]): expected rank 3"},
      {"Col2Im", {zeros({1, 4, 9}, DType::kString), four, two}, {}, "strings can't be added up"},
      {"Col2Im",
       {columns, ints({4, -4}), two},
       {},
       "expected sizes that are not negative, got [4, -4]"},
      {"Col2Im", {columns, four, ints({2, 0})}, {}, "expected block_shape of at least 1"},
      {"Col2Im", {zeros({1, 3, 9}), four, two}, {}, "block_shape's element count"},
      {"Col2Im", {columns, four, two}, {}, "columns of the input and blocks of the image: 4 and 9"},
      {causal,
       {rows, taps},
       {{"activation", string("odd")}},
       "activation: expected none, silu or",
       kBadModel,
       2},
      {causal, {x, taps}, {}, "expected rank 3, got 2", kBadModel, 2},
      {causal, {rows, x}, {}, "expected rank 3, got 2", kBadModel, 2},
      {causal, {rows, taps, none(), x}, {}, "expected rank 3, got 2", kBadModel, 2},
      {causal,
       {rows, zeros({3, 1, 3})},
       {},
       "channels of the input and the weight: 2 and 3 differ",
       kBadModel,
       2},
      {causal, {rows, zeros({2, 2, 3})}, {}, "the weight's second dim", kBadModel, 2},
      {causal,
       {rows, zeros({2, 1, 0})},
       {},
       "weight: expected at least one tap, got 0",
       kBadModel,
       2},
      {causal, {rows, taps, zeros({3})}, {}, "input bias (float[3])", kBadModel, 2},
  });
}

TEST(ShapeRefusals, ConvolutionGradients) {
  const Datum d_y = zeros({1, 2, 2, 2}), w = zeros({2, 3, 3, 3}), image = zeros({1, 3, 4, 4});
  const Datum shape = ints({1, 3, 4, 4}), weight_shape = ints({2, 3, 3, 3});
  const char *input = "sardonyx::ConvInputGrad", *weight = "sardonyx::ConvWeightGrad";
  expect_refused(std::vector<Refused>{
      {input, {d_y, w, ints({1, 3, 4})}, {}, "shape: expected 4 sizes, got 3"},
      {input,
       {zeros({1, 3, 2, 2}), w, shape},
       {},
       "channels of the output's gradient and the weight"},
      {input, {d_y, w, ints({1, 2, 4, 4})}, {}, "channels of the input and the weight: 2 and 3"},
      {weight,
       {d_y, zeros({1, 3, 4}), weight_shape},
       {},
       "expected inputs of one rank, at least 3"},
      {weight, {x, x, weight_shape}, {}, "expected inputs of one rank, at least 3, got 2 and 2"},
      {weight,
       {zeros({2, 2, 2, 2}), image, weight_shape},
       {},
       "batch of the input and the output's"},
      {weight, {d_y, image, weight_shape}, {{"group", 0}}, "group: expected at least 1, got 0"},
      {weight, {d_y, image, ints({2, 3, 3})}, {}, "shape: expected 4 sizes, got 3"},
      {weight, {d_y, image, ints({3, 3, 3, 3})}, {}, "channels of the output's gradient and the"},
      {weight,
       {d_y, image, ints({2, 2, 3, 3})},
       {},
       "channels of the input and the weight: 3 and 2"},
  });
}

TEST(ShapeRefusals, Fused) {
  const Datum image = zeros({1, 2, 4, 4}), w = zeros({2, 2, 3, 3}), z = zeros({1, 2, 2, 2});
  const AttrMap odd{{"activation", string("Odd")}};
  const AttrMap params{{"activation", string("Relu")}, {"activation_params", Floats{1}}};
  const char *conv = "sardonyx::FusedConv", *product = "sardonyx::FusedMatMul";
  expect_refused(std::vector<Refused>{
      {conv, {image, w}, odd, "no activation \"Odd\" with 0 parameters"},
      {conv, {image, w}, params, "no activation \"Relu\" with 1 parameters"},
      {conv, {image, w, none(), zeros({2, 2, 2})}, {}, "must have the shape of the output"},
      {conv,
       {image, w, none(), zeros({1, 2, 2, 3})},
       {},
       "dims of Z and the output: 3 and 2 differ"},
      {"sardonyx::FusedConvTranspose", {z, w}, odd, "no activation \"Odd\""},
      {product, {x, zeros({3, 2})}, odd, "no activation \"Odd\""},
      {product, {zeros({3}), zeros({3, 2})}, {{"transA", 1}}, "needs two dims to be transposed"},
      {product, {x, zeros({3})}, {{"transB", 1}}, "needs two dims to be transposed"},
      {product, {x, zeros({3, 2}), zeros({1, 1, 2})}, {}, "has more dims than the product"},
      {"sardonyx::ChannelShuffle", {image}, {{"groups", 0}}, "groups: expected at least 1, got 0"},
      {"sardonyx::ChannelShuffle", {zeros({2})}, {{"groups", 1}}, "expected at least 2 dims"},
      {"sardonyx::ChannelShuffle",
       {image},
       {{"groups", 3}},
       "expected a divisor of 2 channels, got 3"},
  });
}

// Known only when it runs.
TEST(ShapeRefusals, AxisOfTotals) {
  const OpDef& op = op_named("CumSum");
  const Attrs attrs = Attrs::parse(*op.attrs, {});
  const Tensor data = Tensor::zeros(DType::kFloat, {2, 2});
  const Tensor out = Tensor::zeros(DType::kFloat, {2, 2});
  for (const int32_t axis : {2, -3}) {
    const Tensor given = Tensor::scalar(axis);
    const std::vector<TensorView> in{data.view(), given.view()}, to{out.view()};
    expect_refusal(kBadArgument, "is out of range [-2, 1]", [&] {
      op.reference({op, attrs, in, to});
    });
  }
}

}  // namespace
}  // namespace sardonyx
