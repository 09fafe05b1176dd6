// Layers of language models as com.microsoft has them: mixtures of experts, in floats and in few
// bits, and linear attention with its gates.
#include <cmath>

#include "tests/graphs/families.h"

namespace sardonyx::graph_test {
namespace {

Val bytes_of(GraphBuilder& b, const Shape& shape) {
  return b.emitter.constant(drawn_integers(DType::kUInt8, shape, 0, 255, b.draw));
}

// The sizes of a mixture in the making.
struct Experts {
  GraphBuilder& b;
  int64_t hidden, inner, count;
  AttrMap attrs;
  bool is_glu;
  int64_t fc1_outputs() const { return is_glu ? 2 * inner : inner; }
};

Experts drawn_experts(GraphBuilder& b) {
  Experts m{b,    64 * b.draw.between(1, 2), 64 * b.draw.between(1, 3), b.draw.between(2, 6), {},
            false};
  m.attrs["k"] = b.draw.between(1, std::min<int64_t>(m.count, 4));
  m.attrs["normalize_routing_weights"] = b.draw.below(2);
  m.is_glu = b.draw.coin();
  m.attrs["activation_type"] = std::string(
      m.is_glu ? "swiglu" : b.draw.pick<const char*>({"relu", "gelu", "silu", "identity"}));
  if (!m.is_glu) return m;
  m.attrs["swiglu_fusion"] = int64_t{1};
  if (b.draw.coin()) {
    m.attrs["activation_alpha"] = 1.702f;
    m.attrs["activation_beta"] = 1.0f;
  }
  if (b.draw.coin()) m.attrs["swiglu_limit"] = 2.0f;
  return m;
}

Val mixture(Experts m, const Val& x, const Val& router) {
  GraphBuilder& b = m.b;
  b.note("mixture of experts");
  const auto bias = [&](int64_t size) {
    return b.draw.coin() ? b.constant({m.count, size}, -0.5, 0.5) : Val();
  };
  return b.calls(
      "com.microsoft::MoE",
      {x, router, b.weight({m.count, m.fc1_outputs(), m.hidden}, m.hidden), bias(m.fc1_outputs()),
       b.weight({m.count, m.hidden, m.inner}, m.inner), bias(m.hidden)},
      m.attrs, 1)[0];
}

Val quantized_mixture(Experts m, const Val& x, const Val& router) {
  GraphBuilder& b = m.b;
  b.note("quantized mixture");
  const int64_t bits = b.draw.pick({4, 8}), per_byte = 8 / bits;
  const int64_t block = b.draw.coin() ? 0 : b.draw.pick({16, 32});
  const bool has_points = b.draw.one_in(3);
  m.attrs["expert_weight_bits"] = bits;
  if (block > 0) m.attrs["block_size"] = block;
  const auto scales = [&](int64_t columns, int64_t inputs) {
    const Shape shape =
        block > 0 ? Shape{m.count, columns, inputs / block} : Shape{m.count, columns};
    const double size = 2.0 / std::sqrt(static_cast<double>(inputs)) / std::ldexp(1, int(bits) - 1);
    return b.constant(shape, size / 2, size);
  };
  const auto points = [&](int64_t columns, int64_t inputs) {
    if (!has_points) return Val();
    return bytes_of(b, block > 0 ? Shape{m.count, columns, inputs / block / per_byte}
                                 : Shape{m.count, columns / per_byte});
  };
  const auto bias = [&](int64_t size) {
    return b.draw.coin() ? b.constant({m.count, size}, -0.5, 0.5) : Val();
  };
  const int64_t wide = m.fc1_outputs();
  Vals in{x,
          router,
          bytes_of(b, {m.count, wide, m.hidden / per_byte}),
          scales(wide, m.hidden),
          bias(wide),
          bytes_of(b, {m.count, m.hidden, m.inner / per_byte}),
          scales(m.hidden, m.inner),
          bias(m.hidden)};
  in.resize(11);
  if (has_points) {
    in.push_back(points(wide, m.hidden));
    in.push_back(points(m.hidden, m.inner));
  }
  const int64_t k = std::get<int64_t>(m.attrs["k"]);
  if (std::get<int64_t>(m.attrs["normalize_routing_weights"]) == 0 && k < m.count)
    b.made.differs = "ONNX Runtime's QMoE divides the shares by their sum whatever it is told";
  // Blocks of 8 bits are multiplied in 8 bits by other runtimes: rows and weights are rounded.
  b.made.most_off = 0.5;
  b.made.mean_off = 0.02;
  return b.calls("com.microsoft::QMoE", in, m.attrs, 1)[0];
}

// x [batch, length, heads * size] through linear attention of one of its rules.
Val linear_attention(GraphBuilder& b, const Dim& batch, const Dim& length) {
  b.note("linear attention");
  const int64_t heads = b.draw.between(1, 3), size = 8 * b.draw.between(1, 2);
  const auto input = [&](const char* name, int64_t width) {
    return b.floats(name, {batch, length, width});
  };
  const Val a = input("a", heads), key = input("key", heads * size);
  const Val norm = b.scalar(1.0 / std::sqrt(static_cast<double>(size)));
  Val query = input("query", heads * size), value = input("value", heads * size);
  if (b.draw.coin()) {
    const int64_t taps = b.draw.between(1, 4), dilation = b.draw.between(1, 3);
    const int64_t width = heads * size;
    AttrMap attrs{{"dilation", dilation}, {"activation", std::string("silu")}};
    const bool is_last = b.draw.coin();
    attrs["channels_last"] = int64_t{is_last};
    const Val in = is_last ? value : b.call("Transpose", {value}, {{"perm", Ints{0, 2, 1}}});
    Vals out =
        b.calls("com.microsoft::CausalConvWithState",
                {in, b.weight({width, 1, taps}, taps), b.constant({width}, -1, 1)}, attrs, 2);
    value = is_last ? out[0] : b.call("Transpose", {out[0]}, {{"perm", Ints{0, 2, 1}}});
    b.output(out[1]);
  }
  const Vals gates =
      b.calls("com.microsoft::LinearAttentionGate",
              {a, b.constant({heads}, -1, 1), b.constant({heads}, -1, -0.1), a}, {}, 2);
  const Vals mixed = b.calls("com.microsoft::LinearAttention",
                             {query, b.call("Mul", {key, norm}), value, Val(), gates[0], gates[1]},
                             {{"q_num_heads", heads},
                              {"kv_num_heads", heads},
                              {"update_rule", std::string("gated_delta")}},
                             2);
  b.output(mixed[1]);
  const Val y = b.calls("com.microsoft::GatedRMSNorm",
                        {mixed[0], b.constant({size}, 0.5, 1.5), value}, {}, 1)[0];
  const Val gate = b.call("Sigmoid", {b.call("ReduceMean", {query, b.ints({-1})})});
  return b.call("com.microsoft::GatedAdd", {query, y, gate});
}

}  // namespace

void build_experts(GraphBuilder& b) {
  if (b.draw.one_in(3)) {
    return b.output(linear_attention(b, b.dim("batch", {1, 2}), b.dim("length", {1, 3, 9})));
  }
  const Experts m = drawn_experts(b);
  const Dim tokens = b.dim("tokens", {1, 3, 17, 40});
  const Val x = b.floats("x", {tokens, m.hidden});
  const Val router = b.floats("router", {tokens, m.count}, -4, 4);
  b.output(b.draw.coin() ? mixture(m, x, router) : quantized_mixture(m, x, router));
}

}  // namespace sardonyx::graph_test
