// Attention on float32: a head at a time, out of the operands as they are stored.
#include "ir/ops/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "ir/core/strides.h"
#include "providers/cpu/attention/flash_attention.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

using ops::AttentionShape;

// Keys or values of all heads.
struct Cache {
  size_t fresh, past, present;  // the input, its past and the output that shows both
  int64_t size;                 // of a head
  bool has_past, is_shown;
  // They are read as they are stored in the input, unless they are assembled as [batch, heads,
  // total, size]: in the output, or else in scratch.
  bool is_joined = false;
  size_t scratch = 0;
};

class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const AttentionShape& shape, const ops::AttentionAttrs& attrs,
                  const KernelRequest& request)
      : s_(shape),
        key_(describe(request, ops::kKey, ops::kPastKey, 1, shape.head_size)),
        value_(describe(request, ops::kValue, ops::kPastValue, 2, shape.v_head_size)),
        heads_(form(attrs), s_.batch * s_.q_heads, request.threads),
        threads_(request.threads) {
    if (request.has(ops::kMask)) describe_mask(request.inputs[ops::kMask]);
  }

  size_t scratch_bytes() const override { return scratch_ + heads_.scratch_bytes(); }

  void run(const KernelArgs& args) const override {
    const float *keys = all_of(args, key_), *values = all_of(args, value_);
    if (key_.is_joined || value_.is_joined) {
      const int64_t heads = s_.batch * s_.kv_heads;
      const int threads = joining_threads(threads_, heads * floats_of_head());
      for_each_task(heads, threads, floats_of_head(), [&](int64_t head) {
        for (const Cache* cache : {&key_, &value_}) {
          if (cache->is_joined) join_head(args, *cache, head);
        }
      });
    }
    heads_.run(args.scratch + scratch_, [&](int64_t index) {
      const int64_t b = index / s_.q_heads, h = index % s_.q_heads, kv = h / s_.group();
      AttentionHead head{};
      head.queries = static_cast<const float*>(args.inputs[ops::kQuery]) +
                     first_of(b, h, s_.q_heads, s_.q_length, s_.head_size, s_.packed);
      head.out = static_cast<float*>(args.outputs[0]) +
                 first_of(b, h, s_.q_heads, s_.q_length, s_.v_head_size, s_.packed);
      head.keys = keys + first_of(b, kv, s_.kv_heads, s_.total_length(), s_.head_size,
                                  s_.packed && !key_.is_joined);
      head.values = values + first_of(b, kv, s_.kv_heads, s_.total_length(), s_.v_head_size,
                                      s_.packed && !value_.is_joined);
      head.key_count = has_mask_ ? std::min(mask_length_, s_.total_length()) : s_.total_length();
      head.before = s_.past_length;
      add_mask(args, b, h, head);
      return head;
    });
  }

 private:
  // Where head h of entry b begins.
  static int64_t first_of(int64_t b, int64_t h, int64_t heads, int64_t length, int64_t size,
                          bool packed) {
    return packed ? (b * length * heads + h) * size : (b * heads + h) * length * size;
  }

  AttentionForm form(const ops::AttentionAttrs& attrs) const {
    AttentionForm form;
    form.queries = s_.q_length;
    form.keys = s_.total_length();
    form.size = s_.head_size;
    form.value_size = s_.v_head_size;
    form.query_step = s_.packed ? s_.q_heads * s_.head_size : s_.head_size;
    form.out_step = s_.packed ? s_.q_heads * s_.v_head_size : s_.v_head_size;
    const auto step = [&](const Cache& cache) {
      return s_.packed && !cache.is_joined ? s_.kv_heads * cache.size : cache.size;
    };
    form.key_step = step(key_);
    form.value_step = step(value_);
    form.scale = attrs.scale.value_or(1 / std::sqrt(static_cast<float>(s_.head_size)));
    form.fill = -std::numeric_limits<float>::infinity();
    form.is_causal = attrs.is_causal;
    return form;
  }

  Cache describe(const KernelRequest& request, size_t fresh, size_t past, size_t present,
                 int64_t size) {
    Cache cache{fresh, past, present, size, request.has(past), request.wants(present)};
    cache.is_joined = cache.is_shown || cache.has_past;
    if (cache.is_joined && !cache.is_shown) {
      cache.scratch = scratch_;
      const int64_t floats = s_.batch * s_.kv_heads * s_.total_length() * size;
      scratch_ += static_cast<size_t>((floats + 15) / 16 * 16) * sizeof(float);
    }
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

  // Where the keys or values of all heads are: those that came, or what they are joined to.
  float* joined(const KernelArgs& args, const Cache& cache) const {
    return cache.is_shown ? static_cast<float*>(args.outputs[cache.present])
                          : reinterpret_cast<float*>(args.scratch + cache.scratch);
  }
  const float* all_of(const KernelArgs& args, const Cache& cache) const {
    return cache.is_joined ? joined(args, cache)
                           : static_cast<const float*>(args.inputs[cache.fresh]);
  }

  int64_t floats_of_head() const { return s_.total_length() * (key_.size + value_.size); }

  // Past and new elements of `head`, one behind the other.
  void join_head(const KernelArgs& args, const Cache& cache, int64_t head) const {
    float* to = joined(args, cache) + head * s_.total_length() * cache.size;
    if (cache.has_past) {
      const int64_t size = s_.past_length * cache.size;
      to = std::copy_n(static_cast<const float*>(args.inputs[cache.past]) + head * size, size, to);
    }
    const int64_t step = s_.packed ? s_.kv_heads * cache.size : cache.size;
    const float* from = static_cast<const float*>(args.inputs[cache.fresh]) +
                        first_of(head / s_.kv_heads, head % s_.kv_heads, s_.kv_heads, s_.new_length,
                                 cache.size, s_.packed);
    for (int64_t t = 0; t < s_.new_length; ++t)
      to = std::copy_n(from + t * step, cache.size, to);
  }

  void add_mask(const KernelArgs& args, int64_t b, int64_t h, AttentionHead& head) const {
    if (!has_mask_) return;
    const int64_t at = b * mask_steps_[0] + h * mask_steps_[1];
    if (is_bool_mask_)
      head.kept = {static_cast<const bool*>(args.inputs[ops::kMask]) + at, mask_steps_[2], 1};
    else
      head.added = {static_cast<const float*>(args.inputs[ops::kMask]) + at, mask_steps_[2], 1};
  }

  AttentionShape s_;
  size_t scratch_ = 0;
  Cache key_, value_;
  HeadAttention heads_;
  int threads_;
  bool has_mask_ = false, is_bool_mask_ = false;
  int64_t mask_length_ = 0;
  std::array<int64_t, 3> mask_steps_{};  // along batch, heads and queries
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
  return Prepared::accept(std::make_unique<AttentionKernel>(shape, attrs, request), "attention");
}

constexpr KernelEntry kAttentionEntries[] = {{"Attention", "attention", prepare_attention}};

}  // namespace

std::span<const KernelEntry> attention_kernels() {
  return kAttentionEntries;
}

}  // namespace sardonyx::cpu
