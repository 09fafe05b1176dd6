// Operators of com.microsoft: calls that do not fit.
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

Datum bytes(const Shape& shape) {
  return zeros(shape, DType::kUInt8);
}
Datum int32s(const std::vector<int32_t>& values) {
  return Tensor::vector(values);
}

TEST(ContribRefusals, Products) {
  expect_refused(std::vector<Refused>{
      {"com.microsoft::NhwcConv",
       {zeros({2, 2}), zeros({2, 2})},
       {},
       "input X: expected at least 3 dims, got 2"},
      {"com.microsoft::FusedConv",
       {zeros({1, 1, 3, 3}), zeros({1, 1, 1, 1})},
       {{"activation", string("Relu")}, {"activation_params", Floats{1}}},
       "activation Relu: expected at most 0 parameters, got 1"},
      {"com.microsoft::FusedConv",
       {zeros({1, 1, 3, 3}), zeros({1, 1, 1, 1})},
       {{"activation", string("Odd")}},
       "activation 'Odd' is not known"},
  });
}

TEST(ContribRefusals, Normalization) {
  const char* op = "com.microsoft::EmbedLayerNormalization";
  const Datum ids = zeros({1, 2}, DType::kInt32), table = zeros({3, 4}), row = zeros({4});
  const Datum o = none();
  expect_refused(std::vector<Refused>{
      {op,
       {zeros({2}, DType::kInt32), o, table, table, o, row, row},
       {},
       "input input_ids: expected [batch, length], got int32[2]",
       kBadModel,
       2},
      {op,
       {ids, ids, table, table, o, row, row},
       {},
       "segment_ids and segment_embedding go together",
       kBadModel,
       2},
      {op,
       {ids, o, table, table, table, row, row},
       {},
       "segment_ids and segment_embedding go together",
       kBadModel,
       2},
  });
}

TEST(ContribRefusals, QuantizedEmbedding) {
  const char* op = "com.microsoft::QEmbedLayerNormalization";
  const Datum ids = zeros({1, 2}, DType::kInt32), o = none(), one = zeros({}), zero = bytes({});
  const Datum table = bytes({3, 4}), row = bytes({4});
  const std::vector<Datum> good{ids, o, table, table, o,    row,  row, o,    one,
                                one, o, one,   one,   zero, zero, o,   zero, zero};
  EXPECT_EQ(error_of(op, good, {}, 2), "");
  std::vector<Datum> flat = good;
  flat[0] = zeros({2}, DType::kInt32);
  std::vector<Refused> calls{
      {op, flat, {}, "input input_ids: expected [batch, length], got int32[2]", kBadModel, 2}};
  // Each of the four segment inputs alone.
  for (const auto& [at, other] :
       {std::pair<size_t, Datum>{1, ids}, {4, table}, {10, one}, {15, zero}}) {
    std::vector<Datum> inputs = good;
    inputs[at] = other;
    calls.push_back(
        {op, inputs, {}, "its scale and its zero point: expected all or none", kBadModel, 2});
  }
  expect_refused(calls);
}

