// GroupQueryAttention on float32 with a plain cache: past and new keys are put together in the
// present, and attention runs on that.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/ops/contrib_grouped.h"
#include "providers/cpu/attention_rows.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/reduce_rows.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/tasks.h"

namespace sardonyx::cpu {
namespace {

using ops::GroupedAttrs;
using ops::GroupedKeys;

constexpr auto kQueries = static_cast<int64_t>(kQueriesAtOnce);

// The inputs seqlens_k and total_sequence_length.
struct Lengths {
  const int32_t* of;
  int64_t total;
};

class GroupedKernel : public Kernel {
 public:
  explicit GroupedKernel(const KernelRequest& request)
      : attrs_(request.attrs<GroupedAttrs>()),
        is_packed_(!request.has(ops::kKey)),
        wants_{request.wants(1), request.wants(2)} {
    const Shape& query = request.inputs[ops::kQuery].shape;
    batch_ = query[0];
    length_ = query[1];
    head_ = request.outputs[0].shape[2] / attrs_.num_heads;
    past_length_ = request.has(ops::kPastKey) ? request.inputs[ops::kPastKey].shape[2] : 0;
    present_length_ = request.outputs[1].shape[2];
    const float given = attrs_.scale.value_or(0);
    scale_ = given != 0 ? given : 1 / std::sqrt(static_cast<float>(head_));
    if (attrs_.do_rotary) {
      known_ = request.inputs[ops::kCos].shape[0];
      half_ = request.inputs[ops::kCos].shape[1];
    }
    const int64_t work = batch_ * attrs_.num_heads * length_ * present_length_ * head_;
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, work / kElementsPerThread + 1));
    queries_ = reserve(attrs_.do_rotary ? batch_ * length_ * attrs_.num_heads * head_ : 0);
    for (size_t i = 0; i < 2; ++i)
      caches_[i] = reserve(wants_[i] ? 0 : batch_ * attrs_.kv_num_heads * present_length_ * head_);
    scores_ = reserve(threads_ * kQueries * padded_length());
  }

  size_t scratch_bytes() const override { return scratch_; }

  void run(const KernelArgs& args) const override {
    const Lengths lengths{static_cast<const int32_t*>(args.inputs[ops::kLengths]),
                          *static_cast<const int32_t*>(args.inputs[ops::kTotal])};
    if (lengths.total > present_length_) {
      fail(ErrorCode::kInvalidArgument,
           "GroupQueryAttention: input total_sequence_length: ", lengths.total,
           " is more than the ", present_length_, " that the call was made for");
    }
    for (int64_t b = 0; b < batch_; ++b)
      check(keys_of(lengths, b));
    float* caches[2];
    for (size_t i = 0; i < 2; ++i) {
      caches[i] = wants_[i] ? static_cast<float*>(args.outputs[1 + i])
                            : reinterpret_cast<float*>(args.scratch + caches_[i]);
      fill_cache(args, lengths, i, caches[i]);
    }
    const float* queries = static_cast<const float*>(args.inputs[ops::kQuery]);
    int64_t step = row_size();
    if (attrs_.do_rotary) {
      auto* turned = reinterpret_cast<float*>(args.scratch + queries_);
      turn_queries(args, lengths, turned);
      queries = turned;
      step = attrs_.num_heads * head_;
    }
    auto* scores = reinterpret_cast<float*>(args.scratch + scores_);
    const int64_t blocks = batch_ * attrs_.num_heads * blocks_per_head();
    for_each_task(blocks, threads_, kQueries * present_length_ * head_, [&](int64_t block) {
      const int64_t thread = threads_ > 1 ? omp_get_thread_num() : 0;
      run_block(args, lengths, block, queries, step, caches,
                scores + thread * kQueries * padded_length());
    });
  }

