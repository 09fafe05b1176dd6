// com.microsoft: attention in terms of ai.onnx's Attention, and rotary embedding.
#include "ir/ops/attention/contrib_attention.h"

#include <cmath>
#include <limits>

#include "ir/ops/inference/infer_body.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

constexpr DTypeSet kAttentionTypes{DType::kFloat, DType::kFloat16, DType::kBFloat16};

// Keys [start, end) of each batch entry. The mask is [batch], the ends; [2 * batch], the starts
// behind them; or [3 * batch + 2], behind the ends where queries and keys begin when all entries
// are laid end to end. In rows of one length that says nothing new.
Val kept_by_lengths(Emitter& e, const Val& mask, const AttentionSizes& sizes) {
  const Val none = e.call("Expand", {e.constant(Tensor::vector<int32_t>({0})), sizes.batch});
  const Val padded =
      e.call("Concat", std::initializer_list<Val>{mask, none}, {{"axis", int64_t{0}}});
  const Val twice = e.call("Add", {sizes.batch, sizes.batch});
  const Val has_starts = cast_to(e, e.call("Equal", {dim_of(e, mask, 0), twice}), DType::kInt32);
  const Val ends = unsqueeze(e, slice(e, padded, e.int64s({0}), sizes.batch, 0), {1});
  const Val second = slice(e, padded, sizes.batch, twice, 0);
  const Val starts = unsqueeze(e, e.call("Mul", {second, has_starts}), {1});
  const Val keys = cast_to(e, count_up(e, sizes.total), DType::kInt32);
  return e.call("And", {e.call("Less", {keys, ends}), e.call("GreaterOrEqual", {keys, starts})});
}

// Rows of this call and columns of all keys, out of a square over the longest sequence.
Val cut_square(Emitter& e, const Val& mask, const AttentionSizes& sizes) {
  const Val rows = slice(e, mask, sizes.past, e.call("Add", {sizes.past, sizes.length}), 2);
  return slice(e, rows, e.int64s({0}), sizes.total, 3);
}

// [batch, length, heads * size] -> [batch, heads, length, size]
Val to_heads(Emitter& e, const Val& x, int64_t heads) {
  return transpose(e, reshape(e, x, {0, 0, heads, -1}), {0, 2, 1, 3});
}

Val from_heads(Emitter& e, const Val& x) {
  return reshape(e, transpose(e, x, {0, 2, 1, 3}), {0, 0, -1});
}

AttrMap onnx_attrs(int64_t heads, const std::optional<float>& scale, bool causal, bool packed) {
  AttrMap attrs{{"is_causal", int64_t{causal}}};
  if (packed) {
    attrs["q_num_heads"] = heads;
    attrs["kv_num_heads"] = heads;
  }
  if (scale && *scale != 0) attrs["scale"] = *scale;
  return attrs;
}

}  // namespace

Val mask_bias(Emitter& e, const Val& mask, std::string_view name, const AttentionSizes& sizes,
              DType dtype, float filter) {
  if (!mask) return {};
  const Dims dims = dims_of(e, mask, name);
  Val kept;
  if (dims.size() == 1) {
    kept = unsqueeze(e, kept_by_lengths(e, mask, sizes), {1, 2});
  } else {
    const std::optional<Dims> total = e.dims_value(sizes.total);
    if (dims.size() == 2 && dims[1] == 1 && !(total && total->size() == 1 && (*total)[0] == 1)) {
      return {};
    }
    if (dims.size() > 4) {
      fail(ErrorCode::kInvalidModel, "input ", name, ": expected 1 to 4 dims, got ", e.type(mask));
    }
    kept = e.call("Greater", {mask, e.scalar_like(mask, 0)});
    if (dims.size() == 2) kept = unsqueeze(e, kept, {1, 2});
    if (dims.size() == 3) kept = unsqueeze(e, kept, {1});
    if (dims.size() == 4) kept = cut_square(e, kept, sizes);
  }
  return e.call("Where", {kept, e.scalar(dtype, 0), e.scalar(dtype, filter)});
}

Val add_present(Emitter& e, const Val& a, const Val& b) {
  if (!a) return b;
  return b ? e.call("Add", {a, b}) : a;
}

void check_attention(const ContribAttentionAttrs& attrs) {
  if (attrs.num_heads < 1) {
    fail(ErrorCode::kInvalidModel, "attribute num_heads: expected at least 1, got ",
         attrs.num_heads);
  }
}

