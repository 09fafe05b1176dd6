// Attention on float32: the scores of a few queries at a time, which stay in the nearest cache.
#include "ir/ops/attention.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/strides.h"
#include "providers/cpu/attention_rows.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/reduce_rows.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/tasks.h"

namespace sardonyx::cpu {
namespace {

using ops::AttentionShape;
constexpr auto kQueries = static_cast<int64_t>(kQueriesAtOnce);
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Keys or values of all heads as [batch, heads, total, size].
struct Cache {
  size_t fresh, past, present;  // the input, its past and the output that shows both
  int64_t size;                 // of a head
  bool has_past, is_shown;
  size_t scratch = 0;  // where they are put together, unless the caller has a place for them
  bool is_in_place = false;
};

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const AttentionShape& shape, const ops::AttentionAttrs& attrs,
                  const KernelRequest& request)
      : s_(shape),
        scale_(attrs.scale.value_or(1 / std::sqrt(static_cast<float>(shape.head_size)))),
        is_causal_(attrs.is_causal),
        key_(describe(request, ops::kKey, ops::kPastKey, 1, shape.head_size)),
        value_(describe(request, ops::kValue, ops::kPastValue, 2, shape.v_head_size)) {
    if (request.has(ops::kMask)) describe_mask(request.inputs[ops::kMask]);
    const int64_t work = rows() * s_.total_length() * (s_.head_size + s_.v_head_size);
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, work / kElementsPerThread + 1));
    scores_ = reserve(static_cast<int64_t>(threads_ * kQueriesAtOnce) * padded_length());
  }

  size_t scratch_bytes() const override { return scratch_; }

  void run(const KernelArgs& args) const override {
    const float* keys = gathered(args, key_);
    const float* values = gathered(args, value_);
    auto* scores = reinterpret_cast<float*>(args.scratch + scores_);
    const int64_t work = kQueries * s_.total_length() * (s_.head_size + s_.v_head_size);
    for_each_task(blocks(), threads_, work, [&](int64_t block) {
      const int64_t thread = threads_ > 1 ? omp_get_thread_num() : 0;
      run_block(args, block, keys, values, scores + thread * kQueries * padded_length());
    });
  }

 private:
  int64_t rows() const { return s_.batch * s_.q_heads * s_.q_length; }
  // Of queries of one head.
  int64_t blocks() const {
    return s_.batch * s_.q_heads * ((s_.q_length + kQueries - 1) / kQueries);
  }
  int64_t padded_length() const { return (s_.total_length() + 15) / 16 * 16; }

  size_t reserve(int64_t floats) {
    const size_t at = scratch_;
    scratch_ += static_cast<size_t>((floats + 15) / 16 * 16) * sizeof(float);
    return at;
  }

  Cache describe(const KernelRequest& request, size_t fresh, size_t past, size_t present,
                 int64_t size) {
    Cache cache{fresh, past, present, size, request.has(past), request.wants(present)};
    cache.is_in_place = !cache.is_shown && !cache.has_past && !s_.packed;
    if (!cache.is_shown && !cache.is_in_place)
      cache.scratch = reserve(s_.batch * s_.kv_heads * s_.total_length() * size);
    return cache;
  }

  void describe_mask(const KernelTensor& mask) {
    is_bool_mask_ = mask.dtype == DType::kBool;
    has_mask_ = true;
    mask_length_ = mask.shape.back();
    const Strides own = row_major_strides(mask.shape);
    for (size_t i = 0; i + 1 < mask.shape.size(); ++i)
      mask_steps_[4 - mask.shape.size() + i] = mask.shape[i] == 1 ? 0 : own[i];
  }

  const float* gathered(const KernelArgs& args, const Cache& cache) const {
    const auto* fresh = static_cast<const float*>(args.inputs[cache.fresh]);
    if (cache.is_in_place) return fresh;
    const auto* past =
        cache.has_past ? static_cast<const float*>(args.inputs[cache.past]) : nullptr;
    auto* all = cache.is_shown ? static_cast<float*>(args.outputs[cache.present])
                               : reinterpret_cast<float*>(args.scratch + cache.scratch);
    float* to = all;
    const int64_t step = s_.packed ? s_.kv_heads * cache.size : cache.size;
    for (int64_t head = 0; head < s_.batch * s_.kv_heads; ++head) {
      to = std::copy_n(past ? past + head * s_.past_length * cache.size : to,
                       past ? s_.past_length * cache.size : 0, to);
      const int64_t first =
          s_.packed ? head / s_.kv_heads * s_.new_length * step + head % s_.kv_heads * cache.size
                    : head * s_.new_length * cache.size;
      for (int64_t t = 0; t < s_.new_length; ++t)
        to = std::copy_n(fresh + first + t * step, cache.size, to);
    }
    return all;
  }

  // Keys that query i may see.
  int64_t seen(int64_t i) const {
    const int64_t total = s_.total_length();
    return is_causal_ ? std::min(total, i + s_.past_length + 1) : total;
  }

  void add_mask(const KernelArgs& args, int64_t b, int64_t h, int64_t i, float* scores) const {
    if (!has_mask_) return;
    const int64_t at = b * mask_steps_[0] + h * mask_steps_[1] + i * mask_steps_[2];
    const int64_t masked = std::min(mask_length_, seen(i));
    if (is_bool_mask_) {
      const auto* mask = static_cast<const bool*>(args.inputs[ops::kMask]) + at;
      for (int64_t t = 0; t < masked; ++t)
        scores[t] = mask[t] ? scores[t] : kMinusInfinity;
    } else {
      const auto* mask = static_cast<const float*>(args.inputs[ops::kMask]) + at;
      for (int64_t t = 0; t < masked; ++t)
        scores[t] += mask[t];
    }
    std::fill(scores + masked, scores + seen(i), kMinusInfinity);
  }

  // The probabilities of query i, with zeros for keys up to `end` that it does not see.
  void softmax(const KernelArgs& args, int64_t b, int64_t h, int64_t i, int64_t end,
               float* scores) const {
    const int64_t count = seen(i);
    add_mask(args, b, h, i, scores);
    const auto length = static_cast<size_t>(count);
    const float sum = exponentials(scores, length, reduce_row(Reduction::kMax, scores, length));
    const float share = 1 / sum;
    binary_row(Binary::kMul, scores, true, &share, false, scores, length);
    std::fill(scores + count, scores + end, 0.0f);
  }

  void run_block(const KernelArgs& args, int64_t block, const float* keys, const float* values,
                 float* scores) const {
    const int64_t per_head = (s_.q_length + kQueries - 1) / kQueries;
    const int64_t h = block / per_head % s_.q_heads, b = block / per_head / s_.q_heads;
    const int64_t first = block % per_head * kQueries;
    const int64_t rows = std::min(kQueries, s_.q_length - first), total = s_.total_length();
    const int64_t head = b * s_.kv_heads + h / s_.group();
    const float* queries[kQueriesAtOnce];
    float *rows_of_scores[kQueriesAtOnce], *outputs[kQueriesAtOnce];
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t i = first + r;
      const int64_t line = s_.packed ? (b * s_.q_length + i) * s_.q_heads + h
                                     : (b * s_.q_heads + h) * s_.q_length + i;
      queries[r] = static_cast<const float*>(args.inputs[ops::kQuery]) + line * s_.head_size;
      outputs[r] = static_cast<float*>(args.outputs[0]) + line * s_.v_head_size;
      rows_of_scores[r] = scores + r * padded_length();
    }
    const int64_t end = seen(first + rows - 1);
    const auto count = static_cast<size_t>(rows), last = static_cast<size_t>(end);
    score_rows(queries, count, keys + head * total * s_.head_size,
               static_cast<size_t>(s_.head_size), 0, last, scale_, rows_of_scores);
    for (int64_t r = 0; r < rows; ++r)
      softmax(args, b, h, first + r, end, rows_of_scores[r]);
    mix_rows(rows_of_scores, count, values + head * total * s_.v_head_size,
             static_cast<size_t>(s_.v_head_size), 0, last, outputs);
  }

  AttentionShape s_;
  float scale_;
  bool is_causal_;
  size_t scratch_ = 0, scores_ = 0;
  Cache key_, value_;
  bool has_mask_ = false, is_bool_mask_ = false;
  int64_t mask_length_ = 0;
  std::array<int64_t, 3> mask_steps_{};  // along batch, heads and queries
  int threads_ = 1;
};

