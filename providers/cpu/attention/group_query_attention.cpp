// GroupQueryAttention on float32 with an unquantized cache: past and new keys are concatenated in
// the present, and attention reads that.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/ops/attention/group_query_attention.h"
#include "providers/cpu/attention/flash_attention.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

using ops::GroupedAttrs;
using ops::GroupedKeys;

// The inputs seqlens_k and total_sequence_length.
struct Lengths {
  const int32_t* of;
  int64_t total;
};

class GroupQueryAttentionKernel : public Kernel {
 public:
  explicit GroupQueryAttentionKernel(const KernelRequest& request)
      : attrs_(request.attrs<GroupedAttrs>()),
        is_packed_(!request.has(ops::GroupedInput::kKey)),
        wants_{request.wants(1), request.wants(2)},
        threads_(request.threads) {
    const Shape& query = request.inputs[ops::GroupedInput::kQuery].shape;
    batch_ = query[0];
    length_ = query[1];
    head_ = request.outputs[0].shape[2] / attrs_.num_heads;
    past_length_ = request.has(ops::GroupedInput::kPastKey)
                       ? request.inputs[ops::GroupedInput::kPastKey].shape[2]
                       : 0;
    present_length_ = request.outputs[1].shape[2];
    const float given = attrs_.scale.value_or(0);
    scale_ = given != 0 ? given : 1 / std::sqrt(static_cast<float>(head_));
    if (attrs_.do_rotary) {
      known_ = request.inputs[ops::GroupedInput::kCos].shape[0];
      half_ = request.inputs[ops::GroupedInput::kCos].shape[1];
    }
    queries_ = reserve(attrs_.do_rotary ? batch_ * length_ * attrs_.num_heads * head_ : 0);
    for (size_t i = 0; i < 2; ++i)
      caches_[i] = reserve(wants_[i] ? 0 : batch_ * attrs_.kv_num_heads * present_length_ * head_);
    // Single queries that share keys and values become queries of one head.
    if (length_ == 1 && attrs_.local_window_size <= 0)
      joined_ = attrs_.num_heads / attrs_.kv_num_heads;
    heads_.emplace(form(), batch_ * attrs_.num_heads / joined_, request.threads);
  }

  size_t scratch_bytes() const override { return scratch_ + heads_->scratch_bytes(); }

  void run(const KernelArgs& args) const override {
    const Lengths lengths{static_cast<const int32_t*>(args.inputs[ops::GroupedInput::kLengths]),
                          *static_cast<const int32_t*>(args.inputs[ops::GroupedInput::kTotal])};
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
    const float* queries = static_cast<const float*>(args.inputs[ops::GroupedInput::kQuery]);
    if (attrs_.do_rotary) {
      auto* rotated = reinterpret_cast<float*>(args.scratch + queries_);
      rotate_queries(args, lengths, rotated);
      queries = rotated;
    }
    heads_->run(args.scratch + scratch_, [&](int64_t index) {
      const int64_t heads = attrs_.num_heads / joined_;
      const int64_t b = index / heads, h = index % heads * joined_;
      const GroupedKeys keys = keys_of(lengths, b);
      const int64_t line = b * attrs_.kv_num_heads + h / (attrs_.num_heads / attrs_.kv_num_heads);
      AttentionHead head{};
      head.queries = queries + b * length_ * query_step() + h * head_;
      head.keys = caches[0] + line * present_length_ * head_;
      head.values = caches[1] + line * present_length_ * head_;
      head.out =
          static_cast<float*>(args.outputs[0]) + (b * length_ * attrs_.num_heads + h) * head_;
      head.key_count = keys.total;
      head.before = keys.past;
      return head;
    });
  }

 private:
  size_t reserve(int64_t floats) {
    const size_t at = scratch_;
    scratch_ += static_cast<size_t>((floats + 15) / 16 * 16) * sizeof(float);
    return at;
  }
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

  // Copies one head at a position with its rotary embedding applied.
  void rotate(const KernelArgs& args, int64_t place, const float* from, float* to) const {
    std::copy_n(from, head_, to);
    const float* cosines =
        static_cast<const float*>(args.inputs[ops::GroupedInput::kCos]) + place * half_;
    const float* sines =
        static_cast<const float*>(args.inputs[ops::GroupedInput::kSin]) + place * half_;
    for (int64_t i = 0; i < half_; ++i) {
      float& a = to[attrs_.rotary_interleaved ? 2 * i : i];
      float& b = to[attrs_.rotary_interleaved ? 2 * i + 1 : i + half_];
      const float rotated = a * cosines[i] - b * sines[i];
      b = a * sines[i] + b * cosines[i];
      a = rotated;
    }
  }

