// Layers of networks: products, normalization, pooling, resizing, quantization, losses: calls that
// do not fit.
#include <cmath>

#include "ir/graph.h"
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

const Datum x = zeros({2, 3}), scalar = zeros({}), two = zeros({2}), row = zeros({3});
const Datum image = zeros({1, 2, 4, 4});

Datum bytes(const Shape& shape) {
  return zeros(shape, DType::kUInt8);
}

TEST(LayerRefusals, Products) {
  const Datum b = zeros({3, 2}), byte = bytes({2, 3}), column = bytes({3, 2}), zero = bytes({});
  const char *integer = "MatMulInteger", *quantized = "QLinearMatMul";
  expect_refused(std::vector<Refused>{
      {"MatMul", {x, x}, {}, "3 and 2"},
      {"MatMul", {scalar, x}, {}, "input A"},
      {"Gemm", {row, b}, {}, "input A (float[3]): expected rank 2, got 1"},
      {"Gemm", {x, row}, {}, "input B (float[3]): expected rank 2, got 1"},
      {"Gemm", {x, x}, {}, "3 and 2"},
      {"Gemm", {x, b, zeros({3, 3})}, {}, "input C"},
      {integer, {byte, column, bytes({3})}, {}, "one for each row of [2, 3]"},
      {integer, {byte, column, zero, bytes({3})}, {}, "one for each column of [3, 2]"},
      {integer, {byte, column, bytes({2, 2})}, {}, "or that shape with 1 for the dim across"},
      {quantized,
       {byte, row, zero, column, scalar, zero, scalar, zero},
       {},
       "input a_scale (float[3"},
      {quantized,
       {byte, scalar, bytes({3}), column, scalar, zero, scalar, zero},
       {},
       "a_zero_point"},
      {quantized,
       {byte, scalar, zero, column, row, zero, scalar, zero},
       {},
       "input b_scale (float[3]"},
      {quantized,
       {byte, scalar, zero, column, scalar, bytes({3}), scalar, zero},
       {},
       "b_zero_point"},
      {quantized,
       {byte, scalar, zero, column, scalar, zero, row, zero},
       {},
       "input y_scale (float[3]"},
      {quantized,
       {byte, scalar, zero, column, scalar, zero, scalar, bytes({3})},
       {},
       "y_zero_point"},
      {"Det", {row}, {}, "expected square matrices, got rank 1"},
      {"Det", {x}, {}, "a square matrix is needed"},
  });
}

