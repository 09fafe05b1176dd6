#include <cmath>
#include <string>

#include "models/builder.h"
#include "models/zoo.h"

namespace sardonyx::models {
namespace {

Val named_linear(NetBuilder& net, const std::string& name, const Val& x, int64_t width) {
  const auto scope = net.scope(name);
  return net.linear(x, width);
}

Val named_norm(NetBuilder& net, const std::string& name, const Val& x) {
  const auto scope = net.scope(name);
  return net.layer_norm(x);
}

// softmax(q k^T / sqrt(d) + mask) v, over [batch, heads, length, d]; an empty mask hides nothing.
Val attend(NetBuilder& net, const Val& q, const Val& k, const Val& v, const Val& mask) {
  const auto head = static_cast<double>(net.type(q).shape->back().value());
  const Val keys = net.op("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  Val scores = net.op("MatMul", {q, keys});
  scores = net.op("Mul", {scores, net.ops().scalar(DType::kFloat, 1 / std::sqrt(head))});
  if (mask) scores = net.add(scores, mask);
  return net.op("MatMul", {net.op("Softmax", {scores}), v});
}

Val feed_forward(NetBuilder& net, const Val& x, const char* approximate) {
  const int64_t width = net.type(x).shape->back().value();
  const Val wide = named_linear(net, "up", x, 4 * width);
  return named_linear(net, "down",
                      net.op("Gelu", {wide}, {{"approximate", std::string(approximate)}}), width);
}

// 0, 1 ... length - 1 as [1, length], after `past`.
Val positions(NetBuilder& net, const Val& ids, const Val& past_length) {
  const Val length =
      net.op("Squeeze", {net.op("Shape", {ids}, {{"start", int64_t{1}}, {"end", int64_t{2}}})});
  const Val zero = net.ops().scalar(DType::kInt64, 0);
  const Val begin = past_length ? past_length : zero;
  const Val range =
      net.op("Range", {begin, net.add(begin, length), net.ops().scalar(DType::kInt64, 1)});
  return net.op("Unsqueeze", {range, net.ops().int64s({0})});
}

Val embed(NetBuilder& net, const std::string& name, const Val& ids, int64_t count, int64_t width) {
  const auto scope = net.scope(name);
  return net.embedding(ids, count, width);
}

}  // namespace

Model bert_encoder(uint64_t seed, const BertShape& shape) {
  NetBuilder net("bert_encoder", seed);
  const Dims dims{Dim::symbol("batch"), Dim::symbol("length")};
  const Val ids = net.input("input_ids", DType::kInt64, dims);
  const Val mask_input = net.input("attention_mask", DType::kInt64, dims);
  // 0 where a token counts, a large negative number where it is padding; [batch, 1, 1, length].
  const Val counted = net.op("Cast", {mask_input}, {{"to", static_cast<int64_t>(DType::kFloat)}});
  const Val hidden = net.op("Mul", {net.op("Sub", {net.ops().scalar(DType::kFloat, 1), counted}),
                                    net.ops().scalar(DType::kFloat, -1e4)});
  const Val mask = net.op("Unsqueeze", {hidden, net.ops().int64s({1, 2})});
  Val x = net.add(
      embed(net, "embeddings.word", ids, shape.vocabulary, shape.width),
      embed(net, "embeddings.position", positions(net, ids, {}), shape.positions, shape.width));
  x = named_norm(net, "embeddings.norm", x);
  for (int64_t i = 0; i < shape.layers; ++i) {
    const auto scope = net.scope("layer" + std::to_string(i));
    const Val q = net.split_heads(named_linear(net, "query", x, shape.width), shape.heads);
    const Val k = net.split_heads(named_linear(net, "key", x, shape.width), shape.heads);
    const Val v = net.split_heads(named_linear(net, "value", x, shape.width), shape.heads);
    const Val context = net.merge_heads(attend(net, q, k, v, mask));
    x = named_norm(net, "norm1", net.add(x, named_linear(net, "output", context, shape.width)));
    x = named_norm(net, "norm2", net.add(x, feed_forward(net, x, "none")));
  }
  net.output("hidden", x);
  return net.finish();
}

Model gpt2_step(uint64_t seed, const GptShape& shape) {
  NetBuilder net("gpt2_step", seed);
  const Dim batch = Dim::symbol("batch"), length = Dim::symbol("length"),
            past = Dim::symbol("past");
  const Val ids = net.input("input_ids", DType::kInt64, {batch, length});
  Vals past_keys, past_values;
  for (int64_t i = 0; i < shape.layers; ++i) {
    const Dims dims{batch, shape.heads, past, shape.width / shape.heads};
    past_keys.push_back(net.input("past_key." + std::to_string(i), DType::kFloat, dims));
    past_values.push_back(net.input("past_value." + std::to_string(i), DType::kFloat, dims));
  }
  const Val past_length = net.op(
      "Squeeze", {net.op("Shape", {past_keys[0]}, {{"start", int64_t{2}}, {"end", int64_t{3}}})});
  const Val place = positions(net, ids, past_length);
  // Position i sees the positions up to i: [length, past + length].
  const Val total = net.add(
      past_length,
      net.op("Squeeze", {net.op("Shape", {ids}, {{"start", int64_t{1}}, {"end", int64_t{2}}})}));
  const Val columns = net.op(
      "Range", {net.ops().scalar(DType::kInt64, 0), total, net.ops().scalar(DType::kInt64, 1)});
  const Val rows = net.op("Transpose", {place});
  const Val hides = net.op("Greater", {columns, rows});
  const Val mask = net.op(
      "Where", {hides, net.ops().scalar(DType::kFloat, -1e9), net.ops().scalar(DType::kFloat, 0)});
  Val x = net.add(embed(net, "wte", ids, shape.vocabulary, shape.width),
                  embed(net, "wpe", place, shape.positions, shape.width));
  for (int64_t i = 0; i < shape.layers; ++i) {
    const auto scope = net.scope("h" + std::to_string(i));
    const Val normed = named_norm(net, "ln_1", x);
    const Val q = net.split_heads(named_linear(net, "query", normed, shape.width), shape.heads);
    Val k = net.split_heads(named_linear(net, "key", normed, shape.width), shape.heads);
    Val v = net.split_heads(named_linear(net, "value", normed, shape.width), shape.heads);
    k = net.op("Concat", {past_keys[static_cast<size_t>(i)], k}, {{"axis", int64_t{2}}});
    v = net.op("Concat", {past_values[static_cast<size_t>(i)], v}, {{"axis", int64_t{2}}});
    net.output("present_key." + std::to_string(i), k);
    net.output("present_value." + std::to_string(i), v);
    x = net.add(
        x, named_linear(net, "proj", net.merge_heads(attend(net, q, k, v, mask)), shape.width));
    x = net.add(x, feed_forward(net, named_norm(net, "ln_2", x), "tanh"));
  }
  x = named_norm(net, "ln_f", x);
  const auto scope = net.scope("lm_head");
  net.output("logits", net.linear(x, shape.vocabulary, /*bias=*/false));
  return net.finish();
}

}  // namespace sardonyx::models