Vals split_projection(Emitter& e, const ContribAttentionAttrs& attrs, const Val& projected) {
  const std::vector<int64_t>& sizes = attrs.qkv_hidden_sizes;
  if (sizes.empty()) {
    const Vals inputs{projected};
    return e.call_many("Split", inputs, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{3}}}, 3);
  }
  if (sizes.size() != 3 || sizes[0] != sizes[1]) {
    fail(ErrorCode::kInvalidModel, "attribute qkv_hidden_sizes: expected three sizes, the first ",
         "two of them equal");
  }
  const Vals inputs{projected, e.int64s(sizes)};
  return e.call_many("Split", inputs, {{"axis", int64_t{-1}}}, 3);
}

namespace {

// Cosines or sines of the angles by which positions [past, past + length) are rotated, as
// [batch, length, size / 2]: position / 10000 ** (2 i / size).
Val rotary_angles(Emitter& e, const char* function, const AttentionSizes& sizes, int64_t size) {
  std::vector<float> rates;
  for (int64_t i = 0; i < size / 2; ++i) {
    rates.push_back(static_cast<float>(
        std::pow(10000.0, -2 * static_cast<double>(i) / static_cast<double>(size))));
  }
  const Val places =
      cast_to(e, e.call("Add", {count_up(e, sizes.length), sizes.past}), DType::kFloat);
  const Val angles =
      e.call("Mul", {unsqueeze(e, places, {0, 2}), e.constant(Tensor::vector(rates))});
  const Val shape =
      e.call("Concat", {sizes.batch, sizes.length, e.int64s({size / 2})}, {{"axis", int64_t{0}}});
  return e.call("Expand", {e.call(function, {angles}), shape});
}

// Turns the first rotary_embedding_dim elements of each head, or all of them.
void rotate(Emitter& e, const ContribAttentionAttrs& attrs, const AttentionSizes& sizes,
            Vals& qkv) {
  const Dim hidden = dims_of(e, qkv[0], "input").back();
  if (!hidden.is_known()) {
    fail(ErrorCode::kUnsupported, "attribute do_rotary: the size of a head must be known");
  }
  const int64_t head = hidden.value() / attrs.num_heads;
  const int64_t size = attrs.rotary_embedding_dim > 0 ? attrs.rotary_embedding_dim : head;
  if (size % 2 != 0 || size > head) {
    fail(ErrorCode::kInvalidModel, "attribute rotary_embedding_dim: expected an even number up to ",
         head, ", got ", size);
  }
  const DType dtype = e.type(qkv[0]).dtype;
  const Val cosines = cast_to(e, rotary_angles(e, "Cos", sizes, size), dtype);
  const Val sines = cast_to(e, rotary_angles(e, "Sin", sizes, size), dtype);
  for (size_t i = 0; i < 2; ++i) {
    qkv[i] = e.call("RotaryEmbedding", {qkv[i], cosines, sines},
                    {{"num_heads", attrs.num_heads}, {"rotary_embedding_dim", size}});
  }
}

// int32 of one element as int64 of shape [1].
Val as_length(Emitter& e, const Val& length) {
  return reshape(e, cast_to(e, length, DType::kInt64), {1});
}

// The part of a buffer [batch, heads, longest, size] that is in use.
Val used_part(Emitter& e, const Val& buffer, const Val& length) {
  return slice(e, buffer, e.int64s({0}), length, 2);
}

// The buffer with `fresh` [batch, heads, length, size] written behind what is in use.
Val written_behind(Emitter& e, const Val& buffer, const Val& fresh, const AttentionSizes& sizes) {
  return e.call("TensorScatter", {buffer, fresh, e.call("Expand", {sizes.past, sizes.batch})});
}

}  // namespace