TEST(LayerRefusals, Normalization) {
  const Datum text = none();
  const char *batch = "sardonyx::BatchNormalizationGrad",
             *layer = "sardonyx::LayerNormalizationGrad";
  if (!find_op("BatchNormalizationGrad", "sardonyx")) batch = nullptr;
  if (!find_op("LayerNormalizationGrad", "sardonyx")) layer = nullptr;
  std::vector<Refused> refused{
      {"BatchNormalization", {image, row, two, two, two}, {}, "input scale (float[3])"},
      {"BatchNormalization", {image, two, row, two, two}, {}, "input B (float[3])"},
      {"BatchNormalization", {image, two, two, row, two}, {}, "input input_mean (float[3])"},
      {"BatchNormalization",
       {image, two, two, two, x},
       {},
       "input input_var (float[2, 3]): expected"},
      {"BatchNormalization", {scalar, two, two, two, two}, {}, "expected at least rank 1"},
      {"InstanceNormalization", {x, row, row}, {}, "expected at least rank 3"},
      {"InstanceNormalization", {image, row, two}, {}, "input scale (float[3])"},
      {"GroupNormalization",
       {image, two, two},
       {{"num_groups", 0}},
       "num_groups: expected at least 1"},
      {"GroupNormalization",
       {image, two, two},
       {{"num_groups", 1}, {"stash_type", 7}},
       "stash_type: expected a floating type, got int64"},
      {"GroupNormalization", {image, two, two}, {{"num_groups", 3}}, "num_groups"},
      {"GroupNormalization", {row, two, two}, {{"num_groups", 1}}, "expected at least rank 2"},
      {"LRN", {image}, {{"size", 0}}, "size: expected at least 1, got 0"},
      {"LRN", {row}, {{"size", 1}}, "expected at least rank 2"},
      {"LayerNormalization", {x, two}, {}, "does not broadcast to the shape of the input, [2, 3]"},
      {"LayerNormalization", {x, row, two}, {}, "input B (float[2]): does not broadcast"},
      {"LayerNormalization", {x, zeros({1, 2, 3})}, {}, "has more dims than the input, [2, 3]"},
      {"LayerNormalization", {x, row}, {{"stash_type", 7}}, "stash_type: expected a floating type"},
      {"LayerNormalization", {x, row}, {{"axis", 2}}, "axis 2 is out of range [-2, 1]"},
      {"LayerNormalization",
       {x, row},
       {{"stash_type", 11}},
       "Mean and InvStdDev are float or bfloat16, got double",
       kBadModel,
       2},
      {"RMSNormalization", {x, two}, {}, "does not broadcast to the shape of the input"},
      {"LpNormalization", {x}, {{"p", 3}}, "p: expected 1 or 2, got 3"},
      {"LpNormalization", {x}, {{"axis", 2}}, "axis 2 is out of range [-2, 1]"},
      {"sardonyx::SoftmaxGrad", {row, x}, {}, "expected dY and Y of one rank, got 1 and 2"},
      {"sardonyx::SoftmaxGrad", {zeros({2, 4}), x}, {}, "dims of dY and Y: 4 and 3 differ"},
      {"sardonyx::SoftmaxGrad", {x, x}, {{"axis", 2}}, "axis 2 is out of range [-2, 1]"},
  };
  if (batch) {
    refused.push_back(
        {batch, {two, x, two}, {}, "expected dY and X of one rank, got 1 and 2", kBadModel, 3});
    refused.push_back(
        {batch, {zeros({2, 4}), x, row}, {}, "dims of dY and X: 4 and 3 differ", kBadModel, 3});
    refused.push_back(
        {batch, {x, x, x}, {}, "input scale (float[2, 3]): expected rank 1", kBadModel, 3});
    refused.push_back({batch, {scalar, scalar, two}, {}, "expected at least rank 1", kBadModel, 3});
    refused.push_back(
        {batch, {x, x, two}, {}, "channels of X and scale: 3 and 2 differ", kBadModel, 3});
  }
  if (layer) {
    refused.push_back(
        {layer, {two, x, row}, {}, "expected dY and X of one rank, got 1 and 2", kBadModel, 2});
  }
  expect_refused(refused);
}

