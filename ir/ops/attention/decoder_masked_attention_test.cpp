// DecoderMaskedMultiHeadAttention against loops over keys.
#include <cmath>

#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

constexpr int64_t kStepRows = 2, kStepHeads = 2, kStepSize = 2, kPast = 3, kLongest = 5;
const char* const kStep = "com.microsoft::DecoderMaskedMultiHeadAttention";

std::vector<float> drawn(int64_t count, int64_t step) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(i * step % 13 - 6) / 4);
  return values;
}

struct StepCase {
  std::vector<float> query = drawn(8, 5), key = drawn(8, 7), value = drawn(8, 3);
  std::vector<float> past_key = drawn(kStepRows * kStepHeads * kLongest * kStepSize, 8),
                     past_value = drawn(kStepRows * kStepHeads * kLongest * kStepSize, 6);
  std::vector<float> bias = std::vector<float>(12, 0.f);
  std::vector<int32_t> mask = std::vector<int32_t>(8, 1);
  std::vector<float> attention_bias = std::vector<float>(8, 0.f);  // [1, heads, 1, keys]
  std::vector<int32_t> beams = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};     // of one entry
  double scale = 1 / std::sqrt(2.0);

  double row_element(const std::vector<float>& past, const std::vector<float>& fresh,
                     size_t bias_at, int64_t row, int64_t head, int64_t t, int64_t i) const {
    if (t == kPast) {
      const auto at = static_cast<size_t>(head * kStepSize + i);
      return fresh[static_cast<size_t>(row * 4) + at] + bias[bias_at + at];
    }
    const int64_t from = beams[static_cast<size_t>(row * kLongest + t)];
    return past[static_cast<size_t>(((from * kStepHeads + head) * kLongest + t) * kStepSize + i)];
  }

  // What is said to the softmax, [batch, heads, keys], and what comes out.
  void compute(std::vector<double>& scores, std::vector<double>& out) const {
    out.assign(8, 0);
    for (int64_t row = 0; row < kStepRows; ++row) {
      for (int64_t head = 0; head < kStepHeads; ++head) {
        std::vector<double> own;
        double sum = 0;
        for (int64_t t = 0; t <= kPast; ++t) {
          double score = 0;
          for (int64_t i = 0; i < kStepSize; ++i) {
            const auto at = static_cast<size_t>(head * kStepSize + i);
            score += (query[static_cast<size_t>(row * 4) + at] + bias[at]) *
                     row_element(past_key, key, 4, row, head, t, i);
          }
          score = score * scale + attention_bias[static_cast<size_t>(head * 4 + t)];
          if (mask[static_cast<size_t>(row * 4 + t)] == 0) score -= 10000;
          own.push_back(score);
          sum += std::exp(score);
        }
        for (int64_t t = 0; t <= kPast; ++t) {
          for (int64_t i = 0; i < kStepSize; ++i)
            out[static_cast<size_t>(row * 4 + head * kStepSize + i)] +=
                std::exp(own[static_cast<size_t>(t)]) / sum *
                row_element(past_value, value, 8, row, head, t, i);
        }
        scores.insert(scores.end(), own.begin(), own.end());
      }
    }
  }
};

Datum of(const std::vector<float>& values, Shape shape) {
  return Tensor::of(values, std::move(shape));
}

AttrMap sharing() {
  return {{"num_heads", int64_t{kStepHeads}}, {"past_present_share_buffer", int64_t{1}}};
}

std::vector<Datum> inputs_of(const StepCase& c) {
  const Shape word{kStepRows, 1, 4}, past{kStepRows, kStepHeads, kLongest, kStepSize};
  return {of(c.query, word),
          of(c.key, word),
          of(c.value, word),
          none(),
          none(),
          of(c.past_key, past),
          of(c.past_value, past),
          Tensor::vector<int32_t>({kPast})};
}

