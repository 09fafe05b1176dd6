#include "providers/cpu/attention/flash_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "providers/cpu/attention/attention_kernel.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/gemm/gemv_f32.h"

namespace sardonyx::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// With fewer queries, arranging keys and values takes longer than it saves.
constexpr int64_t kMinPackedQueries = 5;
// Queries of a block.
constexpr int64_t kQueriesPerBlock = 48;
// Floats of the keys, values and scores of a block: a second-level cache holds them.
constexpr int64_t kBlockFloats = int64_t{1} << 17;
constexpr int64_t kMaxKeysPerBlock = 512;

int64_t padded(int64_t count, int64_t unit = kGemmF32Unit) {
  return (count + unit - 1) / unit * unit;
}

ScoreMasks masks_of(const AttentionForm& form, const AttentionHead& head, int64_t query,
                    int64_t key) {
  ScoreMasks masks{form.fill, form.fills_last};
  if (head.added.at) {
    masks.added = head.added.at + query * head.added.query_step + key * head.added.key_step;
    masks.added_steps = head.added.key_step != 0;
  }
  if (head.kept.at) {
    masks.kept = head.kept.at + query * head.kept.query_step + key * head.kept.key_step;
    masks.kept_steps = head.kept.key_step != 0;
  }
  return masks;
}

}  // namespace

// Queries against a block of keys.
struct HeadAttention::Block {
  KeyRange queries, keys;
  bool is_first;  // nothing is in the sums of these queries yet
};

// The scratch of one thread. Of query i of a task are greatest[i], sums[i].
struct HeadAttention::Work {
  float *keys, *values, *scores, *zeros, *greatest, *sums;
};

HeadAttention::HeadAttention(const AttentionForm& form, int64_t heads, int threads)
    : f_(form), heads_(heads) {
  is_packed_ = f_.queries >= kMinPackedQueries;
  const double work = static_cast<double>(heads * f_.queries) * static_cast<double>(f_.keys) *
                      static_cast<double>(f_.size + f_.value_size);
  threads_ = static_cast<int>(std::min<double>(threads, work / kElementsPerThread + 1));
  // Each share of a head's queries arranges the keys anew.
  const bool is_even = heads % threads_ == 0 || heads >= 4 * threads_;
  if (!is_even) shares_ = std::clamp<int64_t>(f_.queries / kQueriesPerBlock, 1, threads_);
  queries_per_block_ = kQueriesPerBlock;
  const int64_t per_key = f_.size + f_.value_size + queries_per_block_;
  keys_per_block_ = std::clamp(kBlockFloats / per_key / kGemmF32Unit * kGemmF32Unit, kGemmF32Unit,
                               kMaxKeysPerBlock);
  if (!is_packed_ || keys_per_block_ > f_.keys) keys_per_block_ = padded(f_.keys);
  plan_scratch();
}

void HeadAttention::plan_scratch() {
  const auto reserve = [&](int64_t floats) {
    const int64_t at = floats_per_thread_;
    floats_per_thread_ += padded(floats);
    return at;
  };
  if (is_packed_) {
    keys_at_ = reserve(packed_gemm_f32_size(f_.size, keys_per_block_));
    values_at_ = reserve(packed_gemm_f32_size(keys_per_block_, f_.value_size));
    zeros_at_ = reserve(std::max(keys_per_block_, padded(f_.value_size)));
  }
  // Off the powers of two, so that rows do not meet in one place of a cache.
  score_step_ = keys_per_block_ + 16;
  scores_at_ = reserve(std::min(f_.queries, queries_per_block_) * score_step_);
  state_at_ = reserve(2 * (f_.queries / shares_ + 1));
}

size_t HeadAttention::scratch_bytes() const {
  return static_cast<size_t>(threads_ * floats_per_thread_) * sizeof(float);
}

HeadAttention::KeyRange HeadAttention::seen(const AttentionHead& head, int64_t query) const {
  const int64_t own = head.before + query + 1;
  const int64_t end = f_.is_causal ? std::min(own, head.key_count) : head.key_count;
  const int64_t begin = f_.window > 0 ? std::max<int64_t>(0, own - f_.window) : 0;
  return {std::min(begin, end), end};
}