// One direction, hidden size 2, input size 3.
TEST(ContribRefusals, DynamicQuantizeLstm) {
  const std::vector<Datum> good{zeros({4, 1, 3}),
                                bytes({1, 3, 8}),
                                bytes({1, 2, 8}),
                                zeros({1, 16}),
                                zeros({1}, DType::kInt32),
                                zeros({1, 1, 2}),
                                zeros({1, 1, 2}),
                                zeros({1, 6}),
                                zeros({1}),
                                bytes({1}),
                                zeros({1}),
                                bytes({1})};
  const AttrMap attrs{{"hidden_size", 2}};
  EXPECT_EQ(error_of("com.microsoft::DynamicQuantizeLSTM", good, attrs), "");
  const auto with = [&](size_t at, Datum other, const char* mention) -> Refused {
    std::vector<Datum> inputs = good;
    inputs[at] = std::move(other);
    return {"com.microsoft::DynamicQuantizeLSTM", inputs, attrs, mention};
  };
  expect_refused(std::vector<Refused>{
      with(0, zeros({4, 3}), "input X (float[4, 3]): expected rank 3"),
      with(1, bytes({3, 8}), "input W (uint8[3, 8]): expected rank 3"),
      with(1, bytes({1, 3, 7}), "input W (uint8[1, 3, 7])"),
      with(2, bytes({2, 8}), "input R (uint8[2, 8]): expected rank 3"),
      with(2, bytes({1, 2, 7}), "input R (uint8[1, 2, 7])"),
      with(2, bytes({1, 3, 8}), "R and hidden_size: 3 and 2 differ"),
      with(3, zeros({16}), "input B (float[16]): expected rank 2"),
      with(3, zeros({1, 15}), "input B (float[1, 15])"),
      with(4, zeros({2}, DType::kInt32), "input sequence_lens (int32[2])"),
      with(5, zeros({1, 1, 3}), "input initial_h (float[1, 1, 3])"),
      with(6, zeros({1, 1, 3}), "input initial_c (float[1, 1, 3])"),
      with(7, zeros({1, 5}), "input P (float[1, 5])"),
      with(8, zeros({2}), "input W_scale (float[2])"),
      with(8, zeros({1, 7}), "input W_scale (float[1, 7])"),
      with(11, bytes({}), "input R_zero_point (uint8[]): expected rank 2"),
  });
}

TEST(ContribRefusals, Tensors) {
  const Datum image = zeros({1, 1, 4, 4}), boxes = zeros({1, 4}), first = int32s({0});
  const Datum size = int32s({2, 2});
  const char* crop = "com.microsoft::CropAndResize";
  const char* distance = "com.microsoft::CDist";
  expect_refused(std::vector<Refused>{
      {distance,
       {zeros({2, 3}), zeros({2, 3})},
       {{"metric", string("odd")}},
       "metric: expected euclidean or sqeuclidean, got 'odd'"},
      {distance, {zeros({3}), zeros({2, 3})}, {}, "input A (float[3]): expected rank 2, got 1"},
      {distance, {zeros({2, 3}), zeros({3})}, {}, "input B (float[3]): expected rank 2, got 1"},
      {distance, {zeros({2, 3}), zeros({2, 4})}, {}, "columns of A and B: 3 and 4 differ"},
      {"com.microsoft::Inverse", {zeros({3})}, {}, "expected at least two dims"},
      {"com.microsoft::Inverse", {zeros({3, 2})}, {}, "rows and columns: 3 and 2 differ"},
      {crop, {image, boxes, first, size}, {{"mode", string("odd")}}, "mode: expected bilinear or"},
      {crop, {boxes, boxes, first, size}, {}, "input X (float[1, 4]): expected rank 4, got 2"},
      {crop, {image, zeros({4}), first, size}, {}, "input rois (float[4]): expected rank 2"},
      {crop, {image, zeros({1, 3}), first, size}, {}, "coordinates of a box in rois: 3 and 4"},
      {crop,
       {image, boxes, zeros({1, 1}, DType::kInt32), size},
       {},
       "input batch_indices (int32[1, 1]): expected rank 1"},
      {crop, {image, boxes, int32s({0, 0}), size}, {}, "rois and batch_indices: 1 and 2 differ"},
      {crop,
       {image, boxes, first, zeros({1, 2}, DType::kInt32)},
       {},
       "input crop_size (int32[1, 2]): expected rank 1"},
      {crop, {image, boxes, first, int32s({2})}, {}, "elements of crop_size: 1 and 2 differ"},
      {crop, {image, boxes, first, int32s({2, 0})}, {}, "expected positive sizes, got 0"},
      {crop,
       {image, boxes, int32s({1}), size},
       {},
       "input batch_indices: 1 is outside 0..1 (exclusive)",
       kBadArgument},
  });
}

