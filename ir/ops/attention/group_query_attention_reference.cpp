// GroupQueryAttention, query by query.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/core/dtype_convert.h"
#include "ir/core/run_control.h"
#include "ir/ops/attention/group_query_attention.h"

namespace sardonyx::ops {
namespace {

class Grouped {
 public:
  explicit Grouped(const KernelCall& call) : call_(call), attrs_(call.attrs<GroupedAttrs>()) {
    const std::span<const int64_t> query = call.inputs[GroupedInput::kQuery].shape;
    batch_ = query[0];
    length_ = query[1];
    head_ = call.outputs[0].shape[2] / attrs_.num_heads;
    load_numbers<int64_t>(call.inputs[GroupedInput::kTotal].dtype,
                          call.inputs[GroupedInput::kTotal].raw, 0, 1, 1, &total_);
    past_length_ =
        call.has(GroupedInput::kPastKey) ? call.inputs[GroupedInput::kPastKey].shape[2] : 0;
    present_length_ = call.outputs.size() > 1 && call.wants(1) ? call.outputs[1].shape[2]
                                                               : std::max(past_length_, total_);
    if (attrs_.sliding_window_cache && past_length_ < attrs_.local_window_size) {
      fail(ErrorCode::kInvalidArgument, "GroupQueryAttention: input past_key: a capacity of ",
           past_length_, " is less than local_window_size, ", attrs_.local_window_size);
    }
    first_prompt_ = length_ == total_;
    const float given = attrs_.scale.value_or(0);
    scale_ = given != 0 ? given : 1 / std::sqrt(static_cast<double>(head_));
    read_lengths();
    project();
    fill_cache();
  }

  void run() {
    std::vector<float> out(static_cast<size_t>(batch_ * length_ * attrs_.num_heads * head_));
    for (int64_t b = 0; b < batch_; ++b) {
      for (int64_t h = 0; h < attrs_.num_heads; ++h) {
        check_interrupted();
        for (int64_t i = 0; i < length_; ++i)
          attend(b, h, i, out.data() + ((b * length_ + i) * attrs_.num_heads + h) * head_);
      }
    }
    write(0, out);
    store(1, keys_, cache_form(attrs_.k_quant_type, attrs_), GroupedInput::kKeyScale);
    store(2, values_, cache_form(attrs_.v_quant_type, attrs_), GroupedInput::kValueScale);
    write(3, shown_);
  }

 private:
  static std::vector<float> read(const TensorView& x) {
    std::vector<float> out(static_cast<size_t>(x.count()));
    load_numbers<float>(x.dtype, x.raw, 0, 1, x.count(), out.data());
    return out;
  }
  std::vector<float> read(GroupedInput::InputIndex input) const {
    return call_.has(input) ? read(call_.inputs[input]) : std::vector<float>();
  }
  void write(size_t output, const std::vector<float>& values) {
    if (!call_.wants(output)) return;
    const TensorView& view = call_.outputs[output];
    store_numbers<float>(view.dtype, view.raw, 0, view.count(), values.data());
  }

  // How many keys each batch entry has behind this call.
  void read_lengths() {
    const int32_t* lengths = call_.inputs[GroupedInput::kLengths].data<int32_t>();
    for (int64_t b = 0; b < batch_; ++b) {
      const GroupedKeys keys = grouped_keys(attrs_, b, lengths[b], length_, total_, past_length_);
      past_.push_back(keys.past);
      totals_.push_back(keys.total);
      resident_.push_back(attrs_.sliding_window_cache
                              ? resident_rows(past_.back(), past_length_, attrs_.local_window_size)
                              : past_.back());
    }
  }

  // Query, key and value of this call, each [batch, length, heads, head].
  void project() {
    const std::vector<float> all = read(GroupedInput::kQuery);
    if (call_.has(GroupedInput::kKey)) {
      query_ = all;
      new_keys_ = read(GroupedInput::kKey);
      new_values_ = read(GroupedInput::kValue);
    } else {
      const int64_t q = attrs_.num_heads * head_, kv = attrs_.kv_num_heads * head_;
      for (int64_t row = 0; row < batch_ * length_; ++row) {
        const float* at = all.data() + row * (q + 2 * kv);
        query_.insert(query_.end(), at, at + q);
        new_keys_.insert(new_keys_.end(), at + q, at + q + kv);
        new_values_.insert(new_values_.end(), at + q + kv, at + q + 2 * kv);
      }
    }
    normalize(query_, read(GroupedInput::kQueryNorm));
    normalize(new_keys_, read(GroupedInput::kKeyNorm));
    if (!attrs_.do_rotary) return;
    rotate(query_, attrs_.num_heads);
    rotate(new_keys_, attrs_.kv_num_heads);
  }

