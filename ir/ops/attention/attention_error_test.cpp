// Attention in all its forms: calls that do not fit.
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

AttrMap with(AttrMap attrs, const AttrMap& more) {
  for (const auto& [name, value] : more)
    attrs[name] = value;
  return attrs;
}

TEST(AttentionRefusals, Attention) {
  const Datum x = zeros({1, 2, 4}), heads = zeros({1, 2, 2, 2}), flat = zeros({2, 4});
  const Datum lengths = zeros({1, 1}, DType::kInt64);
  const AttrMap two{{"q_num_heads", 2}, {"kv_num_heads", 2}};
  expect_refused(std::vector<Refused>{
      {"Attention", {x, x, x}, {{"q_num_heads", 3}, {"kv_num_heads", 3}}, "number of heads, 3"},
      {"Attention", {x, x, x}, {}, "needs the attributes q_num_heads and kv_num_heads"},
      {"Attention",
       {x, x, x},
       with(two, {{"q_num_heads", -2}}),
       "q_num_heads: expected a positive"},
      {"Attention",
       {x, x, x},
       with(two, {{"qk_matmul_output_mode", 4}}),
       "qk_matmul_output_mode: expected 0 to 3, got 4"},
      {"Attention",
       {x, x, x},
       with(two, {{"qk_matmul_output_mode", -1}}),
       "qk_matmul_output_mode: expected 0 to 3, got -1"},
      {"Attention",
       {x, x, x},
       with(two, {{"softmax_precision", 7}}),
       "softmax_precision: expected"},
      {"Attention", {x, x, x}, with(two, {{"softcap", -1.f}}), "softcap: expected 0 or more"},
      {"Attention", {x, x, x, none(), heads}, two, "past_key and past_value go together"},
      {"Attention",
       {x, x, x, none(), flat, heads},
       two,
       "input past_key (float[2, 4]): expected rank 4, got 2"},
      {"Attention", {flat, flat, flat}, two, "input Q (float[2, 4]): expected rank 3 or 4, got 2"},
      {"Attention", {x, heads, x}, two, "input K (float[1, 2, 2, 2]): expected rank 3, got 4"},
      {"Attention", {x, x, heads}, two, "input V (float[1, 2, 2, 2]): expected rank 3, got 4"},
      {"Attention", {x, x, x}, {{"q_num_heads", 1}, {"kv_num_heads", 2}}, "head sizes of Q and K"},
      {"Attention",
       {zeros({1, 2, 3}), zeros({1, 2, 2}), zeros({1, 2, 2})},
       {{"q_num_heads", 3}, {"kv_num_heads", 2}},
       "the heads of Q, 3, are no multiple of those of K and V, 2"},
      {"Attention", {x, x, x, zeros({5, 5})}, two, "does not broadcast to [1, 2, 2, 2]"},
      {"Attention", {x, x, x, zeros({2, 3})}, two, "does not broadcast to [1, 2, 2, 2]"},
      {"Attention", {x, x, x, zeros({1, 1, 1, 1, 1})}, two, "does not broadcast to"},
      {"Attention",
       {x, x, x, none(), none(), none(), lengths},
       two,
       "input nonpad_kv_seqlen (int64[1, 1]): expected rank 1, got 2"},
  });
}

TEST(AttentionRefusals, RotaryEmbedding) {
  const Datum x = zeros({1, 2, 4}), cache = zeros({1, 2, 1}), table = zeros({3, 1});
  const AttrMap two{{"num_heads", 2}};
  const Datum places = zeros({1, 2}, DType::kInt64);
  expect_refused(std::vector<Refused>{
      {"RotaryEmbedding",
       {x, table, table, zeros({2}, DType::kInt64)},
       two,
       "expected rank 2, got"},
      {"RotaryEmbedding", {x, table, cache}, two, "input cos_cache (float[3, 1]): expected rank 3"},
      {"RotaryEmbedding",
       {x, table, cache, places},
       two,
       "input sin_cache (float[1, 2, 1]): expected rank 2"},
      {"RotaryEmbedding",
       {x, cache, cache},
       with(two, {{"rotary_embedding_dim", 3}}),
       "rotary_embedding_dim: expected an even number, got 3"},
      {"RotaryEmbedding",
       {x, cache, cache},
       with(two, {{"rotary_embedding_dim", -2}}),
       "rotary_embedding_dim: expected an even number, got -2"},
      {"RotaryEmbedding", {zeros({2, 4}), cache, cache}, two, "expected rank 3 or 4, got 2"},
      {"RotaryEmbedding", {x, cache, cache}, {}, "num_heads: an input of rank 3 needs a positive"},
      {"RotaryEmbedding",
       {x, cache, cache},
       {{"num_heads", -1}},
       "num_heads: an input of rank 3 needs a positive"},
      {"RotaryEmbedding", {zeros({1, 2, 6}), cache, cache}, two, "the head size 3 is odd"},
      {"RotaryEmbedding",
       {x, cache, cache},
       with(two, {{"rotary_embedding_dim", 4}}),
       "rotary_embedding_dim: 4 is more than the head size 2"},
  });
}