Vals attend(Emitter& e, const ContribAttentionAttrs& attrs, Vals qkv,
            const AttentionOperands& operands, size_t outputs) {
  const bool shares = attrs.past_present_share_buffer, has_past = static_cast<bool>(operands.past);
  if (shares && (!has_past || !operands.past_length)) {
    fail(ErrorCode::kInvalidModel, "attribute past_present_share_buffer: expected the inputs past ",
         "and past_sequence_length");
  }
  AttentionSizes sizes{dim_of(e, qkv[0], 0), dim_of(e, qkv[0], 1), e.int64s({0}), {}};
  Vals buffers(2), states(2);
  if (has_past) {
    const Vals inputs{operands.past};
    for (Val& buffer : buffers = e.call_many("Split", inputs, {{"num_outputs", int64_t{2}}}, 2))
      buffer = e.call("Squeeze", {buffer, e.int64s({0})});
    sizes.past = shares ? as_length(e, operands.past_length) : dim_of(e, buffers[0], 2);
    states = buffers;
  }
  for (Val& state : states) {
    if (shares) state = used_part(e, state, sizes.past);
  }
  if (attrs.do_rotary) rotate(e, attrs, sizes, qkv);
  const Val length = dim_of(e, qkv[1], 1);
  sizes.total = has_past ? e.call("Add", {sizes.past, length}) : length;
  const DType dtype = e.type(qkv[0]).dtype;
  const Val added = add_present(
      e, mask_bias(e, operands.mask, "mask_index", sizes, dtype, attrs.mask_filter_value),
      operands.bias);
  const Vals inputs{qkv[0], qkv[1], qkv[2], added, states[0], states[1]};
  Vals out = e.call_many("Attention", inputs,
                         onnx_attrs(attrs.num_heads, attrs.scale, attrs.unidirectional, true),
                         has_past ? 3 : 1);
  if (outputs < 2) return {out[0]};
  for (size_t i = 0; i < 2; ++i) {
    if (has_past && !shares) {
      states[i] = out[1 + i];
    } else {
      states[i] = to_heads(e, qkv[1 + i], attrs.num_heads);
      if (shares) states[i] = written_behind(e, buffers[i], states[i], sizes);
    }
  }
  return {out[0], e.call("Concat", {unsqueeze(e, states[0], {0}), unsqueeze(e, states[1], {0})},
                         {{"axis", int64_t{0}}})};
}