const char* refusal(const KernelRequest& request, const ops::AttentionAttrs& attrs) {
  for (size_t input = 0; input < request.inputs.size(); ++input) {
    if (!request.has(input)) continue;
    const DType dtype = request.inputs[input].dtype;
    if (input == ops::kNonpadLengths) return "lengths of keys are left to the reference";
    if (dtype != DType::kFloat && !(input == ops::kMask && dtype == DType::kBool))
      return "only float is computed here";
    const bool may_be_empty = input == ops::kPastKey || input == ops::kPastValue;
    if (!may_be_empty && element_count(request.inputs[input].shape) == 0)
      return "there are no elements";
  }
  if (request.wants(3)) return "the scores are not shown here";
  if (attrs.softcap != 0) return "softcap is left to the reference";
  if (attrs.softmax_precision.value_or(DType::kFloat) != DType::kFloat)
    return "only float softmax is computed here";
  return nullptr;
}

Prepared prepare_attention(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::AttentionAttrs>();
  if (const char* why = refusal(request, attrs)) return Prepared::refuse(why);
  const Shape none;
  const AttentionShape shape =
      ops::attention_shape(attrs, request.inputs[ops::kQuery].shape,
                           request.inputs[ops::kKey].shape, request.inputs[ops::kValue].shape,
                           request.has(ops::kPastKey) ? request.inputs[ops::kPastKey].shape : none);
  return Prepared::accept(std::make_unique<AttentionKernel>(shape, attrs, request), "rows");
}

constexpr KernelEntry kAttentionEntries[] = {{"Attention", "rows", prepare_attention}};

}  // namespace

std::span<const KernelEntry> attention_entries() {
  return kAttentionEntries;
}

}  // namespace sardonyx::cpu