 private:
  size_t reserve(int64_t floats) {
    const size_t at = scratch_;
    scratch_ += static_cast<size_t>((floats + 15) / 16 * 16) * sizeof(float);
    return at;
  }
  int64_t padded_length() const { return (present_length_ + 15) / 16 * 16; }
  int64_t blocks_per_head() const { return (length_ + kQueries - 1) / kQueries; }
  // Of the input query.
  int64_t row_size() const {
    return (attrs_.num_heads + (is_packed_ ? 2 * attrs_.kv_num_heads : 0)) * head_;
  }
  GroupedKeys keys_of(const Lengths& lengths, int64_t b) const {
    return ops::grouped_keys(attrs_, b, lengths.of[b], length_, lengths.total, past_length_);
  }

  void check(const GroupedKeys& keys) const {
    if (attrs_.do_rotary && keys.past + length_ > known_) {
      fail(ErrorCode::kInvalidArgument, "GroupQueryAttention: position ", keys.past + length_ - 1,
           " is outside the ", known_, " rows of cos_cache");
    }
  }

  // One head at a position, turned on the way.
  void turn(const KernelArgs& args, int64_t place, const float* from, float* to) const {
    std::copy_n(from, head_, to);
    const float* cosines = static_cast<const float*>(args.inputs[ops::kCos]) + place * half_;
    const float* sines = static_cast<const float*>(args.inputs[ops::kSin]) + place * half_;
    for (int64_t i = 0; i < half_; ++i) {
      float& a = to[attrs_.rotary_interleaved ? 2 * i : i];
      float& b = to[attrs_.rotary_interleaved ? 2 * i + 1 : i + half_];
      const float turned = a * cosines[i] - b * sines[i];
      b = a * sines[i] + b * cosines[i];
      a = turned;
    }
  }

  void turn_queries(const KernelArgs& args, const Lengths& lengths, float* turned) const {
    const auto* queries = static_cast<const float*>(args.inputs[ops::kQuery]);
    for (int64_t row = 0; row < batch_ * length_; ++row) {
      const int64_t place = keys_of(lengths, row / length_).past + row % length_;
      for (int64_t h = 0; h < attrs_.num_heads; ++h, turned += head_)
        turn(args, place, queries + row * row_size() + h * head_, turned);
    }
  }

  // Keys (`which` 0) or values: the past, the new ones behind it, zeros behind these.
  void fill_cache(const KernelArgs& args, const Lengths& lengths, size_t which,
                  float* cache) const {
    const auto* past =
        static_cast<const float*>(past_length_ ? args.inputs[ops::kPastKey + which] : nullptr);
    const int64_t heads = attrs_.kv_num_heads;
    const auto* fresh = static_cast<const float*>(
        args.inputs[is_packed_ ? size_t{ops::kQuery} : ops::kKey + which]);
    if (is_packed_) fresh += (attrs_.num_heads + static_cast<int64_t>(which) * heads) * head_;
    const int64_t step = is_packed_ ? row_size() : heads * head_;
    for (int64_t line = 0; line < batch_ * heads; ++line) {
      const int64_t b = line / heads, h = line % heads, kept = keys_of(lengths, b).past;
      float* to = cache + line * present_length_ * head_;
      if (kept > 0) std::copy_n(past + line * past_length_ * head_, kept * head_, to);
      for (int64_t i = 0; i < length_; ++i) {
        const float* from = fresh + (b * length_ + i) * step + h * head_;
        float* row = to + (kept + i) * head_;
        if (which == 0 && attrs_.do_rotary)
          turn(args, kept + i, from, row);
        else
          std::copy_n(from, head_, row);
      }
      std::fill(to + (kept + length_) * head_, to + present_length_ * head_, 0.0f);
    }
  }

  // Keys that query i of an entry sees.
  std::pair<int64_t, int64_t> seen(const GroupedKeys& keys, int64_t i) const {
    const int64_t own = keys.past + i + 1, window = attrs_.local_window_size;
    return {window > 0 ? std::max<int64_t>(0, own - window) : 0, attrs_.causal ? own : keys.total};
  }

