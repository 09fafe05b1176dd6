// Layers as functions, cells and losses against torch in float64: the inputs of a case are waves
// cos(0.7 * k + 0.5 * i), the numbers are sum of y_k * sin(k + 1), and the same of all gradients of
// that. Each runs at once, compiled and exported.
#include <gtest/gtest.h>

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/export/onnx_module.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager::nn {
namespace {

using Tensors = std::vector<Tensor>;

struct FunctionCase {
  std::string name;
  TensorFunction fn;
  std::vector<Shape> inputs;
  Shape shape;
  double value, gradient;
};
#define ONE(...) [](const Tensors& in) -> Tensors { return {__VA_ARGS__}; }

Tensor wave(const Shape& shape, double phase = 0) {
  const Tensor steps = arange(element_count(to_dims(shape)), {.dtype = DType::kDouble});
  return cos(steps * 0.7 + phase).reshape(to_dims(shape));
}
Tensor signs() {
  return tensor({1.0, -1.0, 1.0});
}
Tensor classes() {
  return tensor({int64_t{1}, int64_t{0}, int64_t{2}});
}
// Parameter i has the elements 0.5 * sin(0.3 * k + i).
template <typename M>
M waved(M module) {
  module.to(DType::kDouble);
  double phase = 0;
  for (const Tensor& parameter : module.parameters()) {
    const Tensor steps = arange(parameter.numel(), {.dtype = DType::kDouble});
    const Tensor values = (sin(steps * 0.3 + phase) * 0.5).reshape(parameter.shape());
    parameter.assign(values.detach());
    phase += 1;
  }
  return module;
}

Conv2d circular_conv() {
  const Conv2d conv(2, 3, 3, {.padding = 1, .bias = false, .padding_mode = "circular"});
  conv.to(DType::kDouble);
  conv.weight.assign(wave({3, 2, 3, 3}, 0.5));
  return conv;
}

double weighed(const Tensor& y) {
  const Tensor flat = y.detach().to(DType::kDouble).reshape({-1});
  return (flat * sin(arange(flat.numel(), {.dtype = DType::kDouble}) + 1.0)).sum().item<double>();
}

// Resize computes places in float32, as the specification has it.
void expect_close(double found, double expected) {
  EXPECT_NEAR(found, expected, 2e-6 * std::max(1.0, std::abs(expected)));
}

std::vector<FunctionCase> function_cases() {
  return {
      {"conv1d",
       ONE(conv1d(in[0], in[1], in[2], {.stride = 2, .padding = 1})),
       {{2, 3, 7}, {4, 3, 3}, {4}},
       {2, 4, 4},
       -2.70986236035,
       -0.153311652917},
      {"conv2d",
       ONE(conv2d(in[0], in[1], {}, {.dilation = {1, 2}, .groups = 2})),
       {{1, 4, 5, 6}, {2, 2, 3, 2}},
       {1, 2, 3, 4},
       1.92237516213,
       6.15883765231},
      {"conv3d",
       ONE(conv3d(in[0], in[1], in[2])),
       {{1, 2, 3, 4, 3}, {2, 2, 2, 2, 2}, {2}},
       {1, 2, 2, 3, 2},
       -11.444404585,
       4.16778511133},
      {"conv_transpose1d",
       ONE(conv_transpose1d(in[0], in[1], in[2], {.stride = 2, .output_padding = 1})),
       {{1, 3, 4}, {3, 2, 3}, {2}},
       {1, 2, 10},
       1.71063395208,
       -0.0792420652916},
      {"conv_transpose2d",
       ONE(conv_transpose2d(in[0], in[1], {}, {.stride = 2, .padding = 1, .groups = 2})),
       {{1, 4, 3, 3}, {4, 1, 3, 3}},
       {1, 2, 5, 5},
       7.6665271335,
       -2.29171576627},
      {"max_pool1d",
       ONE(max_pool1d(in[0], 3, {.stride = 2})),
       {{1, 2, 9}},
       {1, 2, 4},
       -0.196474143407,
       0.356672926475},
      {"avg_pool3d",
       ONE(avg_pool3d(in[0], 2, {.padding = 1, .count_include_pad = false})),
       {{1, 2, 4, 3, 3}},
       {1, 2, 3, 2, 2},
       1.00350849533,
       3.07289882109},
      {"adaptive_avg_pool2d",
       ONE(adaptive_avg_pool2d(in[0], {3, 2})),
       {{1, 2, 7, 5}},
       {1, 2, 3, 2},
       0.7826298631,
       0.11532831715},
      {"adaptive_avg_pool2d of equal windows",
       ONE(adaptive_avg_pool2d(in[0], {2, 3})),
       {{1, 2, 4, 6}},
       {1, 2, 2, 3},
       0.654508186958,
       -0.0483129683329},
      {"adaptive_avg_pool1d to more",
       ONE(adaptive_avg_pool1d(in[0], 7)),
       {{1, 2, 5}},
       {1, 2, 7},
       1.10585876311,
       -1.20215898012},
      {"adaptive_max_pool2d",
       ONE(adaptive_max_pool2d(in[0], {3, 2})),
       {{1, 2, 7, 5}},
       {1, 2, 3, 2},
       -0.167161305674,
       0.332085177366},
      {"layer_norm",
       ONE(layer_norm(in[0], {4}, in[1], in[2])),
       {{3, 4}, {4}, {4}},
       {3, 4},
       -0.620018642063,
       0.788307333877},
      {"layer_norm alone",
       ONE(layer_norm(in[0], {3, 4})),
       {{2, 3, 4}},
       {2, 3, 4},
       3.08817208135,
       16.9041017635},
      {"group_norm",
       ONE(group_norm(in[0], 2, in[1], in[2])),
       {{2, 4, 3}, {4}, {4}},
       {2, 4, 3},
       3.06601602378,
       0.231330132048},
      {"instance_norm",
       ONE(instance_norm(in[0])),
       {{2, 3, 5}},
       {2, 3, 5},
       5.28323916501,
       14.1715096636},
      {"batch_norm",
       ONE(batch_norm(in[0], in[1].detach(), square(in[2].detach()) + 1.0)),
       {{2, 3, 2}, {3}, {3}},
       {2, 3, 2},
       -1.40003971986,
       5.48054405529},
      {"normalize",
       ONE(normalize(in[0], {.p = 3, .axis = -1})),
       {{3, 4}},
       {3, 4},
       1.65894810049,
       2.71381550678},
      {"pad reflect",
       ONE(pad(in[0], {2, 1, 1, 2}, "reflect")),
       {{1, 2, 4, 5}},
       {1, 2, 7, 8},
       -6.25156124253,
       -1.24129330719},
      {"pad replicate",
       ONE(pad(in[0], {2, 1, 1, 2}, "replicate")),
       {{1, 2, 4, 5}},
       {1, 2, 7, 8},
       1.17440207497,
       0.863926023061},
      {"pad circular",
       ONE(pad(in[0], {2, 1, 1, 2}, "circular")),
       {{1, 2, 4, 5}},
       {1, 2, 7, 8},
       -8.40648020538,
       0.666599511297},
      {"pad constant",
       ONE(pad(in[0], {1, 2, 0, -1}, "constant", 3)),
       {{2, 4, 5}},
       {2, 3, 8},
       9.32873523756,
       3.24089419595},
      {"Conv2d circular",
       [conv = circular_conv()](const Tensors& in) -> Tensors { return {conv(in[0])}; },
       {{1, 2, 4, 5}},
       {1, 3, 4, 5},
       -13.5027852817,
       -1.39400247143},
      {"interpolate nearest",
       ONE(interpolate(in[0], {.size = {7, 3}})),
       {{1, 2, 4, 5}},
       {1, 2, 7, 3},
       1.48711795281,
       -2.94381373537},
      {"interpolate nearest-exact",
       ONE(interpolate(in[0], {.size = {7, 3}, .mode = "nearest-exact"})),
       {{1, 2, 4, 5}},
       {1, 2, 7, 3},
       -0.625339169534,
       2.10958413788},
      {"interpolate bilinear",
       ONE(interpolate(in[0], {.size = {7, 3}, .mode = "bilinear"})),
       {{1, 2, 4, 5}},
       {1, 2, 7, 3},
       1.88185338899,
       0.397960017316},
      {"interpolate by factors",
       ONE(interpolate(in[0], {.scale_factor = {2, 1.5}, .mode = "bilinear"})),
       {{1, 2, 4, 4}},
       {1, 2, 8, 6},
       0.368625564294,
       3.86084737621},
      {"interpolate corners",
       ONE(interpolate(in[0], {.size = {7, 3}, .mode = "bilinear", .align_corners = true})),
       {{1, 2, 4, 5}},
       {1, 2, 7, 3},
       2.40523876763,
       0.201868058548},
      {"interpolate bicubic",
       ONE(interpolate(in[0], {.size = {7, 9}, .mode = "bicubic"})),
       {{1, 2, 4, 5}},
       {1, 2, 7, 9},
       0.41431951506,
       -1.41764485807},
      {"interpolate trilinear",
       ONE(interpolate(in[0], {.size = {5}, .mode = "trilinear"})),
       {{1, 2, 3, 4, 3}},
       {1, 2, 5, 5, 5},
       0.406626354109,
       5.59289024547},
      {"interpolate area",
       ONE(interpolate(in[0], {.size = {3, 2}, .mode = "area"})),
       {{1, 2, 7, 5}},
       {1, 2, 3, 2},
       0.7826298631,
       0.11532831715},
      {"grid_sample",
       ONE(grid_sample(in[0], in[1])),
       {{1, 2, 4, 5}, {1, 3, 2, 2}},
       {1, 2, 3, 2},
       -1.27868959899,
       -0.13517384239},
      {"grid_sample border",
       ONE(grid_sample(in[0], in[1], {.padding_mode = "border", .align_corners = true})),
       {{1, 2, 4, 5}, {1, 3, 2, 2}},
       {1, 2, 3, 2},
       -1.18091583031,
       0.731749982303},
      {"affine_grid",
       ONE(affine_grid(in[0], {2, 1, 3, 4})),
       {{2, 2, 3}},
       {2, 3, 4, 2},
       0.999082895651,
       1.1299667216},
      {"unfold",
       ONE(unfold(in[0], {2, 3}, {.dilation = {2, 1}, .padding = 1, .stride = {1, 2}})),
       {{2, 3, 5, 6}},
       {2, 18, 15},
       -13.4334390653,
       -0.0672937294239},
      {"fold",
       ONE(fold(in[0], {4, 5}, {2, 3}, {.padding = {1, 0}, .stride = {2, 1}})),
       {{2, 12, 9}},
       {2, 2, 4, 5},
       -1.58164758653,
       0.607292128147},
      {"pixel_shuffle",
       ONE(pixel_shuffle(in[0], 2)),
       {{1, 8, 2, 3}},
       {1, 2, 4, 6},
       0.0215130812538,
       -2.48716149016},
      {"pixel_unshuffle",
       ONE(pixel_unshuffle(in[0], 2)),
       {{1, 2, 4, 6}},
       {1, 8, 2, 3},
       11.5727252893,
       -2.48716149016},
      {"margin_ranking_loss",
       ONE(margin_ranking_loss(in[0], in[1], signs(), {.margin = 0.5})),
       {{3}, {3}},
       {},
       0.360937839242,
       0},
      {"hinge_embedding_loss",
       ONE(hinge_embedding_loss(in[0], signs())),
       {{3}},
       {},
       0.39412396006,
       0.0205581363992},
      {"cosine_embedding_loss",
       ONE(cosine_embedding_loss(in[0], in[1], signs(), {.margin = 0.1})),
       {{3, 4}, {3, 4}},
       {},
       0.289011146148,
       -0.0134720418032},
      {"triplet_margin_loss",
       ONE(triplet_margin_loss(in[0], in[1], in[2], {.margin = 2, .swap = true})),
       {{3, 4}, {3, 4}, {3, 4}},
       {},
       1.66270777718,
       -1.38777878078e-16},
      {"multi_margin_loss",
       ONE(multi_margin_loss(in[0], classes(), {.p = 2, .weight = square(in[1]).detach()})),
       {{3, 4}, {4}},
       {},
       0.44896158739,
       0.800106642504},
      {"soft_margin_loss",
       ONE(soft_margin_loss(in[0], signs())),
       {{3}},
       {},
       0.581178070298,
       0.0924563251466},
      {"gaussian_nll_loss",
       ONE(gaussian_nll_loss(in[0], in[1], clamp(in[2], 0), {.full = true})),
       {{3}, {3}, {3}},
       {},
       56837.6057661,
       0.212360752675},
      {"poisson_nll_loss",
       ONE(poisson_nll_loss(in[0], in[1].detach() * 3.0 + 3.0, {.full = true})),
       {{5}, {5}},
       {},
       1.35497834316,
       -0.808465374479},
      {"poisson_nll_loss of rates",
       ONE(poisson_nll_loss(square(in[0]), square(in[1]).detach(), {.log_input = false})),
       {{5}, {5}},
       {},
       0.726553336367,
       -0.0462927362522},
      {"pairwise_distance",
       ONE(pairwise_distance(in[0], in[1], 1)),
       {{3, 4}, {3, 4}},
       {3},
       2.46805820547,
       0},
      {"RNNCell",
       [cell = waved(RNNCell(3, 2))](const Tensors& in) -> Tensors { return {cell(in[0], in[1])}; },
       {{2, 3}, {2, 2}},
       {2, 2},
       2.17293471658,
       0.550707150079},
      {"GRUCell",
       [cell = waved(GRUCell(3, 2))](const Tensors& in) -> Tensors { return {cell(in[0], in[1])}; },
       {{2, 3}, {2, 2}},
       {2, 2},
       0.218338322749,
       1.39636492259},
      {"GRUCell from zeros",
       [cell = waved(GRUCell(3, 2))](const Tensors& in) -> Tensors { return {cell(in[0])}; },
       {{2, 3}},
       {2, 2},
       -0.819207870343,
       -0.221227142144},
      {"LSTMCell",
       [cell = waved(LSTMCell(3, 2))](const Tensors& in) -> Tensors {
         return {cell(in[0], LSTMState{in[1], in[2]}).cell};
       },
       {{2, 3}, {2, 2}, {2, 2}},
       {2, 2},
       -0.803170595257,
       0.823084158508},
      {"LSTMCell's hidden state",
       [cell = waved(LSTMCell(3, 2))](const Tensors& in) -> Tensors {
         return {cell(in[0], LSTMState{in[1], in[2]}).hidden};
       },
       {{2, 3}, {2, 2}, {2, 2}},
       {2, 2},
       -0.109261741578,
       0.235040335506},
  };
}

Tensors inputs_of(const FunctionCase& one) {
  Tensors inputs;
  for (const Shape& shape : one.inputs)
    inputs.push_back(wave(shape, 0.5 * static_cast<double>(inputs.size())));
  return inputs;
}

TEST(NnFunctions, GiveTorchsValuesAndGradients) {
  for (const FunctionCase& one : function_cases()) {
    SCOPED_TRACE(one.name);
    Tensors inputs = inputs_of(one);
    for (Tensor& input : inputs)
      input.set_requires_grad();
    const Tensor y = one.fn(inputs)[0];
    EXPECT_EQ(y.data().shape(), one.shape);
    expect_close(weighed(y), one.value);
    const Tensor steps = arange(y.numel(), {.dtype = DType::kDouble}).reshape(y.shape());
    (y * sin(steps + 1.0)).sum().backward();
    double gradient = 0;
    for (const Tensor& input : inputs)
      gradient += input.grad().defined() ? weighed(input.grad()) : 0;
    expect_close(gradient, one.gradient);
  }
}

TEST(NnFunctions, CompiledGiveTheSame) {
  for (const FunctionCase& one : function_cases()) {
    SCOPED_TRACE(one.name);
    const Compiled compiled = compile(one.fn);
    expect_close(weighed(compiled(inputs_of(one))[0]), one.value);
  }
}

TEST(NnFunctions, ExportedGiveTheSame) {
  const TemporaryFolder folder;
  for (const FunctionCase& one : function_cases()) {
    SCOPED_TRACE(one.name);
    const Tensors inputs = inputs_of(one);
    export_onnx(one.fn, inputs, folder / "m.onnx");
    expect_close(weighed(OnnxModule(folder / "m.onnx")(inputs)[0]), one.value);
  }
}

// Networks of images with open height and width, as opset 17 has them.
TEST(NnFunctions, ImagesOfOpenSizesExportToOpset17) {
  const TemporaryFolder folder;
  const Conv2d conv(2, 4, 3, {.padding = 1, .padding_mode = "circular"});
  const Conv2d mirrored(4, 4, 3, {.padding = 1, .padding_mode = "reflect"});
  const GroupNorm norm(2, 4);
  const TensorFunction fn = [&](const Tensors& in) -> Tensors {
    const Tensor y = norm(mirrored(relu(conv(in[0]))));
    const Tensor up =
        interpolate(max_pool2d(y, 2), {.size = {y.size(2), y.size(3)}, .mode = "bilinear"});
    return {cat({up, y}, 1), adaptive_avg_pool2d(y, {3, 2}), adaptive_max_pool2d(y, 3),
            unfold(y, 2)};
  };
  for (const int64_t opset : {17, 18, 20}) {
    ExportOptions options;
    options.opset = opset;
    options.input_names = {"x"};
    options.dynamic_axes = {{"x", {{0, "n"}, {2, "h"}, {3, "w"}}}};
    const Tensor example = wave({1, 2, 7, 8}).to(DType::kFloat).detach();
    export_onnx(fn, {example}, folder / "m.onnx", options);
    const Tensor other = wave({2, 2, 11, 5}, 1).to(DType::kFloat).detach();
    const Tensors expected = fn({other}), found = OnnxModule(folder / "m.onnx")({other});
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(allclose(found[i], expected[i].detach(), {.rtol = 1e-4, .atol = 1e-5})) << i;
  }
}

TEST(NnFunctions, CompileServesAllSizesOfAdaptivePools) {
  const Compiled pool = compile(ONE(adaptive_avg_pool2d(in[0], {3, 2})));
  for (const Shape& shape : {Shape{1, 2, 7, 5}, {1, 2, 9, 8}, {2, 2, 3, 2}}) {
    const Tensor x = wave(shape);
    EXPECT_TRUE(allclose(pool({x})[0], adaptive_avg_pool2d(x, {3, 2})));
  }
}

TEST(NnLayers, OfFunctionsAndLosses) {
  const Tensor x = wave({1, 2, 4, 6}), signed_ones = signs();
  const auto same = [](const Tensor& a, const Tensor& b) { return allclose(a, b); };
  EXPECT_TRUE(same(ReflectionPad2d({1, 2, 0, 1})(x), pad(x, {1, 2, 0, 1}, "reflect")));
  EXPECT_TRUE(same(ReplicationPad2d(1)(x), pad(x, {1, 1, 1, 1}, "replicate")));
  EXPECT_TRUE(same(CircularPad2d(1)(x), pad(x, {1, 1, 1, 1}, "circular")));
  EXPECT_TRUE(same(ConstantPad2d(1, 7)(x), pad(x, {1, 1, 1, 1}, "constant", 7)));
  EXPECT_TRUE(same(ZeroPad2d(-1)(x), x.narrow(2, 1, 2).narrow(3, 1, 4)));
  EXPECT_TRUE(same(PixelShuffle(2)(PixelUnshuffle(2)(x)), x));
  EXPECT_TRUE(same(Fold({4, 6}, 1)(Unfold(1)(x)), x));
  EXPECT_TRUE(same(MSELoss()(x, x * 2.0), mse_loss(x, x * 2.0)));
  const Tensor scores = wave({3, 4}).to(DType::kFloat);
  const CrossEntropyLoss criterion({.label_smoothing = 0.1});
  EXPECT_TRUE(same(criterion(scores, classes()),
                   cross_entropy(scores, classes(), {.label_smoothing = 0.1})));
  EXPECT_EQ(criterion.type_name(), "CrossEntropyLoss");
  EXPECT_TRUE(same(TripletMarginLoss({.margin = 3})(scores, -scores, scores + 1.0),
                   triplet_margin_loss(scores, -scores, scores + 1.0, {.margin = 3})));
  EXPECT_TRUE(same(MultiLabelSoftMarginLoss()(wave({2, 3}), clamp(signed_ones.expand({2, 3}), 0)),
                   bce_with_logits(wave({2, 3}), clamp(signed_ones.expand({2, 3}), 0))));
}

TEST(NnFunctions, Refusals) {
  const Tensor x = ones({1, 2, 4, 5}), flat = ones({3});
  expect_refusals({
      {"functional_test.cpp", [&] { interpolate(x, {}); }},
      {"expected either a size or a scale_factor", [&] { interpolate(x, {}); }},
      {"expected mode nearest", [&] { interpolate(x, {.size = {2}, .mode = "cubical"}); }},
      {"size has 3 numbers for x float[1, 2, 4, 5]",
       [&] {
         interpolate(x, {.size = {2, 2, 2}});
       }},
      {"align_corners and antialias are of modes linear and bicubic, got nearest",
       [&] { interpolate(x, {.size = {2}, .align_corners = true}); }},
      {"grid_sample: expected mode bilinear, nearest or bicubic, got linear",
       [&] { grid_sample(x, x, {.mode = "linear"}); }},
      {"pad: expected pairs {before, after} for at most the 1 axes of float[3], got 4 numbers",
       [&] {
         pad(flat, {1, 1, 1, 1}, "reflect");
       }},
      {"pad: expected mode constant, reflect, replicate or circular, got edge",
       [&] {
         pad(flat, {1, 1}, "edge");
       }},
      {"expected numbers from 0 to its size, got 4 and 0",
       [&] {
         pad(flat, {4, 0}, "circular");
       }},
      {"unfold: expected x [N, C, H, W], got float[3]", [&] { unfold(flat, 2); }},
      {"fold: expected x [N, C * kernel's elements, windows], got float[3]",
       [&] { fold(flat, 2, 2); }},
      {"GRUCell: expected x [N, 3], got float[3]", [&] { GRUCell(3, 2)(flat); }},
      {"GRUCell: expected hidden [N, 2], got float[1, 3]",
       [&] {
         GRUCell(3, 2)(ones({1, 3}), ones({1, 3}));
       }},
      {"multi_margin_loss: expected p 1 or 2, got 3",
       [&] {
         multi_margin_loss(ones({3, 4}), classes(), {.p = 3});
       }},
      {"cosine_embedding_loss: expected rows [N, D] and targets [N]",
       [&] { cosine_embedding_loss(flat, flat, flat); }},
      {"group_norm: expected x [N, C, ...], got float[3]", [&] { group_norm(flat, 1); }},
      {"adaptive_avg_pool2d: expected x [N, C, 2 spatial axes], got float[3]",
       [&] { adaptive_avg_pool2d(flat, 2); }},
      {"ReflectionPad2d: expected x [N, C, 2 spatial axes]",
       [&] {
         ReflectionPad2d(1)(ones({2, 3}));
       }},
  });
}

// Of arguments of open sizes the width is read at the run.
TEST(NnFunctions, CompiledAttentionOfPlainArguments) {
  const auto attention =
      compile([](const Tensor& q) -> Tensor { return scaled_dot_product_attention(q, q, q); });
  for (const int64_t width : {4, 5, 9}) {
    const Tensor q = randn({1, 2, 3, width});
    const Tensor plain = scaled_dot_product_attention(q, q, q);
    EXPECT_TRUE(allclose(attention(q), plain, {.atol = 1e-6})) << width;
  }
}

}  // namespace
}  // namespace sardonyx::eager::nn

#undef ONE