  void rotate_queries(const KernelArgs& args, const Lengths& lengths, float* rotated) const {
    const auto* queries = static_cast<const float*>(args.inputs[ops::GroupedInput::kQuery]);
    for (int64_t row = 0; row < batch_ * length_; ++row) {
      const int64_t place = keys_of(lengths, row / length_).past + row % length_;
      for (int64_t h = 0; h < attrs_.num_heads; ++h, rotated += head_)
        rotate(args, place, queries + row * row_size() + h * head_, rotated);
    }
  }

  // Keys (`which` 0) or values: the past, the new ones behind it, zeros behind these.
  void fill_cache(const KernelArgs& args, const Lengths& lengths, size_t which,
                  float* cache) const {
    const auto* past = static_cast<const float*>(
        past_length_ ? args.inputs[ops::GroupedInput::kPastKey + which] : nullptr);
    const int64_t heads = attrs_.kv_num_heads;
    const auto* fresh =
        static_cast<const float*>(args.inputs[is_packed_ ? size_t{ops::GroupedInput::kQuery}
                                                         : ops::GroupedInput::kKey + which]);
    if (is_packed_) fresh += (attrs_.num_heads + static_cast<int64_t>(which) * heads) * head_;
    const int64_t step = is_packed_ ? row_size() : heads * head_;
    const int64_t line_size = present_length_ * head_;
    const int threads = joining_threads(threads_, batch_ * heads * line_size);
    for_each_task(batch_ * heads, threads, line_size, [&](int64_t line) {
      const int64_t b = line / heads, h = line % heads, kept = keys_of(lengths, b).past;
      float* to = cache + line * line_size;
      if (kept > 0) std::copy_n(past + line * past_length_ * head_, kept * head_, to);
      for (int64_t i = 0; i < length_; ++i) {
        const float* from = fresh + (b * length_ + i) * step + h * head_;
        float* row = to + (kept + i) * head_;
        if (which == 0 && attrs_.do_rotary)
          rotate(args, kept + i, from, row);
        else
          std::copy_n(from, head_, row);
      }
      std::fill(to + (kept + length_) * head_, to + line_size, 0.0f);
    });
  }

  // Between the queries of a head.
  int64_t query_step() const { return attrs_.do_rotary ? attrs_.num_heads * head_ : row_size(); }

  AttentionForm form() const {
    AttentionForm form;
    form.queries = length_ * joined_;
    form.keys = present_length_;
    form.size = form.value_size = form.key_step = form.value_step = head_;
    form.query_step = joined_ > 1 ? head_ : query_step();
    form.out_step = joined_ > 1 ? head_ : attrs_.num_heads * head_;
    form.scale = scale_;
    form.is_causal = attrs_.causal && joined_ == 1;  // the last one sees all keys
    form.window = std::max<int64_t>(attrs_.local_window_size, 0);
    return form;
  }

  GroupedAttrs attrs_;
  bool is_packed_;
  bool wants_[2];
  int threads_;
  int64_t batch_, length_, head_, past_length_, present_length_, known_ = 0, half_ = 0;
  float scale_;
  int64_t joined_ = 1;
  size_t scratch_ = 0, queries_, caches_[2];
  std::optional<HeadAttention> heads_;
};

Prepared prepare_grouped(const KernelRequest& request) {
  const auto& attrs = request.attrs<GroupedAttrs>();
  for (const size_t input :
       {ops::GroupedInput::kQuery, ops::GroupedInput::kKey, ops::GroupedInput::kValue,
        ops::GroupedInput::kPastKey, ops::GroupedInput::kPastValue, ops::GroupedInput::kCos,
        ops::GroupedInput::kSin}) {
    if (request.has(input) && request.inputs[input].dtype != DType::kFloat)
      return Prepared::refuse("only float is computed here");
  }
  for (const size_t input : {ops::GroupedInput::kPositions, ops::GroupedInput::kBias,
                             ops::GroupedInput::kSink, ops::GroupedInput::kQueryNorm}) {
    if (request.has(input)) return Prepared::refuse("inputs behind sin_cache are left to others");
  }
  if (attrs.sliding_window_cache || attrs.softcap > 0 || attrs.smooth_softmax == 1 ||
      request.wants(3))
    return Prepared::refuse("only plain softmax with a plain cache is computed here");
  if (!request.wants(1)) return Prepared::refuse("the present is not asked for");
  if (element_count(request.inputs[ops::GroupedInput::kQuery].shape) == 0)
    return Prepared::refuse("there are no elements");
  return Prepared::accept(std::make_unique<GroupQueryAttentionKernel>(request),
                          "group_query_attention");
}

constexpr KernelEntry kGroupedAttentionEntries[] = {
    {"com.microsoft::GroupQueryAttention", "group_query_attention", prepare_grouped}};

}  // namespace

std::span<const KernelEntry> group_query_attention_kernels() {
  return kGroupedAttentionEntries;
}

}  // namespace sardonyx::cpu