  void run_block(const KernelArgs& args, const Lengths& lengths, int64_t block,
                 const float* queries, int64_t step, float* const* caches, float* scores) const {
    const int64_t first = block % blocks_per_head() * kQueries;
    const int64_t h = block / blocks_per_head() % attrs_.num_heads;
    const int64_t b = block / blocks_per_head() / attrs_.num_heads;
    const GroupedKeys keys = keys_of(lengths, b);
    const int64_t rows = std::min(kQueries, length_ - first);
    const float* rows_of_queries[kQueriesAtOnce];
    float *rows_of_scores[kQueriesAtOnce], *outputs[kQueriesAtOnce];
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row = b * length_ + first + r;
      rows_of_queries[r] = queries + row * step + h * head_;
      rows_of_scores[r] = scores + r * padded_length();
      outputs[r] = static_cast<float*>(args.outputs[0]) + (row * attrs_.num_heads + h) * head_;
    }
    const int64_t line = b * attrs_.kv_num_heads + h / (attrs_.num_heads / attrs_.kv_num_heads);
    const int64_t cached = line * present_length_ * head_;
    const int64_t begin = seen(keys, first).first, end = seen(keys, first + rows - 1).second;
    const auto size = static_cast<size_t>(head_), count = static_cast<size_t>(rows);
    score_rows(rows_of_queries, count, caches[0] + cached, size, static_cast<size_t>(begin),
               static_cast<size_t>(end), scale_, rows_of_scores);
    for (int64_t r = 0; r < rows; ++r)
      softmax(seen(keys, first + r), begin, end, rows_of_scores[r]);
    mix_rows(rows_of_scores, count, caches[1] + cached, size, static_cast<size_t>(begin),
             static_cast<size_t>(end), outputs);
  }

  void softmax(std::pair<int64_t, int64_t> own, int64_t begin, int64_t end, float* scores) const {
    float* row = scores + own.first;
    const auto count = static_cast<size_t>(own.second - own.first);
    const float sum = exponentials(row, count, reduce_row(Reduction::kMax, row, count));
    const float share = 1 / sum;
    binary_row(Binary::kMul, row, true, &share, false, row, count);
    std::fill(scores + begin, row, 0.0f);
    std::fill(scores + own.second, scores + end, 0.0f);
  }

  GroupedAttrs attrs_;
  bool is_packed_;
  bool wants_[2];
  int64_t batch_, length_, head_, past_length_, present_length_, known_ = 0, half_ = 0;
  float scale_;
  int threads_;
  size_t scratch_ = 0, queries_, caches_[2], scores_;
};

Prepared prepare_grouped(const KernelRequest& request) {
  const auto& attrs = request.attrs<GroupedAttrs>();
  for (const size_t input : {ops::kQuery, ops::kKey, ops::kValue, ops::kPastKey, ops::kPastValue,
                             ops::kCos, ops::kSin}) {
    if (request.has(input) && request.inputs[input].dtype != DType::kFloat)
      return Prepared::refuse("only float is computed here");
  }
  for (const size_t input : {ops::kPositions, ops::kBias, ops::kSink, ops::kQueryNorm}) {
    if (request.has(input)) return Prepared::refuse("inputs behind sin_cache are left to others");
  }
  if (attrs.sliding_window_cache || attrs.softcap > 0 || attrs.smooth_softmax == 1 ||
      request.wants(3))
    return Prepared::refuse("only plain softmax with a plain cache is computed here");
  if (!request.wants(1)) return Prepared::refuse("the present is not asked for");
  if (element_count(request.inputs[ops::kQuery].shape) == 0)
    return Prepared::refuse("there are no elements");
  return Prepared::accept(std::make_unique<GroupedKernel>(request), "rows");
}

constexpr KernelEntry kGroupedAttentionEntries[] = {
    {"com.microsoft::GroupQueryAttention", "rows", prepare_grouped}};

}  // namespace

std::span<const KernelEntry> grouped_attention_entries() {
  return kGroupedAttentionEntries;
}

}  // namespace sardonyx::cpu
