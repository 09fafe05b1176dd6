// com.microsoft: GroupQueryAttention, whose batch entries each have their own number of keys.
#include "ir/ops/attention/group_query_attention.h"

#include "ir/ops/contrib/contrib_body.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {

CacheForm cache_form(const std::string& quant_type, const GroupedAttrs& attrs) {
  CacheForm form;
  if (quant_type == "NONE") return form;
  if (quant_type != "PER_TENSOR" && quant_type != "PER_CHANNEL") {
    fail(ErrorCode::kInvalidModel, "attributes k_quant_type and v_quant_type: expected NONE, ",
         "PER_TENSOR or PER_CHANNEL, got ", quant_type);
  }
  if (attrs.kv_cache_bit_width != 4 && attrs.kv_cache_bit_width != 8) {
    fail(ErrorCode::kInvalidModel, "attribute kv_cache_bit_width: expected 4 or 8, got ",
         attrs.kv_cache_bit_width);
  }
  return {true, static_cast<int>(attrs.kv_cache_bit_width), quant_type == "PER_CHANNEL"};
}

int64_t resident_rows(int64_t tokens, int64_t capacity, int64_t window) {
  if (tokens <= capacity) return tokens;
  const int64_t group = capacity - window + 1;
  return tokens - group * ((tokens - capacity + group - 1) / group);
}

GroupedKeys grouped_keys(const GroupedAttrs& attrs, int64_t entry, int64_t given, int64_t length,
                         int64_t total, int64_t past_length) {
  if (total < length) {
    fail(ErrorCode::kInvalidArgument, "GroupQueryAttention: input total_sequence_length: ", total,
         " is less than the length of query, ", length);
  }
  const bool is_first = length == total;
  const int64_t keys = given + 1;
  const bool fits = keys >= (is_first ? 1 : length) && keys <= total &&
                    (is_first || attrs.sliding_window_cache || keys - length <= past_length);
  if (!fits) {
    fail(ErrorCode::kInvalidArgument, "GroupQueryAttention: input seqlens_k: ", given,
         " for batch entry ", entry, " does not fit a query of ", length, ", a past of ",
         past_length, " and total_sequence_length ", total);
  }
  return is_first ? GroupedKeys{0, length} : GroupedKeys{keys - length, keys};
}

namespace {

constexpr DTypeSet kReal{DType::kFloat16, DType::kBFloat16, DType::kFloat};

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
  c.require(
      !attrs.sliding_window_cache || (attrs.local_window_size > 0 && c.has(GroupedInput::kPastKey)),
      "sliding_window_cache is 1: expected a local_window_size and a past, whose length is the "
      "capacity of the cache");
}

// The type of one cache, its scale, and the channels of a stored row.
void check_cache(InferContext& c, const CacheForm& form, size_t past, size_t scale) {
  if (form.is_quantized && !c.has(scale)) c.fail("a quantized cache needs its scale");
  if (!c.has(past)) return;
  const DType dtype = c.dtype(past);
  if (!form.is_quantized && dtype != c.dtype(GroupedInput::kQuery))
    c.fail_input(past, "expected the type of query, as the cache is not quantized");
  const bool fits = form.bits == 4 ? dtype == DType::kUInt8
                                   : dtype == DType::kInt8 || dtype == DType::kFloat8E4M3FN;
  if (form.is_quantized && !fits)
    c.fail_input(past, "expected ", form.bits == 4 ? "uint8" : "int8 or float8e4m3fn",
                 " for elements of ", form.bits, " bits");
}

DType stored_type(const InferContext& c, const CacheForm& form, size_t past) {
  if (c.has(past)) return c.dtype(past);
  if (!form.is_quantized) return c.dtype(GroupedInput::kQuery);
  return form.bits == 4 ? DType::kUInt8 : DType::kInt8;
}

// Bytes or elements of a stored row of a head.
Dim stored_size(const CacheForm& form, const Dim& head) {
  return form.bits == 4 ? floor_div(head + 1, 2) : head;
}

