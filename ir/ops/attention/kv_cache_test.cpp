// Caches of com.microsoft's attention ops: with space for more words, shared by beams, as long as a
// window, quantized. Each is compared with a plain cache.
#include <cmath>

#include "ir/op_samples.h"
#include "ir/ops/attention/group_query_attention.h"
#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

Tensor drawn(const Shape& shape, uint64_t seed) {
  return drawn_tensor(DType::kFloat, shape, -1, 1, seed);
}

Tensor int32s(const std::vector<int32_t>& values) {
  return Tensor::vector<int32_t>(values);
}

// Rows [0, rows) along dim `axis` (rank - 2) of a cache, with zeros up to `length` behind them.
Tensor with_length(const Tensor& cache, int64_t rows, int64_t length) {
  Shape shape = cache.shape();
  const int64_t size = shape.back(), old = shape[shape.size() - 2];
  shape[shape.size() - 2] = length;
  Tensor out = Tensor::zeros(DType::kFloat, shape);
  const auto from = cache.values<float>();
  const auto to = out.mutable_values<float>();
  for (int64_t line = 0; line < cache.count() / (old * size); ++line) {
    for (int64_t i = 0; i < rows * size; ++i) {
      to[static_cast<size_t>(line * length * size + i)] =
          from[static_cast<size_t>(line * old * size + i)];
    }
  }
  return out;
}

TEST(ContribAttention, WritesIntoABufferThatHasRoom) {
  const Datum x = drawn({2, 3, 4}, 1), weights = drawn({4, 12}, 2);
  const Tensor past = drawn({2, 2, 2, 5, 2}, 3);
  AttrMap attrs{{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}};
  const auto plain =
      run_op("com.microsoft::Attention", {x, weights, Datum(), Datum(), past}, attrs, 2);
  attrs["past_present_share_buffer"] = int64_t{1};
  const Tensor buffer = with_length(past, 5, 10);
  const auto shared =
      run_op("com.microsoft::Attention",
             {x, weights, Datum(), Datum(), buffer, Datum(), int32s({5})}, attrs, 2);
  expect_near(shared[0], plain[0].tensor().to_doubles(), 1e-6);
  expect_near(shared[1], with_length(plain[1].tensor(), 8, 10).to_doubles(), 1e-6);
  EXPECT_NE(error_of("com.microsoft::Attention", {x, weights, Datum(), Datum(), buffer}, attrs),
            "");
}

TEST(ContribAttention, TurnsQueriesAndKeys) {
  constexpr int64_t kSize = 4;
  std::vector<float> thrice(kSize * 3 * kSize, 0.f);
  for (size_t i = 0; i < kSize; ++i) {
    for (size_t part = 0; part < 3; ++part)
      thrice[i * 3 * kSize + part * kSize + i] = 1;
  }
  const Tensor x = drawn({1, 3, kSize}, 4);
  const auto rotated =
      run_op("com.microsoft::Attention", {x, Tensor::of(thrice, {kSize, 3 * kSize})},
             {{"num_heads", int64_t{1}}, {"do_rotary", int64_t{1}}});
  std::vector<float> cosines, sines;
  for (int place = 0; place < 3; ++place) {
    for (int i = 0; i < 2; ++i) {
      cosines.push_back(
          std::cos(static_cast<float>(place) * std::pow(100.f, -static_cast<float>(i))));
      sines.push_back(
          std::sin(static_cast<float>(place) * std::pow(100.f, -static_cast<float>(i))));
    }
  }
  const auto by_hand =
      run_op("RotaryEmbedding", {x, Tensor::of(cosines, {1, 3, 2}), Tensor::of(sines, {1, 3, 2})},
             {{"num_heads", int64_t{1}}});
  const auto wanted = run_op("com.microsoft::MultiHeadAttention", {by_hand[0], by_hand[0], x},
                             {{"num_heads", int64_t{1}}});
  expect_near(rotated[0], wanted[0].tensor().to_doubles(), 1e-6);
}