TEST(LayerRefusals, Pools) {
  const AttrMap kernel{{"kernel_shape", Ints{2, 2}}};
  const Datum indices = zeros({1, 2, 2, 2}, DType::kInt64);
  const auto with = [&](const AttrMap& more) {
    AttrMap attrs = kernel;
    for (const auto& [name, value] : more)
      attrs[name] = value;
    return attrs;
  };
  const Datum pooled = zeros({1, 2, 2, 2}), boxes = zeros({1, 4}), first = ints({0});
  const Datum regions = zeros({1, 5});
  const AttrMap strides = with({{"strides", Ints{2, 2}}});
  expect_refused(std::vector<Refused>{
      {"AveragePool", {x}, kernel, "expected at least rank 3: batch, channels and spatial dims"},
      {"AveragePool",
       {image},
       {{"kernel_shape", Ints{}}},
       "kernel_shape: expected a size for each"},
      {"AveragePool", {image}, {{"kernel_shape", Ints{2}}}, "kernel"},
      {"MaxPool",
       {image},
       with({{"storage_order", 2}}),
       "storage_order: expected 0 (row-major) or 1"},
      {"MaxPool",
       {image},
       with({{"storage_order", -1}}),
       "storage_order: expected 0 (row-major) or"},
      {"MaxPool", {x}, kernel, "expected at least rank 3"},
      {"MaxPool",
       {image},
       with({{"pads", Ints{0, 2, 0, 0}}}),
       "pads: expected less than the kernel's size 2 on spatial axis 1, got 2"},
      {"AveragePool", {image}, with({{"pads", Ints{0, 0, 5, 0}}}), "spatial axis 0, got 5"},
      {"LpPool", {image}, with({{"pads", Ints{2, 0, 0, 0}}}), "spatial axis 0, got 2"},
      {"LpPool", {image}, with({{"p", 0}}), "p: expected"},
      {"GlobalLpPool", {image}, {{"p", 0}}, "p: expected"},
      {"GlobalAveragePool", {x}, {}, "expected at least rank 3"},
      {"GlobalMaxPool", {x}, {}, "expected at least rank 3"},
      {"sardonyx::AveragePoolGrad",
       {image, ints({1, 2, 4, 4})},
       {{"kernel_shape", Ints{}}},
       "kernel_shape: expected a size for each spatial axis, got none"},
      {"sardonyx::AveragePoolGrad", {x, ints({1, 2, 4, 4})}, kernel, "expected rank 4, got 2"},
      {"sardonyx::MaxPoolGrad", {pooled, image}, {{"kernel_shape", Ints{}}}, "got none"},
      {"sardonyx::MaxPoolGrad",
       {x, image},
       kernel,
       "input dY (float[2, 3]): expected rank 4, got 2"},
      {"sardonyx::MaxPoolGrad",
       {pooled, x},
       kernel,
       "input X (float[2, 3]): expected rank 4, got 2"},
      {"MaxUnpool", {x, zeros({2, 3}, DType::kInt64)}, kernel, "expected at least rank 3"},
      {"MaxUnpool", {pooled, indices}, {{"kernel_shape", Ints{}}}, "got none"},
      {"MaxUnpool",
       {pooled, zeros({2}, DType::kInt64)},
       strides,
       "input I (int64[2]): expected rank 4"},
      {"MaxUnpool", {pooled, zeros({1, 2, 2, 3}, DType::kInt64)}, strides, "shapes of X and I"},
      {"MaxUnpool", {pooled, indices, ints({1, 2})}, strides, "sizes, one for each dim of X"},
      {"MaxUnpool",
       {pooled, indices, ints({1, 2, 3, 4})},
       strides,
       "expected at least [1, 2, 4, 4]"},
      {"MaxUnpool",
       {pooled, indices, ints({1, 3, 4, 4})},
       strides,
       "expected at least [1, 2, 4, 4]"},
      {"MaxUnpool",
       {zeros({1, 1, 1, 1}), Tensor::of<int64_t>({4}, {1, 1, 1, 1})},
       strides,
       "MaxUnpool: input I: index 4 is out of range [0, 4)",
       kBadArgument},
      {"MaxUnpool",
       {zeros({1, 1, 1, 1}), Tensor::of<int64_t>({-1}, {1, 1, 1, 1})},
       strides,
       "MaxUnpool: input I: index -1 is out of range",
       kBadArgument},
      {"MaxRoiPool",
       {image, regions},
       {{"pooled_shape", Ints{1}}},
       "pooled_shape: expected a height"},
      {"MaxRoiPool",
       {image, regions},
       {{"pooled_shape", Ints{0, 1}}},
       "pooled_shape: expected a he"},
      {"MaxRoiPool",
       {image, regions},
       {{"pooled_shape", Ints{1, 0}}},
       "pooled_shape: expected a he"},
      {"MaxRoiPool", {x, regions}, {{"pooled_shape", Ints{1, 1}}}, "expected rank 4, got 2"},
      {"MaxRoiPool", {image, row}, {{"pooled_shape", Ints{1, 1}}}, "expected rank 2, got 1"},
      {"MaxRoiPool",
       {image, boxes},
       {{"pooled_shape", Ints{1, 1}}},
       "columns of rois and those expe"},
      {"MaxRoiPool",
       {image, Tensor::of<float>({1, 0, 0, 1, 1}, {1, 5})},
       {{"pooled_shape", Ints{1, 1}}},
       "MaxRoiPool: input rois: batch index 1 is out of range [0, 1)",
       kBadArgument},
      {"RoiAlign",
       {image, boxes, first},
       {{"mode", string("odd")}},
       "mode: expected avg or max, got"},
      {"RoiAlign",
       {image, boxes, first},
       {{"coordinate_transformation_mode", string("odd")}},
       "expected half_pixel or output_half_pixel, got \"odd\""},
      {"RoiAlign",
       {image, boxes, first},
       {{"output_height", 0}},
       "output_height: expected at least 1"},
      {"RoiAlign",
       {image, boxes, first},
       {{"output_width", 0}},
       "output_width: expected at least 1"},
      {"RoiAlign", {image, boxes, ints({0, 0})}, {}, "batch indices, one for each region"},
      {"RoiAlign", {image, boxes, ints({1})}, {}, "batch index 1 is out of range", kBadArgument},
      {"RoiAlign", {image, boxes, ints({-1})}, {}, "batch index -1 is out of range", kBadArgument},
  });
}