void check_inputs(InferContext& c, const GroupedAttrs& attrs) {
  c.require(c.has(GroupedInput::kKey) == c.has(GroupedInput::kValue),
            "inputs key and value go together");
  c.require(c.has(GroupedInput::kPastKey) == c.has(GroupedInput::kPastValue),
            "inputs past_key and past_value go together");
  c.require(c.has(GroupedInput::kQueryNorm) == c.has(GroupedInput::kKeyNorm),
            "inputs q_norm_weight and k_norm_weight go together");
  c.require(!attrs.do_rotary || (c.has(GroupedInput::kCos) && c.has(GroupedInput::kSin)),
            "do_rotary is 1: expected inputs cos_cache and sin_cache");
  c.require(c.output_count() < 4 || attrs.qk_output != 0,
            "output output_qk is wanted, but attribute qk_output is 0");
  for (const size_t input : {GroupedInput::kQuery, GroupedInput::kKey, GroupedInput::kValue})
    c.require_rank(input, 3);
  for (const size_t input : {GroupedInput::kPastKey, GroupedInput::kPastValue, GroupedInput::kBias})
    c.require_rank(input, 4);
  for (const size_t input : {GroupedInput::kCos, GroupedInput::kSin, GroupedInput::kPositions})
    c.require_rank(input, 2);
  check_cache(c, cache_form(attrs.k_quant_type, attrs), GroupedInput::kPastKey,
              GroupedInput::kKeyScale);
  check_cache(c, cache_form(attrs.v_quant_type, attrs), GroupedInput::kPastValue,
              GroupedInput::kValueScale);
  require_single(c, GroupedInput::kTotal);
}

// The size of a head; nullopt where it is not known yet.
std::optional<Dim> head_size(InferContext& c, const GroupedAttrs& attrs) {
  const Dims* query = c.shape(GroupedInput::kQuery);
  if (!query) return std::nullopt;
  const int64_t heads = attrs.num_heads + (c.has(GroupedInput::kKey) ? 0 : 2 * attrs.kv_num_heads);
  const std::optional<Dim> size = exact_div((*query)[2], heads);
  if (!size && (*query)[2].is_known()) {
    c.fail_input(GroupedInput::kQuery, "expected features of ", heads, " heads of one size");
  }
  return size;
}

void check_sizes(InferContext& c, const GroupedAttrs& attrs, const Dim& batch, const Dim& length,
                 const Dim& head) {
  for (const size_t input : {GroupedInput::kKey, GroupedInput::kValue}) {
    const Dims* shape = c.shape(input);
    if (!shape) continue;
    c.merged((*shape)[0], batch, "batches of query, key and value");
    c.merged((*shape)[1], length, "lengths of query, key and value");
    c.merged((*shape)[2], head * attrs.kv_num_heads, "features of key and value");
  }
  for (const size_t input : {GroupedInput::kPastKey, GroupedInput::kPastValue}) {
    const Dims* shape = c.shape(input);
    if (!shape) continue;
    c.merged((*shape)[0], batch, "batches of query and cache");
    c.merged((*shape)[1], attrs.kv_num_heads, "heads of the cache and kv_num_heads");
    const CacheForm form = cache_form(
        input == GroupedInput::kPastKey ? attrs.k_quant_type : attrs.v_quant_type, attrs);
    c.merged((*shape)[3], stored_size(form, head), "sizes of heads of query and cache");
  }
  if (c.shape(GroupedInput::kPastKey) && c.shape(GroupedInput::kPastValue)) {
    c.merged((*c.shape(GroupedInput::kPastKey))[2], (*c.shape(GroupedInput::kPastValue))[2],
             "lengths of past_key and past_value");
  }
  for (const size_t input : {GroupedInput::kQueryNorm, GroupedInput::kKeyNorm}) {
    if (const Dims* shape = c.shape(input))
      c.merged(element_count(*shape), head, "a head and its norm");
  }
  if (const Dims* shape = c.shape(GroupedInput::kLengths)) {
    c.merged(element_count(*shape), batch, "batch and seqlens_k");
  }
  if (const Dims* shape = c.shape(GroupedInput::kSink)) {
    c.merged(element_count(*shape), attrs.num_heads, "heads and head_sink");
  }
  if (const Dims* shape = c.shape(GroupedInput::kPositions)) {
    c.merged((*shape)[0], batch, "batch and position_ids");
    c.merged((*shape)[1], length, "length and position_ids");
  }
}