TEST(ContribRefusals, Text) {
  const auto tokenize = [](const AttrMap& more, const Datum& x, const char* mention,
                           ErrorCode code = kBadModel) -> Refused {
    AttrMap attrs{{"mark", 0}, {"mincharnum", 1}, {"pad_value", string("#")}};
    for (const auto& [name, value] : more)
      attrs[name] = value;
    return {"com.microsoft::Tokenizer", {x}, attrs, mention, code};
  };
  const Datum words = strings({"a b"});
  const AttrMap spaces{{"separators", Strings{" "}}};
  const char* embedding = "com.microsoft::WordConvEmbedding";
  const Datum w = zeros({2, 1, 2, 3}), b = zeros({2}), table = zeros({5, 3});
  const auto sequence = [](const std::vector<int32_t>& ids) -> Datum {
    return Tensor::vector(ids);
  };
  expect_refused(std::vector<Refused>{
      tokenize({{"separators", Strings{" "}}, {"mincharnum", 0}}, words,
               "mincharnum: expected at least 1, got 0"),
      tokenize({}, words, "just one of the attributes separators and tokenexp"),
      tokenize({{"separators", Strings{" "}}, {"tokenexp", string(".")}}, words, "just one of"),
      tokenize({{"tokenexp", string()}}, words, "tokenexp: expected an expression, got ''"),
      tokenize({{"tokenexp", string("(")}}, words, "is no regular expression"),
      tokenize({{"separators", Strings{"("}}}, words, "is no regular expression"),
      tokenize({{"separators", Strings{""}}, {"mincharnum", 2}}, words,
               "mincharnum: expected 1 where every character is a token, got 2"),
      tokenize(spaces, Tensor::scalar(string("a")), "expected [columns] or [rows, columns]"),
      tokenize(spaces, zeros({1, 1, 1}, DType::kString), "expected [columns] or [rows, columns]"),
      tokenize(spaces, strings({"\xff"}), "UTF-8", kBadArgument),
      {embedding,
       {sequence({1, 2}), zeros({2, 2, 3}), b, table},
       {},
       "input W (float[2, 2, 3]): exp"},
      {embedding,
       {sequence({1, 2}), w, zeros({1, 2}), table},
       {},
       "input B (float[1, 2]): expected"},
      {embedding, {sequence({1, 2}), w, b, zeros({3})}, {}, "input C (float[3]): expected rank 2"},
      {embedding,
       {sequence({1, 2}), w, b, zeros({5, 4})},
       {},
       "embedding in W and C: 3 and 4 differ"},
      {embedding,
       {sequence({1, 2}), zeros({2, 2, 2, 3}), b, table},
       {},
       "second dim of W: 2 and 1"},
      {embedding, {sequence({1, 2}), w, b, table}, {{"embedding_size", 3}}, "embedding_size and W"},
      {embedding,
       {sequence({1, 2}), w, b, table},
       {{"conv_window_size", 3}},
       "conv_window_size and W: 2 and 3 differ"},
      {embedding,
       {sequence({1, 2}), w, b, table},
       {{"char_embedding_size", 4}},
       "char_embedding_size and W: 3 and 4 differ"},
      {embedding, {zeros({}, DType::kInt32), w, b, table}, {}, "expected at least one dim"},
      {embedding, {sequence({1}), w, b, table}, {}, "words of 1 characters are shorter than"},
      {embedding, {sequence({1, 2}), w, zeros({3}), table}, {}, "filters of W and B: 3 and 2"},
      {embedding,
       {sequence({1, 5}), w, b, table},
       {},
       "character 5 is outside the 5 rows of C",
       kBadArgument},
      {embedding,
       {sequence({1, -1, 3}), w, b, table},
       {},
       "character -1 is outside the 5 rows of C",
       kBadArgument},
  });
}