TEST(LayerRefusals, Resize) {
  const Datum o = none(), scales = floats({2, 2}), sizes = ints({4, 4}),
              text = zeros({2, 3}, DType::kString);
  const auto mode = [](const char* name, const char* value) {
    return AttrMap{{name, string(value)}};
  };
  const AttrMap crop = mode("coordinate_transformation_mode", "tf_crop_and_resize");
  expect_refused(std::vector<Refused>{
      {"Resize",
       {x, o, scales},
       mode("mode", "odd"),
       "mode: expected one of nearest, linear, cubic"},
      {"Resize", {x, o, scales}, mode("nearest_mode", "odd"), "nearest_mode: expected one of"},
      {"Resize",
       {x, o, o, sizes},
       mode("keep_aspect_ratio_policy", "odd"),
       "keep_aspect_ratio_policy: expected one of"},
      {"Resize",
       {x, o, scales},
       mode("coordinate_transformation_mode", "odd"),
       "coordinate_transformation_mode: expected one of"},
      {"Resize", {text, o, scales}, mode("mode", "linear"), "strings can't be blended"},
      {"Resize", {text, floats({0, 0, 1, 1}), scales}, crop, "strings have no extrapolation value"},
      {"Resize", {x}, {}, "expected scales or sizes, got neither"},
      {"Resize", {x, o, scales, sizes}, {}, "expected one of scales and sizes, got both"},
      {"Resize", {x, o, zeros({1, 2})}, {}, "input scales (float[1, 2]): expected one dimension"},
      {"Resize", {x, o, floats({2})}, {}, "input scales (float[1])"},
      {"Resize", {x, o, o, ints({4})}, {}, "input sizes (int64[1])"},
      {"Resize", {x, o, scales}, {{"axes", Ints{0, 2}}}, "axes 2 is out of range"},
      {"Resize", {x, o, scales}, crop, "expected roi, which tf_crop_and_resize reads"},
      {"Resize", {x, floats({0, 1}), scales}, crop, "input roi (float[2])"},
      {"Resize", {x, o, floats({2, 0})}, {}, "expected positive and finite scales, got 0"},
      {"Resize", {x, o, floats({2, -1})}, {}, "expected positive and finite scales, got -1"},
      {"Resize", {x, o, floats({2, INFINITY})}, {}, "expected positive and finite scales, got inf"},
      {"Resize", {x, o, o, ints({4, -1})}, {}, "expected sizes that are not negative, got -1"},
      {"Resize",
       {zeros({0, 3}), o, o, ints({4, 3})},
       {},
       "dim 0 is empty and can't be resized to 4"},
      {"Resize",
       {x, o, floats({1e30f, 1})},
       {},
       "times scale 1e+30 is too large",
       ErrorCode::kResourceExhausted},
      {"Resize",
       {x, o, o, ints({int64_t{1} << 62, 3})},
       mode("keep_aspect_ratio_policy", "not_smaller"),
       "is too large",
       ErrorCode::kResourceExhausted},
  });
}