void HeadAttention::run_queries(const AttentionHead& head, int64_t first, int64_t last,
                                float* scratch, const CancelFlag& sign) const {
  const Work work{
      scratch + keys_at_,          scratch + values_at_,
      scratch + scores_at_,        scratch + zeros_at_,
      scratch + state_at_ - first, scratch + state_at_ + (f_.queries / shares_ + 1) - first};
  std::fill(work.greatest + first, work.greatest + last, -kInfinity);
  std::fill(work.sums + first, work.sums + last, 0.0f);
  if (is_packed_) std::fill(work.zeros, scratch + scores_at_, 0.0f);
  const KeyRange all{seen(head, first).begin, seen(head, last - 1).end};
  for (int64_t key = all.begin; key < all.end; key += keys_per_block_) {
    const KeyRange keys{key, std::min(all.end, key + keys_per_block_)};
    if (is_packed_) pack(head, keys, work);
    for (int64_t query = first; query < last; query += queries_per_block_) {
      const KeyRange queries{query, std::min(last, query + queries_per_block_)};
      const KeyRange some{seen(head, queries.begin).begin, seen(head, queries.end - 1).end};
      if (some.begin >= keys.end || some.end <= keys.begin) continue;
      if (sign.ask()) return;
      run_block(head, {queries, keys, some.begin >= keys.begin}, work);
    }
  }
  finish(head, first, last, work);
}

void HeadAttention::run_block(const AttentionHead& head, const Block& block,
                              const Work& work) const {
  score(head, block, work);
  weigh(head, block, work);
  mix(head, block, work);
}

void HeadAttention::pack(const AttentionHead& head, KeyRange keys, const Work& work) const {
  const int64_t count = keys.end - keys.begin;
  pack_gemm_f32(head.keys + keys.begin * f_.key_step, f_.key_step, f_.key_element_step, f_.size,
                count, work.keys);
  pack_gemm_f32(head.values + keys.begin * f_.value_step, 1, f_.value_step, count, f_.value_size,
                work.values);
}

void HeadAttention::score(const AttentionHead& head, const Block& block, const Work& work) const {
  const auto [begin, end] = block.keys;
  const float* queries = head.queries + block.queries.begin * f_.query_step;
  const float* keys = head.keys + begin * f_.key_step;
  const auto count = static_cast<size_t>(block.queries.end - block.queries.begin);
  if (is_packed_) {
    const GemmF32Args product{queries,     work.keys,     work.zeros,  nullptr,
                              work.scores, f_.query_step, score_step_, f_.size,
                              end - begin, -kInfinity,    kInfinity};
    return run_gemm_f32(product, 0, static_cast<int64_t>(count), 0, end - begin);
  }
  GemvArgs<float> product{queries,
                          static_cast<size_t>(f_.query_step),
                          keys,
                          static_cast<size_t>(f_.key_step),
                          work.scores,
                          static_cast<size_t>(score_step_),
                          count,
                          static_cast<size_t>(f_.size),
                          static_cast<size_t>(end - begin)};
  if (f_.key_element_step == 1) return gemv_transposed(product);
  product.b_step = static_cast<size_t>(f_.key_element_step);
  gemv(product);
}

// Whether the scores of all queries with all keys count, as they are.
bool HeadAttention::sees_all(const AttentionHead& head, const Block& block) const {
  if (head.added.at || head.kept.at || f_.scale <= 0) return false;
  return seen(head, block.queries.begin).end >= block.keys.end &&
         seen(head, block.queries.end - 1).begin <= block.keys.begin;
}