TEST(ContribRefusals, MatMulNBits) {
  // Two rows of 20 features: two blocks of 16, of 8 bytes each.
  const Datum a = zeros({1, 20}), b = bytes({2, 2, 8}), scales = zeros({2, 2}), o = none();
  const auto call = [&](const AttrMap& more, std::vector<Datum> inputs, const char* mention,
                        ErrorCode code = kBadModel) -> Refused {
    AttrMap attrs{{"K", 20}, {"N", 2}, {"bits", 4}, {"block_size", 16}};
    for (const auto& [name, value] : more)
      attrs[name] = value;
    return {"com.microsoft::MatMulNBits", std::move(inputs), attrs, mention, code};
  };
  std::vector<int32_t> groups(20, 0);
  groups[3] = 2;
  expect_refused(std::vector<Refused>{
      call({{"K", 0}}, {a, b, scales}, "K and N: expected 1 to 2^31 - 1, got 0 and 2"),
      call({{"N", int64_t{1} << 31}}, {a, b, scales}, "K and N: expected 1 to 2^31 - 1"),
      call({{"bits", 3}}, {a, b, scales}, "bits: expected 2, 4 or 8, got 3"),
      call({{"block_size", 8}}, {a, b, scales}, "block_size: expected a power of two from 16 on"),
      call({{"block_size", 24}}, {a, b, scales}, "block_size: expected a power of two from 16 on"),
      call({{"block_size", int64_t{1} << 40}}, {a, b, scales}, "block_size: expected a power of"),
      call({{"weight_prepacked", 1}}, {a, b, scales}, "weight_prepacked: only 0", kNotSupported),
      call({}, {a, bytes({2, 2, 7}), scales}, "input B (uint8[2, 2, 7])"),
      call({}, {a, b, zeros({2, 1})}, "input scales (float[2, 1])"),
      call({}, {a, b, scales, zeros({4}, DType::kFloat16)}, "expected uint8 or the type of A"),
      call({}, {a, b, scales, bytes({3})}, "input zero_points (uint8[3])"),
      call({}, {a, b, scales, zeros({3})}, "input zero_points (float[3])"),
      call({}, {a, b, scales, o, zeros({19}, DType::kInt32)}, "input g_idx (int32[19])"),
      call({}, {a, b, scales, o, o, zeros({3})}, "input bias (float[3])"),
      call({}, {zeros({}), b, scales}, "expected at least one dim"),
      call({}, {zeros({1, 21}), b, scales}, "last dim of A and attribute K: 21 and 20 differ"),
      call({}, {a, b, scales, o, int32s(groups)}, "group 2 is outside 0..2 (exclusive)",
           kBadArgument),
      call({}, {a, b, scales, o, int32s(std::vector<int32_t>(20, -1))}, "group -1 is outside",
           kBadArgument),
  });
}

TEST(ContribRefusals, GatherBlockQuantized) {
  const Datum data = zeros({3, 32}, DType::kUInt4), first = ints({0}), scales = zeros({3, 2});
  const auto call = [&](const AttrMap& more, std::vector<Datum> inputs, const char* mention,
                        ErrorCode code = kBadModel) -> Refused {
    AttrMap attrs{{"block_size", 16}, {"quantize_axis", 1}};
    for (const auto& [name, value] : more)
      attrs[name] = value;
    return {"com.microsoft::GatherBlockQuantized", std::move(inputs), attrs, mention, code};
  };
  expect_refused(std::vector<Refused>{
      call({{"bits", 3}}, {data, first, scales}, "bits: expected 2, 4 or 8, got 3"),
      call({}, {data, first, scales, zeros({3, 1}, DType::kUInt4)},
           "dims of zero_points and of scales"),
      call({}, {data, first, scales, zeros({6}, DType::kUInt4)}, "expected the rank of scales"),
      call({{"bits", 8}}, {bytes({3, 32}), first, scales, bytes({1, 2})},
           "dims of zero_points and of scales"),
      call({{"bits", 4}}, {bytes({3, 16}), first, scales, bytes({3, 2})},
           "dims of zero_points and of scales"),
      call({{"block_size", 8}}, {data, first, scales}, "block_size: expected a power of two"),
      call({{"block_size", 0}}, {data, first, scales}, "block_size: expected a power of two"),
      call({},
           {zeros({3, 32}, DType::kFloat4E2M1), first, scales, zeros({3, 2}, DType::kFloat4E2M1)},
           "expected none for floating data"),
      call({{"gather_axis", 2}}, {data, first, scales}, "gather_axis 2 is out of range"),
      call({{"quantize_axis", 2}}, {data, first, scales}, "quantize_axis 2 is out of range"),
      call({{"gather_axis", 1}}, {bytes({3, 32}), first, scales},
           "gathered along axis 0 and quantized along the last, got axes 1 and 1"),
      call({{"quantize_axis", 0}}, {bytes({32, 3}), first, zeros({2, 3})},
           "gathered along axis 0 and quantized along the last, got axes 0 and 0"),
      call({}, {data, first, zeros({6})}, "expected the rank of data"),
      call({}, {data, first, zeros({3, 3})},
           "dims of scales and of the blocks of data: 3 and 2 differ"),
  });
}