TEST(LayerRefusals, Quantization) {
  const Datum q = bytes({2, 3}), zero = bytes({});
  expect_refused(std::vector<Refused>{
      {"QuantizeLinear", {x, row, bytes({3, 1})}, {}, "must have the shape of the scale, [3]"},
      {"QuantizeLinear", {x, row, bytes({2})}, {}, "dims of scale and zero point: 3 and 2 differ"},
      {"QuantizeLinear",
       {x, scalar},
       {{"block_size", -1}},
       "block_size: expected a positive number"},
      {"QuantizeLinear", {x, x}, {}, "blocked quantization needs block_size"},
      {"QuantizeLinear", {x, two}, {}, "scale against the quantized axis: 3 and 2 differ"},
      {"QuantizeLinear", {x, row}, {{"block_size", 2}}, "expected rank 2 for blocks"},
      {"QuantizeLinear", {x, x}, {{"block_size", 2}}, "scale of blocked quantization"},
      {"QuantizeLinear", {scalar, row}, {}, "input y_scale (float[3]): expected a scalar"},
      {"QuantizeLinear", {x, row}, {{"axis", 2}}, "axis 2 is out of range"},
      {"QuantizeLinear", {x, scalar}, {{"output_dtype", 1}}, "output_dtype: expected one of"},
      {"QuantizeLinear",
       {x, scalar, zero},
       {{"output_dtype", 3}},
       "output_dtype int8 differs from the zero point's type uint8"},
      {"QuantizeLinear", {x, scalar}, {{"precision", 7}}, "precision: expected a floating type"},
      {"DequantizeLinear", {q, two}, {}, "scale against the quantized axis: 3 and 2 differ"},
      {"DequantizeLinear", {q, scalar}, {{"output_dtype", 7}}, "output_dtype: expected one of"},
      {"sardonyx::ByteTable", {q, bytes({255})}, {}, "expected 256 entries in one dim"},
      {"sardonyx::ByteTable", {q, bytes({1, 256})}, {}, "expected 256 entries in one dim"},
  });
}

TEST(LayerRefusals, IntegerConvolutions) {
  const auto bytes = [](const Shape& shape) { return zeros(shape, DType::kUInt8); };
  const Datum image = bytes({1, 1, 3, 3}), kernel = bytes({2, 1, 1, 1}), zero = bytes({}),
              o = none();
  const Datum one = zeros({}), pair = zeros({2}), three = zeros({3}), byte_pair = bytes({2});
  const auto quantized = [&](size_t at, const Datum& other, const char* mention) -> Refused {
    std::vector<Datum> inputs{image, one, zero, kernel, one, zero, one, zero, o};
    inputs[at] = other;
    return {"QLinearConv", inputs, {}, mention};
  };
  expect_refused(std::vector<Refused>{
      {"ConvInteger",
       {image, kernel, byte_pair},
       {},
       "input x_zero_point (uint8[2]): expected a scalar or one element"},
      {"ConvInteger",
       {image, kernel, zero, bytes({3})},
       {},
       "input w_zero_point (uint8[3]): expected 2 output channels, got 3"},
      quantized(1, pair, "input x_scale (float[2]): expected a scalar or one element"),
      quantized(2, byte_pair, "input x_zero_point (uint8[2]): expected a scalar or one element"),
      quantized(4, three, "input w_scale (float[3]): expected 2 output channels, got 3"),
      quantized(5, bytes({3}), "input w_zero_point (uint8[3]): expected 2 output channels, got 3"),
      quantized(6, pair, "input y_scale (float[2]): expected a scalar or one element"),
      quantized(7, byte_pair, "input y_zero_point (uint8[2]): expected a scalar or one element"),
      quantized(8, zeros({3}, DType::kInt32), "input B (int32[3]): expected 2 output channels"),
      {"ConvTranspose",
       {zeros({1, 3, 4, 4}), zeros({3, 1, 2, 2})},
       {{"group", 2}},
       "group: 2 does not divide the 3 input channels"},
  });
}

