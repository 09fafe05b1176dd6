// What takes long ends at its deadline: kernels of several primitives look at the clock in between.
#include <gtest/gtest.h>

#include "ir/core/run_control.h"
#include "ir/op_samples.h"
#include "ir/ops/conv/conv.h"
#include "providers/onednn/conv/conv_row_tiles.h"
#include "providers/onednn/conv/deconv_channel_tiles.h"
#include "providers/onednn/provider.h"
#include "tests/support/close.h"
#include "tests/support/expect_error.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;
using Kind = TiledConvolution::Kind;

constexpr auto kFloat = memory::data_type::f32;

// A convolution, or one of its gradients, of images of floats.
struct TiledLayer {
  Kind kind;
  Shape src, weights,
      dst;  // of the convolution's own (transposed: the weights' channels exchanged)
  Ints strides{1, 1}, dilations{1, 1}, pads_begin{0, 0}, pads_end{0, 0};
};

MaybePrimitive primitive_of(Kind kind, const ConvolutionSpec& spec) {
  switch (kind) {
    case Kind::kForward:
      return convolution(spec, attributes());
    case Kind::kTransposed:
      return deconvolution(spec, attributes());
    case Kind::kInputGrad:
      return convolution_input_gradient(spec, attributes());
    default:
      return convolution_weight_gradient(spec, attributes());
  }
}

// As one primitive, or in tiles of `size` or of channels; inputs are what is read and what is
// shared.
Prepared prepare(const TiledLayer& layer, const KernelRequest& request,
                 const std::optional<ConvTileSize>& size, int64_t tile_channels) {
  ConvolutionSpec spec;
  spec.src = any_desc(kFloat, layer.src);
  spec.weights = any_desc(kFloat, layer.weights);
  spec.dst = any_desc(kFloat, layer.dst);
  spec.strides = layer.strides, spec.dilations = layer.dilations;
  spec.pads_begin = layer.pads_begin, spec.pads_end = layer.pads_end;
  const MaybePrimitive primitive = primitive_of(layer.kind, spec);
  SARDONYX_CHECK(primitive);
  TiledConvolution whole;
  whole.kind = layer.kind;
  whole.spec = spec;
  whole.make = [&](const ConvolutionSpec& tile) { return primitive_of(layer.kind, tile); };
  const bool of_weights = layer.kind == Kind::kWeightGrad;
  const bool is_gradient = of_weights || layer.kind == Kind::kInputGrad;
  const int from = is_gradient ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC;
  const int made = of_weights    ? DNNL_ARG_DIFF_WEIGHTS
                   : is_gradient ? DNNL_ARG_DIFF_SRC
                                 : DNNL_ARG_DST;
  whole.from = primitive->argument(from);
  whole.made = primitive->argument(made);
  if (of_weights)
    whole.spec.src = primitive->src();
  else
    whole.weights = primitive->weights();
  SequenceBuilder builder(request);
  if (tile_channels > 0) {
    const Desc weights = plain_desc(kFloat, layer.weights);
    if (!add_channel_tiles(builder, {whole, weights}, tile_channels))
      return Prepared::refuse("no tiles");
    return builder.finish();
  }
  const SequenceBuilder::Args shared{
      {of_weights ? DNNL_ARG_SRC : DNNL_ARG_WEIGHTS,
       builder.input(1, of_weights ? primitive->src() : primitive->weights())}};
  if (size) {
    const std::vector<ConvTile> tiles = tiles_of(whole, *size);
    if (tiles.empty()) return Prepared::refuse("no tiles");
    add_tiles(builder, whole, tiles, shared);
  } else {
    SequenceBuilder::Args args = shared;
    args.emplace_back(from, builder.input(0, whole.from));
    args.emplace_back(made, builder.output(0, whole.made));
    builder.step(*primitive, args);
  }
  return builder.finish();
}