namespace {

// (input, weights, bias?, mask_index?, past?, attention_bias?, past_sequence_length?) -> (output,
// present?)
Vals attention(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ContribAttentionAttrs>();
  check_attention(attrs);
  const auto input = [&](size_t i) { return c.has(i) ? c.inputs[i] : Val(); };
  Val projected = e.call("MatMul", {c.inputs[0], c.inputs[1]});
  if (c.has(2)) projected = e.call("Add", {projected, c.inputs[2]});
  const Vals qkv = split_projection(e, attrs, projected);
  return attend(e, attrs, qkv,
                {.mask = input(3), .past = input(4), .bias = input(5), .past_length = input(6)},
                c.output_count);
}

// --- MultiHeadAttention ---

struct MultiHeadAttrs {
  float mask_filter_value = -10000;
  int64_t num_heads = 0;
  std::optional<float> scale;
  bool unidirectional = false;
  static auto fields() {
    using A = MultiHeadAttrs;
    return std::tuple{field("mask_filter_value", &A::mask_filter_value),
                      required("num_heads", &A::num_heads), field("scale", &A::scale),
                      field("unidirectional", &A::unidirectional)};
  }
};

struct MultiHeadInput {
  enum : size_t {
    kQuery,
    kKey,
    kValue,
    kBias,
    kPaddingMask,
    kAttentionBias,
    kPastKey,
    kPastValue,
    kPastLength,
    kIndirection
  };
};

// Parts of a tensor [batch, length, heads, parts, size], each as [batch, length, heads * size].
Vals unpack_heads(Emitter& e, const Val& packed, int64_t parts) {
  const Vals inputs{packed};
  Vals out = e.call_many("Split", inputs, {{"axis", int64_t{3}}, {"num_outputs", parts}},
                         static_cast<size_t>(parts));
  for (Val& part : out)
    part = reshape(e, part, {0, 0, -1});
  return out;
}

// Query, key and value, each [batch, length, hidden], or key and value with heads apart,
// [batch, heads, length, size], where they are the cache of a cross attention.
Vals query_key_value(Emitter& e, const BodyCall& c) {
  const size_t query_rank = input_rank(e, c.inputs[MultiHeadInput::kQuery], "query");
  if (query_rank == 5) {
    if (c.has(MultiHeadInput::kKey) || c.has(MultiHeadInput::kValue)) {
      fail(ErrorCode::kInvalidModel, "inputs key and value: expected none beside a packed query");
    }
    return unpack_heads(e, c.inputs[MultiHeadInput::kQuery], 3);
  }
  if (query_rank != 3 || !c.has(MultiHeadInput::kKey)) {
    fail(ErrorCode::kInvalidModel, "input query: expected [batch, length, hidden] and a key, or ",
         "[batch, length, heads, 3, size], got ", e.type(c.inputs[MultiHeadInput::kQuery]));
  }
  const size_t key_rank = input_rank(e, c.inputs[MultiHeadInput::kKey], "key");
  if (key_rank == 5) {
    if (c.has(MultiHeadInput::kValue)) {
      fail(ErrorCode::kInvalidModel, "input value: expected none beside a packed key");
    }
    const Vals kv = unpack_heads(e, c.inputs[MultiHeadInput::kKey], 2);
    return {c.inputs[MultiHeadInput::kQuery], kv[0], kv[1]};
  }
  if (!c.has(MultiHeadInput::kValue) ||
      input_rank(e, c.inputs[MultiHeadInput::kValue], "value") != key_rank ||
      (key_rank != 3 && key_rank != 4)) {
    fail(ErrorCode::kInvalidModel, "inputs key and value: expected both of rank 3 or both of 4");
  }
  return {c.inputs[MultiHeadInput::kQuery], c.inputs[MultiHeadInput::kKey],
          c.inputs[MultiHeadInput::kValue]};
}

// Adds the parts of `bias` [hidden + hidden + v_hidden]; a cache already has its own.
void add_projection_bias(Emitter& e, const Val& bias, Vals& qkv, bool cached) {
  const Val hidden = dim_of(e, qkv[0], 2);
  const Val twice = e.call("Add", {hidden, hidden});
  qkv[0] = e.call("Add", {qkv[0], slice(e, bias, e.int64s({0}), hidden, 0)});
  if (cached) return;
  qkv[1] = e.call("Add", {qkv[1], slice(e, bias, hidden, twice, 0)});
  qkv[2] = e.call("Add", {qkv[2], slice(e, bias, twice, dim_of(e, bias, 0), 0)});
}

// The past [batch * beams, heads, past, size] of each beam, whose words other beams may have made:
// word t of beam j was made by beam indirection[entry, j, t].
Val of_beams(Emitter& e, const Val& past, const Val& indirection, const AttentionSizes& sizes) {
  const auto shape = [&](const Val& entries, const Val& beams,
                         std::initializer_list<int64_t> axes) {
    Vals dims{entries, beams};
    for (const int64_t axis : axes)
      dims.push_back(dim_of(e, past, axis));
    return e.call_many("Concat", dims, {{"axis", int64_t{0}}}, 1)[0];
  };
  const Val entries = dim_of(e, indirection, 0), beams = dim_of(e, indirection, 1);
  const Val whole = shape(entries, beams, {1, 2, 3});
  const Val apart = e.call("Reshape", {past, whole});
  const Val used = slice(e, indirection, e.int64s({0}), sizes.past, 2);
  const Val indices = e.call("Expand", {unsqueeze(e, used, {2, 4}), whole});
  const Val gathered = e.call("GatherElements", {apart, indices}, {{"axis", int64_t{1}}});
  return e.call("Reshape", {gathered, e.call("Shape", {past})});
}

// A query sees no keys behind its own place, but a lone one sees all, as ONNX Runtime has it.
struct CausalMask {
  bool is_causal = false;
  Val bias;  // [queries, keys], where only the run can tell whether the query is alone
};
CausalMask forward_only(Emitter& e, const Dim& queries, const Dim& keys,
                        const AttentionSizes& sizes, DType dtype) {
  if (queries == keys) return {.is_causal = true};  // a lone query has nothing behind its own key
  if (queries.is_known()) return {.is_causal = queries.value() != 1};
  const Val places = unsqueeze(e, e.call("Add", {count_up(e, sizes.length), sizes.past}), {1});
  const Val before = e.call("LessOrEqual", {count_up(e, sizes.total), places});
  const Val is_lone = e.call("Equal", {sizes.length, e.int64s({1})});
  const double hidden = -std::numeric_limits<double>::infinity();
  return {.bias = e.call("Where", {e.call("Or", {before, is_lone}), e.scalar(dtype, 0),
                                   e.scalar(dtype, hidden)})};
}

Vals multi_head_attention(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<MultiHeadAttrs>();
  if (attrs.num_heads < 1) {
    fail(ErrorCode::kInvalidModel, "attribute num_heads: expected at least 1, got ",
         attrs.num_heads);
  }
  if (c.has(MultiHeadInput::kPastKey) != c.has(MultiHeadInput::kPastValue)) {
    fail(ErrorCode::kInvalidModel, "inputs past_key and past_value go together");
  }
  if ((c.has(MultiHeadInput::kPastLength) && !c.has(MultiHeadInput::kPastKey)) ||
      (c.has(MultiHeadInput::kIndirection) && !c.has(MultiHeadInput::kPastLength))) {
    fail(ErrorCode::kInvalidModel, "input past_sequence_length goes with a past, ",
         "cache_indirection with past_sequence_length");
  }
  Vals qkv = query_key_value(e, c);
  const bool cached = input_rank(e, qkv[1], "key") == 4;
  if (c.has(MultiHeadInput::kBias))
    add_projection_bias(e, c.inputs[MultiHeadInput::kBias], qkv, cached);
  const size_t key_axis = cached ? 2 : 1;
  AttentionSizes sizes{dim_of(e, qkv[0], 0), dim_of(e, qkv[0], 1), e.int64s({0}),
                       dim_of(e, qkv[1], static_cast<int64_t>(key_axis))};
  const bool has_past = c.has(MultiHeadInput::kPastKey),
             shares = c.has(MultiHeadInput::kPastLength);
  Vals states(2);
  if (has_past) {
    states = {c.inputs[MultiHeadInput::kPastKey], c.inputs[MultiHeadInput::kPastValue]};
    sizes.past =
        shares ? as_length(e, c.inputs[MultiHeadInput::kPastLength]) : dim_of(e, states[0], 2);
    sizes.total = e.call("Add", {sizes.past, sizes.total});
  }
  for (Val& state : states) {
    if (!shares) break;
    state = used_part(e, state, sizes.past);
    if (c.has(MultiHeadInput::kIndirection))
      state = of_beams(e, state, c.inputs[MultiHeadInput::kIndirection], sizes);
  }
  const Val mask =
      c.has(MultiHeadInput::kPaddingMask) ? c.inputs[MultiHeadInput::kPaddingMask] : Val();
  const DType dtype = e.type(qkv[0]).dtype;
  CausalMask direction;
  if (attrs.unidirectional) {
    const Dim queries = dims_of(e, qkv[0], "query")[1], keys = dims_of(e, qkv[1], "key")[key_axis];
    direction = forward_only(e, queries, keys, sizes, dtype);
  }
  Val added = mask_bias(e, mask, "key_padding_mask", sizes, dtype, attrs.mask_filter_value);
  added = add_present(
      e, added,
      c.has(MultiHeadInput::kAttentionBias) ? c.inputs[MultiHeadInput::kAttentionBias] : Val());
  added = add_present(e, added, direction.bias);
  if (cached) qkv[0] = to_heads(e, qkv[0], attrs.num_heads);
  Vals operands{qkv[0], qkv[1], qkv[2], added, states[0], states[1]};
  AttrMap onnx = onnx_attrs(attrs.num_heads, attrs.scale, direction.is_causal, !cached);
  onnx["qk_matmul_output_mode"] = int64_t{2};  // scaled and masked, before softmax
  const size_t wanted = c.output_count > 3 ? 4 : has_past ? 3 : 1;
  Vals out = e.call_many("Attention", operands, onnx, wanted);
  if (cached) out[0] = from_heads(e, out[0]);
  out.resize(c.output_count);
  for (size_t i = 1; i < std::min<size_t>(c.output_count, 3) && (!has_past || shares); ++i) {
    out[i] = cached ? qkv[i] : to_heads(e, qkv[i], attrs.num_heads);
    if (shares)
      out[i] = written_behind(e, c.inputs[MultiHeadInput::kPastKey + i - 1], out[i], sizes);
  }
  return out;
}

// --- RotaryEmbedding ---

struct ContribRotaryAttrs {
  bool interleaved = false, is_packed_batching = false;
  int64_t num_heads = 0, rotary_embedding_dim = 0;
  float scale = 1;
  static auto fields() {
    using A = ContribRotaryAttrs;
    return std::tuple{
        field("interleaved", &A::interleaved), field("is_packed_batching", &A::is_packed_batching),
        field("num_heads", &A::num_heads), field("rotary_embedding_dim", &A::rotary_embedding_dim),
        field("scale", &A::scale)};
  }
};

// The positions of all tokens, [batch, length]: as they are given, or counted from where the first
// token stands.
Val token_places(Emitter& e, const BodyCall& c, int64_t length_axis) {
  const Val places = c.inputs[1];
  if (input_rank(e, places, "position_ids") >= 2) return places;
  const Val length = dim_of(e, c.inputs[0], length_axis);
  const Val row = e.call("Add", {count_up(e, length), places});
  const Val shape = e.call("Concat", {dim_of(e, c.inputs[0], 0), length}, {{"axis", int64_t{0}}});
  return e.call("Expand", {unsqueeze(e, row, {0}), shape});
}

// Heads of a packed input: where they are not given, the cache spans a whole head. nullopt where
// only the run can tell.
std::optional<int64_t> rotary_heads(Emitter& e, const BodyCall& c,
                                    const ContribRotaryAttrs& attrs) {
  if (attrs.num_heads > 0) return attrs.num_heads;
  const Dim hidden = dims_of(e, c.inputs[0], "input")[2];
  const Dims cache = dims_of(e, c.inputs[2], "cos_cache");
  if (cache.size() != 2)
    fail(ErrorCode::kInvalidModel, "cos_cache: expected rank 2, got ", e.type(c.inputs[2]));
  if (!hidden.is_known() || !cache.back().is_known()) return std::nullopt;
  const int64_t size = 2 * cache.back().value();
  if (size == 0 || hidden.value() % size != 0) {
    fail(ErrorCode::kInvalidModel, "input input: its ", hidden, " features are not heads of ",
         size);
  }
  return hidden.value() / size;
}

Val reshape_to(Emitter& e, const Val& x, const Val& shape) {
  return e.call("Reshape", {x, shape}, {{"allowzero", int64_t{1}}});
}

// A packed input as [batch, heads, length, size], each head as wide as the cache.
Val split_by_cache(Emitter& e, const BodyCall& c) {
  const Val size = e.call("Mul", {dim_of(e, c.inputs[2], 1), e.int64s({2})});
  const Val heads = e.call("Div", {dim_of(e, c.inputs[0], 2), size});
  const Vals dims{dim_of(e, c.inputs[0], 0), dim_of(e, c.inputs[0], 1), heads, size};
  const Val shape = e.call_many("Concat", dims, {{"axis", int64_t{0}}}, 1)[0];
  return transpose(e, reshape_to(e, c.inputs[0], shape), {0, 2, 1, 3});
}

// (input, position_ids, cos_cache, sin_cache) -> output
Vals rotary_embedding(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<ContribRotaryAttrs>();
  // Packed batches are one long row, whose positions are given: nothing else differs for them.
  if (attrs.scale != 1) {
    fail(ErrorCode::kUnsupported, "attribute scale: only 1 is supported, got ", attrs.scale);
  }
  const size_t rank = input_rank(e, c.inputs[0], "input");
  if (rank != 3 && rank != 4)
    fail(ErrorCode::kInvalidModel, "input: expected rank 3 or 4, got ", e.type(c.inputs[0]));
  AttrMap onnx{{"interleaved", int64_t{attrs.interleaved}},
               {"rotary_embedding_dim", attrs.rotary_embedding_dim}};
  const std::optional<int64_t> heads = rank == 3 ? rotary_heads(e, c, attrs) : 0;
  const Val places = token_places(e, c, rank == 3 ? 1 : 2);
  if (heads) {
    if (rank == 3) onnx["num_heads"] = *heads;
    return {e.call("RotaryEmbedding", {c.inputs[0], c.inputs[2], c.inputs[3], places}, onnx)};
  }
  const Val y =
      e.call("RotaryEmbedding", {split_by_cache(e, c), c.inputs[2], c.inputs[3], places}, onnx);
  return {reshape_to(e, transpose(e, y, {0, 2, 1, 3}), e.call("Shape", {c.inputs[0]}))};
}

// --- samples ---

SampleInput int32s(const std::vector<int32_t>& values, Shape shape) {
  return {.shape = shape, .value = Tensor::of<int32_t>(values, shape)};
}

std::vector<Sample> contrib_attention_samples() {
  const SampleInput x{.shape = {2, 3, 4}}, w{.shape = {4, 12}}, b{.shape = {12}},
      none{.omitted = true};
  const AttrMap heads{{"num_heads", int64_t{2}}};
  return {
      {.inputs = {x, w, b, int32s({3, 2}, {2})}, .attrs = heads, .outputs = 2},
      {.inputs = {x, w, none, int32s({3, 2, 0, 1}, {4})}, .attrs = heads},
      {.inputs =
           {x, w, b, int32s({1, 1, 1, 1, 0, 0, 1, 1, 1, 1}, {2, 5}), {.shape = {2, 2, 2, 2, 2}}},
       .attrs = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}},
       .outputs = 2},
      {.inputs = {x, {.shape = {4, 10}}, {.shape = {10}}, none, none, {.shape = {1, 2, 3, 3}}},
       .attrs = {{"num_heads", int64_t{2}}, {"qkv_hidden_sizes", Ints{4, 4, 2}}}}};
}

