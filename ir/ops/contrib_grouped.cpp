// com.microsoft: GroupQueryAttention, whose batch entries each have their own number of keys.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/convert.h"
#include "ir/ops/contrib_body.h"
#include "ir/ops/infer.h"
#include "ir/ops/tables.h"
#include "ir/run_control.h"

namespace sardonyx::ops {
namespace {

constexpr DTypeSet kReal{DType::kFloat16, DType::kBFloat16, DType::kFloat};

struct GroupedAttrs {
  bool causal = true, do_rotary = false;
  std::string k_quant_type = "NONE";
  int64_t kv_cache_bit_width = 0, kv_num_heads = 0, local_window_size = -1, num_heads = 0;
  float qk_norm_epsilon = 1e-6f;
  int64_t qk_output = 0;
  bool rotary_interleaved = false;
  std::optional<float> scale;
  bool sliding_window_cache = false;
  int64_t smooth_softmax = 0;
  float softcap = 0;
  std::string v_quant_type = "NONE";
  static auto fields() {
    using A = GroupedAttrs;
    return std::tuple{field("causal", &A::causal),
                      field("do_rotary", &A::do_rotary),
                      field("k_quant_type", &A::k_quant_type),
                      field("kv_cache_bit_width", &A::kv_cache_bit_width),
                      required("kv_num_heads", &A::kv_num_heads),
                      field("local_window_size", &A::local_window_size),
                      required("num_heads", &A::num_heads),
                      field("qk_norm_epsilon", &A::qk_norm_epsilon),
                      field("qk_output", &A::qk_output),
                      field("rotary_interleaved", &A::rotary_interleaved),
                      field("scale", &A::scale),
                      field("sliding_window_cache", &A::sliding_window_cache),
                      field("smooth_softmax", &A::smooth_softmax),
                      field("softcap", &A::softcap),
                      field("v_quant_type", &A::v_quant_type)};
  }
};

enum GroupedInput {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLengths,
  kTotal,
  kCos,
  kSin,
  kPositions,
  kBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm
};

void check_attrs(InferContext& c, const GroupedAttrs& attrs) {
  c.require(
      attrs.num_heads >= 1 && attrs.kv_num_heads >= 1 && attrs.num_heads % attrs.kv_num_heads == 0,
      "attributes num_heads and kv_num_heads: expected a positive multiple and a positive number, "
      "got ",
      attrs.num_heads, " and ", attrs.kv_num_heads);
  c.require(attrs.qk_output >= 0 && attrs.qk_output <= 2,
            "attribute qk_output: expected 0 to 2, got ", attrs.qk_output);
  c.require(attrs.local_window_size == -1 || attrs.local_window_size > 0,
            "attribute local_window_size: expected -1 or a positive size, got ",
            attrs.local_window_size);
  c.require(attrs.causal || attrs.local_window_size == -1,
            "attribute local_window_size: expected -1 where causal is 0");
  const bool quantized = attrs.k_quant_type != "NONE" || attrs.v_quant_type != "NONE";
  if (quantized || attrs.sliding_window_cache) {
    fail(ErrorCode::kUnsupported,
         "GroupQueryAttention: quantized caches (k_quant_type, v_quant_type) ",
         "and sliding_window_cache are not supported; export the model with a plain cache");
  }
}

void check_inputs(InferContext& c, const GroupedAttrs& attrs) {
  c.require(c.has(kKey) == c.has(kValue), "inputs key and value go together");
  c.require(c.has(kPastKey) == c.has(kPastValue), "inputs past_key and past_value go together");
  c.require(c.has(kQueryNorm) == c.has(kKeyNorm),
            "inputs q_norm_weight and k_norm_weight go together");
  c.require(!attrs.do_rotary || (c.has(kCos) && c.has(kSin)),
            "do_rotary is 1: expected inputs cos_cache and sin_cache");
  c.require(c.output_count() < 4 || attrs.qk_output != 0,
            "output output_qk is wanted, but attribute qk_output is 0");
  for (const size_t input : {kQuery, kKey, kValue})
    c.require_rank(input, 3);
  for (const size_t input : {kPastKey, kPastValue, kBias})
    c.require_rank(input, 4);
  for (const size_t input : {kCos, kSin, kPositions})
    c.require_rank(input, 2);
  for (const size_t input : {kPastKey, kPastValue}) {
    if (c.has(input) && c.dtype(input) != c.dtype(kQuery)) {
      c.fail_input(input, "expected the type of query, as the cache is not quantized");
    }
  }
  require_single(c, kTotal);
}

// The size of a head; nullopt where it is not known yet.
std::optional<Dim> head_size(InferContext& c, const GroupedAttrs& attrs) {
  const Dims* query = c.shape(kQuery);
  if (!query) return std::nullopt;
  const int64_t heads = attrs.num_heads + (c.has(kKey) ? 0 : 2 * attrs.kv_num_heads);
  const std::optional<Dim> size = exact_div((*query)[2], heads);
  if (!size && (*query)[2].is_known()) {
    c.fail_input(kQuery, "expected features of ", heads, " heads of one size");
  }
  return size;
}

void check_sizes(InferContext& c, const GroupedAttrs& attrs, const Dim& batch, const Dim& length,
                 const Dim& head) {
  for (const size_t input : {kKey, kValue}) {
    const Dims* shape = c.shape(input);
    if (!shape) continue;
    c.merged((*shape)[0], batch, "batches of query, key and value");
    c.merged((*shape)[1], length, "lengths of query, key and value");
    c.merged((*shape)[2], head * attrs.kv_num_heads, "features of key and value");
  }
  for (const size_t input : {kPastKey, kPastValue}) {
    const Dims* shape = c.shape(input);
    if (!shape) continue;
    c.merged((*shape)[0], batch, "batches of query and cache");
    c.merged((*shape)[1], attrs.kv_num_heads, "heads of the cache and kv_num_heads");
    c.merged((*shape)[3], head, "sizes of heads of query and cache");
  }
  if (c.shape(kPastKey) && c.shape(kPastValue)) {
    c.merged((*c.shape(kPastKey))[2], (*c.shape(kPastValue))[2],
             "lengths of past_key and past_value");
  }
  for (const size_t input : {kQueryNorm, kKeyNorm}) {
    if (const Dims* shape = c.shape(input))
      c.merged(element_count(*shape), head, "a head and its norm");
  }
  if (const Dims* shape = c.shape(kLengths)) {
    c.merged(element_count(*shape), batch, "batch and seqlens_k");
  }
  if (const Dims* shape = c.shape(kSink)) {
    c.merged(element_count(*shape), attrs.num_heads, "heads and head_sink");
  }
  if (const Dims* shape = c.shape(kPositions)) {
    c.merged((*shape)[0], batch, "batch and position_ids");
    c.merged((*shape)[1], length, "length and position_ids");
  }
}

void infer_grouped(InferContext& c) {
  const auto& attrs = c.attrs<GroupedAttrs>();
  check_attrs(c, attrs);
  check_inputs(c, attrs);
  const Dims* query = c.shape(kQuery);
  const Dim batch = query ? (*query)[0] : c.unknown(), length = query ? (*query)[1] : c.unknown();
  const Dim head = head_size(c, attrs).value_or(c.unknown());
  check_sizes(c, attrs, batch, length, head);
  const std::optional<Dims> value = c.dims(kTotal);
  const Dim total = value && value->size() == 1 ? (*value)[0] : c.unknown();
  Dim present = total;
  if (const Dims* past = c.shape(kPastKey)) present = max((*past)[2], total);
  c.set(0, c.dtype(kQuery), Dims{batch, length, head * attrs.num_heads});
  for (size_t output : {1, 2}) {
    c.set(output, c.dtype(c.has(kPastKey) ? kPastKey : kQuery),
          Dims{batch, attrs.kv_num_heads, present, head});
  }
  c.set(3, c.dtype(kQuery), Dims{batch, attrs.num_heads, length, total});
}

class Grouped {
 public:
  explicit Grouped(const KernelCall& call) : call_(call), attrs_(call.attrs<GroupedAttrs>()) {
    const std::span<const int64_t> query = call.inputs[kQuery].shape;
    batch_ = query[0];
    length_ = query[1];
    head_ = call.outputs[0].shape[2] / attrs_.num_heads;
    load_numbers<int64_t>(call.inputs[kTotal].dtype, call.inputs[kTotal].raw, 0, 1, 1, &total_);
    past_length_ = call.has(kPastKey) ? call.inputs[kPastKey].shape[2] : 0;
    present_length_ = std::max(past_length_, total_);
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
    write(1, keys_);
    write(2, values_);
    write(3, shown_);
  }