TEST(LayerRefusals, Losses) {
  const Datum labels = ints({0, 1});
  for (const char* op : {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}) {
    expect_refused(std::vector<Refused>{
        {op, {x, labels}, {{"reduction", string("odd")}}, "reduction: expected mean, sum or none"},
        {op, {row, labels}, {}, "expected rank 2 or more"},
        {op, {x, zeros({2, 1}, DType::kInt64)}, {}, "expected rank 1, got 2"},
        {op, {x, ints({0})}, {}, "1 and 2 differ"},
        {op, {x, labels, x}, {}, "expected rank 1, got 2"},
        {op, {x, labels, two}, {}, "2 and 3 differ"},
        {op,
         {x, ints({0, 3})},
         {},
         "label 3 at element [1] is no class: expected 0 to 2; set ignore_index to leave labels "
         "out",
         kBadArgument},
        {op, {x, ints({-1, 0})}, {}, "label -1 at element [0] is no class", kBadArgument},
        {op,
         {x, ints({0, -1})},
         {{"ignore_index", 7}},
         "label -1 at element [1] is no class: expected 0 to 2 or ignore_index, 7",
         kBadArgument},
        {op,
         {zeros({2, 3, 2}), Tensor::of<int32_t>({0, 1, 2, -2}, {2, 2})},
         {},
         "label -2 at element [1, 1] is no class",
         kBadArgument},
    });
  }
  expect_refused(std::vector<Refused>{
      {"sardonyx::ClassIndices", {labels, zeros({3})}, {}, "expected rank 2 or more"},
      {"sardonyx::ClassIndices", {labels, zeros({})}, {}, "expected rank 2 or more"},
  });
}

TEST(LayerRefusals, ReductionsAndOrder) {
  const Datum o = none(), axis = ints({1}), empty = zeros({2, 0});
  expect_refused(std::vector<Refused>{
      {"ReduceSum", {x, zeros({1, 1}, DType::kInt64)}, {}, "expected one dimension, got 2"},
      {"ReduceSum", {x, ints({2})}, {}, "axes 2 is out of range"},
      {"ReduceSum", {x, ints({1, -1})}, {}, "axes: axis -1 is given twice"},
      {"ArgMax", {empty}, {{"axis", 1}}, "has no elements along axis 1 to choose from"},
      {"ArgMax", {x}, {{"axis", 2}}, "axis 2 is out of range"},
      {"TopK", {x, ints({-1})}, {}, "must not be negative, got -1", kBadModel, 2},
      {"TopK", {x, ints({1, 1})}, {}, "input K (int64[2]): expected a scalar", kBadModel, 2},
      {"TopK",
       {x, ints({4})},
       {},
       "input K (int64[1]): asks for 4 elements of axis 1, which has 3",
       kBadModel,
       2},
      {"Pad",
       {x, ints({0, 1, 0, 1})},
       {{"mode", string("odd")}},
       "mode: expected constant, reflect"},
      {"Pad", {x, zeros({1, 4}, DType::kInt64)}, {}, "expected one dimension, got 2"},
      {"Pad",
       {x, ints({0, 1}), o, zeros({1, 1}, DType::kInt64)},
       {},
       "expected one dimension, got 2"},
      {"Pad",
       {x, ints({0, 1, 0, 1}), two},
       {},
       "input constant_value (float[2]): expected a scalar"},
      {"Pad",
       {x, ints({0, 1, 0})},
       {},
       "pads has 3 elements, expected 2 for each of 2 axes",
       kBadArgument},
      {"Pad", {x, ints({0, -4, 0, 0})}, {}, "axis 1 would have size -1"},
      {"Pad",
       {x, ints({0, 3, 0, 0})},
       {{"mode", string("reflect")}},
       "has 2 elements to reflect on an axis of 3, got 3 and 0",
       kBadArgument},
      {"Pad",
       {x, ints({0, -1, 0, 2})},
       {{"mode", string("reflect")}},
       "has 1 elements to reflect on an axis of 2, got -1 and 2",
       kBadArgument},
      {"Pad",
       {empty, ints({0, 1, 0, 0})},
       {{"mode", string("edge")}},
       "an empty axis holds nothing to pad with",
       kBadArgument},
  });
  expect_refused(std::vector<RefusedTypes>{
      {"ReduceSum",
       {Type::tensor(DType::kFloat, Dims{2, 3}), Type::tensor(DType::kInt64, Dims{3})},
       {{"keepdims", 0}},
       "names 3 axes of a tensor of rank 2"},
  });
}