TEST(AttentionRefusals, ContribAttention) {
  const char* op = "com.microsoft::Attention";
  const Datum x = zeros({1, 2, 4}), weights = zeros({4, 12}), bias = zeros({12});
  const AttrMap two{{"num_heads", 2}};
  expect_refused(std::vector<Refused>{
      {op,
       {x, weights, bias, zeros({1, 1, 1, 1, 2}, DType::kInt32)},
       two,
       "input mask_index: expected 1 to 4 dims, got int32[1, 1, 1, 1, 2]"},
      {op, {x, weights, bias}, {{"num_heads", 0}}, "num_heads: expected at least 1, got 0"},
      {op,
       {x, weights, bias},
       with(two, {{"qkv_hidden_sizes", Ints{4, 2, 6}}}),
       "qkv_hidden_sizes: expected three sizes, the first two of them equal"},
      {op,
       {x, weights, bias},
       with(two, {{"qkv_hidden_sizes", Ints{4, 4}}}),
       "qkv_hidden_sizes: expected three sizes"},
      {op,
       {x, weights, bias},
       with(two, {{"do_rotary", 1}, {"rotary_embedding_dim", 3}}),
       "rotary_embedding_dim: expected an even number up to 2, got 3"},
      {op,
       {x, weights, bias},
       with(two, {{"do_rotary", 1}, {"rotary_embedding_dim", 4}}),
       "rotary_embedding_dim: expected an even number up to 2, got 4"},
      {"com.microsoft::QAttention",
       {zeros({1, 2, 4}, DType::kUInt8), zeros({4, 12}, DType::kUInt8), bias, zeros({}), zeros({})},
       {{"num_heads", 0}},
       "num_heads: expected at least 1, got 0"},
      {"com.microsoft::QAttention",
       {zeros({1, 2, 4}, DType::kUInt8), zeros({4, 12}, DType::kUInt8), bias, zeros({}),
        zeros({1, 12})},
       two,
       "weight_scale: expected a scalar or a vector, got float[1, 12]"},
  });
}

TEST(AttentionRefusals, MultiHeadAttention) {
  const char* op = "com.microsoft::MultiHeadAttention";
  const Datum x = zeros({1, 2, 4}), packed = zeros({1, 2, 2, 3, 2}), pair = zeros({1, 2, 2, 2, 2});
  const Datum cache = zeros({1, 2, 2, 2}), past = zeros({1}, DType::kInt32);
  const Datum o = none();
  const AttrMap two{{"num_heads", 2}};
  expect_refused(std::vector<Refused>{
      {op, {x, x, x}, {{"num_heads", 0}}, "num_heads: expected at least 1, got 0"},
      {op, {packed, x}, two, "key and value: expected none beside a packed query"},
      {op, {packed, o, x}, two, "key and value: expected none beside a packed query"},
      {op, {x}, two, "input query: expected [batch, length, hidden] and a key"},
      {op, {cache, x, x}, two, "input query: expected [batch, length, hidden] and a key"},
      {op, {x, pair, x}, two, "input value: expected none beside a packed key"},
      {op, {x, x}, two, "expected both of rank 3 or both of 4"},
      {op, {x, x, cache}, two, "expected both of rank 3 or both of 4"},
      {op, {x, zeros({2, 4}), zeros({2, 4})}, two, "expected both of rank 3 or both of 4"},
      {op, {x, x, x, o, o, o, cache}, two, "inputs past_key and past_value go together"},
      {op, {x, x, x, o, o, o, o, o, past}, two, "past_sequence_length goes with a past"},
      {op,
       {x, x, x, o, o, o, cache, cache, o, zeros({1, 1, 4}, DType::kInt32)},
       two,
       "cache_indirection with past_sequence_length"},
  });
}