// Two heads of size 4 over one of keys and values; one query behind three cached keys.
TEST(ContribRefusals, GroupQueryAttention) {
  const Datum query = zeros({1, 1, 8}), key = zeros({1, 1, 4}), past = zeros({1, 1, 3, 4});
  const Datum o = none(), stored = zeros({1, 1, 3, 4}, DType::kInt8), table = zeros({8, 2});
  const std::vector<Datum> good{query, key, key, past, past, int32s({3}), int32s({4})};
  const char* op = "com.microsoft::GroupQueryAttention";
  const auto call = [&](std::vector<std::pair<size_t, Datum>> changes, const AttrMap& more,
                        const char* mention, ErrorCode code = kBadModel) -> Refused {
    std::vector<Datum> inputs = good;
    inputs.resize(14, o);
    for (auto& [at, datum] : changes)
      inputs[at] = std::move(datum);
    AttrMap attrs{{"num_heads", 2}, {"kv_num_heads", 1}};
    for (const auto& [name, value] : more)
      attrs[name] = value;
    return {op, inputs, attrs, mention, code, 3};
  };
  EXPECT_EQ(error_of(op, good, {{"num_heads", 2}, {"kv_num_heads", 1}}, 3), "");
  const AttrMap rotated{{"do_rotary", 1}};
  const AttrMap stepped{{"k_quant_type", string("PER_TENSOR")},
                        {"v_quant_type", string("PER_CHANNEL")},
                        {"kv_cache_bit_width", 8}};
  const Datum one = zeros({1}), four = zeros({4});
  expect_refused(std::vector<Refused>{
      call({{7, zeros({8, 3})}, {8, zeros({8, 3})}}, rotated,
           "input cos_cache (float[8, 3]): expected rows of at most half a head of 4, got 3"),
      call({{7, table}, {8, zeros({7, 2})}}, rotated,
           "rows of cos_cache and sin_cache: 8 and 7 differ"),
      call({{7, table}, {8, zeros({8, 1})}}, rotated,
           "columns of cos_cache and sin_cache: 2 and 1 differ"),
      call({{7, zeros({3, 2})}, {8, zeros({3, 2})}}, rotated,
           "position 3 is outside the 3 rows of cos_cache", kBadArgument),
      call({{7, table}, {8, table}, {9, Tensor::of<int64_t>({-1}, {1, 1})}}, rotated,
           "position -1 is outside the 8 rows of cos_cache", kBadArgument),
      call({{10, zeros({2, 1, 1, 4})}}, {}, "attention_bias: batch or heads: 2 and 1 differ"),
      call({{10, zeros({1, 3, 1, 4})}}, {}, "attention_bias: batch or heads: 3 and 2 differ"),
      call({{10, zeros({1, 1, 1, 3})}}, {},
           "attention_bias: expected [batch or 1, heads or 1, length, total_sequence_length]",
           kBadArgument),
      call({{3, stored}, {4, stored}, {12, four}, {13, four}}, stepped,
           "elements of input k_scale (float[4]): 4 and 1 differ"),
      call({{3, stored}, {4, stored}, {12, one}, {13, one}}, stepped,
           "elements of input v_scale (float[1]): 1 and 4 differ"),
      call({}, {{"sliding_window_cache", 1}, {"local_window_size", 5}},
           "a capacity of 3 is less than local_window_size, 5", kBadArgument),
  });
}

}  // namespace
}  // namespace sardonyx
