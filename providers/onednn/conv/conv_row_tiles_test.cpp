// Convolutions that take long are computed in tiles, between which a run can be ended.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/core/run_control.h"
#include "ir/op_samples.h"
#include "tests/support/close.h"
#include "tests/support/expect_error.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

struct Layer {
  Tensor x, w, residual;
  Ints pads{1, 1, 1, 1};
  int64_t stride = 1;
  bool layouts = true;
};

Shape result_shape(const Layer& layer) {
  const Shape &x = layer.x.shape(), &w = layer.w.shape();
  const auto size = [&](size_t axis) {
    const int64_t padded = x[axis] + layer.pads[axis - 2] + layer.pads[axis];
    return (padded - w[axis]) / layer.stride + 1;
  };
  return {x[0], w[0], size(2), size(3)};
}

PreparedRun prepared(const Layer& layer) {
  const OpDef& op = op_named("sardonyx::FusedConv");
  const AttrMap attrs = {{"pads", layer.pads},
                         {"strides", Ints{layer.stride, layer.stride}},
                         {"activation", std::string("Relu")}};
  std::vector<Tensor> inputs{layer.x, layer.w, Tensor()};
  if (layer.residual) inputs.push_back(layer.residual);
  RunOptions options;
  options.layouts = layer.layouts;
  // Where layouts are free as well, our own kernel takes weights that are known.
  options.constants = layer.layouts ? 0 : 0b10;
  return PreparedRun(op, Attrs::parse(*op.attrs, attrs), inputs,
                     {Type::tensor(DType::kFloat, to_dims(result_shape(layer)))}, options);
}

bool is_tiled(const PreparedRun& run) {
  return run.prepared().implementation.ends_with("in tiles");
}

Tensor whole_result(const Layer& layer, bool tiled) {
  PreparedRun run = prepared(layer);
  EXPECT_EQ(is_tiled(run), tiled) << run.prepared().implementation;
  run.run();
  return run.outputs()[0];
}

// Rows [begin, end) of each channel of image `image`.
Tensor rows_of(const Tensor& x, int64_t image, int64_t begin, int64_t end) {
  const Shape& shape = x.shape();
  const Tensor part = Tensor::allocate(DType::kFloat, {1, shape[1], end - begin, shape[3]});
  const int64_t length = (end - begin) * shape[3];
  for (int64_t channel = 0; channel < shape[1]; ++channel) {
    const float* from =
        x.values<float>().data() + ((image * shape[1] + channel) * shape[2] + begin) * shape[3];
    std::copy_n(from, length, static_cast<float*>(part.raw()) + channel * length);
  }
  return part;
}

// Each half of the image, computed apart, gives the rows that it has all it takes of.
void check_halves(Layer layer) {
  const Tensor whole = whole_result(layer, true);
  const int64_t rows = layer.x.shape()[2], results = whole.shape()[2], half = results / 2;
  Layer upper = layer, lower = layer;
  upper.x = rows_of(layer.x, 0, 0, half * layer.stride + 1);
  upper.pads[2] = 0;
  lower.x = rows_of(layer.x, 0, half * layer.stride - 1, rows);
  lower.pads[0] = 0;
  if (layer.residual) {
    upper.residual = rows_of(layer.residual, 0, 0, half);
    lower.residual = rows_of(layer.residual, 0, half, results);
  }
  const Tensor first = whole_result(upper, false), last = whole_result(lower, false);
  expect_within(rows_of(whole, 0, 0, half), rows_of(first, 0, 0, half), 1e-4f, 1e-3f);
  expect_within(rows_of(whole, 0, half, results), last, 1e-4f, 1e-3f);
}

TEST(ConvTiles, OfRowsGiveWhatHalvesGive) {
  Layer layer;
  layer.x = drawn_tensor(DType::kFloat, {1, 128, 66, 134}, -1, 1, 1);
  layer.w = drawn_tensor(DType::kFloat, {512, 128, 3, 3}, -1, 1, 2);
  check_halves(layer);
  layer.residual = drawn_tensor(DType::kFloat, result_shape(layer), -1, 1, 3);
  check_halves(layer);
  layer.layouts = false;
  check_halves(layer);
}

TEST(ConvTiles, OfStridedRows) {
  Layer layer;
  layer.x = drawn_tensor(DType::kFloat, {1, 128, 133, 260}, -1, 1, 1);
  layer.w = drawn_tensor(DType::kFloat, {512, 128, 3, 3}, -1, 1, 2);
  layer.stride = 2;
  check_halves(layer);
}

TEST(ConvTiles, OfImagesGiveWhatEachGives) {
  Layer layer;
  layer.x = drawn_tensor(DType::kFloat, {5, 128, 64, 64}, -1, 1, 1);
  layer.w = drawn_tensor(DType::kFloat, {512, 128, 3, 3}, -1, 1, 2);
  const Tensor all = whole_result(layer, true);
  for (const int64_t image : {0, 2, 4}) {
    Layer one = layer;
    one.x = rows_of(layer.x, image, 0, 64);
    expect_within(rows_of(all, image, 0, 64), whole_result(one, false), 1e-4f, 1e-3f);
  }
}

// It takes many seconds as a whole.
TEST(ConvTiles, EndAtTheDeadline) {
  Layer layer;
  layer.x = Tensor::zeros(DType::kFloat, {1, 512, 256, 256});
  layer.w = Tensor::zeros(DType::kFloat, {512, 512, 3, 3});
  PreparedRun run = prepared(layer);
  EXPECT_TRUE(is_tiled(run));
  const RunControl control{
      nullptr, std::chrono::steady_clock::now() + std::chrono::milliseconds(100), {}};
  const ControlScope scope(control);
  expect_refusal(ErrorCode::kDeadlineExceeded, "deadline", [&] { run.run(); });
}

}  // namespace
}  // namespace sardonyx::onednn