TEST(AttentionRefusals, ContribRotaryEmbedding) {
  const char* op = "com.microsoft::RotaryEmbedding";
  const Datum x = zeros({1, 2, 4}), places = zeros({1}, DType::kInt64), cache = zeros({3, 1});
  const AttrMap two{{"num_heads", 2}};
  expect_refused(std::vector<Refused>{
      {op, {x, places, zeros({3}), cache}, {}, "cos_cache: expected rank 2, got float[3]"},
      {op, {zeros({1, 2, 5}), places, cache, cache}, {}, "its 5 features are not heads of 2"},
      {op, {x, places, zeros({3, 0}), cache}, {}, "its 4 features are not heads of 0"},
      {op,
       {x, places, cache, cache},
       with(two, {{"scale", 2.f}}),
       "scale: only 1 is supported, got 2",
       kNotSupported},
      {op, {zeros({2, 4}), places, cache, cache}, two, "expected rank 3 or 4, got float[2, 4]"},
  });
}

TEST(AttentionRefusals, GroupQueryAttention) {
  const char* op = "com.microsoft::GroupQueryAttention";
  const auto i32 = [](int32_t value) -> Datum { return Tensor::vector<int32_t>({value}); };
  const Datum q = zeros({1, 2, 4}), k = zeros({1, 2, 2}), past = zeros({1, 1, 3, 2});
  const Datum o = none(), last = i32(1), total = i32(2), bytes = zeros({1, 1, 3, 2}, DType::kInt8);
  const Datum scale = zeros({1});
  const AttrMap attrs{{"num_heads", 2}, {"kv_num_heads", 1}};
  const auto call = [&](const AttrMap& more, const char* mention,
                        ErrorCode code = kBadModel) -> Refused {
    return {op, {q, k, k, o, o, last, total}, with(attrs, more), mention, code};
  };
  const auto inputs = [&](std::vector<Datum> given, const char* mention,
                          const AttrMap& more = {}) -> Refused {
    return {op, std::move(given), with(attrs, more), mention};
  };
  const AttrMap quantized{{"k_quant_type", std::string("PER_TENSOR")}, {"kv_cache_bit_width", 8}};
  std::vector<Refused> refused{
      call({{"num_heads", 3}, {"kv_num_heads", 2}}, "num_heads and kv_num_heads: expected a"),
      call({{"qk_output", 3}}, "qk_output: expected 0 to 2, got 3"),
      call({{"local_window_size", 0}}, "local_window_size: expected -1 or a positive size, got 0"),
      call({{"local_window_size", 2}, {"causal", 0}}, "expected -1 where causal is 0"),
      call({{"sliding_window_cache", 1}, {"local_window_size", 2}}, "sliding_window_cache is 1"),
      call({{"k_quant_type", std::string("ODD")}}, "expected NONE, PER_TENSOR or PER_CHANNEL, got"),
      call({{"v_quant_type", std::string("ODD")}}, "expected NONE, PER_TENSOR or PER_CHANNEL, got"),
      call({{"k_quant_type", std::string("PER_TENSOR")}, {"kv_cache_bit_width", 5}},
           "kv_cache_bit_width: expected 4 or 8, got 5"),
      call(quantized, "a quantized cache needs its scale"),
      call({{"do_rotary", 1}}, "do_rotary is 1: expected inputs cos_cache and sin_cache"),
      inputs({q, k, k, bytes, bytes, last, total}, "as the cache is not quantized"),
      inputs({q, k, k, bytes, bytes, last, total, o, o, o, o, o, scale},
             "input past_value (int8[1, 1, 3, 2]): expected the type of query", quantized),
      inputs({q, k, k, past, past, last, total, o, o, o, o, o, scale}, "expected int8 or float8",
             quantized),
      inputs({q, k, k, past, past, last, total, o, o, o, o, o, scale},
             "expected uint8 for elements of 4 bits",
             {{"k_quant_type", std::string("PER_TENSOR")}, {"kv_cache_bit_width", 4}}),
      inputs({q, k, o, o, o, last, total}, "inputs key and value go together"),
      inputs({q, k, k, past, o, last, total}, "inputs past_key and past_value go together"),
      inputs({q, k, k, o, o, last, total, o, o, o, o, o, o, o, zeros({2})},
             "q_norm_weight and k_norm_weight go together"),
      inputs({past, k, k, o, o, last, total}, "input query (float[1, 1, 3, 2]): expected rank 3"),
      inputs({q, k, past, o, o, last, total}, "input value (float[1, 1, 3, 2]): expected rank 3"),
      inputs({q, k, k, past, q, last, total}, "input past_value (float[1, 2, 4]): expected rank 4"),
      inputs({q, k, k, o, o, last, total, q, q},
             "input cos_cache (float[1, 2, 4]): expected rank 2"),
      inputs({q, k, k, o, o, last, zeros({2}, DType::kInt32)}, "expected a scalar or one element"),
      inputs({zeros({1, 2, 5}), k, k, o, o, last, total},
             "expected features of 2 heads of one size"),
      inputs({q, zeros({1, 3, 2}), k, o, o, last, total}, "lengths of query, key and value"),
  };
  Refused unwanted = call({}, "output output_qk is wanted, but attribute qk_output is 0");
  unwanted.outputs = 4;
  refused.push_back(unwanted);
  const auto at_run = [&](const Datum& lengths, const Datum& all, const char* mention) {
    refused.push_back({op, {q, k, k, past, past, lengths, all}, attrs, mention, kBadArgument});
  };
  at_run(i32(0), i32(1), "total_sequence_length: 1 is less than the length of query, 2");
  at_run(i32(5), i32(4), "seqlens_k: 5 for batch entry 0 does not fit");
  at_run(i32(-1), i32(4), "seqlens_k: -1 for batch entry 0 does not fit");
  expect_refused(refused);
}

