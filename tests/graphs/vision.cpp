// Networks that look at images: from an input, through motifs that follow each other, to a head.
#include "tests/graphs/families.h"

namespace sardonyx::graph_test {
namespace {

// A network in the making.
struct Image {
  GraphBuilder& b;
  Val x;                   // [n, c, h, w]
  std::vector<Val> skips;  // values before sizes changed
  int64_t channels() const { return b.size(x, 1); }
};

Val batch_norm(GraphBuilder& b, const Val& x) {
  const int64_t c = b.size(x, 1);
  const Vals inputs{x, b.constant({c}, 0.5, 1.5), b.constant({c}, -0.5, 0.5),
                    b.constant({c}, -0.2, 0.2), b.constant({c}, 0.5, 1.5)};
  return b.calls("BatchNormalization", inputs, {}, 1)[0];
}

// Convolution, perhaps a norm or a scale of channels, activation.
Val conv_block(GraphBuilder& b, const Val& x, int64_t channels, int64_t kernel, int64_t stride,
               int64_t group = 1) {
  Val y = convolved(b, x, channels, kernel, stride, group);
  switch (b.draw.below(6)) {
    case 0:
    case 1:
      y = batch_norm(b, y);
      break;
    case 2:
      y = b.call("Mul", {y, b.constant({channels, 1, 1}, 0.5, 1.5)});
      break;
    case 3:
      y = b.call("Add", {y, b.constant({1, channels, 1, 1}, -0.5, 0.5)});
      break;
    default:
      break;
  }
  return activated(b, y);
}

int64_t drawn_channels(GraphBuilder& b) {
  return b.draw.pick({4, 8, 12, 16, 20, 24, 32});
}

void conv_chain(Image& p) {
  p.b.note("conv");
  for (int64_t count = p.b.draw.between(1, 3); count > 0; --count) {
    const int64_t kernel = p.b.draw.pick({1, 1, 3, 3, 3, 5});
    const int64_t stride = p.b.draw.one_in(5) ? 2 : 1;
    if (stride > 1) p.skips.push_back(p.x);
    p.x = conv_block(p.b, p.x, drawn_channels(p.b), kernel, stride);
  }
}

void depthwise(Image& p) {
  p.b.note("depthwise");
  const int64_t c = p.channels();
  const int64_t multiplier = p.b.draw.one_in(5) ? 2 : 1;
  p.x = conv_block(p.b, p.x, c * multiplier, p.b.draw.pick({3, 3, 5}), 1, c);
  p.x = conv_block(p.b, p.x, drawn_channels(p.b), 1, 1);
}

void grouped(Image& p) {
  p.b.note("grouped");
  p.x = conv_block(p.b, p.x, drawn_channels(p.b) / 4 * 4, 3, 1, p.channels() % 4 == 0 ? 4 : 1);
}

void residual(Image& p) {
  p.b.note("residual");
  const int64_t c = p.channels();
  Val y = p.x;
  if (p.b.draw.coin()) {  // inverted: wide inside
    y = conv_block(p.b, y, 2 * c, 1, 1);
    y = conv_block(p.b, y, 2 * c, 3, 1, 2 * c);
    y = convolved(p.b, y, c, 1, 1);
  } else {
    y = conv_block(p.b, y, c, 3, 1);
    y = convolved(p.b, y, c, 3, 1);
    if (p.b.draw.coin()) y = batch_norm(p.b, y);
  }
  if (p.b.draw.one_in(4)) y = p.b.call("Mul", {y, p.b.scalar(0.3)});
  p.x = p.b.draw.coin() ? p.b.call("Add", {p.x, y}) : p.b.call("Add", {y, p.x});
  if (p.b.draw.coin()) p.x = activated(p.b, p.x);
}

Val pooled_to_one(GraphBuilder& b, const Val& x) {
  if (b.draw.coin()) return b.call("GlobalAveragePool", {x});
  return b.call("ReduceMean", {x, b.ints(b.draw.coin() ? Ints{2, 3} : Ints{-1, -2})});
}

void squeeze_excite(Image& p) {
  p.b.note("SE");
  const int64_t c = p.channels();
  Val gate = pooled_to_one(p.b, p.x);
  gate = activated(p.b, convolved(p.b, gate, 4, 1, 1));
  gate = convolved(p.b, gate, c, 1, 1);
  if (p.b.draw.one_in(3)) {
    const Val sum = p.b.call("Add", {gate, p.b.scalar(3)});
    gate = p.b.call("Div", {p.b.call("Clip", {sum, p.b.scalar(0), p.b.scalar(6)}), p.b.scalar(6)});
  } else {
    gate = p.b.call(p.b.draw.pick({"Sigmoid", "HardSigmoid"}), {gate});
  }
  p.x = p.b.call("Mul", {p.x, gate});
}

void csp(Image& p) {
  p.b.note("CSP");
  if (p.channels() % 2) return;
  const int64_t half = p.channels() / 2;
  const Vals parts = p.b.calls("Split", {p.x, p.b.ints({half, half})}, {{"axis", int64_t{1}}}, 2);
  Vals all{parts[0], parts[1]};
  Val y = parts[1];
  for (int64_t count = p.b.draw.between(1, 3); count > 0; --count) {
    y = conv_block(p.b, y, half, 3, 1);
    all.push_back(y);
  }
  p.x = p.b.calls("Concat", all, {{"axis", int64_t{1}}}, 1)[0];
  p.x = conv_block(p.b, p.x, drawn_channels(p.b), 1, 1);
}

void spp(Image& p) {
  p.b.note("SPP");
  Vals all{p.x};
  for (int i = 0; i < 3; ++i) {
    const int64_t kernel = 2 * i + 3;
    const Val from = p.b.draw.coin() ? p.x : all.back();
    all.push_back(p.b.call("MaxPool", {from},
                           {{"kernel_shape", Ints{kernel, kernel}},
                            {"pads", Ints(4, kernel / 2)},
                            {"strides", Ints{1, 1}}}));
  }
  p.x = p.b.calls("Concat", all, {{"axis", int64_t{1}}}, 1)[0];
  p.x = conv_block(p.b, p.x, drawn_channels(p.b), 1, 1);
}

void pool(Image& p) {
  if (!may_hold(p.b, p.x, 3)) return;
  p.b.note("pool");
  p.skips.push_back(p.x);
  const int64_t kernel = p.b.draw.pick({2, 2, 3});
  AttrMap attrs{{"kernel_shape", Ints{kernel, kernel}}, {"strides", Ints{2, 2}}};
  if (kernel == 3) attrs["pads"] = Ints{1, 1, 1, 1};
  if (p.b.draw.one_in(3)) attrs["ceil_mode"] = int64_t{1};
  const bool is_max = p.b.draw.coin();
  if (!is_max && p.b.draw.coin()) attrs["count_include_pad"] = int64_t{1};
  // Where the last window begins in the padding and runs over its end, ONNX Runtime counts other
  // pixels than the text.
  if (!is_max && attrs.contains("ceil_mode") && attrs.contains("count_include_pad"))
    attrs.erase("ceil_mode");
  p.x = p.b.call(is_max ? "MaxPool" : "AveragePool", {p.x}, attrs);
}

// To twice the size, or to that of a value before sizes changed, which joins.
void resize(Image& p) {
  p.b.note("resize");
  const std::string mode = p.b.draw.pick({"nearest", "linear", "cubic"});
  AttrMap attrs{{"mode", mode},
                {"coordinate_transformation_mode",
                 std::string(p.b.draw.pick({"asymmetric", "half_pixel", "pytorch_half_pixel"}))}};
  if (mode == "nearest") attrs["nearest_mode"] = std::string("floor");
  if (mode == "nearest") attrs["coordinate_transformation_mode"] = std::string("asymmetric");
  if (p.skips.empty() || p.b.draw.coin()) {
    p.x =
        p.b.calls("Resize", {p.x, Val(), p.b.emitter.constant(Tensor::vector<float>({1, 1, 2, 2}))},
                  attrs, 1)[0];
    return;
  }
  const Val skip = p.skips.back();
  p.skips.pop_back();
  const Val sizes = p.b.call("Concat", {dims_of(p.b, p.x, 0, 2), dims_of(p.b, skip, 2, 4)},
                             {{"axis", int64_t{0}}});
  const Val larger = p.b.calls("Resize", {p.x, Val(), Val(), sizes}, attrs, 1)[0];
  p.x = p.b.call("Concat", {larger, skip}, {{"axis", int64_t{1}}});
  p.x = conv_block(p.b, p.x, drawn_channels(p.b), 1, 1);
}

void transposed_conv(Image& p) {
  p.b.note("ConvTranspose");
  const int64_t kernel = p.b.draw.pick({2, 3, 4}), to = drawn_channels(p.b);
  AttrMap attrs{{"strides", Ints{2, 2}}, {"kernel_shape", Ints{kernel, kernel}}};
  if (kernel > 2) attrs["pads"] = Ints{1, 1, 1, 1};
  if (kernel == 3) attrs["output_padding"] = Ints{1, 1};
  const Val w = p.b.weight({p.channels(), to, kernel, kernel}, p.channels() * kernel);
  p.x = activated(p.b, p.b.call("ConvTranspose", {p.x, w, p.b.constant({to}, -0.5, 0.5)}, attrs));
}

// What tf2onnx and ConvNeXt leave: channels last around ops that take them so.
void channels_last(Image& p) {
  p.b.note("NHWC");
  const int64_t c = p.channels();
  Val y = p.b.call("Transpose", {p.x}, {{"perm", Ints{0, 2, 3, 1}}});
  switch (p.b.draw.below(4)) {
    case 0:
      y = p.b.call("Add", {y, p.b.constant({c}, -0.5, 0.5)});
      break;
    case 1:
      y = dense(p.b, y, c, c);
      break;
    case 2:
      y = p.b.calls("LayerNormalization",
                    {y, p.b.constant({c}, 0.5, 1.5), p.b.constant({c}, -0.5, 0.5)}, {}, 1)[0];
      y = activated(p.b, dense(p.b, y, c, c));
      break;
    default:
      y = p.b.call("Softmax", {y}, {{"axis", int64_t{-1}}});
  }
  p.x = p.b.call("Transpose", {activated(p.b, y)}, {{"perm", Ints{0, 3, 1, 2}}});
}

void focus(Image& p) {
  p.b.note("Focus");
  // Even sizes, whatever comes in.
  p.x = p.b.calls("Resize", {p.x, Val(), p.b.emitter.constant(Tensor::vector<float>({1, 1, 2, 2}))},
                  {{"mode", std::string("nearest")},
                   {"nearest_mode", std::string("floor")},
                   {"coordinate_transformation_mode", std::string("asymmetric")}},
                  1)[0];
  if (p.b.draw.one_in(3)) {
    p.x = p.b.call("SpaceToDepth", {p.x}, {{"blocksize", int64_t{2}}});
    p.x = conv_block(p.b, p.x, drawn_channels(p.b), 3, 1);
    return;
  }
  Vals parts;
  for (const auto& [row, column] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
    const Val rows = p.b.call(
        "Slice", {p.x, p.b.ints({row}), p.b.ints({INT64_MAX}), p.b.ints({2}), p.b.ints({2})});
    parts.push_back(p.b.call(
        "Slice", {rows, p.b.ints({column}), p.b.ints({INT64_MAX}), p.b.ints({3}), p.b.ints({2})}));
  }
  p.x = p.b.calls("Concat", parts, {{"axis", int64_t{1}}}, 1)[0];
  p.x = conv_block(p.b, p.x, drawn_channels(p.b), 3, 1);
}

void shuffle(Image& p) {
  p.b.note("shuffle");
  const int64_t c = p.channels(), groups = c % 4 == 0 ? 4 : 1;
  Val target = p.b.ints({0, groups, c / groups, -1});
  const Val sizes = dims_of(p.b, p.x, 2, 4);
  const bool is_dynamic = p.b.draw.coin();
  if (is_dynamic) {
    const Val begin = p.b.call("Concat", {dims_of(p.b, p.x, 0, 1), p.b.ints({groups, c / groups})},
                               {{"axis", int64_t{0}}});
    target = p.b.call("Concat", {begin, sizes}, {{"axis", int64_t{0}}});
  }
  Val y = p.b.call("Reshape", {p.x, target});
  const Ints perm = is_dynamic ? Ints{0, 2, 1, 3, 4} : Ints{0, 2, 1, 3};
  y = p.b.call("Transpose", {y}, {{"perm", perm}});
  const Val back = p.b.call("Concat", {p.b.ints({0, c}), sizes}, {{"axis", int64_t{0}}});
  p.x = conv_block(p.b, p.b.call("Reshape", {y, back}), c, 3, 1, c);
}

void norm(Image& p) {
  p.b.note("norm");
  const int64_t c = p.channels();
  const Val scale = p.b.constant({c}, 0.5, 1.5), shift = p.b.constant({c}, -0.5, 0.5);
  // A lone pixel has no variance: what is left of it is rounding, blown up.
  const AttrMap epsilon{{"epsilon", 1e-2f}};
  switch (p.b.draw.below(5)) {
    case 0:
      p.x = p.b.call("InstanceNormalization", {p.x, scale, shift}, epsilon);
      break;
    case 1: {  // GroupNorm as torch writes it
      const int64_t groups = c % 4 == 0 ? 4 : 1;
      Val y = p.b.call("Reshape", {p.x, p.b.ints({0, groups, -1})});
      y = p.b.call("InstanceNormalization",
                   {y, p.b.constant({groups}, 1, 1), p.b.constant({groups}, 0, 0)}, epsilon);
      y = p.b.call("Reshape", {y, p.b.call("Shape", {p.x})});
      y = p.b.call("Mul", {y, p.b.constant({c, 1, 1}, 0.5, 1.5)});
      p.x = p.b.call("Add", {y, p.b.constant({c, 1, 1}, -0.5, 0.5)});
      break;
    }
    case 2:
      p.x = p.b.call("LRN", {p.x}, {{"size", int64_t{5}}});
      break;
    case 3: {  // over channels, written out
      const Val mean = p.b.call("ReduceMean", {p.x, p.b.ints({1})});
      const Val off = p.b.call("Sub", {p.x, mean});
      const Val square = p.b.call("Pow", {off, p.b.scalar(2)});
      const Val variance = p.b.call("ReduceMean", {square, p.b.ints({1})});
      const Val root = p.b.call("Sqrt", {p.b.call("Add", {variance, p.b.scalar(1e-2)})});
      const Val y =
          p.b.call("Mul", {p.b.call("Div", {off, root}), p.b.constant({c, 1, 1}, 0.5, 1)});
      p.x = p.b.call("Add", {y, p.b.constant({c, 1, 1}, -0.5, 0.5)});
      break;
    }
    default:
      p.x = batch_norm(p.b, p.x);
  }
}

// Products of all pixels with each other.
void pixel_attention(Image& p) {
  p.b.note("pixel attention");
  const int64_t c = p.channels();
  const auto flat = [&](const Val& x) { return p.b.call("Reshape", {x, p.b.ints({0, c, -1})}); };
  const Val q = flat(convolved(p.b, p.x, c, 1, 1)), k = flat(convolved(p.b, p.x, c, 1, 1));
  const Val transposed = p.b.call("Transpose", {q}, {{"perm", Ints{0, 2, 1}}});
  const Val scores =
      p.b.call("Softmax", {p.b.call("MatMul", {transposed, k})}, {{"axis", int64_t{-1}}});
  const Val mixed =
      p.b.call("MatMul", {flat(p.x), p.b.call("Transpose", {scores}, {{"perm", Ints{0, 2, 1}}})});
  p.x = p.b.call("Add", {p.b.call("Reshape", {mixed, p.b.call("Shape", {p.x})}), p.x});
}

// Kernels of 1xN and Nx1, an average pool, and all of it joined.
void inception(Image& p) {
  p.b.note("inception");
  const auto flat = [&](const Val& x, int64_t height, int64_t width) {
    const int64_t c = p.channels();
    const Val w = p.b.weight({8, c, height, width}, c * height * width);
    return activated(p.b, p.b.call("Conv", {x, w},
                                   {{"pads", Ints{height / 2, width / 2, height / 2, width / 2}}}));
  };
  const Val pool =
      p.b.call("AveragePool", {p.x}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const Vals all{flat(p.x, 1, 5), flat(p.x, 5, 1), conv_block(p.b, p.x, 8, 1, 1), flat(pool, 1, 1)};
  p.x = p.b.calls("Concat", all, {{"axis", int64_t{1}}}, 1)[0];
}

// One set of weights for two values.
void shared_weights(Image& p) {
  p.b.note("shared weights");
  const int64_t c = p.channels();
  const Val w = p.b.weight({c, c, 3, 3}, 9 * c), bias = p.b.constant({c}, -0.5, 0.5);
  const AttrMap attrs{{"pads", Ints{1, 1, 1, 1}}};
  const Val first = activated(p.b, p.b.call("Conv", {p.x, w, bias}, attrs));
  p.x = p.b.call("Add", {p.b.call("Conv", {first, w, bias}, attrs), first});
}

Val image_input(GraphBuilder& b) {
  const Dim n = b.dim("n", {1, 2, 0, 3});
  // None of 0: a computed 0 in the target of a Reshape stands for another size.
  const Dim h = b.dim("h", {12, 9, 7, 16}), w = b.dim("w", {10, 8, 13, 1});
  const int64_t c = b.draw.pick({1, 3, 3, 4, 16});
  switch (b.draw.below(4)) {
    case 0: {  // bytes, channels last
      const Val bytes = b.integers("image", DType::kUInt8, {n, h, w, c}, 0, 255);
      const Val x = b.call("Cast", {bytes}, {{"to", static_cast<int64_t>(DType::kFloat)}});
      const Val scaled = b.call("Div", {b.call("Sub", {x, b.scalar(127.5)}), b.scalar(127.5)});
      return b.call("Transpose", {scaled}, {{"perm", Ints{0, 3, 1, 2}}});
    }
    case 1: {  // normalised by channel
      const Val x =
          b.call("Sub", {b.floats("image", {n, c, h, w}), b.constant({1, c, 1, 1}, 0, 0.5)});
      return b.call("Div", {x, b.constant({1, c, 1, 1}, 0.5, 1)});
    }
    default:
      return b.floats("image", {n, c, h, w});
  }
}

void head(Image& p) {
  const int64_t c = p.channels();
  switch (p.b.draw.below(4)) {
    case 0: {
      p.b.note("classifier");
      Val y = p.b.call("Flatten", {pooled_to_one(p.b, p.x)});
      y = dense(p.b, y, c, 10);
      p.b.output(p.b.call(p.b.draw.pick({"Softmax", "LogSoftmax", "Identity"}), {y}));
      break;
    }
    case 1: {
      p.b.note("detector");
      const Val y = convolved(p.b, p.x, 18, 1, 1);
      const Val rows = p.b.call("Reshape", {y, p.b.ints({0, 18, -1})});
      const Val transposed = p.b.call("Transpose", {rows}, {{"perm", Ints{0, 2, 1}}});
      const Vals parts =
          p.b.calls("Split", {transposed, p.b.ints({4, 14})}, {{"axis", int64_t{2}}}, 2);
      p.b.output(p.b.call("Mul", {parts[0], p.b.constant({4}, 1, 8)}));
      p.b.output(p.b.call("Sigmoid", {parts[1]}));
      break;
    }
    case 2:
      p.b.note("segmenter");
      p.b.output(p.b.call("Softmax", {convolved(p.b, p.x, 5, 1, 1)}, {{"axis", int64_t{1}}}));
      break;
    default:
      p.b.output(p.x);
  }
}

}  // namespace

void build_vision(GraphBuilder& b) {
  Image p{b, image_input(b), {}};
  if (p.channels() < 4) conv_chain(p);
  using Motif = void (*)(Image&);
  constexpr Motif kMotifs[] = {
      conv_chain,     conv_chain, depthwise, grouped, residual,  residual,
      squeeze_excite, csp,        spp,       pool,    resize,    transposed_conv,
      channels_last,  focus,      shuffle,   norm,    inception, pixel_attention,
      shared_weights};
  for (int64_t count = b.draw.between(2, 5); count > 0; --count)
    kMotifs[b.draw.below(static_cast<int64_t>(std::size(kMotifs)))](p);
  if (b.draw.one_in(4)) b.output(p.x);
  head(p);
}

}  // namespace sardonyx::graph_test
