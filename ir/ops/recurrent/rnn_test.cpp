#include "ir/ops/recurrent/rnn.h"

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

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// An LSTM of one unit and one input, written out.
struct Unit {
  double w[4], r[4], wb[4], rb[4], p[3];  // i, o, f, c
  double h = 0, c = 0;
  void step(double x) {
    const auto gate = [&](int k) { return w[k] * x + r[k] * h + wb[k] + rb[k]; };
    const double input = sigmoid(gate(0) + p[0] * c), forget = sigmoid(gate(2) + p[2] * c);
    const double cell = std::tanh(gate(3));
    const double next = forget * c + input * cell;
    h = sigmoid(gate(1) + p[1] * next) * std::tanh(next);
    c = next;
  }
};

TEST(Lstm, BothDirectionsAgreeWithOneUnitWrittenOut) {
  constexpr int64_t kLength = 4;
  const int32_t lengths[] = {4, 2};
  const Tensor x = wave({kLength, 2, 1}, 0), w = wave({2, 4, 1}, 1), r = wave({2, 4, 1}, 2);
  const Tensor b = wave({2, 8}, 3), h = wave({2, 2, 1}, 4), c = wave({2, 2, 1}, 5);
  const Tensor p = wave({2, 3}, 6);
  const Tensor lens = Tensor::vector<int32_t>({lengths[0], lengths[1]});
  LstmAttrs attrs;
  attrs.direction = "bidirectional";
  const std::vector<Datum> inputs{x, w, r, b, lens, h, c, p};
  const std::vector<Datum> out = evaluate(op_named("LSTM"), attrs, inputs, 3);
  for (size_t direction = 0; direction < 2; ++direction) {
    for (size_t batch = 0; batch < 2; ++batch) {
      Unit unit{};
      for (size_t k = 0; k < 4; ++k) {
        unit.w[k] = w.values<double>()[direction * 4 + k];
        unit.r[k] = r.values<double>()[direction * 4 + k];
        unit.wb[k] = b.values<double>()[direction * 8 + k];
        unit.rb[k] = b.values<double>()[direction * 8 + 4 + k];
        if (k < 3) unit.p[k] = p.values<double>()[direction * 3 + k];
      }
      unit.h = h.values<double>()[direction * 2 + batch];
      unit.c = c.values<double>()[direction * 2 + batch];
      const auto length = static_cast<size_t>(lengths[batch]);
      for (size_t i = 0; i < kLength; ++i) {
        const size_t t = direction == 0 || i >= length ? i : length - 1 - i;
        if (i < length) unit.step(x.values<double>()[t * 2 + batch]);
        const double y = out[0].tensor().values<double>()[(t * 2 + direction) * 2 + batch];
        EXPECT_NEAR(y, i < length ? unit.h : 0, 1e-14);
      }
      EXPECT_NEAR(out[1].tensor().values<double>()[direction * 2 + batch], unit.h, 1e-14);
      EXPECT_NEAR(out[2].tensor().values<double>()[direction * 2 + batch], unit.c, 1e-14);
    }
  }
}

// Layout 1 is layout 0 with batch and sequence (or direction) swapped.
TEST(Gru, LayoutsAgree) {
  const Tensor x0 = wave({3, 1, 2}, 0), x1 = x0.reshaped({1, 3, 2});
  const Tensor w = wave({1, 6, 2}, 1), r = wave({1, 6, 2}, 2);
  for (const bool linear_before_reset : {false, true}) {
    GruAttrs attrs;
    attrs.linear_before_reset = linear_before_reset;
    const std::vector<Datum> first{x0, w, r}, second{x1, w, r};
    const std::vector<Datum> a = evaluate(op_named("GRU"), attrs, first, 2);
    attrs.layout = 1;
    const std::vector<Datum> b = evaluate(op_named("GRU"), attrs, second, 2);
    EXPECT_EQ(a[0].tensor().reshaped({1, 3, 1, 2}), b[0].tensor());
    EXPECT_EQ(a[1].tensor(), b[1].tensor());
  }
}

TEST(RecurrentSpec, ValuesGoToTheFunctionsThatTakeThem) {
  LstmAttrs attrs;
  attrs.activations = {"Sigmoid", "LeakyRelu", "HARDSIGMOID"};
  attrs.activation_alpha = {0.3f};
  attrs.activation_beta = {0.7f};
  const RecurrentSpec spec = recurrent_spec(op_named("LSTM"), attrs);
  EXPECT_EQ(spec.activations[1].alpha, 0.3f);
  EXPECT_EQ(spec.activations[2].alpha, 0.2f);  // its default: the list is used up
  EXPECT_EQ(spec.activations[2].beta, 0.7f);
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  const Tensor x = wave({3, 2, 2}, 0), w = wave({1, 4, 2}, 1), r = wave({1, 4, 4}, 2);
  const auto run = [&](RnnAttrs attrs, std::vector<Datum> more) {
    std::vector<Datum> inputs{x, w, r, Datum()};
    inputs.insert(inputs.end(), more.begin(), more.end());
    evaluate(op_named("RNN"), attrs, inputs, 2);
  };
  EXPECT_NO_THROW(run({}, {Tensor::vector<int32_t>({3, 0})}));
  EXPECT_THROW(run({}, {Tensor::vector<int32_t>({4, 1})}), Error);
  EXPECT_THROW(run({}, {Tensor::vector<int32_t>({-1, 1})}), Error);
  EXPECT_THROW(run({}, {Tensor::vector<int32_t>({1})}), Error);
  RnnAttrs unknown;
  unknown.activations = {"Swish"};
  EXPECT_THROW(run(unknown, {}), Error);
  RnnAttrs both;
  both.direction = "bidirectional";
  EXPECT_THROW(run(both, {}), Error);
  RnnAttrs larger;
  larger.hidden_size = 5;
  EXPECT_THROW(run(larger, {}), Error);
}

}  // namespace
}  // namespace sardonyx::ops
