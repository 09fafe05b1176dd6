#include "ir/ops/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/reference_evaluator.h"

namespace sardonyx::ops {
namespace {

Tensor wave(const Shape& shape, double phase) {
  Tensor tensor = Tensor::allocate(DType::kDouble, shape);
  for (double& x : tensor.mutable_values<double>())
    x = std::sin(phase += 0.7);
  return tensor;
}

std::vector<Tensor> attend(const AttentionAttrs& attrs, std::vector<Datum> inputs,
                           size_t outputs = 1) {
  std::vector<Tensor> results;
  for (const Datum& out : evaluate(op_named("Attention"), attrs, inputs, outputs)) {
    results.push_back(out.tensor());
  }
  return results;
}

void expect_near(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (size_t i = 0; i < a.values<double>().size(); ++i) {
    EXPECT_NEAR(a.values<double>()[i], b.values<double>()[i], 1e-14);
  }
}

TEST(Attention, SharedHeadsAreRepeatedHeads) {
  const Tensor q = wave({1, 4, 3, 2}, 0), k = wave({1, 2, 5, 2}, 1), v = wave({1, 2, 5, 3}, 2);
  const auto repeated = [](const Tensor& x) {
    const Tensor heads = Tensor::vector<int64_t>({0, 0, 1, 1});
    const std::vector<Datum> inputs{x, heads};
    const OpDef& gather = op_named("Gather");
    const Attrs axis = Attrs::parse(*gather.attrs, {{"axis", int64_t{1}}});
    return evaluate(gather, axis, inputs, 1)[0].tensor();
  };
  expect_near(attend({}, {q, k, v})[0], attend({}, {q, repeated(k), repeated(v)})[0]);
}

TEST(Attention, PackedHeadsAreTransposedHeads) {
  // With a single position both layouts hold the same elements in the same order.
  const Tensor q = wave({2, 4, 1, 2}, 0), k = wave({2, 2, 1, 2}, 1), v = wave({2, 2, 1, 3}, 2);
  AttentionAttrs packed;
  packed.q_num_heads = 4;
  packed.kv_num_heads = 2;
  const Tensor y = attend({}, {q, k, v})[0];
  const Tensor z =
      attend(packed, {q.reshaped({2, 1, 8}), k.reshaped({2, 1, 4}), v.reshaped({2, 1, 6})})[0];
  expect_near(y.reshaped({2, 1, 12}), z);
}

// The last query of a whole sequence sees what a single query behind a cache sees.
TEST(Attention, CachedStepIsTheLastRow) {
  const Tensor q = wave({1, 1, 4, 2}, 0), k = wave({1, 1, 4, 2}, 1), v = wave({1, 1, 4, 2}, 2);
  AttentionAttrs causal;
  causal.is_causal = true;
  const Tensor whole = attend(causal, {q, k, v})[0];
  const auto rows = [](const Tensor& x, int64_t begin, int64_t end) {
    return x.reshaped({4, 2}).slice(begin, end).reshaped({1, 1, end - begin, 2});
  };
  const std::vector<Tensor> step = attend(
      causal, {rows(q, 3, 4), rows(k, 3, 4), rows(v, 3, 4), Datum(), rows(k, 0, 3), rows(v, 0, 3)},
      3);
  expect_near(step[0], rows(whole, 3, 4));
  expect_near(step[1], k);
  expect_near(step[2], v);
  // The same where the cache is in K and V themselves, with capacity behind it.
  const Tensor lengths = Tensor::vector<int64_t>({3});
  const Tensor second =
      attend(causal, {rows(q, 1, 3), k, v, Datum(), Datum(), Datum(), lengths})[0];
  expect_near(second, rows(whole, 1, 3));
}

TEST(Attention, MasksAgree) {
  const Tensor q = wave({1, 2, 2, 2}, 0), k = wave({1, 2, 3, 2}, 1), v = wave({1, 2, 3, 2}, 2);
  const double low = -std::numeric_limits<double>::infinity();
  const Tensor as_bool = Tensor::of<bool>({true, false, false, true, true, false}, {2, 3});
  const Tensor as_bias = Tensor::of<double>({0, low, low, 0, 0, low}, {2, 3});
  const Tensor is_short = Tensor::of<bool>({true, false, true, true}, {2, 2});
  AttentionAttrs causal;
  causal.is_causal = true;
  const Tensor expected = attend(causal, {q, k, v})[0];
  for (const Tensor& mask : {as_bool, as_bias, is_short}) {
    expect_near(attend({}, {q, k, v, mask})[0], expected);
  }
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const Tensor q = wave({1, 3, 2, 2}, 0), k = wave({1, 2, 3, 2}, 1), one = wave({1, 1, 3, 2}, 2);
  EXPECT_THROW(attend({}, {q, k, k}), Error);                    // 3 heads are no multiple of 2
  EXPECT_THROW(attend({}, {q, one, k}), Error);                  // K and V differ
  EXPECT_THROW(attend({}, {q, one, one, Datum(), one}), Error);  // past_key without past_value
  EXPECT_THROW(attend({}, {q, one, one, wave({5, 3}, 0)}), Error);
  EXPECT_THROW(attend({}, {wave({1, 2, 4}, 0), wave({1, 2, 4}, 0), wave({1, 2, 4}, 0)}), Error);
  const Tensor beyond = Tensor::vector<int64_t>({4});
  EXPECT_THROW(attend({}, {q, one, one, Datum(), Datum(), Datum(), beyond}), Error);
  AttentionAttrs none;
  none.q_num_heads = none.kv_num_heads = 0;
  EXPECT_THROW(attend(none, {q, one, one}), Error);
}

TEST(RotaryEmbedding, TurnsPairs) {
  // A quarter turn maps (a, b) to (-b, a).
  const Tensor x = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {1, 1, 1, 6});
  const Tensor cosine = Tensor::of<float>({0, 0}, {1, 2}), sine = Tensor::of<float>({1, 1}, {1, 2});
  const Tensor position = Tensor::of<int64_t>({0}, {1, 1});
  RotaryEmbeddingAttrs attrs;
  attrs.rotary_embedding_dim = 4;
  const auto run = [&](const Tensor& positions) {
    const std::vector<Datum> inputs{x, cosine, sine, positions};
    return evaluate(op_named("RotaryEmbedding"), attrs, inputs, 1)[0].tensor();
  };
  EXPECT_EQ(run(position), Tensor::of<float>({-3, -4, 1, 2, 5, 6}, {1, 1, 1, 6}));
  attrs.interleaved = true;
  EXPECT_EQ(run(position), Tensor::of<float>({-2, 1, -4, 3, 5, 6}, {1, 1, 1, 6}));
  for (const int64_t bad : {-1, 1})
    EXPECT_THROW(run(Tensor::of<int64_t>({bad}, {1, 1})), Error);
}

}  // namespace
}  // namespace sardonyx::ops
