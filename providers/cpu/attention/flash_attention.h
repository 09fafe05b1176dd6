// Attention on float32, a head at a time and in blocks of keys: the scores of some queries and a
// block of keys stay in a near cache, however long the sequences are. Sums go on from block to
// block as in Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ir/core/threading/interruptible_loops.h"

namespace sardonyx::cpu {

// How many of `threads` concatenate this many floats of keys and values. They share heads, so that
// the result is in the caches of the threads that read it next.
inline int joining_threads(int threads, int64_t floats) {
  constexpr int64_t kFloatsPerThread = 1 << 14;
  return static_cast<int>(std::min<int64_t>(threads, floats / kFloatsPerThread + 1));
}

// The parameters that all heads of a call share. Strides are in elements.
struct AttentionForm {
  int64_t queries = 0, keys = 0;     // per head; no head has more keys
  int64_t size = 0, value_size = 0;  // elements of a query or key, and of a value
  int64_t query_step = 0, key_step = 0, value_step = 0, out_step = 0;
  int64_t key_element_step = 1;  // where it is not 1, key_step is
  float scale = 1;               // multiplies the products of queries and keys
  float fill = 0;                // the score of positions where `kept` is false,
  bool fills_last = false;       // after `added` is added, else before
  bool zeroes_nan = false;       // weights that are NaN become 0
  bool is_causal = false;        // query i does not see keys behind before + i
  int64_t window = 0;  // query i sees at most the last `window` keys up to before + i; 0: all
};

// The element for query i and key t is at[i * query_step + t * key_step]; key_step is 0 or 1.
template <typename T>
struct AttentionMask {
  const T* at = nullptr;  // null: there is none
  int64_t query_step = 0, key_step = 0;
};

struct AttentionHead {
  const float *queries, *keys, *values;
  float* out;
  int64_t key_count;   // 0: the results are zeros
  int64_t before = 0;  // keys before that of query 0
  AttentionMask<float> added;
  AttentionMask<bool> kept;
};

// out = softmax(scale * queries keys^T, masked) values. A query is NaN where it sees no key, or its
// scores are all minus infinity or one of them is NaN or infinity.
class HeadAttention {
 public:
  HeadAttention(const AttentionForm& form, int64_t heads, int threads);

  size_t scratch_bytes() const;
  // head_of(index) gives the AttentionHead of each index below `heads`.
  template <typename HeadOf>
  void run(std::byte* scratch, const HeadOf& head_of) const {
    auto* floats = reinterpret_cast<float*>(scratch);
    const int64_t work = f_.queries * f_.keys * (f_.size + f_.value_size) / shares_;
    const CancelFlag sign;  // a head of long sequences takes seconds
    for_each_task(heads_ * shares_, threads_, work, [&](int64_t task, int64_t thread) {
      const int64_t share = task % shares_;
      run_queries(head_of(task / shares_), f_.queries * share / shares_,
                  f_.queries * (share + 1) / shares_, floats + thread * floats_per_thread_, sign);
    });
    sign.check();
  }

 private:
  struct KeyRange {
    int64_t begin, end;
  };
  struct Block;
  struct Work;

  void plan_scratch();
  KeyRange seen(const AttentionHead& head, int64_t query) const;
  void run_queries(const AttentionHead& head, int64_t first, int64_t last, float* scratch,
                   const CancelFlag& sign) const;
  void run_block(const AttentionHead& head, const Block& block, const Work& work) const;
  void pack(const AttentionHead& head, KeyRange keys, const Work& work) const;
  void score(const AttentionHead& head, const Block& block, const Work& work) const;
  bool sees_all(const AttentionHead& head, const Block& block) const;
  void weigh(const AttentionHead& head, const Block& block, const Work& work) const;
  void mix(const AttentionHead& head, const Block& block, const Work& work) const;
  void finish(const AttentionHead& head, int64_t first, int64_t last, const Work& work) const;
  void add_nothing(const AttentionHead& head, float* out) const;

  AttentionForm f_;
  int64_t heads_ = 0, shares_ = 1;
  int threads_ = 1;
  bool is_packed_ = false;      // else keys and values are read unpacked
  int64_t keys_per_block_ = 1;  // keys that a block of the loop handles
  int64_t queries_per_block_ = 1;
  int64_t score_step_ = 0;
  int64_t floats_per_thread_ = 0;
  int64_t keys_at_ = 0, values_at_ = 0, scores_at_ = 0, zeros_at_ = 0, state_at_ = 0;
};

}  // namespace sardonyx::cpu