std::vector<Sample> multi_head_samples() {
  const SampleInput q{.shape = {2, 3, 4}}, kv{.shape = {2, 5, 4}}, none{.omitted = true};
  const AttrMap heads{{"num_heads", int64_t{2}}};
  return {
      {.inputs = {q, kv, kv, {.shape = {12}}, int32s({5, 2}, {2})}, .attrs = heads, .outputs = 3},
      {.inputs = {q, {.shape = {2, 5, 2, 2, 2}}}, .attrs = heads},
      {.inputs = {{.shape = {2, 3, 2, 3, 2}}},
       .attrs = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}},
      {.inputs = {q, {.shape = {2, 2, 5, 2}}, {.shape = {2, 2, 5, 2}}, {.shape = {12}}},
       .attrs = heads},
      {.inputs = {{.shape = {2, 1, 4}}, kv, kv},
       .attrs = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}}},
      {.inputs = {q, q, q, none, none, none, {.shape = {2, 2, 4, 2}}, {.shape = {2, 2, 4, 2}}},
       .attrs = heads,
       .outputs = 3}};
}

std::vector<Sample> contrib_rotary_samples() {
  const SampleInput start{.shape = {1}, .value = Tensor::vector<int64_t>({2})};
  const SampleInput places{.shape = {2, 3},
                           .value = Tensor::of<int64_t>({0, 1, 2, 3, 4, 5}, {2, 3})};
  return {{.inputs = {{.shape = {2, 3, 8}}, start, {.shape = {6, 2}}, {.shape = {6, 2}}}},
          {.inputs = {{.shape = {2, 2, 3, 4}}, places, {.shape = {6, 2}}, {.shape = {6, 2}}},
           .attrs = {{"interleaved", int64_t{1}}}}};
}