Tensor result_of(const TiledLayer& layer, const std::optional<ConvTileSize>& size,
                 int64_t tile_channels = 0) {
  const bool of_weights = layer.kind == Kind::kWeightGrad;
  const bool is_gradient = of_weights || layer.kind == Kind::kInputGrad;
  const Tensor from = drawn_tensor(DType::kFloat, is_gradient ? layer.dst : layer.src, -1, 1, 1);
  const Tensor other =
      drawn_tensor(DType::kFloat, of_weights ? layer.src : layer.weights, -1, 1, 2);
  const Tensor made = Tensor::allocate(DType::kFloat, of_weights    ? layer.weights
                                                      : is_gradient ? layer.src
                                                                    : layer.dst);
  const KernelTensor inputs[] = {{DType::kFloat, from.shape()}, {DType::kFloat, other.shape()}};
  const KernelTensor output{DType::kFloat, made.shape()};
  const Attrs attrs;
  const KernelRequest request{op_named("Conv"), attrs, inputs, {&output, 1}};
  const Prepared prepared = prepare(layer, request, size, tile_channels);
  EXPECT_TRUE(prepared.kernel) << prepared.refusal;
  if (!prepared.kernel) return made;
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  const void* in[] = {from.raw(), other.raw()};
  void* out[] = {made.raw()};
  prepared.kernel->run({in, out, scratch->data()});
  return made;
}

TEST(CancellableConvTiles, GiveWhatTheWholeGives) {
  const TiledLayer layers[] = {
      {Kind::kForward,
       {3, 16, 20, 17},
       {32, 16, 3, 3},
       {3, 32, 20, 17},
       {1, 1},
       {1, 1},
       {1, 1},
       {1, 1}},
      {Kind::kTransposed,
       {3, 16, 10, 9},
       {32, 16, 3, 3},
       {3, 32, 19, 17},
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 1}},
      {Kind::kTransposed, {3, 16, 9, 10}, {32, 16, 2, 2}, {3, 32, 18, 20}, {2, 2}},
      {Kind::kTransposed, {3, 16, 9, 10}, {16, 16, 5, 5}, {3, 16, 17, 18}, {1, 1}, {2, 2}},
      {Kind::kInputGrad,
       {3, 16, 20, 17},
       {32, 16, 3, 3},
       {3, 32, 20, 17},
       {1, 1},
       {1, 1},
       {1, 1},
       {1, 1}},
      {Kind::kInputGrad,
       {3, 16, 19, 17},
       {32, 16, 3, 3},
       {3, 32, 10, 9},
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 1}},
      {Kind::kWeightGrad,
       {3, 16, 20, 17},
       {64, 16, 3, 3},
       {3, 64, 20, 17},
       {1, 1},
       {1, 1},
       {1, 1},
       {1, 1}},
      {Kind::kWeightGrad,
       {2, 5, 19, 17},
       {48, 5, 3, 3},
       {2, 48, 10, 9},
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 1}},
  };
  for (const TiledLayer& layer : layers) {
    SCOPED_TRACE(&layer - layers);
    const Tensor whole = result_of(layer, std::nullopt);
    for (const ConvTileSize size :
         {ConvTileSize{1, 5, 16}, ConvTileSize{1, 1, 32}, ConvTileSize{2, 100, 32}})
      expect_within(result_of(layer, size), whole, 2e-5f, 5e-5f);
  }
}

// Rows of the output of which each is computed alone.
TEST(CancellableConvTiles, WindowsWithGapsBetweenThem) {
  const TiledLayer layer{Kind::kTransposed, {1, 16, 4, 4}, {16, 16, 2, 2}, {1, 16, 11, 11}, {3, 3}};
  expect_within(result_of(layer, ConvTileSize{1, 4, 16}), result_of(layer, std::nullopt), 2e-5f,
                5e-5f);
}

// Tiles of output channels, the last of them smaller, with windows longer than the image.
TEST(CancellableConvTiles, OfChannels) {
  const TiledLayer layer{Kind::kTransposed, {3, 5, 6, 7}, {20, 5, 9, 3}, {3, 20, 14, 9}, {1, 1}};
  const Tensor wanted = result_of(layer, std::nullopt);
  for (const int64_t channels : {1, 8, 20})
    expect_within(result_of(layer, std::nullopt, channels), wanted, 2e-5f, 5e-5f);
}

TEST(CancellableConvTiles, OfChannelsWhereWindowsAreLong) {
  const auto channels = [](const Shape& from, const Shape& weights, const Shape& made,
                           int64_t group) {
    TiledConvolution whole;
    whole.kind = Kind::kTransposed;
    whole.from = plain_desc(kFloat, from), whole.made = plain_desc(kFloat, made);
    whole.spec.weights = plain_desc(kFloat, weights);
    whole.spec.strides = whole.spec.dilations = Ints(from.size() - 2, 1);
    return tile_channels(whole, group);
  };
  const Shape from{8, 32, 640}, weights{768, 32, 768}, made{8, 768, 1407};
  EXPECT_EQ(channels(from, weights, made, 1), 68);
  EXPECT_EQ(channels(from, weights, made, 2), std::nullopt);
  EXPECT_EQ(channels({1, 512, 256, 256}, {512, 512, 3, 3}, {1, 512, 258, 258}, 1), std::nullopt);
  EXPECT_EQ(channels({1, 32, 64}, {32, 32, 768}, {1, 32, 831}, 1), std::nullopt);
}

