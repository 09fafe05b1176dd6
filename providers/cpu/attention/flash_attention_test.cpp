// Attention of heads against its definition in double: sizes around those of vectors, tiles and
// blocks, steps, masks, and what no sum survives.
#include "providers/cpu/attention/flash_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace sardonyx::cpu {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

// One head among others, whose rows it must not touch.
struct HeadCase {
  AttentionForm form;
  std::vector<float> queries, keys, values, added;
  std::vector<char> kept;
  int64_t before = 0;

  AttentionHead head(float* out) const {
    AttentionHead head{queries.data(), keys.data(), values.data(), out, form.keys, before, {}, {}};
    if (!added.empty()) head.added = {added.data(), form.keys, 1};
    if (!kept.empty()) head.kept = {reinterpret_cast<const bool*>(kept.data()), form.keys, 1};
    return head;
  }
};

std::vector<float> normal_numbers(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> made(static_cast<size_t>(count));
  for (float& value : made)
    value = normal(generator);
  return made;
}

// With `gap` elements between rows.
HeadCase head_case(int64_t queries, int64_t keys, int64_t size, int64_t value_size, int64_t gap) {
  HeadCase c;
  c.form.queries = queries;
  c.form.keys = keys;
  c.form.size = size;
  c.form.value_size = value_size;
  c.form.query_step = c.form.key_step = size + gap;
  c.form.value_step = c.form.out_step = value_size + gap;
  c.form.scale = 1 / std::sqrt(static_cast<float>(size));
  c.queries = normal_numbers(queries * c.form.query_step, 1);
  c.keys = normal_numbers(keys * c.form.key_step, 2);
  c.values = normal_numbers(keys * c.form.value_step, 3);
  return c;
}

bool sees(const HeadCase& c, int64_t query, int64_t key) {
  const int64_t own = c.before + query;
  if (c.form.is_causal && key > own) return false;
  return c.form.window == 0 || key > own - c.form.window;
}

double score_of(const HeadCase& c, int64_t query, int64_t key) {
  double sum = 0;
  for (int64_t i = 0; i < c.form.size; ++i)
    sum += static_cast<double>(c.queries[query * c.form.query_step + i]) *
           c.keys[key * c.form.key_step + i * c.form.key_element_step];
  sum *= c.form.scale;
  const auto at = static_cast<size_t>(query * c.form.keys + key);
  const bool is_filled = !c.kept.empty() && !c.kept[at];
  if (is_filled && !c.form.fills_last) sum = c.form.fill;
  // Numbers far below 0 round what is added to them.
  if (!c.added.empty()) sum = static_cast<float>(sum) + c.added[at];
  return is_filled && c.form.fills_last ? c.form.fill : sum;
}

// The result of one query.
std::vector<double> expected_row(const HeadCase& c, int64_t query) {
  std::vector<double> weights(static_cast<size_t>(c.form.keys), 0);
  double most = -INFINITY, sum = 0;
  for (int64_t key = 0; key < c.form.keys; ++key) {
    const bool seen = sees(c, query, key);
    weights[static_cast<size_t>(key)] = seen ? score_of(c, query, key) : -INFINITY;
    most = std::max(most, weights[static_cast<size_t>(key)]);
  }
  for (double& weight : weights)
    sum += weight = std::exp(weight - most);
  std::vector<double> row(static_cast<size_t>(c.form.value_size), 0);
  for (int64_t key = 0; key < c.form.keys; ++key) {
    double weight = weights[static_cast<size_t>(key)] / sum;
    if (c.form.zeroes_nan && std::isnan(weight)) weight = 0;
    for (size_t i = 0; i < row.size(); ++i)
      row[i] += weight * c.values[static_cast<size_t>(key * c.form.value_step) + i];
  }
  return row;
}

