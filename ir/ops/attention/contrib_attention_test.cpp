#include <cmath>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Floats = std::vector<float>;

// One head of size 1, so the softmax can be done by hand.
TEST(ContribAttention, MasksAndPast) {
  const Datum x = floats({1, 2}, {1, 2, 1}), w = floats({1, 1, 1}, {1, 3});
  const AttrMap heads{{"num_heads", int64_t{1}}};
  const auto weighted = [](double q) {
    return (1 * std::exp(q) + 2 * std::exp(2 * q)) / (std::exp(q) + std::exp(2 * q));
  };
  expect_near(run_op("com.microsoft::Attention", {x, w}, heads)[0], {weighted(1), weighted(2)},
              1e-5);
  const Datum only_first = Tensor::vector<int32_t>({1});
  expect_near(run_op("com.microsoft::Attention", {x, w, Datum(), only_first}, heads)[0], {1, 1},
              1e-5);
  const Datum ends_and_starts = Tensor::vector<int32_t>({2, 1});
  expect_near(run_op("com.microsoft::Attention", {x, w, Datum(), ends_and_starts}, heads)[0],
              {2, 2}, 1e-5);
  // The end, then where queries and keys begin and end.
  const Datum cumulated = Tensor::vector<int32_t>({1, 0, 2, 0, 1});
  expect_near(run_op("com.microsoft::Attention", {x, w, Datum(), cumulated}, heads)[0], {1, 1},
              1e-5);
  const Datum raw = Tensor::of<int32_t>({0, 1}, {1, 2});
  expect_near(run_op("com.microsoft::Attention", {x, w, Datum(), raw}, heads)[0], {2, 2}, 1e-5);
  const Datum by_query = Tensor::of<int32_t>({1, 0, 0, 1}, {1, 2, 2});
  expect_near(run_op("com.microsoft::Attention", {x, w, Datum(), by_query}, heads)[0], {1, 2},
              1e-5);
  AttrMap causal = heads;
  causal["unidirectional"] = int64_t{1};
  expect_near(run_op("com.microsoft::Attention", {x, w}, causal)[0], {1, weighted(2)}, 1e-5);
  // The second token alone, with the first one in the past.
  const Datum second = floats({2}, {1, 1, 1}), past = floats({1, 1}, {2, 1, 1, 1, 1});
  const auto out =
      run_op("com.microsoft::Attention", {second, w, Datum(), Datum(), past}, causal, 2);
  expect_near(out[0], {weighted(2)}, 1e-5);
  EXPECT_EQ(out[1].tensor().shape(), (Shape{2, 1, 1, 2, 1}));
  expect_near(out[1], {1, 2, 1, 2}, 0);
}

TEST(ContribAttention, PackedFormsAgree) {
  const Floats q{1, 2, 3, 4}, k{0.5f, -1, 2, 1}, v{3, 1, 0, 2};
  const AttrMap heads{{"num_heads", int64_t{2}}};
  const auto apart =
      run_op("com.microsoft::MultiHeadAttention",
             {floats(q, {1, 2, 2}), floats(k, {1, 2, 2}), floats(v, {1, 2, 2})}, heads, 3);
  Floats kv, qkv;
  for (size_t token = 0; token < 2; ++token) {
    for (size_t head = 0; head < 2; ++head) {
      const size_t i = token * 2 + head;
      kv.insert(kv.end(), {k[i], v[i]});
      qkv.insert(qkv.end(), {q[i], k[i], v[i]});
    }
  }
  const std::vector<double> wanted = apart[0].tensor().to_doubles();
  expect_near(run_op("com.microsoft::MultiHeadAttention",
                     {floats(q, {1, 2, 2}), floats(kv, {1, 2, 2, 2, 1})}, heads)[0],
              wanted, 1e-6);
  expect_near(run_op("com.microsoft::MultiHeadAttention", {floats(qkv, {1, 2, 2, 3, 1})}, heads)[0],
              wanted, 1e-6);
  expect_near(run_op("com.microsoft::MultiHeadAttention",
                     {floats(q, {1, 2, 2}), apart[1], apart[2]}, heads)[0],
              wanted, 1e-6);
}

// One head of size 1 whose queries are 0, so that the output is the mean of the values seen.
TEST(ContribAttention, ALoneQuerySeesAllKeys) {
  const AttrMap forward{{"num_heads", int64_t{1}}, {"unidirectional", int64_t{1}}};
  const Datum keys = floats({1, 2, 3}, {1, 3, 1}), past = floats({9, 11}, {1, 1, 2, 1});
  const std::string op = "com.microsoft::MultiHeadAttention";
  const auto queries = [](int64_t count) {
    return Datum(Tensor::zeros(DType::kFloat, {1, count, 1}));
  };
  expect_near(run_op(op, {queries(1), keys, keys}, forward)[0], {2}, 1e-6);
  expect_near(run_op(op, {queries(2), keys, keys}, forward)[0], {1, 1.5}, 1e-6);
  const std::vector<Datum> more{Datum(), Datum(), Datum(), past, past};
  std::vector<Datum> inputs{queries(1), keys, keys};
  inputs.insert(inputs.end(), more.begin(), more.end());
  expect_near(run_op(op, inputs, forward, 3)[0], {26.0 / 5}, 1e-6);
  inputs[0] = queries(2);
  expect_near(run_op(op, inputs, forward, 3)[0], {7, 23.0 / 4}, 1e-6);

  // Written out before the sizes are known.
  Graph graph;
  Vals vals;
  for (const char* length : {"queries", "keys", "keys"}) {
    const Dims dims{1, Dim::symbol(length), 1};
    vals.push_back(GraphEmitter::wrap(graph.add_input("", Type::tensor(DType::kFloat, dims))));
  }
  GraphEmitter emitter(graph);
  graph.add_output(GraphEmitter::unwrap(emitter.call_many(op, vals, forward, 1)[0]));
  inline_body(graph, *graph.nodes().back());
  const std::vector<Datum> one{queries(1), keys, keys}, two{queries(2), keys, keys};
  expect_near(evaluate(graph, one)[0], {2}, 1e-6);
  expect_near(evaluate(graph, two)[0], {1, 1.5}, 1e-6);
}

TEST(ContribRotaryEmbedding, StartsWhereItIsTold) {
  const Datum x = floats({1, 0, 1, 0}, {1, 2, 2});  // two tokens, one head of size 2
  const Datum cosine = floats({1, 0.5f, 0, -1}, {4, 1}), sine = floats({0, 0.25f, 1, 0}, {4, 1});
  const Datum start = Tensor::vector<int64_t>({1});
  expect_near(run_op("com.microsoft::RotaryEmbedding", {x, start, cosine, sine})[0],
              {0.5, 0.25, 0, 1}, 1e-6);
}

}  // namespace
}  // namespace sardonyx