TEST(MultiHeadAttention, BeamsReadWhatOthersWrote) {
  const Datum q = drawn({2, 1, 4}, 5), k = drawn({2, 1, 4}, 6), v = drawn({2, 1, 4}, 7);
  const Tensor past_key = drawn({2, 2, 3, 2}, 8), past_value = drawn({2, 2, 3, 2}, 9);
  const std::vector<int32_t> made_by{0, 1, 1, 9, 9, 0, 1, 0, 9, 9};  // [1, 2 beams, 5 words]
  const auto picked = [&](const Tensor& past) {
    Tensor out = past.clone();
    for (int64_t beam = 0; beam < 2; ++beam) {
      for (int64_t head = 0; head < 2; ++head) {
        for (int64_t word = 0; word < 3; ++word) {
          const int64_t from = made_by[static_cast<size_t>(beam * 5 + word)];
          for (int64_t i = 0; i < 2; ++i) {
            const int64_t place = (head * 3 + word) * 2 + i;
            out.mutable_values<float>()[static_cast<size_t>(beam * 12 + place)] =
                past.values<float>()[static_cast<size_t>(from * 12 + place)];
          }
        }
      }
    }
    return out;
  };
  const AttrMap heads{{"num_heads", int64_t{2}}};
  const Datum none;
  const auto wanted =
      run_op("com.microsoft::MultiHeadAttention",
             {q, k, v, none, none, none, picked(past_key), picked(past_value)}, heads);
  const auto got =
      run_op("com.microsoft::MultiHeadAttention",
             {q, k, v, none, none, none, with_length(past_key, 3, 5), with_length(past_value, 3, 5),
              int32s({3}), Tensor::of<int32_t>(made_by, {1, 2, 5})},
             heads, 3);
  expect_near(got[0], wanted[0].tensor().to_doubles(), 1e-6);
  EXPECT_EQ(got[1].tensor().shape(), (Shape{2, 2, 5, 2}));
  EXPECT_EQ(got[1].tensor().values<float>()[0], past_key.values<float>()[0]);
  EXPECT_EQ(got[1].tensor().values<float>()[6], k.tensor().values<float>()[0]);
}

// ---- GroupQueryAttention

TEST(GroupQueryAttention, ResidentRowsKeepTheWindow) {
  EXPECT_EQ(ops::resident_rows(5, 6, 4), 5);
  EXPECT_EQ(ops::resident_rows(7, 6, 4), 4);  // groups of three are evicted
  EXPECT_EQ(ops::resident_rows(9, 6, 4), 6);
  EXPECT_EQ(ops::resident_rows(10, 6, 4), 4);
  EXPECT_EQ(ops::resident_rows(10, 4, 4), 4);
}

constexpr int64_t kHead = 4;

std::vector<Datum> grouped_inputs(const Tensor& tokens, const Datum& past_key,
                                  const Datum& past_value, int32_t total) {
  const int64_t length = tokens.shape()[1];
  const Tensor keys = drawn({1, 20, kHead}, 21), values = drawn({1, 20, kHead}, 22);
  const auto part = [&](const Tensor& all) {
    Tensor out = Tensor::allocate(DType::kFloat, {1, length, kHead});
    const auto from = all.values<float>().subspan(static_cast<size_t>((total - length) * kHead));
    std::copy_n(from.begin(), length * kHead, out.mutable_values<float>().begin());
    return out;
  };
  return {tokens,
          part(keys),
          part(values),
          past_key,
          past_value,
          int32s({total - 1}),
          Tensor::scalar<int32_t>(total)};
}

