// Networks that look at sequences of tokens or frames, in the forms that exporters write.
#include <cmath>

#include "tests/graphs/families.h"

namespace sardonyx::graph_test {
namespace {

// A network in the making.
struct Sequence {
  GraphBuilder& b;
  Dim batch, length;
  int64_t heads, head_size;
  Val x;     // [batch, length, heads * head_size]
  Val mask;  // [batch, length], int64: 1 where there is a token; may be empty
  int64_t width() const { return heads * head_size; }
};

Val mean_over_features(GraphBuilder& b, const Val& x) {
  return b.call("ReduceMean", {x, b.ints({b.draw.coin() ? -1 : 2})});
}

Val layer_norm(GraphBuilder& b, const Val& x, int64_t width) {
  const Val scale = b.constant({width}, 0.5, 1.5), shift = b.constant({width}, -0.5, 0.5);
  if (b.draw.one_in(3)) return b.calls("LayerNormalization", {x, scale, shift}, {}, 1)[0];
  const Val off = b.call("Sub", {x, mean_over_features(b, x)});
  const Val square = b.draw.coin() ? b.call("Pow", {off, b.scalar(2)}) : b.call("Mul", {off, off});
  const Val variance = b.call("Add", {mean_over_features(b, square), b.scalar(1e-5)});
  Val y;
  switch (b.draw.below(3)) {
    case 0:
      y = b.call("Div", {off, b.call("Sqrt", {variance})});
      break;
    case 1:
      y = b.call("Mul", {off, b.call("Reciprocal", {b.call("Sqrt", {variance})})});
      break;
    default:
      y = b.call("Mul", {off, b.call("Pow", {variance, b.scalar(-0.5)})});
  }
  return b.call("Add",
                {b.draw.coin() ? b.call("Mul", {y, scale}) : b.call("Mul", {scale, y}), shift});
}

Val rms_norm(GraphBuilder& b, const Val& x, int64_t width) {
  const Val scale = b.constant({width}, 0.5, 1.5);
  const Val square = b.draw.coin() ? b.call("Pow", {x, b.scalar(2)}) : b.call("Mul", {x, x});
  const Val size = b.call("Add", {mean_over_features(b, square), b.scalar(1e-6)});
  const Val root = b.call("Sqrt", {size});
  Val y;
  switch (b.draw.below(3)) {
    case 0:
      y = b.call("Div", {x, root});
      break;
    case 1:
      y = b.call("Mul", {x, b.call("Reciprocal", {root})});
      break;
    default:
      y = b.call("Mul", {x, b.call("Div", {b.scalar(1), root})});
  }
  return b.draw.coin() ? b.call("Mul", {scale, y}) : b.call("Mul", {y, scale});
}

Val normalized(Sequence& s, const Val& x) {
  s.b.note("norm");
  return s.b.draw.one_in(3) ? rms_norm(s.b, x, s.width()) : layer_norm(s.b, x, s.width());
}

// [batch, length, heads * size] as [batch, heads, length, size].
Val split_heads(Sequence& s, const Val& x, int64_t heads) {
  Val target;
  switch (s.b.draw.below(3)) {
    case 0:
      target = s.b.ints({0, 0, heads, s.head_size});
      break;
    case 1:
      target = s.b.ints({0, -1, heads, s.head_size});
      break;
    default:
      target = s.b.call("Concat", {dims_of(s.b, x, 0, 2), s.b.ints({heads, s.head_size})},
                        {{"axis", int64_t{0}}});
  }
  const Val split = s.b.call("Reshape", {x, target});
  return s.b.call("Transpose", {split}, {{"perm", Ints{0, 2, 1, 3}}});
}

Val merge_heads(Sequence& s, const Val& x) {
  const Val transposed = s.b.call("Transpose", {x}, {{"perm", Ints{0, 2, 1, 3}}});
  if (s.b.draw.coin()) return s.b.call("Reshape", {transposed, s.b.ints({0, 0, s.width()})});
  const Val target = s.b.call("Concat", {dims_of(s.b, transposed, 0, 2), s.b.ints({s.width()})},
                              {{"axis", int64_t{0}}});
  return s.b.call("Reshape", {transposed, target});
}

// [from, from + count of positions) as float[count].
Val positions(GraphBuilder& b, const Val& from, const Val& count) {
  const auto scalar = [&](const Val& one) { return b.call("Squeeze", {one, b.ints({0})}); };
  const Val one = b.emitter.constant(Tensor::scalar<int64_t>(1));
  const Val first = scalar(from);
  const Val range = b.call("Range", {first, b.call("Add", {first, scalar(count)}), one});
  return b.call("Cast", {range}, {{"to", static_cast<int64_t>(DType::kFloat)}});
}

struct Rotation {
  Val cos, sin;  // [length, head_size]
};

Rotation rotation(Sequence& s, const Val& from, const Val& count) {
  s.b.note("rotary");
  const Val at = s.b.call("Unsqueeze", {positions(s.b, from, count), s.b.ints({1})});
  const Val frequencies = s.b.constant({1, s.head_size / 2}, 0.01, 1);
  const Val half = s.b.call(s.b.draw.coin() ? "Mul" : "MatMul", {at, frequencies});
  const Val angles = s.b.call("Concat", {half, half}, {{"axis", int64_t{-1}}});
  return {s.b.call("Cos", {angles}), s.b.call("Sin", {angles})};
}

Val rotated(Sequence& s, const Val& x, const Rotation& by) {
  GraphBuilder& b = s.b;
  const int64_t half = s.head_size / 2;
  Val left, right;
  if (b.draw.coin()) {
    const Vals halves = b.calls("Split", {x, b.ints({half, half})}, {{"axis", int64_t{-1}}}, 2);
    left = halves[0], right = halves[1];
  } else {
    left = b.call("Slice", {x, b.ints({0}), b.ints({half}), b.ints({3})});
    right = b.call("Slice", {x, b.ints({half}), b.ints({INT64_MAX}), b.ints({3}), b.ints({1})});
  }
  const Val rotated = b.call("Concat", {b.call("Neg", {right}), left}, {{"axis", int64_t{-1}}});
  return b.call("Add", {b.call("Mul", {x, by.cos}), b.call("Mul", {rotated, by.sin})});
}

// 1 where a query may look at a key: float or bool [queries, keys].
Val causal(Sequence& s, const Val& past, const Val& queries, const Val& keys) {
  GraphBuilder& b = s.b;
  const auto to_bool = [&](const Val& x) {
    return b.call("Cast", {x}, {{"to", static_cast<int64_t>(DType::kBool)}});
  };
  if (b.draw.coin()) {  // by comparing positions
    const Val zero = b.ints({0});
    const Val row = b.call("Unsqueeze", {positions(b, past, queries), b.ints({1})});
    const Val column = b.call("Unsqueeze", {positions(b, zero, keys), b.ints({0})});
    return b.call("LessOrEqual", {column, row});
  }
  const Val shape = b.call("Concat", {queries, keys}, {{"axis", int64_t{0}}});
  const Val ones = b.call("Expand", {b.scalar(1), shape});
  const Val shift = b.call("Squeeze", {past, b.ints({0})});
  return to_bool(b.call("Trilu", {ones, shift}, {{"upper", int64_t{0}}}));
}

Val masked_by_bool(GraphBuilder& b, const Val& scores, const Val& may_look) {
  const Val low = b.scalar(-1e4);
  if (b.draw.coin()) return b.call("Where", {may_look, scores, low});
  return b.call("Add", {scores, b.call("Where", {may_look, b.scalar(0), low})});
}

// The tokens' mask, [batch, length], as something to add to scores.
Val masked_by_tokens(Sequence& s, const Val& scores) {
  GraphBuilder& b = s.b;
  const Val wide = b.call("Unsqueeze", {s.mask, b.ints({1, 2})});
  const Val there = b.call("Cast", {wide}, {{"to", static_cast<int64_t>(DType::kFloat)}});
  const Val low = b.call("Mul", {b.call("Sub", {b.scalar(1), there}), b.scalar(-1e4)});
  return b.draw.coin() ? b.call("Add", {scores, low}) : b.call("Add", {low, scores});
}

// As many heads as queries have, each of `x`'s for several.
Val repeated(Sequence& s, const Val& x, int64_t heads) {
  GraphBuilder& b = s.b;
  const int64_t times = s.heads / heads;
  if (times == 1) return x;
  s.b.note("GQA");
  const Val wide = b.call("Unsqueeze", {x, b.ints({2})});
  const Val shape =
      b.call("Concat", {dims_of(b, x, 0, 1), b.ints({heads, times}), dims_of(b, x, 2, 4)},
             {{"axis", int64_t{0}}});
  const Val more = b.call("Expand", {wide, shape});
  const Val target = b.call("Concat", {dims_of(b, x, 0, 1), b.ints({s.heads}), dims_of(b, x, 2, 4)},
                            {{"axis", int64_t{0}}});
  return b.call("Reshape", {more, target});
}

struct Projected {
  Val q, k, v;  // [batch, heads, length, head_size]
};

Projected projected(Sequence& s, const Val& x, int64_t kv_heads) {
  GraphBuilder& b = s.b;
  const int64_t width = s.width(), kv = kv_heads * s.head_size;
  if (kv_heads != s.heads || b.draw.coin()) {
    return {split_heads(s, dense(b, x, width, width), s.heads),
            split_heads(s, dense(b, x, width, kv), kv_heads),
            split_heads(s, dense(b, x, width, kv), kv_heads)};
  }
  b.note("fused QKV");
  const Val all = dense(b, x, width, 3 * width);
  if (b.draw.coin()) {
    const Vals parts =
        b.calls("Split", {all, b.ints({width, width, width})}, {{"axis", int64_t{2}}}, 3);
    return {split_heads(s, parts[0], s.heads), split_heads(s, parts[1], s.heads),
            split_heads(s, parts[2], s.heads)};
  }
  // ViT: [3, batch, heads, length, size], and a part of it by its index.
  const Val five = b.call("Reshape", {all, b.ints({0, 0, 3, s.heads, s.head_size})});
  const Val first = b.call("Transpose", {five}, {{"perm", Ints{2, 0, 3, 1, 4}}});
  const auto part = [&](int64_t index) {
    return b.call("Gather", {first, b.emitter.constant(Tensor::scalar<int64_t>(index))},
                  {{"axis", int64_t{0}}});
  };
  return {part(0), part(1), part(2)};
}

Val scaled_scores(Sequence& s, const Val& q, const Val& k) {
  GraphBuilder& b = s.b;
  const double root = std::sqrt(static_cast<double>(s.head_size));
  const auto transposed = [&](const Val& keys) {
    return b.call("Transpose", {keys}, {{"perm", Ints{0, 1, 3, 2}}});
  };
  switch (b.draw.below(3)) {
    case 0:
      return b.call("Div", {b.call("MatMul", {q, transposed(k)}), b.scalar(root)});
    case 1:
      return b.call("MatMul", {b.call("Mul", {q, b.scalar(1 / root)}), transposed(k)});
    default: {  // torch's scaled_dot_product_attention: a root of it on each side
      const Val scale = b.scalar(std::sqrt(1 / root));
      return b.call("MatMul", {b.call("Mul", {q, scale}), b.call("Mul", {transposed(k), scale})});
    }
  }
}

Val attention(Sequence& s, const Val& x) {
  GraphBuilder& b = s.b;
  b.note("attention");
  const int64_t kv_heads = s.heads % 2 == 0 && b.draw.one_in(4) ? s.heads / 2 : s.heads;
  Projected p = projected(s, x, kv_heads);
  const bool has_past = !s.mask && b.draw.one_in(3);
  const bool has_rotation = b.draw.one_in(3);
  const std::string number = std::to_string(b.made.model.graph->inputs().size());
  const Dim past_length = has_past ? b.dim("p" + number, {3, 0, 5, 1}) : Dim(0);
  const Dims past_dims{s.batch, kv_heads, past_length, s.head_size};
  Val past_size = b.ints({0}), past_k, past_v;
  if (has_past) {
    b.note("past");
    past_k = b.floats("past_k" + number, past_dims);
    past_v = b.floats("past_v" + number, past_dims);
    past_size = dims_of(b, past_k, 2, 3);
  }
  const Val queries = dims_of(b, p.q, 2, 3);
  if (has_rotation) {
    const Rotation by = rotation(s, past_size, queries);
    p.q = rotated(s, p.q, by);
    p.k = rotated(s, p.k, by);
  }
  if (has_past) {
    p.k = b.call("Concat", {past_k, p.k}, {{"axis", int64_t{2}}});
    p.v = b.call("Concat", {past_v, p.v}, {{"axis", int64_t{b.draw.coin() ? 2 : -2}}});
    b.output(p.k);
    b.output(p.v);
  }
  Val scores = scaled_scores(s, p.q, repeated(s, p.k, kv_heads));
  if (s.mask) scores = masked_by_tokens(s, scores);
  if (has_past || b.draw.one_in(3)) {
    b.note("causal");
    scores = masked_by_bool(b, scores, causal(s, past_size, queries, dims_of(b, p.k, 2, 3)));
  }
  const Val weights = b.call("Softmax", {scores}, {{"axis", int64_t{b.draw.coin() ? -1 : 3}}});
  const Val mixed = b.call("MatMul", {weights, repeated(s, p.v, kv_heads)});
  return dense(b, merge_heads(s, mixed), s.width(), s.width());
}

Val feed_forward(Sequence& s, const Val& x) {
  GraphBuilder& b = s.b;
  const int64_t width = s.width(), inner = 2 * width;
  if (b.draw.one_in(3)) {
    b.note("GLU");
    Val gate, value;
    if (b.draw.coin()) {
      gate = dense(b, x, width, inner), value = dense(b, x, width, inner);
    } else {
      const Vals parts = b.calls("Split", {dense(b, x, width, 2 * inner), b.ints({inner, inner})},
                                 {{"axis", int64_t{-1}}}, 2);
      gate = parts[0], value = parts[1];
    }
    return dense(b, b.call("Mul", {activated(b, gate), value}), inner, width);
  }
  b.note("FFN");
  return dense(b, activated(b, dense(b, x, width, inner)), inner, width);
}

// The convolution of a conformer: channels first, one kernel for each.
Val conformer(Sequence& s, const Val& x) {
  GraphBuilder& b = s.b;
  b.note("conformer");
  const int64_t width = s.width();
  Val y = b.call("Transpose", {x}, {{"perm", Ints{0, 2, 1}}});
  y = convolved(b, y, 2 * width, 1, 1);
  const Vals parts = b.calls("Split", {y, b.ints({width, width})}, {{"axis", int64_t{1}}}, 2);
  y = b.call("Mul", {parts[0], b.call("Sigmoid", {parts[1]})});
  y = activated(b, convolved(b, y, width, 5, 1, width));
  y = convolved(b, y, width, 1, 1);
  return b.call("Transpose", {y}, {{"perm", Ints{0, 2, 1}}});
}

void layer(Sequence& s) {
  const auto block = [&](const Val& x) {
    switch (s.b.draw.below(5)) {
      case 0:
      case 1:
        return attention(s, x);
      case 2:
        return conformer(s, x);
      default:
        return feed_forward(s, x);
    }
  };
  const bool norm_first = s.b.draw.coin();
  const Val y = block(norm_first ? normalized(s, s.x) : s.x);
  s.x = s.b.draw.coin() ? s.b.call("Add", {s.x, y}) : s.b.call("Add", {y, s.x});
  if (!norm_first) s.x = normalized(s, s.x);
}

Sequence start(GraphBuilder& b) {
  const int64_t heads = b.draw.pick({1, 2, 4}), head_size = b.draw.pick({4, 8, 16});
  Sequence s{b, b.dim("b", {2, 1, 3, 0}), b.dim("t", {6, 1, 9, 4, 0}), heads, head_size, {}, {}};
  if (b.draw.coin()) {
    s.x = b.floats("x", {s.batch, s.length, s.width()});
  } else {
    b.note("embedding");
    const Val ids = b.integers("ids", b.draw.coin() ? DType::kInt64 : DType::kInt32,
                               {s.batch, s.length}, 0, 19);
    s.x = b.call("Gather", {b.constant({20, s.width()}, -1, 1), ids});
    const Val end = dims_of(b, ids, 1, 2);
    const Val table = b.constant({1, 16, s.width()}, -1, 1);
    s.x = b.call("Add", {s.x, b.call("Slice", {table, b.ints({0}), end, b.ints({1})})});
  }
  if (b.draw.coin()) {
    b.note("mask");
    // The first token is always there.
    s.mask = b.input("mask", DType::kInt64, {s.batch, s.length},
                     [](const Shape& shape, Draw& draw, const auto&) {
                       Tensor mask = drawn_integers(DType::kInt64, shape, 0, 1, draw);
                       for (int64_t row = 0; shape[1] > 0 && row < shape[0]; ++row)
                         mask.mutable_values<int64_t>()[static_cast<size_t>(row * shape[1])] = 1;
                       return mask;
                     });
  }
  return s;
}

void head(Sequence& s) {
  GraphBuilder& b = s.b;
  switch (b.draw.below(4)) {
    case 0: {
      b.note("pooler");
      const Val first = b.call("Slice", {s.x, b.ints({0}), b.ints({1}), b.ints({1})});
      const Val row = b.call("Squeeze", {first, b.ints({1})});
      b.output(b.call("Tanh", {dense(b, row, s.width(), s.width())}));
      break;
    }
    case 1:
      b.note("classifier");
      b.output(b.call(b.draw.pick({"Softmax", "LogSoftmax"}), {dense(b, s.x, s.width(), 11)}));
      break;
    case 2: {
      if (!s.mask) return b.output(s.x);
      b.note("mean of tokens");
      const Val wide = b.call("Unsqueeze", {s.mask, b.ints({-1})});
      const Val there = b.call("Cast", {wide}, {{"to", static_cast<int64_t>(DType::kFloat)}});
      const Val sum = b.call("ReduceSum", {b.call("Mul", {s.x, there}), b.ints({1})},
                             {{"keepdims", int64_t{0}}});
      const Val count = b.call("ReduceSum", {there, b.ints({1})}, {{"keepdims", int64_t{0}}});
      const Val mean = b.call("Div", {sum, b.call("Clip", {count, b.scalar(1e-9)})});
      const Val size = b.call("ReduceL2", {mean, b.ints({-1})});
      b.output(b.call("Div", {mean, b.call("Max", {size, b.scalar(1e-12)})}));
      break;
    }
    default:
      b.output(s.x);
  }
}

}  // namespace

void build_transformer(GraphBuilder& b) {
  Sequence s = start(b);
  for (int64_t count = b.draw.between(1, 4); count > 0; --count)
    layer(s);
  head(s);
}

}  // namespace sardonyx::graph_test