// Online softmax: exponentiates the scores, and rescales the accumulated sums to the new maximum.
void HeadAttention::weigh(const AttentionHead& head, const Block& block, const Work& work) const {
  const auto [begin, end] = block.keys;
  if (block.is_first && sees_all(head, block)) {
    const auto queries = static_cast<size_t>(block.queries.end - block.queries.begin);
    const AttentionRows scores{work.scores, static_cast<size_t>(score_step_), queries,
                               static_cast<size_t>(end - begin)};
    return weigh_rows(scores, f_.scale, work.greatest + block.queries.begin,
                      work.sums + block.queries.begin);
  }
  for (int64_t i = block.queries.begin; i < block.queries.end; ++i) {
    float* row = work.scores + (i - block.queries.begin) * score_step_;
    const KeyRange own = seen(head, i);
    const int64_t from = std::clamp(own.begin, begin, end), to = std::clamp(own.end, from, end);
    std::fill(row, row + (from - begin), 0.0f);
    std::fill(row + (to - begin), row + (end - begin), 0.0f);
    if (from == to) continue;
    float* scores = row + (from - begin);
    const auto count = static_cast<size_t>(to - from);
    const bool scales_later = !head.added.at && !head.kept.at && f_.scale > 0;
    const float most = scales_later
                           ? f_.scale * greatest_score(scores, count)
                           : scale_scores(scores, count, f_.scale, masks_of(f_, head, i, from));
    const float before = work.greatest[i], now = std::max(before, most);
    // Minus infinities alone give weights of 0, and so a sum of 0.
    const float shift = now == -kInfinity ? 0 : now;
    const float sum = exponentials(scores, count, scales_later ? f_.scale : 1, shift);
    work.greatest[i] = now;
    if (before == now || block.is_first) {
      work.sums[i] += sum;
      continue;
    }
    const float share = std::exp(before - shift);
    work.sums[i] = work.sums[i] * share + sum;
    scale_row(head.out + i * f_.out_step, static_cast<size_t>(f_.value_size), share);
  }
}

void HeadAttention::mix(const AttentionHead& head, const Block& block, const Work& work) const {
  const int64_t keys = block.keys.end - block.keys.begin;
  float* out = head.out + block.queries.begin * f_.out_step;
  const auto count = static_cast<size_t>(block.queries.end - block.queries.begin);
  if (is_packed_) {
    const GemmF32Args product{
        work.scores,   work.values, work.zeros,  block.is_first ? nullptr : out,
        out,           score_step_, f_.out_step, keys,
        f_.value_size, -kInfinity,  kInfinity};
    return run_gemm_f32(product, 0, static_cast<int64_t>(count), 0, f_.value_size);
  }
  gemv({work.scores, static_cast<size_t>(score_step_),
        head.values + block.keys.begin * f_.value_step, static_cast<size_t>(f_.value_step), out,
        static_cast<size_t>(f_.out_step), count, static_cast<size_t>(keys),
        static_cast<size_t>(f_.value_size)});
}

void HeadAttention::finish(const AttentionHead& head, int64_t first, int64_t last,
                           const Work& work) const {
  const auto size = static_cast<size_t>(f_.value_size);
  const auto is_positive = [](float sum) { return sum > 0; };
  if (std::all_of(work.sums + first, work.sums + last, is_positive)) {
    const AttentionRows rows{head.out + first * f_.out_step, static_cast<size_t>(f_.out_step),
                             static_cast<size_t>(last - first), size};
    return divide_rows(rows, work.sums + first);
  }
  for (int64_t i = first; i < last; ++i) {
    float* out = head.out + i * f_.out_step;
    if (work.sums[i] > 0) {
      scale_row(out, size, 1 / work.sums[i]);
    } else if (f_.zeroes_nan || head.key_count == 0) {
      add_nothing(head, out);
    } else {
      std::fill_n(out, size, std::numeric_limits<float>::quiet_NaN());
    }
  }
}

// The sum of values with weights of 0: no zero where one of them is infinite or NaN.
void HeadAttention::add_nothing(const AttentionHead& head, float* out) const {
  std::fill_n(out, f_.value_size, 0.0f);
  for (int64_t key = 0; key < head.key_count; ++key) {
    const float* values = head.values + key * f_.value_step;
    for (int64_t j = 0; j < f_.value_size; ++j)
      out[j] += 0 * values[j];
  }
}

}  // namespace sardonyx::cpu
