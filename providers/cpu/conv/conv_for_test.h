// Convolutions of images by our own kernels, beside the reference, in every layout, for channels
// that fill vectors and blocks and that do not.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "tests/support/close.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {

using Ints = std::vector<int64_t>;

struct ConvLayer {
  Shape x, w;
  AttrMap attrs;
  bool has_bias = true, has_residual = false;
  const char* op = "sardonyx::FusedConv";
  float tolerance = 2e-5f;

  int64_t outputs() const {
    const bool is_transposed = op != std::string("sardonyx::FusedConv");
    return is_transposed ? w[1] * std::get<int64_t>(attrs.at("group")) : w[0];
  }
};

struct ConvCase {
  const OpDef& op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  Tensor expected;
};

inline ConvCase conv_case_of(const ConvLayer& layer) {
  const OpDef& op = op_named(layer.op);
  ConvCase made{op, Attrs::parse(*op.attrs, layer.attrs), {}, {}};
  made.inputs = {drawn_tensor(DType::kFloat, layer.x, -1, 1, 1),
                 drawn_tensor(DType::kFloat, layer.w, -1, 1, 2), Tensor()};
  if (layer.has_bias) made.inputs[2] = drawn_tensor(DType::kFloat, {layer.outputs()}, -1, 1, 3);
  std::vector<Datum> data;
  const auto run = [&] {
    data.clear();
    for (const Tensor& input : made.inputs)
      data.push_back(input ? Datum(input) : Datum());
    return evaluate(op, made.attrs, data, 1)[0].tensor();
  };
  made.expected = run();
  if (layer.has_residual) {
    made.inputs.push_back(drawn_tensor(DType::kFloat, made.expected.shape(), -1, 1, 4));
    made.expected = run();
  }
  return made;
}

inline PreparedRun prepared_conv(const ConvCase& c, const RunOptions& options) {
  const Type type = Type::tensor(DType::kFloat, to_dims(c.expected.shape()));
  return PreparedRun(c.op, c.attrs, c.inputs, {type}, options);
}

// Checks the layer row-major, channels last and, `takes_blocks`, in blocks; on one thread and on
// two, which must give the same bits.
inline void expect_conv(const ConvLayer& layer, const std::string& implementation,
                        bool takes_blocks) {
  const ConvCase c = conv_case_of(layer);
  std::vector<std::vector<LayoutPtr>> forms{{}, {channels_last_layout(layer.x)}};
  if (takes_blocks && layer.x[1] % 16 == 0) forms.push_back({blocked_layout(layer.x)});
  for (const auto& incoming : forms) {
    RunOptions options;
    options.layouts = true;
    options.constants = 0b110;
    options.incoming = incoming;
    if (layer.has_residual) options.overwrite = 3;
    SCOPED_TRACE(text(layer.x[1], " -> ", layer.outputs(), " channels of ", layer.x[2], " x ",
                      layer.x.back(), ", window of ", layer.w[2], ", layout ",
                      incoming.empty() || !incoming[0] ? "plain" : incoming[0]->text()));
    PreparedRun one = prepared_conv(c, options);
    EXPECT_EQ(one.prepared().implementation, implementation);
    EXPECT_EQ(one.prepared().unread_inputs & 0b110u, 0b110u);
    one.run();
    const Tensor alone = one.outputs()[0];
    expect_within(alone, c.expected, layer.tolerance, layer.tolerance);
    options.threads = 2;
    PreparedRun two = prepared_conv(c, options);
    two.run();
    const Tensor shared = two.outputs()[0];
    EXPECT_TRUE(std::ranges::equal(alone.values<float>(), shared.values<float>()));
    if (!takes_blocks) continue;
    options.layout_readers = false;  // a row-major image may be taken in blocks then
    PreparedRun apart = prepared_conv(c, options);
    apart.run();
    EXPECT_TRUE(std::ranges::equal(alone.values<float>(), apart.outputs()[0].values<float>()));
  }
}

inline const std::vector<std::pair<std::string, std::vector<float>>> kActivations{
    {"", {}}, {"Relu", {}}, {"Clip", {-0.5f, 0.7f}}, {"HardSwish", {}}, {"LeakyRelu", {0.1f}}};

inline AttrMap window_attrs(int64_t group, Ints strides, Ints pads, Ints dilations = {1, 1},
                            const std::string& activation = "", std::vector<float> params = {}) {
  return {{"group", group},           {"strides", std::move(strides)},
          {"pads", std::move(pads)},  {"dilations", std::move(dilations)},
          {"activation", activation}, {"activation_params", std::move(params)}};
}

// A convolution whose groups have `inputs` and `outputs` channels each.
inline ConvLayer direct(int64_t inputs, int64_t outputs, Shape size, Ints kernel, AttrMap attrs) {
  const int64_t group = std::get<int64_t>(attrs.at("group"));
  ConvLayer layer{{2, inputs * group}, {outputs * group, inputs}, std::move(attrs)};
  layer.x.insert(layer.x.end(), size.begin(), size.end());
  layer.w.insert(layer.w.end(), kernel.begin(), kernel.end());
  return layer;
}

inline ConvLayer pointwise(int64_t inputs, int64_t outputs, int64_t height, int64_t width,
                           AttrMap attrs) {
  const int64_t group = std::get<int64_t>(attrs.at("group"));
  return {{2, inputs * group, height, width}, {outputs * group, inputs, 1, 1}, std::move(attrs)};
}

}  // namespace sardonyx::onednn