TEST(DecoderMaskedMultiHeadAttention, AttendsToThePastAndTheNewWord) {
  StepCase c;
  c.bias = drawn(12, 4);
  c.mask = {1, 0, 1, 1, 1, 1, 1, 1};
  c.attention_bias = drawn(8, 9);
  c.scale = 0.3;
  std::vector<Datum> inputs = inputs_of(c);
  inputs[3] = Tensor::of(c.mask, {2, 4});
  inputs[4] = of(c.attention_bias, {1, 2, 1, 4});
  inputs.resize(11);
  inputs[10] = of(c.bias, {12});
  AttrMap attrs = sharing();
  attrs["scale"] = 0.3f;
  attrs["output_qk"] = int64_t{1};
  const auto out = run_op(kStep, inputs, attrs, 4);
  std::vector<double> scores, wanted;
  c.compute(scores, wanted);
  expect_near(out[0], wanted, 1e-5);
  EXPECT_EQ(out[3].tensor().shape(), (Shape{2, 2, 1, 4}));
  expect_near(out[3], scores, 2e-3);
  // The new word stands behind the past, whose unused rows are as they were.
  const std::vector<float> present = elements<float>(out[1]);
  for (size_t at = 0; at < present.size(); ++at) {
    const size_t row = at / 20, head = at / 10 % 2, t = at / 2 % 5, i = at % 2;
    const float fresh = c.key[row * 4 + head * 2 + i] + c.bias[4 + head * 2 + i];
    EXPECT_EQ(present[at], t == kPast ? fresh : c.past_key[at]) << at;
  }
}

TEST(DecoderMaskedMultiHeadAttention, BeamsShareAPast) {
  StepCase c;
  c.beams = {0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
  std::vector<Datum> inputs = inputs_of(c);
  inputs.emplace_back(Tensor::vector<int32_t>({2}));
  inputs.emplace_back(Tensor::of(c.beams, {1, 2, kLongest}));
  std::vector<double> scores, wanted;
  c.compute(scores, wanted);
  expect_near(run_op(kStep, inputs, sharing(), 3)[0], wanted, 1e-5);
}

TEST(DecoderMaskedMultiHeadAttention, PackedQueryHoldsKeyAndValue) {
  const StepCase c;
  std::vector<Datum> inputs = inputs_of(c);
  std::vector<float> packed;
  for (ptrdiff_t row = 0; row < 2; ++row) {
    for (const std::vector<float>* part : {&c.query, &c.key, &c.value})
      packed.insert(packed.end(), part->begin() + row * 4, part->begin() + row * 4 + 4);
  }
  inputs[0] = of(packed, {2, 1, 12});
  inputs[1] = inputs[2] = none();
  std::vector<double> scores, wanted;
  c.compute(scores, wanted);
  expect_near(run_op(kStep, inputs, sharing(), 3)[0], wanted, 1e-5);
}

TEST(DecoderMaskedMultiHeadAttention, AttendsToAnEncoder) {
  // One head of size 1, so that the softmax can be done by hand.
  const Datum q = of({2}, {1, 1, 1}), k = of({1, 3, 5}, {1, 1, 3, 1}),
              v = of({1, 2, 4}, {1, 1, 3, 1});
  std::vector<Datum> inputs{q, k, v, Tensor::of<int32_t>({1, 1, 0}, {1, 3})};
  inputs.resize(11);
  inputs[10] = of({-1, 7, 7}, {3});  // keys and values have their own already
  const double a = std::exp(1.0), b = std::exp(3.0);
  expect_near(run_op(kStep, inputs, {{"num_heads", int64_t{1}}})[0], {(a + 2 * b) / (a + b)}, 1e-5);
}

TEST(DecoderMaskedMultiHeadAttention, RefusesWhatDoesNotFit) {
  const StepCase c;
  const std::vector<Datum> plain = inputs_of(c);
  const auto with = [&](size_t index, Datum value) {
    std::vector<Datum> inputs = plain;
    if (index >= inputs.size()) inputs.resize(index + 1);
    inputs[index] = std::move(value);
    return inputs;
  };
  const AttrMap attrs = sharing(), apart{{"num_heads", int64_t{kStepHeads}}};
  const Datum word = zeros({2, 1, 4}), memory = zeros({2, 2, 3, 2});
  expect_refused(std::vector<Refused>{
      {kStep, with(0, zeros({2, 3, 4})), attrs, "input query: expected [batch, 1, hidden], got"},
      {kStep, with(2, none()), attrs, "inputs key and value: expected both or none"},
      {kStep, with(3, Tensor::vector<int32_t>({4, 4})), attrs,
       "mask_index: expected [batch, keys]"},
      {kStep, plain, apart, "expected the attribute past_present_share_buffer as 1"},
      {kStep, with(7, none()), attrs, "input past_sequence_length beside them"},
      {kStep, with(1, memory), attrs, "input key: beside a past, expected [batch, 1, hidden]"},
      {kStep, {word, word, word}, apart, "without a past, expected those of an encoder"},
      {kStep,
       {word, memory, memory, none(), zeros({1, 1, 1, 3})},
       apart,
       "input attention_bias goes with a past alone",
       kNotSupported},
      {kStep, with(8, Tensor::vector<int32_t>({2})), attrs, "2 beams need the input cache_ind"},
  });
}

}  // namespace
}  // namespace sardonyx