  // Each head by its root mean square, times the weights.
  void normalize(std::vector<float>& heads, const std::vector<float>& weights) const {
    if (weights.empty()) return;
    const auto size = static_cast<size_t>(head_);
    for (size_t begin = 0; begin < heads.size(); begin += size) {
      double square = 0;
      for (size_t i = 0; i < size; ++i)
        square += static_cast<double>(heads[begin + i]) * heads[begin + i];
      const double factor =
          1 / std::sqrt(square / static_cast<double>(size) + attrs_.qk_norm_epsilon);
      for (size_t i = 0; i < size; ++i)
        heads[begin + i] = static_cast<float>(heads[begin + i] * factor * weights[i]);
    }
  }

  int64_t position(int64_t b, int64_t i) const {
    if (!call_.has(GroupedInput::kPositions)) return past_[static_cast<size_t>(b)] + i;
    const int64_t* positions = call_.inputs[GroupedInput::kPositions].data<int64_t>();
    return first_prompt_ ? positions[0] + i : positions[b * length_ + i];
  }

  void rotate(std::vector<float>& x, int64_t heads) const {
    const std::vector<float> cosines = read(GroupedInput::kCos), sines = read(GroupedInput::kSin);
    const int64_t known = call_.inputs[GroupedInput::kCos].shape[0],
                  half = call_.inputs[GroupedInput::kCos].shape[1];
    for (int64_t row = 0; row < batch_ * length_; ++row) {
      const int64_t place = position(row / length_, row % length_);
      if (place < 0 || place >= known) {
        fail(ErrorCode::kInvalidArgument, "GroupQueryAttention: position ", place,
             " is outside the ", known, " rows of cos_cache");
      }
      for (int64_t h = 0; h < heads; ++h) {
        float* head = x.data() + (row * heads + h) * head_;
        for (int64_t i = 0; i < half; ++i) {
          float& a = head[attrs_.rotary_interleaved ? 2 * i : i];
          float& b = head[attrs_.rotary_interleaved ? 2 * i + 1 : i + half];
          const float cosine = cosines[static_cast<size_t>(place * half + i)];
          const float sine = sines[static_cast<size_t>(place * half + i)];
          const float rotated = a * cosine - b * sine;
          b = a * sine + b * cosine;
          a = rotated;
        }
      }
    }
  }

  // [batch, kv heads, work length, head]: the past of each batch entry that is there, and the new
  // ones behind it, as the cache shows them.
  void fill_cache() {
    work_length_ = length_ + *std::ranges::max_element(resident_);
    keys_ = cached(GroupedInput::kPastKey, GroupedInput::kKeyScale,
                   cache_form(attrs_.k_quant_type, attrs_), new_keys_);
    values_ = cached(GroupedInput::kPastValue, GroupedInput::kValueScale,
                     cache_form(attrs_.v_quant_type, attrs_), new_values_);
  }
  std::vector<float> cached(GroupedInput::InputIndex input, GroupedInput::InputIndex scale,
                            const CacheForm& form, const std::vector<float>& fresh) const {
    std::vector<float> past;
    if (call_.has(input)) past = loaded(call_.inputs[input], form, scale);
    std::vector<float> out(static_cast<size_t>(batch_ * attrs_.kv_num_heads * work_length_ * head_),
                           0.f);
    for (int64_t line = 0; line < batch_ * attrs_.kv_num_heads; ++line) {
      const int64_t b = line / attrs_.kv_num_heads, h = line % attrs_.kv_num_heads;
      const int64_t kept = resident_[static_cast<size_t>(b)];
      float* to = out.data() + line * work_length_ * head_;
      std::copy_n(past.data() + line * past_length_ * head_, kept * head_, to);
      for (int64_t i = 0; i < length_; ++i) {
        const float* from = fresh.data() + ((b * length_ + i) * attrs_.kv_num_heads + h) * head_;
        float* row = std::copy_n(from, head_, to + (kept + i) * head_) - head_;
        for (int64_t channel = 0; form.is_quantized && channel < head_; ++channel) {
          const float step = step_of(form, scale, h, channel);
          row[channel] = code_of(input, form, row[channel] / step) * step;
        }
      }
    }
    return out;
  }

