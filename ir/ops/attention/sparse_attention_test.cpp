// SparseAttention against loops over queries and keys.
#include <cmath>

#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

constexpr size_t kQueryHeads = 4, kKeyHeads = 2, kHeadSize = 4, kCacheRoom = 6, kBlockSize = 2;
const char* const kSparse = "com.microsoft::SparseAttention";

// Which blocks of keys each block of queries sees, by layout.
constexpr bool kSeen[2][3][3] = {{{true, false, false}, {true, true, false}, {false, true, true}},
                                 {{true, false, false}, {false, true, false}, {true, false, true}}};
// The same in CSR form, the columns filled up on the right.
const Datum kRows = Tensor::of<int32_t>({0, 1, 3, 5, 0, 1, 2, 4}, {2, 4});
const Datum kColumns = Tensor::of<int32_t>({0, 0, 1, 1, 2, 0, 1, 0, 2, -1}, {2, 5});

std::vector<float> spread(size_t count, size_t step) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(i * step % 17) / 6 - 1.3f);
  return values;
}

struct SparseCase {
  size_t length;
  std::vector<int32_t> lengths;
  size_t first(size_t b, size_t total) const {
    return length == total ? 0 : static_cast<size_t>(lengths[b]) - length;
  }
};

// Pairs of a head's elements rotated by the angles of `place`.
void rotate_head(float* head, size_t place, const std::vector<float>& cosines,
                 const std::vector<float>& sines) {
  for (size_t i = 0; i < kHeadSize / 2; ++i) {
    const float cosine = cosines[place * 2 + i], sine = sines[place * 2 + i];
    const float a = head[i], b = head[i + 2];
    head[i] = a * cosine - b * sine;
    head[i + 2] = a * sine + b * cosine;
  }
}

void expect_sparse(const SparseCase& given, int32_t total, bool rotates, bool packs) {
  SCOPED_TRACE(total);
  const size_t length = given.length, batch = given.lengths.size();
  std::vector<float> q = spread(batch * length * kQueryHeads * kHeadSize, 5);
  std::vector<float> k = spread(batch * length * kKeyHeads * kHeadSize, 7), v = spread(k.size(), 3);
  std::vector<float> keys = spread(batch * kKeyHeads * kCacheRoom * kHeadSize, 11),
                     values = spread(keys.size(), 13);
  const std::vector<float> cosines = spread(kCacheRoom * 2, 4), sines = spread(kCacheRoom * 2, 9);
  const auto dim = [](size_t size) { return static_cast<int64_t>(size); };
  const auto words = [&](const std::vector<float>& x, size_t width) -> Datum {
    return Tensor::of(x, {dim(batch), dim(length), dim(width)});
  };
  std::vector<float> all;
  for (size_t row = 0; row < batch * length; ++row) {
    for (const auto& [part, width] : {std::pair{&q, kQueryHeads * kHeadSize},
                                      {&k, kKeyHeads * kHeadSize},
                                      {&v, kKeyHeads * kHeadSize}}) {
      const auto begin = part->begin() + static_cast<ptrdiff_t>(row * width);
      all.insert(all.end(), begin, begin + static_cast<ptrdiff_t>(width));
    }
  }
  const Shape cache{dim(batch), kKeyHeads, kCacheRoom, kHeadSize};
  std::vector<Datum> inputs{packs ? words(all, 32) : words(q, 16),
                            packs ? none() : words(k, 8),
                            packs ? none() : words(v, 8),
                            Tensor::of(keys, cache),
                            Tensor::of(values, cache),
                            kRows,
                            kColumns,
                            Tensor::vector<int32_t>({total}),
                            Tensor::vector(given.lengths)};
  if (rotates) {
    inputs.emplace_back(Tensor::of(cosines, {kCacheRoom, 2}));
    inputs.emplace_back(Tensor::of(sines, {kCacheRoom, 2}));
  }
  const auto out = run_op(kSparse, inputs,
                          {{"num_heads", int64_t{kQueryHeads}},
                           {"kv_num_heads", int64_t{kKeyHeads}},
                           {"sparse_block_size", int64_t{kBlockSize}},
                           {"do_rotary", int64_t{rotates}},
                           {"scale", 0.4f}},
                          3);
  std::vector<double> wanted;
  for (size_t b = 0; b < batch; ++b) {
    const size_t first = given.first(b, static_cast<size_t>(total));
    for (size_t i = 0; i < length; ++i) {
      for (size_t h = 0; h < kKeyHeads; ++h) {
        const size_t from = ((b * length + i) * kKeyHeads + h) * kHeadSize;
        const size_t to = ((b * kKeyHeads + h) * kCacheRoom + first + i) * kHeadSize;
        if (rotates) rotate_head(&k[from], first + i, cosines, sines);
        std::copy_n(&k[from], kHeadSize, &keys[to]);
        std::copy_n(&v[from], kHeadSize, &values[to]);
      }
    }
    for (size_t i = 0; i < length; ++i) {
      for (size_t h = 0; h < kQueryHeads; ++h) {
        float* query = &q[((b * length + i) * kQueryHeads + h) * kHeadSize];
        const size_t place = first + i;
        if (rotates) rotate_head(query, place, cosines, sines);
        double sum = 0;
        std::vector<double> mixed(kHeadSize, 0);
        for (size_t t = 0; t <= place; ++t) {
          if (!kSeen[h % 2][place / kBlockSize][t / kBlockSize]) continue;
          const size_t at = ((b * kKeyHeads + h / 2) * kCacheRoom + t) * kHeadSize;
          double score = 0;
          for (size_t j = 0; j < kHeadSize; ++j)
            score += static_cast<double>(query[j]) * keys[at + j];
          const double weight = std::exp(score * 0.4);
          sum += weight;
          for (size_t j = 0; j < kHeadSize; ++j)
            mixed[j] += weight * values[at + j];
        }
        for (const double x : mixed)
          wanted.push_back(x / sum);
      }
    }
  }
  expect_near(out[0], wanted, 1e-4);
  expect_near(out[1], std::vector<double>(keys.begin(), keys.end()), 1e-5);
  expect_near(out[2], std::vector<double>(values.begin(), values.end()), 0);
}

