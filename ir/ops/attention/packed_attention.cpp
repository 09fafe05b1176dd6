// com.microsoft::PackedMultiHeadAttention: attention on tokens of several sequences without the
// padding between them, as vision towers and BERT have it.
#include "ir/ops/attention/contrib_attention.h"
#include "ir/ops/attention/contrib_linear_attention.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

struct PackedAttentionAttrs {
  float mask_filter_value = -10000;
  int64_t num_heads = 0;
  std::optional<float> scale;
  static auto fields() {
    using A = PackedAttentionAttrs;
    return std::tuple{field("mask_filter_value", &A::mask_filter_value),
                      required("num_heads", &A::num_heads), field("scale", &A::scale)};
  }
};

struct PackedInput {
  enum : size_t { kQuery, kKey, kValue, kBias, kOffset, kLengths, kScoreBias };
};

// Query, key and value, each [tokens, heads * size].
Vals packed_projections(Emitter& e, const BodyCall& c, int64_t heads) {
  const Val& query = c.inputs[PackedInput::kQuery];
  if (c.has(PackedInput::kKey) != c.has(PackedInput::kValue))
    fail(ErrorCode::kInvalidModel, "inputs key and value: expected both or none");
  const Dims dims = dims_of(e, query, "query");
  if (c.has(PackedInput::kKey)) {
    if (dims.size() != 2) {
      fail(ErrorCode::kInvalidModel, "input query: expected [tokens, hidden], got ", e.type(query));
    }
    return {query, c.inputs[PackedInput::kKey], c.inputs[PackedInput::kValue]};
  }
  const auto may_be = [](const Dim& dim, int64_t wanted) {
    return !dim.is_known() || dim == wanted;
  };
  if (dims.size() != 4 || !may_be(dims[1], heads) || !may_be(dims[2], 3)) {
    fail(ErrorCode::kInvalidModel, "input query: expected [tokens, ", heads,
         ", 3, size] where key and value are left out, got ", e.type(query));
  }
  const Val width = call_folded(e, "Mul", {dim_of(e, query, 3), e.int64s({heads})});
  const Val flat = joined_lists(e, {dim_of(e, query, 0), width});
  Vals out;
  for (const Val& part :
       e.call_many("Split", Vals{query}, {{"axis", int64_t{2}}, {"num_outputs", int64_t{3}}}, 3))
    out.push_back(e.call("Reshape", {part, flat}));
  return out;
}

void add_projection_bias(Emitter& e, const Val& bias, Vals& qkv) {
  Val begin = e.int64s({0});
  for (Val& x : qkv) {
    const Val end = call_folded(e, "Add", {begin, dim_of(e, x, 1)});
    x = e.call("Add", {x, slice(e, bias, begin, end, 0)});
    begin = end;
  }
}

Vals packed_attention(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<PackedAttentionAttrs>();
  if (attrs.num_heads < 1) {
    fail(ErrorCode::kInvalidModel, "attribute num_heads: expected a positive number, got ",
         attrs.num_heads);
  }
  Vals qkv = packed_projections(e, c, attrs.num_heads);
  if (c.has(PackedInput::kBias)) add_projection_bias(e, c.inputs[PackedInput::kBias], qkv);
  const Val& offset = c.inputs[PackedInput::kOffset];
  const Val batch = dim_of(e, offset, 0), length = dim_of(e, offset, 1);
  const Val all = call_folded(e, "Mul", {batch, length});
  const Val flat = e.call("Reshape", {cast_to(e, offset, DType::kInt64), all});
  const Val places = slice(e, flat, e.int64s({0}), dim_of(e, qkv[0], 0), 0);
  const Val heads = e.int64s({attrs.num_heads});
  for (Val& x : qkv) {
    const Val width = dim_of(e, x, 1);
    const Val none = e.call("Expand", {e.scalar_like(x, 0), joined_lists(e, {all, width})});
    const Val padded = e.call("ScatterND", {none, unsqueeze(e, places, {1}), x});
    const Val size = call_folded(e, "Div", {width, heads});
    x = transpose(e, e.call("Reshape", {padded, joined_lists(e, {batch, length, heads, size})}),
                  {0, 2, 1, 3});
  }
  // A sequence's own tokens come first in its row.
  const Val ends = cast_to(e, c.inputs[PackedInput::kLengths], DType::kInt64);
  const Val one = e.int64s({1});
  const Val behind = slice(e, ends, one, call_folded(e, "Add", {batch, one}), 0);
  const Val lengths = e.call("Sub", {behind, slice(e, ends, e.int64s({0}), batch, 0)});
  const Val is_token = e.call("Less", {count_up(e, length), unsqueeze(e, lengths, {1})});
  Val mask = unsqueeze(e, is_token, {1, 2});
  if (c.has(PackedInput::kScoreBias)) {
    const Val& bias = c.inputs[PackedInput::kScoreBias];
    mask = e.call("Where", {mask, bias, e.scalar_like(bias, attrs.mask_filter_value)});
  }
  AttrMap onnx;
  if (attrs.scale && *attrs.scale != 0) onnx["scale"] = *attrs.scale;
  const Val mixed = e.call("Attention", {qkv[0], qkv[1], qkv[2], mask}, onnx);
  const Val width = call_folded(e, "Mul", {dim_of(e, qkv[2], 3), heads});
  const Val rows =
      e.call("Reshape", {transpose(e, mixed, {0, 2, 1, 3}), joined_lists(e, {all, width})});
  return {e.call("Gather", {rows, places})};
}

// Sequences of 2, 3 and 1 tokens in rows of 3.
std::vector<Sample> packed_attention_samples() {
  const SampleInput none{.omitted = true}, q{.shape = {6, 8}}, v{.shape = {6, 4}};
  const SampleInput offset = given<int32_t>({0, 1, 3, 4, 5, 6, 2, 7, 8}, {3, 3});
  const SampleInput lengths = given<int32_t>({0, 2, 5, 6}, {4});
  const AttrMap attrs{{"num_heads", int64_t{2}}};
  AttrMap scaled = attrs;
  scaled["scale"] = 0.3f;
  return {
      {.inputs = {q, q, v, {.shape = {20}}, offset, lengths}, .attrs = attrs},
      {.inputs =
           {{.shape = {6, 2, 3, 4}}, none, none, none, offset, lengths, {.shape = {1, 2, 3, 3}}},
       .attrs = scaled}};
}

const OpDef kContribPackedAttentionOps[] = {
    {.name = "PackedMultiHeadAttention",
     .doc = "MultiHeadAttention of tokens [tokens, hidden] of several sequences, each of which "
            "sees its own.",
     .domain = kMicrosoft,
     .signature = "(query: T, key?: T, value?: T, bias?: T, token_offset: int32, "
                  "cumulative_sequence_length: int32, attention_bias?: T) -> (output: T)",
     .types = {{"T", DTypeSet{DType::kFloat, DType::kFloat16}}},
     .attrs = attr_schema<PackedAttentionAttrs>(),
     .infer = infer_by_body,
     .body = packed_attention,
     .samples = packed_attention_samples},
};

}  // namespace

std::span<const OpDef> contrib_packed_attention_ops() {
  return kContribPackedAttentionOps;
}

}  // namespace sardonyx::ops