  float step_of(const CacheForm& form, GroupedInput::InputIndex scale, int64_t h,
                int64_t channel) const {
    const TensorView& steps = call_.inputs[scale];
    return steps.data<float>()[form.is_per_channel ? h * head_ + channel : 0];
  }

  // The number that is stored for x, in steps.
  float code_of(GroupedInput::InputIndex past, const CacheForm& form, float x) const {
    if (call_.has(past) && call_.inputs[past].dtype == DType::kFloat8E4M3FN) return Float8E4M3FN(x);
    const float bound = form.bits == 4 ? 8 : 128;
    return std::clamp(std::nearbyint(x), -bound, bound - 1);
  }

  std::vector<float> loaded(const TensorView& past, const CacheForm& form,
                            GroupedInput::InputIndex scale) const {
    if (!form.is_quantized) return read(past);
    const int64_t rows = past.count() / std::max<int64_t>(past.shape[3], 1);
    std::vector<float> out(static_cast<size_t>(rows * head_)), codes;
    if (form.bits == 8) codes = read(past);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t h = row / past.shape[2] % attrs_.kv_num_heads;
      for (int64_t channel = 0; channel < head_; ++channel) {
        const auto at = static_cast<size_t>(row * head_ + channel);
        float code = 0;
        if (form.bits == 8) {
          code = codes[at];
        } else {
          const uint8_t byte = past.data<uint8_t>()[row * past.shape[3] + channel / 2];
          code = static_cast<float>(channel % 2 ? byte >> 4 : byte & 15) - 8;
        }
        out[at] = code * step_of(form, scale, h, channel);
      }
    }
    return out;
  }

  // The rows that the cache is left with, zeros behind them.
  void store(size_t output, const std::vector<float>& work, const CacheForm& form,
             GroupedInput::InputIndex scale) {
    if (!call_.wants(output)) return;
    const TensorView& view = call_.outputs[output];
    const int64_t stored = view.shape[3];
    std::vector<float> codes(static_cast<size_t>(view.count()), form.bits == 4 ? 0x88 : 0);
    for (int64_t line = 0; line < batch_ * attrs_.kv_num_heads; ++line) {
      const int64_t b = line / attrs_.kv_num_heads, h = line % attrs_.kv_num_heads;
      const int64_t all = resident_[static_cast<size_t>(b)] + length_;
      const int64_t kept = attrs_.sliding_window_cache
                               ? resident_rows(totals_[static_cast<size_t>(b)], present_length_,
                                               attrs_.local_window_size)
                               : all;
      for (int64_t i = 0; i < kept; ++i) {
        const float* row = work.data() + (line * work_length_ + all - kept + i) * head_;
        float* to = codes.data() + (line * present_length_ + i) * stored;
        if (!form.is_quantized) {
          std::copy_n(row, head_, to);
          continue;
        }
        for (int64_t channel = 0; channel < head_; ++channel) {
          const float code = row[channel] / step_of(form, scale, h, channel);
          if (form.bits == 8) {
            to[channel] = view.dtype == DType::kFloat8E4M3FN ? code : std::nearbyint(code);
          } else {
            const auto half = static_cast<int>(std::nearbyint(code)) + 8;
            const auto byte = static_cast<int>(to[channel / 2]);
            to[channel / 2] =
                static_cast<float>(channel % 2 ? (byte & 15) | half << 4 : (byte & 0xf0) | half);
          }
        }
      }
    }
    store_numbers<float>(view.dtype, view.raw, 0, view.count(), codes.data());
  }

  float bias(int64_t b, int64_t h, int64_t i, int64_t key) const {
    const std::span<const int64_t> shape = call_.inputs[GroupedInput::kBias].shape;
    if (i >= shape[2] || key >= shape[3]) {
      fail(ErrorCode::kInvalidArgument,
           "GroupQueryAttention: input attention_bias: expected [batch or 1, ",
           "heads or 1, length, total_sequence_length]");
    }
    const int64_t at =
        (((shape[0] == 1 ? 0 : b) * shape[1] + (shape[1] == 1 ? 0 : h)) * shape[2] + i) * shape[3] +
        key;
    return bias_[static_cast<size_t>(at)];
  }