// Angles, the steps of a quantized cache, and what is added to the scores.
void check_tables(InferContext& c, const GroupedAttrs& attrs, const Dim& batch, const Dim& head) {
  const Dims *cosines = c.shape(GroupedInput::kCos), *sines = c.shape(GroupedInput::kSin);
  if (attrs.do_rotary && cosines && sines) {
    c.merged((*cosines)[0], (*sines)[0], "rows of cos_cache and sin_cache");
    const Dim half = c.merged((*cosines)[1], (*sines)[1], "columns of cos_cache and sin_cache");
    if (half.is_known() && head.is_known() && 2 * half.value() > head.value())
      c.fail_input(GroupedInput::kCos, "expected rows of at most half a head of ", head, ", got ",
                   half);
  }
  const auto check_steps = [&](size_t input, const CacheForm& form) {
    const Dims* shape = c.shape(input);
    if (!form.is_quantized || !shape) return;
    c.merged(element_count(*shape), form.is_per_channel ? head * attrs.kv_num_heads : Dim(1),
             text("elements of ", c.input_label(input)));
  };
  check_steps(GroupedInput::kKeyScale, cache_form(attrs.k_quant_type, attrs));
  check_steps(GroupedInput::kValueScale, cache_form(attrs.v_quant_type, attrs));
  if (const Dims* bias = c.shape(GroupedInput::kBias)) {
    const Dim wanted[] = {batch, attrs.num_heads};
    for (size_t i = 0; i < 2; ++i) {
      if ((*bias)[i] != 1) c.merged((*bias)[i], wanted[i], "attention_bias: batch or heads");
    }
  }
}

void infer_grouped(InferContext& c) {
  const auto& attrs = c.attrs<GroupedAttrs>();
  check_attrs(c, attrs);
  check_inputs(c, attrs);
  const Dims* query = c.shape(GroupedInput::kQuery);
  const Dim batch = query ? (*query)[0] : c.unknown(), length = query ? (*query)[1] : c.unknown();
  const Dim head = head_size(c, attrs).value_or(c.unknown());
  check_sizes(c, attrs, batch, length, head);
  check_tables(c, attrs, batch, head);
  const std::optional<Dims> value = c.dims(GroupedInput::kTotal);
  const Dim total = value && value->size() == 1 ? (*value)[0] : c.unknown();
  Dim present = total;
  if (const Dims* past = c.shape(GroupedInput::kPastKey)) {
    present = attrs.sliding_window_cache ? (*past)[2] : max((*past)[2], total);
  } else if (c.has(GroupedInput::kPastKey)) {
    present = c.unknown();
  }
  c.set(0, c.dtype(GroupedInput::kQuery), Dims{batch, length, head * attrs.num_heads});
  const CacheForm key_form = cache_form(attrs.k_quant_type, attrs);
  const CacheForm value_form = cache_form(attrs.v_quant_type, attrs);
  c.set(1, stored_type(c, key_form, GroupedInput::kPastKey),
        Dims{batch, attrs.kv_num_heads, present, stored_size(key_form, head)});
  c.set(2, stored_type(c, value_form, GroupedInput::kPastValue),
        Dims{batch, attrs.kv_num_heads, present, stored_size(value_form, head)});
  c.set(3, c.dtype(GroupedInput::kQuery), Dims{batch, attrs.num_heads, length, total});
}

