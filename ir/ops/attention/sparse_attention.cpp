// com.microsoft::SparseAttention: causal attention in which a block of queries sees some blocks of
// keys, as Phi-3-small has it. Which ones is given by layouts in CSR form, which heads take in
// turn.
#include <limits>

#include "ir/ops/attention/contrib_attention.h"
#include "ir/ops/inference/infer_body.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/samples.h"

namespace sardonyx::ops {
namespace {

struct SparseAttentionAttrs {
  bool do_rotary = false;
  int64_t kv_num_heads = 0, num_heads = 0;
  bool rotary_interleaved = false;
  std::optional<float> scale;
  int64_t sparse_block_size = 0;
  static auto fields() {
    using A = SparseAttentionAttrs;
    return std::tuple{field("do_rotary", &A::do_rotary),
                      required("kv_num_heads", &A::kv_num_heads),
                      required("num_heads", &A::num_heads),
                      field("rotary_interleaved", &A::rotary_interleaved),
                      field("scale", &A::scale),
                      required("sparse_block_size", &A::sparse_block_size)};
  }
};

struct SparseAttentionInput {
  enum : size_t {
    kQuery,
    kKey,
    kValue,
    kPastKey,
    kPastValue,
    kBlockRows,
    kBlockColumns,
    kTotal,
    kLengths,
    kCos,
    kSin
  };
};
using SparseIn = SparseAttentionInput;

void require_input_rank(Emitter& e, const BodyCall& c, size_t input, size_t rank) {
  const std::string& name = signature_of(c.op).input(input).name;
  if (input_rank(e, c.inputs[input], name) != rank) {
    fail(ErrorCode::kInvalidModel, "input ", name, ": expected rank ", rank, ", got ",
         e.type(c.inputs[input]));
  }
}

void check_sparse(Emitter& e, const BodyCall& c, const SparseAttentionAttrs& attrs) {
  if (attrs.num_heads < 1 || attrs.kv_num_heads < 1 || attrs.num_heads % attrs.kv_num_heads != 0) {
    fail(ErrorCode::kInvalidModel, "attributes num_heads and kv_num_heads: expected positive ",
         "numbers, the first a multiple of the second, got ", attrs.num_heads, " and ",
         attrs.kv_num_heads);
  }
  if (attrs.sparse_block_size < 1) {
    fail(ErrorCode::kInvalidModel, "attribute sparse_block_size: expected a positive number, got ",
         attrs.sparse_block_size);
  }
  if (c.has(SparseIn::kKey) != c.has(SparseIn::kValue)) {
    fail(ErrorCode::kInvalidModel, "inputs key and value: expected both or none");
  }
  if (attrs.do_rotary && !(c.has(SparseIn::kCos) && c.has(SparseIn::kSin))) {
    fail(ErrorCode::kInvalidModel, "attribute do_rotary needs the inputs cos_cache and sin_cache");
  }
  require_input_rank(e, c, SparseIn::kQuery, 3);
  for (const size_t input : {SparseIn::kPastKey, SparseIn::kPastValue})
    require_input_rank(e, c, input, 4);
  for (const size_t input : {SparseIn::kBlockRows, SparseIn::kBlockColumns})
    require_input_rank(e, c, input, 2);
  require_input_rank(e, c, SparseIn::kLengths, 1);
  const Dim layouts = dims_of(e, c.inputs[SparseIn::kBlockRows], "block_row_indices")[0];
  if (layouts.is_known() && (layouts.value() < 1 || attrs.num_heads % layouts.value() != 0)) {
    fail(ErrorCode::kInvalidModel, "input block_row_indices: expected a number of layouts that ",
         "divides num_heads (", attrs.num_heads, "), got ", layouts.value());
  }
}

Val concat_sizes(Emitter& e, const Vals& parts) {
  return e.call_many("Concat", parts, {{"axis", int64_t{0}}}, 1)[0];
}

Val added(Emitter& e, const Val& a, const Val& b) {
  return e.call("Add", {a, b});
}

Val as_int64(Emitter& e, const Val& x) {
  return cast_to(e, x, DType::kInt64);
}

// Query, key and value, each [batch, length, heads * size].
Vals sparse_projections(Emitter& e, const BodyCall& c, const SparseAttentionAttrs& attrs) {
  if (c.has(SparseIn::kKey))
    return {c.inputs[SparseIn::kQuery], c.inputs[SparseIn::kKey], c.inputs[SparseIn::kValue]};
  const Val packed = c.inputs[SparseIn::kQuery];
  const Val head =
      e.call("Div", {dim_of(e, packed, 2), e.int64s({attrs.num_heads + 2 * attrs.kv_num_heads})});
  const Val of_query = e.call("Mul", {head, e.int64s({attrs.num_heads})});
  const Val of_key = e.call("Mul", {head, e.int64s({attrs.kv_num_heads})});
  const Vals inputs{packed, concat_sizes(e, {of_query, of_key, of_key})};
  return e.call_many("Split", inputs, {{"axis", int64_t{2}}}, 3);
}

// int64 [batch]: the position of each row's first query. A prompt begins at 0, whatever is behind
// a shorter row.
Val first_places(Emitter& e, const BodyCall& c, const Val& length) {
  const Val total = reshape(e, as_int64(e, c.inputs[SparseIn::kTotal]), {1});
  const Val behind = e.call("Sub", {as_int64(e, c.inputs[SparseIn::kLengths]), length});
  return e.call("Where", {e.call("Equal", {total, length}), e.int64s({0}), behind});
}

// bool [layouts, blocks of queries, blocks of keys] of layouts in CSR form, whose columns may end
// in anything.
Val blocks_seen(Emitter& e, const BodyCall& c) {
  const Val row_ends = as_int64(e, c.inputs[SparseIn::kBlockRows]);
  const Val columns = as_int64(e, c.inputs[SparseIn::kBlockColumns]);
  const Val layouts = dim_of(e, row_ends, 0), one = e.int64s({1});
  const Val blocks = e.call("Sub", {dim_of(e, row_ends, 1), one});
  // The row of an element is how many rows end before it; what belongs to none goes into one more.
  const Val ends = slice(e, row_ends, one, dim_of(e, row_ends, 1), 1);
  const Val elements = unsqueeze(e, count_up(e, dim_of(e, columns, 1)), {0, 2});
  const Val is_behind = e.call("LessOrEqual", {unsqueeze(e, ends, {1}), elements});
  const Val rows =
      e.call("ReduceSum", {as_int64(e, is_behind), e.int64s({2})}, {{"keepdims", int64_t{0}}});
  const Val kept = e.call("Max", {columns, e.scalar(DType::kInt64, 0)});
  const Val flat = added(e, e.call("Mul", {rows, blocks}), kept);
  const Val all_rows = added(e, blocks, one);
  const Val empty =
      e.call("ConstantOfShape", {concat_sizes(e, {layouts, e.call("Mul", {all_rows, blocks})})},
             {{"value", Tensor::vector<float>({0})}});
  const Val ones =
      e.call("ConstantOfShape", {e.call("Shape", {flat})}, {{"value", Tensor::vector<float>({1})}});
  const Val marked = e.call("ScatterElements", {empty, flat, ones}, {{"axis", int64_t{1}}});
  const Val seen = e.call("Reshape", {marked, concat_sizes(e, {layouts, all_rows, blocks})});
  return cast_to(e, slice(e, seen, e.int64s({0}), blocks, 1), DType::kBool);
}

// bool [batch, heads, queries, keys]: whether a query sees a key.
Val keys_seen(Emitter& e, const BodyCall& c, const SparseAttentionAttrs& attrs, const Val& places,
              const Val& total) {
  const Val size = e.scalar(DType::kInt64, static_cast<double>(attrs.sparse_block_size));
  const Val keys = count_up(e, total);
  const Val rows = e.call("Gather", {blocks_seen(e, c), e.call("Div", {places, size})},
                          {{"axis", int64_t{1}}});  // [layouts, batch, queries, blocks]
  const Val seen = e.call("Gather", {rows, e.call("Div", {keys, size})}, {{"axis", int64_t{3}}});
  const Val causal = e.call("LessOrEqual", {keys, unsqueeze(e, places, {2})});
  const Val by_layout =
      e.call("And", {transpose(e, seen, {1, 0, 2, 3}), unsqueeze(e, causal, {1})});
  const Val layouts = dim_of(e, c.inputs[SparseIn::kBlockRows], 0);
  const Val times = e.call("Div", {e.int64s({attrs.num_heads}), layouts});
  const Val one = e.int64s({1});
  return e.call("Tile", {by_layout, concat_sizes(e, {one, times, one, one})});
}

// As far as the caches reach, or whole heads where only the run can tell.
AttrMap rotation(Emitter& e, const BodyCall& c, const SparseAttentionAttrs& attrs) {
  const Dims cache = dims_of(e, c.inputs[SparseIn::kCos], "cos_cache");
  const bool is_known = cache.size() == 2 && cache[1].is_known();
  return {{"interleaved", int64_t{attrs.rotary_interleaved}},
          {"rotary_embedding_dim", is_known ? 2 * cache[1].value() : 0}};
}

Vals sparse_attention(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<SparseAttentionAttrs>();
  check_sparse(e, c, attrs);
  Vals qkv = sparse_projections(e, c, attrs);
  const Val length = dim_of(e, qkv[0], 1);
  const Val first = first_places(e, c, length);
  const Val places = added(e, unsqueeze(e, first, {1}), count_up(e, length));
  const int64_t heads[]{attrs.num_heads, attrs.kv_num_heads, attrs.kv_num_heads};
  const AttrMap rotary = attrs.do_rotary ? rotation(e, c, attrs) : AttrMap{};
  for (size_t i = 0; i < qkv.size(); ++i) {
    qkv[i] = transpose(e, reshape(e, qkv[i], {0, 0, heads[i], -1}), {0, 2, 1, 3});
    if (!attrs.do_rotary || i == 2) continue;
    qkv[i] = e.call("RotaryEmbedding",
                    {qkv[i], c.inputs[SparseIn::kCos], c.inputs[SparseIn::kSin], places}, rotary);
  }
  Vals presents, used;
  const Val total = reshape(e, as_int64(e, c.inputs[SparseIn::kTotal]), {1});
  for (size_t i = 0; i < 2; ++i) {
    presents.push_back(
        e.call("TensorScatter", {c.inputs[SparseIn::kPastKey + i], qkv[1 + i], first}));
    used.push_back(slice(e, presents[i], e.int64s({0}), total, 2));
  }
  AttrMap onnx;
  if (attrs.scale && *attrs.scale != 0) onnx["scale"] = *attrs.scale;
  const Val mixed =
      e.call("Attention", {qkv[0], used[0], used[1], keys_seen(e, c, attrs, places, total)}, onnx);
  Vals out{reshape(e, transpose(e, mixed, {0, 2, 1, 3}), {0, 0, -1}), presents[0], presents[1]};
  out.resize(c.output_count);
  return out;
}

std::vector<Sample> sparse_attention_samples() {
  const SampleInput rows = given<int32_t>({0, 1, 3, 5, 0, 1, 3, 6}, {2, 4});
  const SampleInput columns = given<int32_t>({0, 0, 1, 1, 2, -1, 0, 0, 1, 0, 1, 2}, {2, 6});
  const SampleInput q{.shape = {2, 2, 16}}, kv{.shape = {2, 2, 8}}, past{.shape = {2, 2, 6, 4}};
  const SampleInput none{.omitted = true}, cache{.shape = {6, 2}};
  const AttrMap attrs{
      {"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"sparse_block_size", int64_t{2}}};
  AttrMap rotated = attrs;
  rotated["do_rotary"] = int64_t{1};
  rotated["scale"] = 0.7f;
  return {{.inputs = {q, kv, kv, past, past, rows, columns, given<int32_t>({5}, {1}),
                      given<int32_t>({5, 4}, {2})},
           .attrs = attrs,
           .outputs = 3},
          {.inputs = {{.shape = {2, 4, 32}},
                      none,
                      none,
                      past,
                      past,
                      rows,
                      columns,
                      given<int32_t>({4}, {1}),
                      given<int32_t>({4, 4}, {2}),
                      cache,
                      cache},
           .attrs = rotated,
           .outputs = 3}};
}

const OpDef kContribSparseAttentionOps[] = {
    {.name = "SparseAttention",
     .doc = "Causal attention of query [batch, length, heads * size] to a cache, of which each "
            "block of queries sees the blocks that its head's layout names.",
     .domain = kMicrosoft,
     .signature = "(query: T, key?: T, value?: T, past_key: T, past_value: T, "
                  "block_row_indices: M, block_col_indices: M, total_sequence_length: M, "
                  "key_total_sequence_lengths: M, cos_cache?: T, sin_cache?: T) -> "
                  "(output: T, present_key: T, present_value: T)",
     .types = {{"T", DTypeSet{DType::kFloat, DType::kFloat16, DType::kBFloat16}},
               {"M", DType::kInt32}},
     .attrs = attr_schema<SparseAttentionAttrs>(),
     .infer = infer_by_body,
     .body = sparse_attention,
     .samples = sparse_attention_samples},
};

}  // namespace

std::span<const OpDef> contrib_sparse_attention_ops() {
  return kContribSparseAttentionOps;
}

}  // namespace sardonyx::ops