 private:
  static std::vector<float> read(const TensorView& x) {
    std::vector<float> out(static_cast<size_t>(x.count()));
    load_numbers<float>(x.dtype, x.raw, 0, 1, x.count(), out.data());
    return out;
  }
  std::vector<float> read(GroupedInput input) const {
    return call_.has(input) ? read(call_.inputs[input]) : std::vector<float>();
  }
  void write(size_t output, const std::vector<float>& values) {
    if (!call_.wants(output)) return;
    const TensorView& view = call_.outputs[output];
    store_numbers<float>(view.dtype, view.raw, 0, view.count(), values.data());
  }

  // How many keys each batch entry has behind this call.
  void read_lengths() {
    const int32_t* lengths = call_.inputs[kLengths].data<int32_t>();
    if (total_ < length_) {
      fail(ErrorCode::kInvalidArgument,
           "GroupQueryAttention: input total_sequence_length: ", total_,
           " is less than the length of query, ", length_);
    }
    for (int64_t b = 0; b < batch_; ++b) {
      const int64_t keys = int64_t{lengths[b]} + 1;
      if (keys < (first_prompt_ ? 1 : length_) || keys > total_ ||
          (!first_prompt_ && keys - length_ > past_length_)) {
        fail(ErrorCode::kInvalidArgument, "GroupQueryAttention: input seqlens_k: ", lengths[b],
             " for batch entry ", b, " does not fit a query of ", length_, ", a past of ",
             past_length_, " and total_sequence_length ", total_);
      }
      past_.push_back(first_prompt_ ? 0 : keys - length_);
      totals_.push_back(first_prompt_ ? length_ : keys);
    }
  }