TEST(GroupQueryAttention, AWindowOfTheCacheGivesWhatTheWholeGives) {
  AttrMap attrs{
      {"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}, {"local_window_size", int64_t{3}}};
  AttrMap windowed = attrs;
  windowed["sliding_window_cache"] = int64_t{1};
  for (const int64_t capacity : {3, 4, 6}) {
    Datum key = Tensor::zeros(DType::kFloat, {1, 1, 0, kHead}), value = key;
    Datum near_key = Tensor::zeros(DType::kFloat, {1, 1, capacity, kHead}), near_value = near_key;
    int32_t total = 0;
    for (const int64_t length : {5, 1, 1, 4, 1}) {
      total += static_cast<int32_t>(length);
      const Tensor tokens = drawn({1, length, 2 * kHead}, static_cast<uint64_t>(30 + total));
      const auto whole = run_op("com.microsoft::GroupQueryAttention",
                                grouped_inputs(tokens, key, value, total), attrs, 3);
      const auto window = run_op("com.microsoft::GroupQueryAttention",
                                 grouped_inputs(tokens, near_key, near_value, total), windowed, 3);
      expect_near(window[0], whole[0].tensor().to_doubles(), 1e-5);
      const int64_t kept = ops::resident_rows(total, capacity, 3);
      const auto last =
          whole[1].tensor().values<float>().subspan(static_cast<size_t>((total - kept) * kHead));
      const auto rows = window[1].tensor().values<float>();
      for (size_t i = 0; i < static_cast<size_t>(kept * kHead); ++i)
        EXPECT_EQ(rows[i], last[i]);
      key = whole[1], value = whole[2];
      near_key = window[1], near_value = window[2];
    }
  }
}

// Whole numbers of steps, so that nothing is lost by storing them.
TEST(GroupQueryAttention, QuantizedCaches) {
  constexpr float kStep = 0.25f;
  const std::vector<float> new_key{0.5f, -2, 1.75f, 0}, new_value{-0.25f, 1, 0.75f, -1.5f};
  std::vector<float> past;
  for (int i = 0; i < 8; ++i)
    past.push_back(static_cast<float>(i * 5 % 16 - 8) * kStep);
  const Tensor query = drawn({1, 1, 2 * kHead}, 40);
  const AttrMap attrs{{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}};
  const auto inputs = [&](const Datum& cache) {
    return std::vector<Datum>{query,
                              Tensor::of(new_key, {1, 1, kHead}),
                              Tensor::of(new_value, {1, 1, kHead}),
                              cache,
                              cache,
                              int32s({2}),
                              Tensor::scalar<int32_t>(3)};
  };
  const auto wanted = run_op("com.microsoft::GroupQueryAttention",
                             inputs(Tensor::of(past, {1, 1, 2, kHead})), attrs, 3);
  std::vector<int8_t> bytes;
  std::vector<Float8E4M3FN> floats;
  std::vector<uint8_t> halves(4, 0);
  for (size_t i = 0; i < past.size(); ++i) {
    const int code = static_cast<int>(past[i] / kStep);
    bytes.push_back(static_cast<int8_t>(code));
    floats.emplace_back(static_cast<float>(code));
    halves[i / 2] = static_cast<uint8_t>(halves[i / 2] | (code + 8) << (i % 2 ? 4 : 0));
  }
  const Tensor caches[] = {Tensor::of(bytes, {1, 1, 2, kHead}),
                           Tensor::of(floats, {1, 1, 2, kHead}),
                           Tensor::of(halves, {1, 1, 2, kHead / 2})};
  for (const Tensor& cache : caches) {
    SCOPED_TRACE(text(cache.dtype()));
    AttrMap quantized = attrs;
    quantized["kv_cache_bit_width"] = int64_t{cache.dtype() == DType::kUInt8 ? 4 : 8};
    quantized["k_quant_type"] = std::string("PER_TENSOR");
    quantized["v_quant_type"] = std::string("PER_CHANNEL");
    std::vector<Datum> given = inputs(cache);
    given.resize(14);
    given[12] = Tensor::vector<float>({kStep});
    given[13] = Tensor::of<float>(std::vector<float>(kHead, kStep), {1, 1, 1, kHead});
    const auto got = run_op("com.microsoft::GroupQueryAttention", given, quantized, 3);
    expect_near(got[0], wanted[0].tensor().to_doubles(), 1e-5);
    // The new row behind the old ones: key {2, -8, 7, 0} in steps.
    const std::vector<double> codes = got[1].tensor().to_doubles();
    const std::vector<double> row(codes.end() - (cache.dtype() == DType::kUInt8 ? 2 : 4),
                                  codes.end());
    EXPECT_EQ(row, cache.dtype() == DType::kUInt8 ? (std::vector<double>{0x0a, 0x8f})
                                                  : (std::vector<double>{2, -8, 7, 0}));
  }
}

// Beyond the largest float8 a step cannot go, nor beyond the largest int8.
TEST(GroupQueryAttention, QuantizedCachesAreHeldInRange) {
  const std::vector<float> rows{1000, -1000, 0.3f, 1};
  const AttrMap attrs{{"num_heads", int64_t{1}},
                      {"kv_num_heads", int64_t{1}},
                      {"kv_cache_bit_width", int64_t{8}},
                      {"k_quant_type", std::string("PER_TENSOR")},
                      {"v_quant_type", std::string("PER_TENSOR")}};
  const auto last = [&](const Tensor& cache) {
    std::vector<Datum> given{drawn({1, 1, kHead}, 41),
                             Tensor::of(rows, {1, 1, kHead}),
                             Tensor::of(rows, {1, 1, kHead}),
                             cache,
                             cache,
                             int32s({0}),
                             Tensor::scalar<int32_t>(1)};
    given.resize(14);
    given[12] = given[13] = Tensor::vector<float>({1});
    return run_op("com.microsoft::GroupQueryAttention", given, attrs, 3)[1].tensor().to_doubles();
  };
  EXPECT_EQ(last(Tensor::zeros(DType::kInt8, {1, 1, 0, kHead})),
            (std::vector<double>{127, -128, 0, 1}));
  EXPECT_EQ(last(Tensor::zeros(DType::kFloat8E4M3FN, {1, 1, 0, kHead})),
            (std::vector<double>{448, -448, 0.3125, 1}));
}

}  // namespace
}  // namespace sardonyx