// One direction, batch 1, length 2, input size 3, hidden size 2.
TEST(LayerRefusals, Recurrent) {
  const std::vector<Datum> good{
      zeros({2, 1, 3}),          zeros({1, 8, 3}), zeros({1, 8, 2}), zeros({1, 16}),
      zeros({1}, DType::kInt32), zeros({1, 1, 2}), zeros({1, 1, 2}), zeros({1, 6})};
  const AttrMap hidden{{"hidden_size", 2}};
  EXPECT_EQ(error_of("LSTM", good, hidden), "");
  const auto with = [&](size_t at, const Datum& other, const char* mention) -> Refused {
    std::vector<Datum> inputs = good;
    inputs[at] = other;
    return {"LSTM", inputs, hidden, mention};
  };
  const auto set = [&](const AttrMap& more, const char* mention) -> Refused {
    AttrMap attrs = hidden;
    for (const auto& [name, value] : more)
      attrs[name] = value;
    return {"LSTM", good, attrs, mention};
  };
  expect_refused(std::vector<Refused>{
      with(0, zeros({1, 3}), "input X (float[1, 3]): expected rank 3, got 2"),
      with(1, zeros({8, 3}), "input W (float[8, 3]): expected rank 3, got 2"),
      with(2, zeros({8, 2}), "input R (float[8, 2]): expected rank 3, got 2"),
      with(1, zeros({1, 7, 3}), "input W (float[1, 7, 3])"),
      with(2, zeros({1, 7, 2}), "input R (float[1, 7, 2])"),
      with(3, zeros({1, 15}), "input B (float[1, 15])"),
      with(3, zeros({16}), "input B (float[16]): expected rank 2"),
      with(4, zeros({2}, DType::kInt32), "input sequence_lens (int32[2])"),
      with(5, zeros({1, 2, 2}), "input initial_h (float[1, 2, 2])"),
      with(6, zeros({1, 2, 2}), "input initial_c (float[1, 2, 2])"),
      with(7, zeros({1, 5}), "input P (float[1, 5])"),
      set({{"activations", Strings{"Tanh"}}}, "activations: expected 3 names, got 1"),
      set({{"activations", Strings{"Tanh", "Odd", "Tanh"}}},
          "attribute activations: there is no function \"Odd\""),
      set({{"direction", string("odd")}}, "direction: expected forward, reverse or bidirectional"),
      set({{"layout", 2}}, "layout: expected 0 or 1, got 2"),
      set({{"clip", -1.f}}, "clip: expected a threshold of 0 or more, got -1"),
      set({{"hidden_size", 0}}, "hidden_size: expected a positive number, got 0"),
      set({{"hidden_size", 3}}, "hidden size"),
  });
  std::vector<Datum> long_rows = good;
  long_rows[4] = Tensor::vector<int32_t>({3});
  expect_refused(std::vector<Refused>{
      {"LSTM", long_rows, hidden, "sequence_lens[0] is 3, expected 0 to", kBadArgument}});
}