  // Query, key and value of this call, each [batch, length, heads, head].
  void project() {
    const std::vector<float> all = read(kQuery);
    if (call_.has(kKey)) {
      query_ = all;
      new_keys_ = read(kKey);
      new_values_ = read(kValue);
    } else {
      const int64_t q = attrs_.num_heads * head_, kv = attrs_.kv_num_heads * head_;
      for (int64_t row = 0; row < batch_ * length_; ++row) {
        const float* at = all.data() + row * (q + 2 * kv);
        query_.insert(query_.end(), at, at + q);
        new_keys_.insert(new_keys_.end(), at + q, at + q + kv);
        new_values_.insert(new_values_.end(), at + q + kv, at + q + 2 * kv);
      }
    }
    normalize(query_, read(kQueryNorm));
    normalize(new_keys_, read(kKeyNorm));
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
    if (!call_.has(kPositions)) return past_[static_cast<size_t>(b)] + i;
    const int64_t* positions = call_.inputs[kPositions].data<int64_t>();
    return first_prompt_ ? positions[0] + i : positions[b * length_ + i];
  }

  void rotate(std::vector<float>& x, int64_t heads) const {
    const std::vector<float> cosines = read(kCos), sines = read(kSin);
    const int64_t known = call_.inputs[kCos].shape[0], half = call_.inputs[kCos].shape[1];
    if (2 * half > head_ || call_.inputs[kSin].count() != call_.inputs[kCos].count()) {
      fail(ErrorCode::kInvalidArgument,
           "GroupQueryAttention: inputs cos_cache and sin_cache: expected ",
           "rows of at most half a head (", head_, ") and one shape");
    }
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
          const float turned = a * cosine - b * sine;
          b = a * sine + b * cosine;
          a = turned;
        }
      }
    }
  }

  // [batch, kv heads, present length, head]: the past of each batch entry, the new ones behind it,
  // then zeros.
  void fill_cache() {
    keys_ = cached(read(kPastKey), new_keys_);
    values_ = cached(read(kPastValue), new_values_);
  }
  std::vector<float> cached(const std::vector<float>& past, const std::vector<float>& fresh) const {
    std::vector<float> out(
        static_cast<size_t>(batch_ * attrs_.kv_num_heads * present_length_ * head_), 0.f);
    for (int64_t line = 0; line < batch_ * attrs_.kv_num_heads; ++line) {
      const int64_t b = line / attrs_.kv_num_heads, h = line % attrs_.kv_num_heads;
      const int64_t kept = past_[static_cast<size_t>(b)];
      float* to = out.data() + line * present_length_ * head_;
      std::copy_n(past.data() + line * past_length_ * head_, kept * head_, to);
      for (int64_t i = 0; i < length_; ++i) {
        std::copy_n(fresh.data() + ((b * length_ + i) * attrs_.kv_num_heads + h) * head_, head_,
                    to + (kept + i) * head_);
      }
    }
    return out;
  }

  float bias(int64_t b, int64_t h, int64_t i, int64_t key) const {
    const std::span<const int64_t> shape = call_.inputs[kBias].shape;
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
    const bool has_sink = call_.has(kSink) || attrs_.smooth_softmax == 1;
    const double sink = call_.has(kSink) ? sink_[static_cast<size_t>(h)] : 0;
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
    if (bias_.empty()) bias_ = read(kBias);
    if (sink_.empty()) sink_ = read(kSink);
    const int64_t own = past_[static_cast<size_t>(b)] + i + 1;
    const int64_t end = attrs_.causal ? own : totals_[static_cast<size_t>(b)];
    const int64_t begin =
        attrs_.local_window_size > 0 ? std::max<int64_t>(0, own - attrs_.local_window_size) : 0;
    const int64_t line = b * attrs_.kv_num_heads + h / (attrs_.num_heads / attrs_.kv_num_heads);
    const float* q = query_.data() + ((b * length_ + i) * attrs_.num_heads + h) * head_;
    std::vector<double> scores;
    for (int64_t key = begin; key < end; ++key) {
      const float* k = keys_.data() + (line * present_length_ + key) * head_;
      double sum = 0;
      for (int64_t j = 0; j < head_; ++j)
        sum += static_cast<double>(q[j]) * k[j];
      sum *= scale_;
      if (attrs_.softcap > 0) sum = attrs_.softcap * std::tanh(sum / attrs_.softcap);
      scores.push_back(call_.has(kBias) ? sum + bias(b, h, i, key) : sum);
    }
    show(1, b, h, i, begin, scores);
    softmax(scores, h);
    show(2, b, h, i, begin, scores);
    std::vector<double> mixed(static_cast<size_t>(head_), 0);
    for (size_t key = 0; key < scores.size(); ++key) {
      const float* v =
          values_.data() + (line * present_length_ + begin + static_cast<int64_t>(key)) * head_;
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
  std::vector<int64_t> past_, totals_;  // of each batch entry
  std::vector<float> query_, new_keys_, new_values_, keys_, values_, bias_, sink_, shown_;
};

void grouped(const KernelCall& call) {
  Grouped(call).run();
}

std::vector<Sample> grouped_samples() {
  const auto int32s = [](const std::vector<int32_t>& values, Shape shape) {
    return SampleInput{.shape = shape, .value = Tensor::of<int32_t>(values, shape)};
  };
  const SampleInput none{.omitted = true};
  const AttrMap heads{{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
  AttrMap rotary = heads;
  rotary["do_rotary"] = int64_t{1};
  rotary["local_window_size"] = int64_t{2};
  return {{.inputs = {{.shape = {2, 3, 16}},
                      {.shape = {2, 3, 8}},
                      {.shape = {2, 3, 8}},
                      none,
                      none,
                      int32s({2, 1}, {2}),
                      int32s({3}, {1})},
           .attrs = heads,
           .outputs = 3},
          {.inputs = {{.shape = {2, 1, 32}},
                      none,
                      none,
                      {.shape = {2, 2, 5, 4}},
                      {.shape = {2, 2, 5, 4}},
                      int32s({3, 5}, {2}),
                      int32s({6}, {1}),
                      {.shape = {8, 2}},
                      {.shape = {8, 2}}},
           .attrs = rotary,
           .outputs = 3}};
}

const OpDef kOps[] = {
    {.name = "GroupQueryAttention",
     .domain = kMicrosoft,
     .signature =
         "(query: T, key?: T, value?: T, past_key?: T_CACHE, past_value?: T_CACHE, seqlens_k: M, "
         "total_sequence_length: M, cos_cache?: T, sin_cache?: T, position_ids?: int64, "
         "attention_bias?: T, head_sink?: T, k_scale?: T_KV_SCALE, v_scale?: T_KV_SCALE, "
         "q_norm_weight?: T, k_norm_weight?: T) -> "
         "(output: T, present_key?: T_CACHE, present_value?: T_CACHE, output_qk?: T)",
     .types = {{"T", kReal},
               {"T_CACHE", kReal | DTypeSet{DType::kUInt8, DType::kInt8, DType::kFloat8E4M3FN}},
               {"T_KV_SCALE", DType::kFloat},
               {"M", DType::kInt32}},
     .attrs = attr_schema<GroupedAttrs>(),
     .infer = infer_grouped,
     .reference = grouped,
     .shape_inputs = 1u << kTotal,
     .samples = grouped_samples},
};

}  // namespace

std::span<const OpDef> contrib_grouped_ops() {
  return kOps;
}

}  // namespace sardonyx::ops
