// Quantised networks: nodes that quantise and dequantise around ops (QDQ), ops on bytes
// (QLinearConv ...), and activations that are quantised as they come.
#include <algorithm>
#include <cmath>

#include "tests/graphs/families.h"

namespace sardonyx::graph_test {
namespace {

struct Scale {
  double scale;
  int64_t zero;
  DType dtype;
};

// What an element may be off where several values before it lay at ties.
void allow_steps(GraphBuilder& b, double step, double steps) {
  b.made.most_off = std::max(b.made.most_off, steps * step);
  b.made.mean_off = std::max(b.made.mean_off, 0.15 * step);
}

Tensor byte_of(DType dtype, int64_t value) {
  return dtype == DType::kInt8 ? Tensor::scalar(static_cast<int8_t>(value))
                               : Tensor::scalar(static_cast<uint8_t>(value));
}

Scale drawn_scale(GraphBuilder& b, double largest) {
  const bool is_signed = b.draw.coin();
  const bool is_symmetric = is_signed && b.draw.coin();
  const double scale = largest / 127 * b.draw.real(0.9, 1.1);
  if (is_symmetric) return {scale, 0, DType::kInt8};
  const int64_t off = b.draw.between(-10, 10);
  return is_signed ? Scale{scale, off, DType::kInt8} : Scale{scale, 128 + off, DType::kUInt8};
}

Val quantize(GraphBuilder& b, const Val& x, const Scale& by) {
  return b.call("QuantizeLinear",
                {x, b.scalar(by.scale), b.emitter.constant(byte_of(by.dtype, by.zero))});
}
Val dequantize(GraphBuilder& b, const Val& x, const Scale& by) {
  return b.call("DequantizeLinear",
                {x, b.scalar(by.scale), b.emitter.constant(byte_of(by.dtype, by.zero))});
}
Val through_bytes(GraphBuilder& b, const Val& x, const Scale& by) {
  return dequantize(b, quantize(b, x, by), by);
}

// Weights as bytes, one scale or one for each of axis `axis`.
struct Weights {
  Val bytes, scale, zero;
  AttrMap attrs;
};

Weights byte_weights(GraphBuilder& b, const Shape& shape, int64_t fan_in, int64_t axis) {
  Weights w;
  w.bytes = b.emitter.constant(drawn_integers(DType::kInt8, shape, -127, 127, b.draw));
  const double scale = std::sqrt(3.0 / static_cast<double>(fan_in)) / 127;
  if (b.draw.coin()) {
    w.scale = b.scalar(scale);
    w.zero = b.emitter.constant(Tensor::scalar<int8_t>(0));
    return w;
  }
  const int64_t count = shape[static_cast<size_t>(axis)];
  w.scale = b.constant({count}, 0.5 * scale, 1.5 * scale);
  w.zero = b.emitter.constant(Tensor::zeros(DType::kInt8, {count}));
  w.attrs = {{"axis", axis}};
  return w;
}

Val dequantized(GraphBuilder& b, const Weights& w) {
  return b.call("DequantizeLinear", {w.bytes, w.scale, w.zero}, w.attrs);
}

struct Net {
  GraphBuilder& b;
  Val x;  // float; the last node before it dequantises
};

// Sums of products are of size 1 for inputs of size 1; a few times that is the largest.
constexpr double kLargest = 3;

void emit_step(Net& net, const Val& y) {
  const Scale by = drawn_scale(net.b, kLargest);
  net.x = through_bytes(net.b, y, by);
  allow_steps(net.b, by.scale, 4);
}

void conv(Net& net) {
  GraphBuilder& b = net.b;
  b.note("QDQ conv");
  const int64_t from = b.size(net.x, 1), to = b.draw.pick({4, 8, 16, 20});
  const bool is_depthwise = b.draw.one_in(3);
  const int64_t kernel = b.draw.pick({1, 3}), group = is_depthwise ? from : 1;
  const int64_t channels = is_depthwise ? from : to;
  const Shape shape{channels, from / group, kernel, kernel};
  const Weights w = byte_weights(b, shape, from / group * kernel * kernel, 0);
  const AttrMap attrs{{"pads", Ints(4, kernel / 2)},
                      {"group", group},
                      {"strides", Ints(2, b.draw.one_in(5) ? 2 : 1)}};
  Val y =
      b.draw.coin()
          ? b.call("Conv", {net.x, dequantized(b, w)}, attrs)
          : b.call("Conv", {net.x, dequantized(b, w), b.constant({channels}, -0.3, 0.3)}, attrs);
  if (b.draw.coin()) y = b.call("Relu", {y});
  if (b.draw.one_in(4)) y = b.call("Clip", {y, b.scalar(0), b.scalar(6)});
  emit_step(net, y);
}

void residual(Net& net) {
  net.b.note("QDQ residual");
  const Val before = net.x;
  const int64_t c = net.b.size(before, 1);
  const Weights w = byte_weights(net.b, {c, c, 3, 3}, 9 * c, 0);
  emit_step(net, net.b.call("Conv", {net.x, dequantized(net.b, w)}, {{"pads", Ints{1, 1, 1, 1}}}));
  Val sum = net.b.call("Add", {net.x, before});
  if (net.b.draw.coin()) sum = net.b.call("Relu", {sum});
  emit_step(net, sum);
}

void views(Net& net) {
  GraphBuilder& b = net.b;
  b.note("QDQ views");
  switch (may_hold(b, net.x, 2) ? b.draw.below(4) : 3) {
    case 0:
      return emit_step(net, b.call("MaxPool", {net.x}, {{"kernel_shape", Ints{2, 2}}}));
    case 1:
      return emit_step(net, b.call("AveragePool", {net.x}, {{"kernel_shape", Ints{2, 2}}}));
    case 2:
      return emit_step(net,
                       b.call("Concat", {net.x, b.call("Neg", {net.x})}, {{"axis", int64_t{1}}}));
    default:
      return emit_step(net, b.call("Mul", {net.x, b.call("Sigmoid", {net.x})}));
  }
}

// The ops on bytes, between the same two nodes.
void operator_conv(Net& net) {
  GraphBuilder& b = net.b;
  b.note("QLinearConv");
  const int64_t from = b.size(net.x, 1), to = b.draw.pick({4, 8, 16});
  const Weights w = byte_weights(b, {to, from, 3, 3}, 9 * from, 0);
  const Scale in = drawn_scale(b, kLargest), out = drawn_scale(b, kLargest);
  const auto zero = [&](const Scale& by) { return b.emitter.constant(byte_of(by.dtype, by.zero)); };
  const Scale same{out.scale, in.dtype == out.dtype ? out.zero : in.zero, in.dtype};
  const Val y = b.call("QLinearConv",
                       {quantize(b, net.x, in), b.scalar(in.scale), zero(in), w.bytes, w.scale,
                        w.zero, b.scalar(same.scale), zero(same)},
                       {{"pads", Ints{1, 1, 1, 1}}});
  net.x = dequantize(b, y, same);
  allow_steps(b, same.scale, 4);
}

Val pooled_rows(Net& net) {
  const Val mean = net.b.call("GlobalAveragePool", {net.x});
  return net.b.call("Flatten", {mean});
}

// [rows, width] -> [rows, features]
Val product(GraphBuilder& b, const Val& x, int64_t width, int64_t features) {
  const Weights w = byte_weights(b, {width, features}, width, 1);
  switch (b.draw.below(3)) {
    case 0: {
      b.note("QDQ MatMul");
      const Scale in = drawn_scale(b, kLargest), out = drawn_scale(b, kLargest);
      const Val y = b.call("MatMul", {through_bytes(b, x, in), dequantized(b, w)});
      allow_steps(b, out.scale, 4);
      return through_bytes(b, b.call("Add", {y, b.constant({features}, -0.3, 0.3)}), out);
    }
    case 1: {
      b.note("QLinearMatMul");
      const Scale in = drawn_scale(b, kLargest);
      const Scale out{kLargest / 127, in.zero, in.dtype};
      const auto zero = [&](const Scale& by) {
        return b.emitter.constant(byte_of(by.dtype, by.zero));
      };
      const Val y =
          b.call("QLinearMatMul", {quantize(b, x, in), b.scalar(in.scale), zero(in), w.bytes,
                                   w.scale, w.zero, b.scalar(out.scale), zero(out)});
      allow_steps(b, out.scale, 4);
      return dequantize(b, y, out);
    }
    default: {
      b.note("dynamic");
      const Vals q = b.calls("DynamicQuantizeLinear", {x}, {}, 3);
      const Val sums = b.call("MatMulInteger", {q[0], w.bytes, q[2], w.zero});
      const Val floats = b.call("Cast", {sums}, {{"to", static_cast<int64_t>(DType::kFloat)}});
      const Val scaled = b.call("Mul", {floats, b.call("Mul", {q[1], w.scale})});
      allow_steps(b, 6 * kLargest / 255, 4);
      return b.call("Add", {scaled, b.constant({features}, -0.3, 0.3)});
    }
  }
}

void build_rows(GraphBuilder& b) {
  int64_t width = b.draw.pick({8, 16, 32, 48});
  Val x = b.floats("x", {b.dim("n", {3, 1, 17, 0}), width}, -kLargest, kLargest);
  for (int64_t count = b.draw.between(1, 3); count > 0; --count) {
    const int64_t features = b.draw.pick({5, 8, 16, 24});
    x = product(b, x, width, features);
    if (b.draw.coin()) x = b.call("Relu", {x});
    width = features;
  }
  b.output(x);
}

}  // namespace

void build_quantized(GraphBuilder& b) {
  b.made.opset = b.draw.pick({13, 17, 20, 21});
  if (b.draw.one_in(3)) return build_rows(b);
  const Dims dims{b.dim("n", {1, 2, 0}), b.draw.pick({3, 4, 8, 16}), b.dim("h", {8, 5, 11}),
                  b.dim("w", {9, 6, 7})};
  Net net{b, b.floats("image", dims, -kLargest, kLargest)};
  emit_step(net, net.x);
  using Motif = void (*)(Net&);
  constexpr Motif kMotifs[] = {conv, conv, residual, views, operator_conv};
  for (int64_t count = b.draw.between(1, 3); count > 0; --count)
    kMotifs[b.draw.below(static_cast<int64_t>(std::size(kMotifs)))](net);
  if (b.draw.coin()) {
    const int64_t width = b.size(net.x, 1);
    b.output(product(b, pooled_rows(net), width, 10));
  } else {
    b.output(net.x);
  }
}

}  // namespace sardonyx::graph_test