// A call's inputs from query to total_sequence_length, then what is set of the others.
Sample grouped_sample(std::vector<SampleInput> first, const std::vector<int32_t>& lengths,
                      int32_t total, std::vector<std::pair<size_t, SampleInput>> others,
                      const AttrMap& attrs, size_t outputs = 3) {
  const Shape batch{static_cast<int64_t>(lengths.size())};
  Sample sample{.inputs = std::move(first), .outputs = outputs, .only = DType::kFloat};
  sample.inputs.resize(GroupedInput::kLengths, {.omitted = true});
  sample.inputs.push_back({.shape = batch, .value = Tensor::of<int32_t>(lengths, batch)});
  sample.inputs.push_back({.shape = {1}, .value = Tensor::of<int32_t>({total}, {1})});
  for (auto& [index, input] : others) {
    if (sample.inputs.size() <= index) sample.inputs.resize(index + 1, {.omitted = true});
    sample.inputs[index] = std::move(input);
  }
  sample.attrs = {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
  sample.attrs.insert(attrs.begin(), attrs.end());
  return sample;
}

std::vector<Sample> grouped_samples() {
  const SampleInput none{.omitted = true};
  const auto floats = [](Shape shape) {
    return SampleInput{.shape = std::move(shape), .dtype = DType::kFloat};
  };
  const std::vector<SampleInput> apart{
      {.shape = {2, 3, 16}}, {.shape = {2, 3, 8}}, {.shape = {2, 3, 8}}};
  const std::vector<SampleInput> packed{
      {.shape = {2, 1, 32}}, none, none, floats({2, 2, 5, 4}), floats({2, 2, 5, 4})};
  const std::vector<SampleInput> codes{
      {.shape = {1, 2, 16}},
      {.shape = {1, 2, 8}},
      {.shape = {1, 2, 8}},
      {.shape = {1, 2, 3, 2}, .low = 0, .high = 255, .dtype = DType::kUInt8},
      {.shape = {1, 2, 3, 2}, .low = 0, .high = 255, .dtype = DType::kUInt8}};
  const int64_t yes = 1;
  Sample plain = grouped_sample(apart, {2, 1}, 3, {}, {});
  plain.only = kAnyDType;
  return {plain,
          grouped_sample(
              packed, {3, 5}, 6,
              {{GroupedInput::kCos, {.shape = {8, 2}}}, {GroupedInput::kSin, {.shape = {8, 2}}}},
              {{"do_rotary", yes}, {"local_window_size", int64_t{2}}}),
          grouped_sample(
              packed, {5, 4}, 6,
              {{GroupedInput::kBias, floats({1, 4, 1, 6})}, {GroupedInput::kSink, floats({4})}},
              {{"softcap", 3.f}, {"scale", 0.7f}, {"qk_output", int64_t{1}}}, 4),
          grouped_sample(
              apart, {2, 2}, 3,
              {{GroupedInput::kQueryNorm, floats({4})}, {GroupedInput::kKeyNorm, floats({4})}},
              {{"causal", int64_t{0}}, {"smooth_softmax", yes}, {"qk_output", int64_t{2}}}, 4),
          grouped_sample(
              packed, {6, 7}, 8,
              {{GroupedInput::kCos, {.shape = {9, 1}}}, {GroupedInput::kSin, {.shape = {9, 1}}}},
              {{"do_rotary", yes},
               {"rotary_interleaved", yes},
               {"sliding_window_cache", yes},
               {"local_window_size", int64_t{3}}}),
          grouped_sample(
              codes, {3}, 4,
              {{GroupedInput::kKeyScale, {.shape = {1}, .value = Tensor::vector<float>({0.25f})}},
               {GroupedInput::kValueScale, {.shape = {8}, .low = 0.1, .high = 0.3}}},
              {{"k_quant_type", std::string("PER_TENSOR")},
               {"v_quant_type", std::string("PER_CHANNEL")},
               {"kv_cache_bit_width", int64_t{4}}})};
}

const OpDef kContribGroupedOps[] = {
    {.name = "GroupQueryAttention",
     .doc =
         "Causal attention whose heads share keys and values in groups, with a cache of past ones.",
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
     .reference = grouped_reference,
     .grad = grouped_grad,
     .shape_inputs = 1u << GroupedInput::kTotal,
     .samples = grouped_samples},
};

}  // namespace

std::span<const OpDef> contrib_grouped_ops() {
  return kContribGroupedOps;
}

}  // namespace sardonyx::ops