// A kernel that is prepared for `inputs` of zeros, and run after its deadline.
void expect_end(const char* op_name, const AttrMap& attributes, const std::vector<Tensor>& inputs,
                const Shape& result, DType type, uint32_t constants, size_t outputs = 1) {
  SCOPED_TRACE(op_name);
  const OpDef& op = op_named(op_name);
  RunOptions options;
  options.constants = constants;
  std::vector<Type> types(outputs, Type());
  types[0] = Type::tensor(type, to_dims(result));
  PreparedRun run(op, Attrs::parse(*op.attrs, attributes), inputs, types, options);
  const RunControl control{nullptr, std::chrono::steady_clock::now(), {}};
  const ControlScope scope(control);
  expect_refusal(ErrorCode::kDeadlineExceeded, "deadline", [&] { run.run(); });
}

Tensor zeros(DType type, const Shape& shape) {
  return Tensor::zeros(type, shape);
}

TEST(LongKernels, EndAtTheDeadline) {
  const AttrMap same{{"pads", Ints{1, 1, 1, 1}}};
  const Tensor x = zeros(DType::kFloat, {1, 256, 200, 200}),
               w = zeros(DType::kFloat, {256, 256, 3, 3});
  expect_end("ConvTranspose", same, {x, w}, x.shape(), DType::kFloat, 0b10);
  expect_end("sardonyx::ConvInputGrad", same, {x, w, Tensor::vector(x.shape())}, x.shape(),
             DType::kFloat, 0b100);
  expect_end("sardonyx::ConvWeightGrad", same, {x, x, Tensor::vector(w.shape())}, w.shape(),
             DType::kFloat, 0b100);
}

// One call for an image whose rows are padding, nearly all of them, would take seconds.
TEST(LongKernels, ImagesOfPaddingAreLeftToOthers) {
  const OpDef& op = op_named("Conv");
  const Attrs attrs = Attrs::parse(
      *op.attrs,
      {{"pads", Ints{63, 4095, 63, 4095}}, {"strides", Ints{2, 1}}, {"dilations", Ints{1, 1}}});
  const KernelTensor inputs[] = {{DType::kFloat, {2, 8192, 6, 6}},
                                 {DType::kFloat, {3, 8192, 3, 3}}};
  const KernelTensor output{DType::kFloat, {2, 3, 65, 8194}};
  const KernelRequest request{op, attrs, inputs, {&output, 1}};
  std::string refusals;
  for (const KernelEntry& entry : onednn_provider().kernels) {
    if (entry.op != "Conv") continue;
    const Prepared prepared = entry.prepare(request);
    EXPECT_FALSE(prepared.kernel);
    refusals += prepared.refusal + '\n';
  }
  EXPECT_NE(refusals.find("mostly padding"), std::string::npos) << refusals;
}

TEST(LongKernels, OfBytesEndAtTheDeadline) {
  if (!has_exact_byte_products()) GTEST_SKIP() << "no VNNI";
  const AttrMap same{{"pads", Ints{1, 1, 1, 1}}};
  const Tensor x = zeros(DType::kUInt8, {1, 256, 200, 200}),
               w = zeros(DType::kInt8, {256, 256, 3, 3});
  expect_end("ConvInteger", same, {x, w}, x.shape(), DType::kInt32, 0b10);
  const Tensor scale = Tensor::scalar(1.0f), zero = zeros(DType::kUInt8, {}),
               none = zeros(DType::kInt8, {});
  expect_end("QLinearConv", same, {x, scale, zero, w, scale, none, scale, zero}, x.shape(),
             DType::kUInt8, 0b11111110);
  const Tensor a = zeros(DType::kUInt8, {4000, 2048}), b = zeros(DType::kInt8, {2048, 2048});
  expect_end("MatMulInteger", {}, {a, b}, {4000, 2048}, DType::kInt32, 0b10);
  expect_end("QLinearMatMul", {}, {a, scale, zero, b, scale, none, scale, zero}, {4000, 2048},
             DType::kUInt8, 0b11111110);
  expect_end("com.microsoft::MatMulIntegerToFloat", {}, {a, b, scale, scale}, {4000, 2048},
             DType::kFloat, 0b1010);
}

}  // namespace
}  // namespace sardonyx::onednn
