// com.microsoft::DecoderMaskedMultiHeadAttention: one step of a text decoder, in terms of
// MultiHeadAttention.
#include "ir/ops/attention/contrib_attention.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

struct DecoderStepAttrs {
  float mask_filter_value = -10000;
  int64_t num_heads = 0;
  bool output_qk = false, past_present_share_buffer = false;
  std::optional<float> scale;
  static auto fields() {
    using A = DecoderStepAttrs;
    return std::tuple{field("mask_filter_value", &A::mask_filter_value),
                      required("num_heads", &A::num_heads), field("output_qk", &A::output_qk),
                      field("past_present_share_buffer", &A::past_present_share_buffer),
                      field("scale", &A::scale)};
  }
};

struct DecoderStepInput {
  enum : size_t {
    kQuery,
    kKey,
    kValue,
    kMask,
    kAttentionBias,
    kPastKey,
    kPastValue,
    kPastLength,
    kBeamWidth,
    kIndirection,
    kBias
  };
};

// The new word attends to itself and its past, or, without a past, to the cache of an encoder.
void check_step(Emitter& e, const BodyCall& c, const DecoderStepAttrs& attrs) {
  using In = DecoderStepInput;
  const Dims query = dims_of(e, c.inputs[In::kQuery], "query");
  if (query.size() != 3 || (query[1].is_known() && query[1].value() != 1)) {
    fail(ErrorCode::kInvalidModel, "input query: expected [batch, 1, hidden], got ",
         e.type(c.inputs[In::kQuery]));
  }
  if (c.has(In::kKey) != c.has(In::kValue)) {
    fail(ErrorCode::kInvalidModel, "inputs key and value: expected both or none");
  }
  if (c.has(In::kMask) && input_rank(e, c.inputs[In::kMask], "mask_index") != 2) {
    fail(ErrorCode::kInvalidModel, "input mask_index: expected [batch, keys], got ",
         e.type(c.inputs[In::kMask]));
  }
  if (!c.has(In::kPastKey)) {
    if (!c.has(In::kKey) || input_rank(e, c.inputs[In::kKey], "key") != 4) {
      fail(ErrorCode::kInvalidModel, "inputs key and value: without a past, expected those of an ",
           "encoder, [batch, heads, length, size]");
    }
    if (c.has(In::kAttentionBias)) {
      fail(ErrorCode::kUnsupported, "input attention_bias goes with a past alone");
    }
    return;
  }
  if (!attrs.past_present_share_buffer || !c.has(In::kPastLength)) {
    fail(ErrorCode::kInvalidModel, "inputs past_key and past_value: expected the attribute ",
         "past_present_share_buffer as 1 and the input past_sequence_length beside them");
  }
  if (c.has(In::kKey) && input_rank(e, c.inputs[In::kKey], "key") != 3) {
    fail(ErrorCode::kInvalidModel, "input key: beside a past, expected [batch, 1, hidden], got ",
         e.type(c.inputs[In::kKey]));
  }
}

// beam_width says nothing that cache_indirection's shape does not, except that there must be one.
void check_beams(Emitter& e, const BodyCall& c) {
  if (!c.has(DecoderStepInput::kBeamWidth) || c.has(DecoderStepInput::kIndirection)) return;
  const auto width = e.constant_value(c.inputs[DecoderStepInput::kBeamWidth]);
  if (width && width->count() == 1 && width->to_int64s()[0] > 1) {
    fail(ErrorCode::kInvalidModel, "input beam_width: ", width->to_int64s()[0],
         " beams need the input cache_indirection");
  }
}

Vals decoder_masked_attention(Emitter& e, const BodyCall& c) {
  using In = DecoderStepInput;
  const auto& attrs = c.attrs<DecoderStepAttrs>();
  check_step(e, c, attrs);
  check_beams(e, c);
  const auto input = [&](size_t i) { return c.has(i) ? c.inputs[i] : Val(); };
  Vals qkv{input(In::kQuery), input(In::kKey), input(In::kValue)};
  if (!qkv[1]) {
    const Vals packed{qkv[0]};
    qkv = e.call_many("Split", packed, {{"axis", int64_t{2}}, {"num_outputs", int64_t{3}}}, 3);
  }
  const Vals operands{qkv[0],
                      qkv[1],
                      qkv[2],
                      input(In::kBias),
                      input(In::kMask),
                      input(In::kAttentionBias),
                      input(In::kPastKey),
                      input(In::kPastValue),
                      input(In::kPastLength),
                      input(In::kIndirection)};
  AttrMap of_heads{{"num_heads", attrs.num_heads}, {"mask_filter_value", attrs.mask_filter_value}};
  if (attrs.scale) of_heads["scale"] = *attrs.scale;
  return e.call_many("com.microsoft::MultiHeadAttention", operands, of_heads, c.output_count);
}

std::vector<Sample> decoder_step_samples() {
  const SampleInput word{.shape = {2, 1, 4}}, past{.shape = {2, 2, 5, 2}}, none{.omitted = true};
  const SampleInput length = given<int32_t>({3}, {1}), width = given<int32_t>({2}, {1});
  const SampleInput mask = given<int32_t>({1, 0, 1, 1, 1, 1, 1, 1}, {2, 4});
  const SampleInput beams = given<int32_t>({0, 1, 1, 0, 0, 1, 0, 1, 0, 0}, {1, 2, 5});
  const AttrMap shared{{"num_heads", int64_t{2}}, {"past_present_share_buffer", int64_t{1}}};
  AttrMap shown = shared;
  shown["output_qk"] = int64_t{1};
  const SampleInput memory{.shape = {2, 2, 4, 2}}, bias{.shape = {12}};
  return {
      {.inputs =
           {word, word, word, mask, {.shape = {1, 2, 1, 4}}, past, past, length, none, none, bias},
       .attrs = shown,
       .outputs = 4},
      {.inputs = {word, word, word, none, none, past, past, length, width, beams},
       .attrs = shared,
       .outputs = 3},
      {.inputs = {{.shape = {2, 1, 12}}, none, none, none, none, past, past, length},
       .attrs = shared,
       .outputs = 3},
      {.inputs = {word, memory, memory, mask, none, none, none, none, none, none, bias},
       .attrs = {{"num_heads", int64_t{2}}}}};
}

constexpr DTypeSet kStepTypes{DType::kFloat, DType::kFloat16, DType::kBFloat16};

const OpDef kContribDecodingOps[] = {
    {.name = "DecoderMaskedMultiHeadAttention",
     .doc = "Attention of one new word of each row to its past, which beams may share, or to the "
            "keys and values of an encoder.",
     .domain = kMicrosoft,
     .signature = "(query: T, key?: T, value?: T, mask_index?: M, attention_bias?: T, "
                  "past_key?: T, past_value?: T, past_sequence_length?: M, beam_width?: M, "
                  "cache_indirection?: M, bias?: T) -> "
                  "(output: T, present_key?: T, present_value?: T, qk?: QK)",
     .types = {{"T", kStepTypes}, {"QK", kStepTypes}, {"M", DType::kInt32}},
     .attrs = attr_schema<DecoderStepAttrs>(),
     .infer = infer_by_body,
     .body = decoder_masked_attention,
     .samples = decoder_step_samples},
    multimodal_rotary_row(),
};

}  // namespace

std::span<const OpDef> contrib_decoding_ops() {
  return kContribDecodingOps;
}

}  // namespace sardonyx::ops