TEST(LayerRefusals, LinearAttention) {
  const Datum q = zeros({1, 2, 4}), o = none(), decay = zeros({1, 2, 2});
  const auto call = [&](const AttrMap& more, std::vector<Datum> inputs, const char* mention) {
    AttrMap attrs{{"q_num_heads", 2}, {"kv_num_heads", 2}, {"update_rule", string("linear")}};
    for (const auto& [name, value] : more)
      attrs[name] = value;
    return Refused{"LinearAttention", std::move(inputs), attrs, mention, kBadModel, 2};
  };
  const AttrMap gated{{"update_rule", string("gated")}}, delta{{"update_rule", string("delta")}};
  expect_refused(std::vector<Refused>{
      call({{"update_rule", string("odd")}}, {q, q, q},
           "expected linear, gated, delta or gated_delta"),
      call({{"q_num_heads", 3}}, {q, q, q},
           "q_num_heads must be a positive multiple of kv_num_heads"),
      call({{"kv_num_heads", 0}}, {q, q, q}, "q_num_heads must be a positive multiple of"),
      call(gated, {q, q, q}, "update_rule gated needs the input decay"),
      call({}, {q, q, q, o, decay}, "update_rule linear takes no input decay"),
      call(delta, {q, q, q}, "update_rule delta needs the input beta"),
      call({}, {q, q, q, o, o, decay}, "update_rule linear takes no input beta"),
      call({}, {zeros({1, 2, 5}), q, q}, "last dim is no multiple of the number of heads, 2"),
      call({}, {q, zeros({2, 4}), q}, "expected rank 3, got 2"),
      call({}, {q, zeros({1, 2, 8}), q}, "head sizes of query and key"),
      call({}, {q, zeros({2, 2, 4}), q}, "batch size of"),
      call(gated, {q, q, q, o, zeros({1, 2, 3})}, "last dim must be 2 or 4"),
      call(delta, {q, q, q, o, o, zeros({1, 2, 3})}, "last dim must be 2 or 1"),
      call({}, {q, q, q, q}, "input past_state (float[1, 2, 4]): expected rank 4, got 3"),
      call({}, {q, q, q, zeros({1, 2, 2, 3})}, "shape of past_state"),
  });
}

TEST(LayerRefusals, FlexAttention) {
  const OpDef* op = find_op("FlexAttention", "ai.onnx.preview");
  if (!op) op = find_op("FlexAttention");
  ASSERT_TRUE(op);
  const string name = full_name(*op);
  const Datum q = zeros({1, 1, 2, 2});
  auto two_inputs = std::make_shared<Graph>();
  two_inputs->add_input("a", Type::none());
  two_inputs->add_output(two_inputs->add_input("b", Type::none()));
  expect_refused(std::vector<Refused>{
      {name.c_str(), {q, q, q}, {{"softmax_precision", 7}}, "softmax_precision: expected float"},
      {name.c_str(),
       {q, q, q},
       {{"score_mod", GraphPtr(two_inputs)}},
       "score_mod: expected a graph of"},
      {name.c_str(),
       {q, q, q},
       {{"prob_mod", GraphPtr(two_inputs)}},
       "prob_mod: expected a graph of"},
      {name.c_str(), {x, q, q}, {}, "expected rank 4, got 2"},
      {name.c_str(), {q, x, q}, {}, "expected rank 4, got 2"},
  });
}

TEST(LayerRefusals, Optionals) {
  const Type floats_type = Type::tensor(DType::kFloat);
  const OptionalDatum empty{floats_type, {}};
  expect_refused(std::vector<Refused>{
      {"Optional", {}, {}, "neither an input nor the attribute type is given"},
      {"Optional", {x}, {{"type", Type::tensor(DType::kInt64)}}, "type: the attribute says int64"},
      {"Optional", {}, {{"type", Type::optional(floats_type)}}, "type: expected one of"},
      {"OptionalGetElement", {empty}, {}, "input: the optional is empty", kBadArgument},
  });
}

}  // namespace
}  // namespace sardonyx