TEST(SparseAttention, SeesTheBlocksOfItsLayout) {
  for (const bool rotates : {false, true}) {
    for (const bool packs : {false, true}) {
      expect_sparse({5, {5, 5}}, 5, rotates, packs);  // a prompt
      expect_sparse({5, {5, 3}}, 5, rotates, packs);  // the second row is shorter
      expect_sparse({1, {6, 6}}, 6, rotates, packs);
      expect_sparse({1, {6, 3}}, 6, rotates, packs);
      expect_sparse({2, {5, 4, 2}}, 5, rotates, packs);
    }
  }
}

TEST(SparseAttention, RefusesWhatDoesNotFit) {
  const Datum q = zeros({1, 1, 16}), kv = zeros({1, 1, 8}), past = zeros({1, 2, 6, 4}), o;
  const Datum one = Tensor::vector<int32_t>({1});
  const auto attrs = [](int64_t heads, int64_t kv_heads, int64_t block, int64_t rotates = 0) {
    return AttrMap{{"num_heads", heads},
                   {"kv_num_heads", kv_heads},
                   {"sparse_block_size", block},
                   {"do_rotary", rotates}};
  };
  const std::vector<Datum> plain{q, kv, kv, past, past, kRows, kColumns, one, one};
  std::vector<Datum> halves = plain, flat = plain, three = plain;
  halves[2] = none();
  flat[3] = zeros({1, 6, 4});
  three[5] = zeros({3, 4}, DType::kInt32);
  expect_refused(std::vector<Refused>{
      {kSparse, plain, attrs(4, 3, 2), "num_heads and kv_num_heads", kBadModel, 3},
      {kSparse, plain, attrs(4, 2, 0), "sparse_block_size: expected a positive", kBadModel, 3},
      {kSparse, halves, attrs(4, 2, 2), "inputs key and value: expected both or none", kBadModel,
       3},
      {kSparse, plain, attrs(4, 2, 2, 1), "needs the inputs cos_cache and sin", kBadModel, 3},
      {kSparse, flat, attrs(4, 2, 2), "input past_key: expected rank 4, got", kBadModel, 3},
      {kSparse, three, attrs(4, 2, 2), "divides num_heads (4), got 3", kBadModel, 3},
  });
}

}  // namespace
}  // namespace sardonyx