  // Probabilities of keys [begin, end) for one query; a sink takes its share and gives nothing.
  void softmax(std::vector<double>& scores, int64_t h) const {
    const bool has_sink = call_.has(GroupedInput::kSink) || attrs_.smooth_softmax == 1;
    const double sink = call_.has(GroupedInput::kSink) ? sink_[static_cast<size_t>(h)] : 0;
    double highest = has_sink ? sink : -std::numeric_limits<double>::infinity();
    for (const double score : scores)
      highest = std::max(highest, score);
    double sum = has_sink ? std::exp(sink - highest) : 0;
    for (double& score : scores)
      sum += score = std::exp(score - highest);
    for (double& score : scores)
      score /= sum;
  }

  void show(int64_t stage, int64_t b, int64_t h, int64_t i, int64_t begin,
            const std::vector<double>& scores) {
    if (attrs_.qk_output != stage || !call_.wants(3)) return;
    if (shown_.empty()) shown_.assign(static_cast<size_t>(call_.outputs[3].count()), 0.f);
    float* row = shown_.data() + ((b * attrs_.num_heads + h) * length_ + i) * total_ + begin;
    std::copy(scores.begin(), scores.end(), row);
  }

  void attend(int64_t b, int64_t h, int64_t i, float* out) {
    if (bias_.empty()) bias_ = read(GroupedInput::kBias);
    if (sink_.empty()) sink_ = read(GroupedInput::kSink);
    const int64_t own = past_[static_cast<size_t>(b)] + i + 1;
    const int64_t end = attrs_.causal ? own : totals_[static_cast<size_t>(b)];
    const int64_t begin =
        attrs_.local_window_size > 0 ? std::max<int64_t>(0, own - attrs_.local_window_size) : 0;
    const int64_t line = b * attrs_.kv_num_heads + h / (attrs_.num_heads / attrs_.kv_num_heads);
    // The position of the first row that is there: it is before the window.
    const int64_t base = past_[static_cast<size_t>(b)] - resident_[static_cast<size_t>(b)];
    const float* q = query_.data() + ((b * length_ + i) * attrs_.num_heads + h) * head_;
    std::vector<double> scores;
    for (int64_t key = begin; key < end; ++key) {
      const float* k = keys_.data() + (line * work_length_ + key - base) * head_;
      double sum = 0;
      for (int64_t j = 0; j < head_; ++j)
        sum += static_cast<double>(q[j]) * k[j];
      sum *= scale_;
      if (attrs_.softcap > 0) sum = attrs_.softcap * std::tanh(sum / attrs_.softcap);
      scores.push_back(call_.has(GroupedInput::kBias) ? sum + bias(b, h, i, key) : sum);
    }
    show(1, b, h, i, begin, scores);
    softmax(scores, h);
    show(2, b, h, i, begin, scores);
    std::vector<double> mixed(static_cast<size_t>(head_), 0);
    for (size_t key = 0; key < scores.size(); ++key) {
      const float* v =
          values_.data() + (line * work_length_ + begin - base + static_cast<int64_t>(key)) * head_;
      for (size_t j = 0; j < mixed.size(); ++j)
        mixed[j] += scores[key] * v[j];
    }
    std::copy(mixed.begin(), mixed.end(), out);
  }

  const KernelCall& call_;
  const GroupedAttrs& attrs_;
  int64_t batch_ = 0, length_ = 0, head_ = 0, total_ = 0, past_length_ = 0, present_length_ = 0;
  bool first_prompt_ = false;
  double scale_ = 1;
  int64_t work_length_ = 0;
  // One element for each batch entry: tokens before and after this call, and rows of the past that
  // are there.
  std::vector<int64_t> past_, totals_, resident_;
  std::vector<float> query_, new_keys_, new_values_, keys_, values_, bias_, sink_, shown_;
};

}  // namespace

void grouped_reference(const KernelCall& call) {
  Grouped(call).run();
}

}  // namespace sardonyx::ops
