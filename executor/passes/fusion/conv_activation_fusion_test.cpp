// The passes around convolutions.
#include "executor/passes/all_passes.h"
#include "tests/support/pass_cases.h"

namespace sardonyx::passes {
namespace {

Val conv(Builder& b, const Val& x, const AttrMap& attrs = {}) {
  return b.call("Conv", {x, b.constant({4, 3, 3, 3}), b.constant({4})}, attrs);
}

Val batch_norm(Builder& b, const Val& x, int64_t channels) {
  return b.call("BatchNormalization", {x, b.constant({channels}), b.constant({channels}),
                                       b.constant({channels}), b.positive({channels})});
}

TEST(FoldBatchNorm, ScalesWeights) {
  const std::vector<Case> cases = {
      {"Conv",
       [](Builder& b) {
         b.output(batch_norm(b, conv(b, b.input({2, 3, 6, 6})), 4));
       },
       {fold_batch_norm},
       {"Conv"},
       1},
      {"Conv without bias",
       [](Builder& b) {
         b.output(batch_norm(b, b.call("Conv", {b.input({1, 2, 5}), b.constant({3, 2, 3})}), 3));
       },
       {fold_batch_norm},
       {"Conv"},
       1},
      {"ConvTranspose in groups",
       [](Builder& b) {
         const Val y = b.call("ConvTranspose", {b.input({1, 4, 4, 4}), b.constant({4, 3, 2, 2})},
                              {{"group", int64_t{2}}});
         b.output(batch_norm(b, y, 6));
       },
       {fold_batch_norm},
       {"ConvTranspose"},
       1},
      {"Gemm",
       [](Builder& b) {
         const Val y = b.call("Gemm", {b.input({3, 5}), b.constant({5, 4}), b.constant({4})});
         b.output(batch_norm(b, y, 4));
       },
       {fold_batch_norm},
       {"Gemm"},
       1},
      {"Gemm, transposed",
       [](Builder& b) {
         const Val y =
             b.call("Gemm", {b.input({3, 5}), b.constant({4, 5})}, {{"transB", int64_t{1}}});
         b.output(batch_norm(b, y, 4));
       },
       {fold_batch_norm},
       {"Gemm"},
       1},
      {"another reader",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(batch_norm(b, y, 4));
         b.output(b.call("Relu", {y}));
       },
       {fold_batch_norm},
       {"Conv", "BatchNormalization", "Relu"},
       0},
      {"the convolution is an output",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(y);
         b.output(batch_norm(b, y, 4));
       },
       {fold_batch_norm},
       {"Conv", "BatchNormalization"},
       0},
      {"weights that are no constant",
       [](Builder& b) {
         b.output(batch_norm(b, b.call("Conv", {b.input({1, 2, 5}), b.input({3, 2, 3})}), 3));
       },
       {fold_batch_norm},
       {"Conv", "BatchNormalization"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(ConvScaleAndBias, GoIntoTheConstants) {
  const std::vector<Case> cases = {
      {"all four",
       [](Builder& b) {
         Val y = b.call("Conv", {b.input({2, 3, 6, 6}), b.constant({4, 3, 3, 3})});
         y = b.call("Add", {b.constant({4, 1, 1}), y});
         y = b.call("Mul", {y, b.constant({1, 4, 1, 1})});
         y = b.call("Sub", {y, b.scalar(0.5f)});
         b.output(b.call("Div", {y, b.positive({4, 1, 1})}));
       },
       {fuse_conv_bias, fold_conv_scale, fuse_conv_bias, fold_conv_scale},
       {"Conv"},
       4},
      {"along the width",
       [](Builder& b) {
         b.output(b.call("Add", {conv(b, b.input({2, 3, 6, 6})), b.constant({4})}));
       },
       {fuse_conv_bias, fold_conv_scale},
       {"Conv", "Add"},
       0},
      {"constant minus layer",
       [](Builder& b) {
         b.output(b.call("Sub", {b.constant({4, 1, 1}), conv(b, b.input({2, 3, 6, 6}))}));
       },
       {fuse_conv_bias},
       {"Conv", "Sub"},
       0},
      {"a constant that makes the output larger",
       [](Builder& b) {
         const Val y = b.call("Conv", {b.input({1, 3, 3, 3}), b.constant({1, 3, 3, 3})});
         b.output(b.call("Mul", {y, b.constant({5, 1, 1})}));
       },
       {fold_conv_scale},
       {"Conv", "Mul"},
       0},
      {"division by zero",
       [](Builder& b) {
         const Val y = b.call("Div", {conv(b, b.input({2, 3, 6, 6})), b.scalar(0)});
         b.output(b.call("Clip", {y, b.scalar(-1), b.scalar(1)}));
       },
       {fold_conv_scale},
       {"Conv", "Div", "Clip"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FuseConv, TakesResidualAndActivationIn) {
  const std::vector<Case> cases = {
      {"both",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(b.call("Relu", {b.call("Add", {y, b.input({2, 4, 4, 4})})}));
       },
       {fuse_conv_residual, fuse_conv_activation},
       {"FusedConv"},
       2},
      {"residual that comes later",
       [](Builder& b) {
         const Val x = b.input({2, 3, 6, 6});
         const Val y = conv(b, x);
         const Val z = b.call("Exp", {b.input({2, 4, 4, 4})});
         b.output(b.call("Add", {y, z}));
       },
       {fuse_conv_residual},
       {"Exp", "FusedConv"},
       1},
      {"two convolutions",
       [](Builder& b) {
         const Val x = b.input({2, 3, 6, 6});
         b.output(b.call("Add", {conv(b, x), conv(b, x)}));
       },
       {fuse_conv_residual},
       {"Conv", "FusedConv"},
       1},
      {"Clip with a parameter left out",
       [](Builder& b) {
         b.output(b.call("Clip", {conv(b, b.input({2, 3, 6, 6})), b.scalar(0.1f)}));
       },
       {fuse_conv_activation},
       {"FusedConv"},
       1},
      {"transposed",
       [](Builder& b) {
         const Val y = b.call("ConvTranspose", {b.input({1, 4, 4, 4}), b.constant({4, 3, 2, 2})});
         b.output(b.call("LeakyRelu", {y}, {{"alpha", 0.2f}}));
       },
       {fuse_conv_activation},
       {"FusedConvTranspose"},
       1},
      {"swish",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(b.call("Mul", {y, b.call("Sigmoid", {y})}));
       },
       {recognize_swish, fuse_conv_activation},
       {"FusedConv"},
       2},
      {"hard swish",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         const Val gate = b.call("HardSigmoid", {y}, {{"alpha", 1.f / 6}, {"beta", 0.5f}});
         b.output(b.call("Mul", {gate, y}));
       },
       {recognize_swish, fuse_conv_activation},
       {"FusedConv"},
       2},
      {"residual after the activation",
       [](Builder& b) {
         const Val y = b.call("Relu", {conv(b, b.input({2, 3, 6, 6}))});
         b.output(b.call("Add", {y, b.input({2, 4, 4, 4})}));
       },
       {fuse_conv_activation, fuse_conv_residual},
       {"FusedConv", "Add"},
       1},
      {"residual that is repeated",
       [](Builder& b) {
         b.output(b.call("Add", {conv(b, b.input({2, 3, 6, 6})), b.input({4, 4})}));
       },
       {fuse_conv_residual},
       {"Conv", "Add"},
       0},
      {"the same value twice",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(b.call("Add", {y, y}));
       },
       {fuse_conv_residual},
       {"Conv", "Add"},
       0},
      {"another reader",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(b.call("Add", {b.call("Relu", {y}), y}));
       },
       {fuse_conv_activation, fuse_conv_residual},
       {"Conv", "Relu", "Add"},
       0},
      {"bounds that are no constants",
       [](Builder& b) {
         b.output(b.call("Clip", {conv(b, b.input({2, 3, 6, 6})), b.input({})}));
       },
       {fuse_conv_activation},
       {"Conv", "Clip"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(PadIntoConv, JoinsPads) {
  const Ints height_and_width{0, 0, 1, 2, 0, 0, 0, 1};
  const auto padded = [=](Builder& b, const Ints& pads, const AttrMap& attrs = {}) {
    return b.call("Pad", {b.input({1, 3, 5, 5}), b.ints(pads)}, attrs);
  };
  const std::vector<Case> cases = {
      {"Conv",
       [=](Builder& b) {
         b.output(conv(b, padded(b, height_and_width), {{"pads", Ints{1, 0, 0, 1}}}));
       },
       {pad_into_conv},
       {"Conv"},
       1},
      {"AveragePool",
       [=](Builder& b) {
         b.output(
             b.call("AveragePool", {padded(b, height_and_width)}, {{"kernel_shape", Ints{3, 3}}}));
       },
       {pad_into_conv},
       {"AveragePool"},
       1},
      {"another reader",
       [=](Builder& b) {
         const Val x = padded(b, height_and_width);
         b.output(conv(b, x));
         b.output(b.call("Relu", {x}));
       },
       {pad_into_conv},
       {"Pad", "Conv", "Relu"},
       1},
      {"other values",
       [=](Builder& b) {
         b.output(conv(
             b, b.call("Pad", {b.input({1, 3, 5, 5}), b.ints(height_and_width), b.scalar(1)})));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"another mode",
       [=](Builder& b) {
         b.output(conv(b, padded(b, height_and_width, {{"mode", std::string("edge")}})));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"the batch grows",
       [=](Builder& b) {
         b.output(conv(b, padded(b, {1, 0, 0, 0, 0, 0, 0, 0})));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"a crop",
       [=](Builder& b) {
         b.output(conv(b, padded(b, {0, 0, -1, 0, 0, 0, 0, 0})));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"pads that follow the size",
       [=](Builder& b) {
         b.output(conv(b, padded(b, height_and_width), {{"auto_pad", std::string("SAME_UPPER")}}));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"an average that does not count its own pads",
       [=](Builder& b) {
         b.output(b.call("AveragePool", {padded(b, height_and_width)},
                         {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}));
       },
       {pad_into_conv},
       {"Pad", "AveragePool"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FusionTest, WinogradIsAllowedForDenseWindowsOfManyOutputs) {
  const auto conv_of = [](Shape x, Shape w, AttrMap attrs) {
    return [=](Builder& b) { b.output(b.call("Conv", {b.input(x), b.constant(w)}, attrs)); };
  };
  const Case cases[] = {
      {"dense", conv_of({1, 16, 14, 14}, {16, 16, 3, 3}, {}), {allow_winograd}, {"FusedConv"}, 1},
      {"strided",
       conv_of({1, 16, 28, 28}, {16, 16, 3, 3}, {{"strides", Ints{2, 2}}}),
       {allow_winograd},
       {"Conv"},
       0},
      {"grouped",
       conv_of({1, 32, 14, 14}, {32, 16, 3, 3}, {{"group", int64_t{2}}}),
       {allow_winograd},
       {"Conv"},
       0},
      {"few channels", conv_of({1, 8, 14, 14}, {16, 8, 3, 3}, {}), {allow_winograd}, {"Conv"}, 0},
      {"another window",
       conv_of({1, 16, 16, 16}, {16, 16, 5, 5}, {}),
       {allow_winograd},
       {"Conv"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