// What is not known before the run is no fault: these wait for it.
TEST(AttentionRefusals, UnknownShapesAreNone) {
  const Type any = Type::tensor(DType::kFloat), places = Type::tensor(DType::kInt64);
  const Type rows = Type::tensor(DType::kFloat, Dims{1, 2, Dim::symbol("n")});
  const std::tuple<const char*, std::vector<Type>, AttrMap> calls[] = {
      {"com.microsoft::Attention", {any, any, any}, {{"num_heads", 2}, {"do_rotary", 1}}},
      {"com.microsoft::Attention",
       {rows, Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), Dim::symbol("m")})},
       {{"num_heads", 2}, {"do_rotary", 1}}},
      {"com.microsoft::MultiHeadAttention", {any, any, any}, {{"num_heads", 2}}},
      {"com.microsoft::RotaryEmbedding", {rows, places, any, any}, {}},
      {"com.microsoft::RotaryEmbedding",
       {rows, places, Type::tensor(DType::kFloat, Dims{3, Dim::symbol("k")}), any},
       {}},
  };
  for (const auto& [name, types, attrs] : calls) {
    const OpDef& op = op_named(name);
    std::vector<InferInput> inputs;
    for (const Type& type : types)
      inputs.push_back({type, nullptr, nullptr});
    int symbols = 0;
    const std::vector<InferOutput> outputs =
        infer(op, Attrs::parse(*op.attrs, attrs), inputs, inputs.size(), 1,
              [&] { return Dim::symbol("?" + std::to_string(symbols++)); });
    EXPECT_EQ(outputs[0].type.dtype, DType::kFloat) << name;
  }
}

TEST(AttentionRefusals, HeadsOfFlexAttention) {
  const Datum keys = zeros({1, 2, 2, 4});
  expect_refused(std::vector<Refused>{
      {"ai.onnx.preview::FlexAttention",
       {zeros({1, 3, 2, 4}), keys, keys},
       {},
       "the heads of Q, 3, are no multiple of those of K and V, 2"},
  });
}

}  // namespace
}  // namespace sardonyx
