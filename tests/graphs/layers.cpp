// Layers that several families have.
#include "tests/graphs/families.h"

namespace sardonyx::graph_test {
namespace {

Val hard_swish(GraphBuilder& b, const Val& x) {
  if (b.draw.coin()) return b.call("HardSwish", {x});
  const Val gate = b.call("Clip", {b.call("Add", {x, b.scalar(3)}), b.scalar(0), b.scalar(6)});
  if (b.draw.coin()) return b.call("Div", {b.call("Mul", {x, gate}), b.scalar(6)});
  return b.call("Mul", {x, b.call("Mul", {gate, b.scalar(1.0 / 6)})});
}

Val gelu(GraphBuilder& b, const Val& x) {
  switch (b.draw.below(4)) {
    case 0:
      return b.call("Gelu", {x});
    case 1: {  // by the error function, as torch writes it
      const Val erf = b.call("Erf", {b.call("Div", {x, b.scalar(1.4142135623730951)})});
      const Val sum = b.call("Add", {erf, b.scalar(1)});
      return b.call("Mul", {b.call("Mul", {x, sum}), b.scalar(0.5)});
    }
    case 2: {  // half of x first
      const Val erf = b.call("Erf", {b.call("Mul", {x, b.scalar(0.7071067811865475)})});
      const Val half = b.call("Mul", {x, b.scalar(0.5)});
      return b.call("Mul", {half, b.call("Add", {b.scalar(1), erf})});
    }
    default: {  // by tanh
      const Val cube = b.draw.coin() ? b.call("Pow", {x, b.scalar(3)})
                                     : b.call("Mul", {x, b.call("Mul", {x, x})});
      const Val inner = b.call("Add", {x, b.call("Mul", {cube, b.scalar(0.044715)})});
      const Val tanh = b.call("Tanh", {b.call("Mul", {inner, b.scalar(0.7978845608028654)})});
      const Val sum = b.call("Add", {tanh, b.scalar(1)});
      return b.call("Mul", {b.call("Mul", {x, b.scalar(0.5)}), sum});
    }
  }
}

Val mish(GraphBuilder& b, const Val& x) {
  if (b.draw.coin()) return b.call("Mish", {x});
  return b.call("Mul", {x, b.call("Tanh", {b.call("Softplus", {x})})});
}

Val swish(GraphBuilder& b, const Val& x) {
  return b.call("Mul", {x, b.call("Sigmoid", {x})});
}

Val sloped(GraphBuilder& b, const Val& x) {
  const Type type = b.type(x);
  if (type.rank() == 4 && (*type.shape)[1].is_known())
    return b.call("PRelu", {x, b.constant({b.size(x, 1), 1, 1}, 0, 0.5)});
  return b.call("LeakyRelu", {x}, {{"alpha", static_cast<float>(b.draw.real(0.01, 0.3))}});
}

}  // namespace

Val activated(GraphBuilder& b, const Val& x) {
  switch (b.draw.below(14)) {
    case 0:
    case 1:
    case 2:
      return b.call("Relu", {x});
    case 3:
      return swish(b, x);
    case 4:
      return hard_swish(b, x);
    case 5:
      return gelu(b, x);
    case 6:
      return mish(b, x);
    case 7:
      return sloped(b, x);
    case 8:
      return b.call("Clip", {x, b.scalar(0), b.scalar(6)});
    case 9:
      return b.call(b.draw.pick({"Tanh", "Sigmoid", "Softplus", "Softsign"}), {x});
    case 10:
      return b.call(b.draw.pick({"Elu", "Selu", "Celu", "HardSigmoid"}), {x});
    case 11:
      return b.call("Max", {x, b.scalar(0)});
    default:
      return x;
  }
}

Val dense(GraphBuilder& b, const Val& x, int64_t width, int64_t features) {
  const bool has_bias = !b.draw.one_in(4);
  if (b.type(x).rank() == 2 && b.draw.coin()) {
    const bool is_transposed = b.draw.coin();
    const Shape shape = is_transposed ? Shape{features, width} : Shape{width, features};
    const Val w = b.weight(shape, width);
    const AttrMap attrs{{"transB", int64_t{is_transposed}}};
    if (!has_bias) return b.call("Gemm", {x, w}, attrs);
    return b.call("Gemm", {x, w, b.constant({features}, -0.5, 0.5)}, attrs);
  }
  Val w = b.weight({width, features}, width);
  if (b.draw.one_in(3)) {
    w = b.call("Transpose", {b.weight({features, width}, width)}, {{"perm", Ints{1, 0}}});
  }
  const Val product = b.call("MatMul", {x, w});
  if (!has_bias) return product;
  const Val bias = b.constant({features}, -0.5, 0.5);
  return b.draw.coin() ? b.call("Add", {product, bias}) : b.call("Add", {bias, product});
}

Val convolved(GraphBuilder& b, const Val& x, int64_t channels, int64_t kernel, int64_t stride,
              int64_t group) {
  const int64_t from = b.size(x, 1);
  const size_t spatial = b.type(x).rank() - 2;
  Shape shape{channels, from / group};
  Ints pads(2 * spatial), strides(spatial, stride);
  const int64_t dilation = stride == 1 && kernel > 1 && b.draw.one_in(6) ? 2 : 1;
  for (size_t axis = 0; axis < spatial; ++axis) {
    shape.push_back(kernel);
    pads[axis] = pads[axis + spatial] = dilation * (kernel - 1) / 2;
  }
  AttrMap attrs{{"strides", strides}, {"group", group}};
  if (dilation > 1) attrs["dilations"] = Ints(spatial, dilation);
  Val input = x;
  const int64_t padding = b.draw.below(6);
  if (padding == 0 && dilation == 1) {  // ONNX Runtime has it for no others
    attrs["auto_pad"] = std::string("SAME_UPPER");
  } else if (padding == 1 && kernel > 1) {  // a node of its own, as tf2onnx writes it
    Ints all{0, 0};
    all.insert(all.end(), pads.begin(), pads.begin() + static_cast<ptrdiff_t>(spatial));
    all.insert(all.end(), {0, 0});
    all.insert(all.end(), pads.begin() + static_cast<ptrdiff_t>(spatial), pads.end());
    input = b.call("Pad", {x, b.ints(all)});
  } else {
    attrs["pads"] = pads;
  }
  const Val w = b.weight(shape, from / group * kernel * kernel);
  if (b.draw.coin()) return b.call("Conv", {input, w}, attrs);
  return b.call("Conv", {input, w, b.constant({channels}, -0.5, 0.5)}, attrs);
}

bool may_hold(GraphBuilder& b, const Val& x, int64_t size) {
  const Type type = b.type(x);
  for (size_t axis = 2; axis < type.rank(); ++axis) {
    const Dim& dim = (*type.shape)[axis];
    if (dim.is_known() && dim.value() < size) return false;
  }
  return true;
}

Val dims_of(GraphBuilder& b, const Val& x, int64_t from, int64_t to) {
  if (b.draw.coin()) return b.call("Shape", {x}, {{"start", from}, {"end", to}});
  return b.call("Slice", {b.call("Shape", {x}), b.ints({from}), b.ints({to}), b.ints({0})});
}

}  // namespace sardonyx::graph_test