const OpDef kContribAttentionOps[] = {
    {.name = "Attention",
     .doc = "Self-attention of input [batch, length, hidden] with weights and bias of query, key "
            "and value joined.",
     .domain = kMicrosoft,
     .signature = "(input: T, weights: T, bias?: T, mask_index?: M, past?: T, attention_bias?: T, "
                  "past_sequence_length?: M) -> (output: T, present?: T)",
     .types = {{"T", kAttentionTypes}, {"M", DType::kInt32}},
     .attrs = attr_schema<ContribAttentionAttrs>(),
     .infer = infer_by_body,
     .body = attention,
     .samples = contrib_attention_samples},
    {.name = "MultiHeadAttention",
     .doc = "Attention of query [batch, length, hidden] to key and value, which may come packed or "
            "from a cache.",
     .domain = kMicrosoft,
     .signature =
         "(query: T, key?: T, value?: T, bias?: T, key_padding_mask?: M, attention_bias?: T, "
         "past_key?: T, past_value?: T, past_sequence_length?: M, cache_indirection?: M) -> "
         "(output: T, present_key?: T, present_value?: T, qk?: QK)",
     .types = {{"T", kAttentionTypes}, {"QK", kAttentionTypes}, {"M", DType::kInt32}},
     .attrs = attr_schema<MultiHeadAttrs>(),
     .infer = infer_by_body,
     .body = multi_head_attention,
     .samples = multi_head_samples},
    {.name = "RotaryEmbedding",
     .doc = "The input with pairs of its last axis rotated by the angles of its positions.",
     .domain = kMicrosoft,
     .signature = "(input: T, position_ids: M, cos_cache: T, sin_cache: T) -> (output: T)",
     .types = {{"T", kAttentionTypes}, {"M", DType::kInt64}},
     .attrs = attr_schema<ContribRotaryAttrs>(),
     .infer = infer_by_body,
     .body = rotary_embedding,
     .samples = contrib_rotary_samples},
};

}  // namespace

std::span<const OpDef> contrib_attention_ops() {
  return kContribAttentionOps;
}

}  // namespace sardonyx::ops