void check_head(const HeadCase& c, int threads = 1) {
  const HeadAttention attention(c.form, 1, threads);
  std::vector<float> out(static_cast<size_t>(c.form.queries * c.form.out_step), -7.f);
  std::vector<std::byte> scratch(attention.scratch_bytes());
  attention.run(scratch.data(), [&](int64_t) { return c.head(out.data()); });
  for (int64_t query = 0; query < c.form.queries; ++query) {
    const std::vector<double> row = expected_row(c, query);
    for (int64_t i = 0; i < c.form.out_step; ++i) {
      const double got = out[static_cast<size_t>(query * c.form.out_step + i)];
      if (i >= c.form.value_size) {
        ASSERT_EQ(got, -7) << "behind row " << query;
        continue;
      }
      const double expected = row[static_cast<size_t>(i)];
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << query << ", " << i << ": " << got;
      } else if (got != expected) {
        ASSERT_NEAR(got, expected, 4e-6) << query << ", " << i;
      }
    }
  }
}

TEST(HeadAttention, AgreesWithTheDefinition) {
  for (const int64_t queries : {1, 3, 7, 8, 13, 49, 100}) {
    for (const int64_t keys : {1, 5, 32, 33, 130, 515, 1100}) {
      SCOPED_TRACE(testing::Message() << queries << " queries, " << keys << " keys");
      check_head(head_case(queries, keys, 24, 40, 0));
      check_head(head_case(queries, keys, 5, 3, 11), 2);
    }
  }
}

TEST(HeadAttention, NoKeysGiveZeros) {
  check_head(head_case(4, 0, 8, 8, 0));
  check_head(head_case(40, 0, 8, 8, 3));
}

TEST(HeadAttention, KeysMayBeTransposed) {
  for (const int64_t queries : {2, 20}) {
    HeadCase c = head_case(queries, 77, 12, 9, 0);
    c.keys = normal_numbers(12 * 80, 5);
    c.form.key_step = 1;
    c.form.key_element_step = 80;
    check_head(c);
  }
}

TEST(HeadAttention, SeesWhatItMay) {
  for (const int64_t queries : {3, 60}) {
    for (const int64_t window : {0, 1, 20, 700}) {
      HeadCase c = head_case(queries, queries + 600, 16, 16, 0);
      c.form.is_causal = true;
      c.form.window = window;
      c.before = 600;
      check_head(c, 2);
      c.before = 0;
      check_head(c);
    }
  }
}

// Masks that leave some queries nothing to see, in one block of keys or in all.
TEST(HeadAttention, Masks) {
  for (const int64_t queries : {4, 50}) {
    for (const int64_t keys : {19, 1200}) {
      HeadCase c = head_case(queries, keys, 16, 16, 0);
      const std::vector<float> bias = normal_numbers(queries * keys, 9);
      c.kept.assign(bias.size(), 1);
      for (size_t i = 0; i < bias.size(); ++i) {
        const auto query = static_cast<int64_t>(i) / keys, key = static_cast<int64_t>(i) % keys;
        c.kept[i] = query != 2 && (query != 3 || key > 600) && bias[i] < 0.7;
      }
      for (const float fill : {-kInfinite, -10000.f, 0.5f}) {
        c.form.fill = fill;
        c.added.clear();
        check_head(c);
        c.added = bias;
        check_head(c, 2);
        c.form.fills_last = !c.form.fills_last;
        check_head(c);
      }
      c.form.fill = -kInfinite;
      c.form.zeroes_nan = true;
      check_head(c);
      c.values[5] = kInfinite;
      check_head(c);
    }
  }
}

TEST(HeadAttention, NansAndInfinities) {
  for (const int64_t queries : {4, 30}) {
    for (const float special : {NAN, kInfinite, -kInfinite}) {
      for (const int64_t key : {0, 40, 900}) {
        HeadCase c = head_case(queries, 1000, 16, 16, 0);
        c.added.assign(static_cast<size_t>(queries * 1000), 0);
        c.added[static_cast<size_t>(1000 + key)] = special;
        check_head(c);
        // A row of nothing but minus infinity, and one NaN.
        std::fill_n(c.added.begin() + 2000, 1000, -kInfinite);
        c.added[static_cast<size_t>(2000 + key)] = special;
        check_head(c);
        c.form.zeroes_nan = true;
        check_head(c);
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
