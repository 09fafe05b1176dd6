// The domain com.microsoft.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

namespace microsoft {

struct FusedConvAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
  std::string activation = "";
  std::vector<float> activation_params = {};
};
// Conv, a residual Z added and an activation; shapes as in Conv.
// (X: T, W: T, B?: T, Z?: T) -> (Y: T); T: float, float16, double
Tensor FusedConv(const Tensor& X, const Tensor& W, const Tensor& B = {}, const Tensor& Z = {},
    const FusedConvAttrs& attrs = {}, Loc loc = Loc::current());

struct NhwcConvAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// Conv of X [N, spatial..., C] to [N, spatial..., M].
// (X: T, W: T, B?: T) -> (Y: T); T: float, float16, double
Tensor NhwcConv(const Tensor& X, const Tensor& W, const Tensor& B = {},
    const NhwcConvAttrs& attrs = {}, Loc loc = Loc::current());

struct NhwcFusedConvAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
  std::string activation = "";
  std::vector<float> activation_params = {};
};
// FusedConv of X [N, spatial..., C] to [N, spatial..., M].
// (X: T, W: T, B?: T, Z?: T) -> (Y: T); T: float, float16
Tensor NhwcFusedConv(const Tensor& X, const Tensor& W, const Tensor& B = {}, const Tensor& Z = {},
    const NhwcFusedConvAttrs& attrs = {}, Loc loc = Loc::current());

struct ConvTransposeWithDynamicPadsAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> output_padding = {};
  OptionalList<int64_t> strides = {};
};
// ConvTranspose whose pads [2 * spatial dims] are an input.
// (X: T, W: T, Pads?: int64, B?: T) -> (Y: T); T: float, float16, double
Tensor ConvTransposeWithDynamicPads(const Tensor& X, const Tensor& W, const Tensor& Pads = {},
    const Tensor& B = {}, const ConvTransposeWithDynamicPadsAttrs& attrs = {},
    Loc loc = Loc::current());

struct FusedMatMulAttrs {
  float alpha = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
  int64_t transBatchA = 0;
  int64_t transBatchB = 0;
};
// alpha * A' * B' of the last two axes, transposed before where the attributes say so, the others
// broadcast.
// (A: T, B: T) -> (Y: T); T: floats
Tensor FusedMatMul(const Tensor& A, const Tensor& B, const FusedMatMulAttrs& attrs = {},
    Loc loc = Loc::current());

struct TransposeMatMulAttrs {
  float alpha = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
  int64_t transBatchA = 0;
  int64_t transBatchB = 0;
};
// FusedMatMul by its former name.
// (A: T, B: T) -> (Y: T); T: floats
Tensor TransposeMatMul(const Tensor& A, const Tensor& B, const TransposeMatMulAttrs& attrs = {},
    Loc loc = Loc::current());

struct FusedGemmAttrs {
  float alpha = 1.f;
  float beta = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
  std::string activation = "";
  std::optional<float> activation_alpha = {};
  std::optional<float> activation_beta = {};
  std::optional<float> activation_gamma = {};
};
// Gemm and an activation.
// (A: T, B: T, C?: T) -> (Y: T); T: float, int32, int64, float16, double, uint32, uint64
Tensor FusedGemm(const Tensor& A, const Tensor& B, const Tensor& C = {},
    const FusedGemmAttrs& attrs = {}, Loc loc = Loc::current());

struct SparseToDenseMatMulAttrs {
  float alpha = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
};
// alpha * A * B of a sparse matrix, A, and a dense one.
// (A: T, B: T1) -> (Y: T1); T: float, int32, int64, double, uint32, uint64; T1: float, int32,
//   int64, double, uint32, uint64
Tensor SparseToDenseMatMul(const Tensor& A, const Tensor& B,
    const SparseToDenseMatMulAttrs& attrs = {}, Loc loc = Loc::current());

// X times the normal distribution's share below it.
// (X: T) -> (Y: T); T: floats
Tensor Gelu(const Tensor& X, Loc loc = Loc::current());

// Gelu of A + B, B a row for the last axis.
// (A: T, B: T) -> (C: T); T: floats
Tensor BiasGelu(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Gelu by tanh of X + bias, the bias a row for the last axis.
// (X: T, bias?: T) -> (Y: T); T: floats
Tensor FastGelu(const Tensor& X, const Tensor& bias = {}, Loc loc = Loc::current());

struct QuickGeluAttrs {
  float alpha = 1.702f;
};
// X * sigmoid(alpha * X), element by element.
// (X: T) -> (Y: T); T: floats
Tensor QuickGelu(const Tensor& X, const QuickGeluAttrs& attrs = {}, Loc loc = Loc::current());

struct SkipLayerNormalizationAttrs {
  float epsilon = 1e-12f;
};
// LayerNormalization of input + skip + bias over the last axis; the sum comes as well.
// (input: T, skip: T, gamma: T, beta?: T, bias?: T) -> (output: T, mean?: U, inv_std_var?: U,
//   input_skip_bias_sum?: T); T: float, float16, bfloat16; U: float
Tensor SkipLayerNormalization(const Tensor& input, const Tensor& skip, const Tensor& gamma,
    const Tensor& beta = {}, const Tensor& bias = {}, const SkipLayerNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());
std::vector<Tensor> SkipLayerNormalizationOutputs(size_t outputs, const Tensor& input,
    const Tensor& skip, const Tensor& gamma, const Tensor& beta = {}, const Tensor& bias = {},
    const SkipLayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct SkipSimplifiedLayerNormalizationAttrs {
  float epsilon = 1e-12f;
};
// RMS normalization of input + skip + bias over the last axis; the sum comes as well.
// (input: T, skip: T, gamma: T, bias?: T) -> (output: T, mean?: U, inv_std_var?: U,
//   input_skip_bias_sum?: T); T: float, float16, bfloat16; U: float
Tensor SkipSimplifiedLayerNormalization(const Tensor& input, const Tensor& skip,
    const Tensor& gamma, const Tensor& bias = {},
    const SkipSimplifiedLayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> SkipSimplifiedLayerNormalizationOutputs(size_t outputs, const Tensor& input,
    const Tensor& skip, const Tensor& gamma, const Tensor& bias = {},
    const SkipSimplifiedLayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct SimplifiedLayerNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-05f;
  DType stash_type = DType::kFloat;
};
// X divided by its root mean square over the axes from `axis` on, times scale.
// (X: T, scale: V) -> (Y: V, inv_std_var?: U); T: floats; V: floats; U: float
Tensor SimplifiedLayerNormalization(const Tensor& X, const Tensor& scale,
    const SimplifiedLayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> SimplifiedLayerNormalizationOutputs(size_t outputs, const Tensor& X,
    const Tensor& scale, const SimplifiedLayerNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());

struct LayerNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-05f;
  DType stash_type = DType::kFloat;
};
// X made of mean 0 and variance 1 over the axes from `axis` on, times scale plus bias.
// (X: T, Scale: T, B?: T) -> (Y: T, Mean?: U, InvStdDev?: U); T: floats; U: float
Tensor LayerNormalization(const Tensor& X, const Tensor& Scale, const Tensor& B = {},
    const LayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> LayerNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& Scale,
    const Tensor& B = {}, const LayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct EmbedLayerNormalizationAttrs {
  float epsilon = 1e-12f;
  int64_t mask_index_type = 1;
};
// The sum of word, position and segment embeddings of ids [batch, length], normalised; and each
// row's number of ids that count.
// (input_ids: T1, segment_ids?: T1, word_embedding: T, position_embedding: T, segment_embedding?:
//   T, gamma: T, beta: T, mask?: T1, position_ids?: T1) -> (output: T, mask_index?: T1,
//   embedding_sum?: T); T1: int32; T: float, float16
Tensor EmbedLayerNormalization(const Tensor& input_ids, const Tensor& segment_ids,
    const Tensor& word_embedding, const Tensor& position_embedding, const Tensor& segment_embedding,
    const Tensor& gamma, const Tensor& beta, const Tensor& mask = {},
    const Tensor& position_ids = {}, const EmbedLayerNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());
std::vector<Tensor> EmbedLayerNormalizationOutputs(size_t outputs, const Tensor& input_ids,
    const Tensor& segment_ids, const Tensor& word_embedding, const Tensor& position_embedding,
    const Tensor& segment_embedding, const Tensor& gamma, const Tensor& beta,
    const Tensor& mask = {}, const Tensor& position_ids = {},
    const EmbedLayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct QEmbedLayerNormalizationAttrs {
  float epsilon = 1e-12f;
};
// The sum of word, position and segment embeddings of ids [batch, length] in 8-bit integers,
// normalised; and each row's number of ids that count.
// (input_ids: T1, segment_ids?: T1, word_embedding_quant: T2, position_embedding_quant: T2,
//   segment_embedding?: T2, gamma_quant: T2, beta_quant: T2, mask?: T1, word_embedding_scale: T,
//   position_embedding_scale: T, segment_embedding_scale?: T, gamma_scale: T, beta_scale: T,
//   word_embedding_zero_point: T2, position_embedding_zero_point: T2,
//   segment_embedding_zero_point?: T2, gamma_zero_point: T2, beta_zero_point: T2) ->
//   (layernorm_out: T, mask_index_out: T1); T1: int32; T2: uint8, int8; T: float
std::vector<Tensor> QEmbedLayerNormalization(const Tensor& input_ids, const Tensor& segment_ids,
    const Tensor& word_embedding_quant, const Tensor& position_embedding_quant,
    const Tensor& segment_embedding, const Tensor& gamma_quant, const Tensor& beta_quant,
    const Tensor& mask, const Tensor& word_embedding_scale, const Tensor& position_embedding_scale,
    const Tensor& segment_embedding_scale, const Tensor& gamma_scale, const Tensor& beta_scale,
    const Tensor& word_embedding_zero_point, const Tensor& position_embedding_zero_point,
    const Tensor& segment_embedding_zero_point, const Tensor& gamma_zero_point,
    const Tensor& beta_zero_point, const QEmbedLayerNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());

struct AttentionAttrs {
  int64_t do_rotary = 0;
  float mask_filter_value = -10000.f;
  std::optional<int64_t> num_heads = {};  // required
  int64_t past_present_share_buffer = 0;
  std::vector<int64_t> qkv_hidden_sizes = {};
  int64_t rotary_embedding_dim = 0;
  std::optional<float> scale = {};
  int64_t unidirectional = 0;
};
// Self-attention of input [batch, length, hidden] with weights and bias of query, key and value
// joined.
// (input: T, weights: T, bias?: T, mask_index?: M, past?: T, attention_bias?: T,
//   past_sequence_length?: M) -> (output: T, present?: T); T: float, float16, bfloat16; M: int32
Tensor Attention(const Tensor& input, const Tensor& weights, const Tensor& bias,
    const Tensor& mask_index, const Tensor& past, const Tensor& attention_bias,
    const Tensor& past_sequence_length, const AttentionAttrs& attrs, Loc loc = Loc::current());
std::vector<Tensor> AttentionOutputs(size_t outputs, const Tensor& input, const Tensor& weights,
    const Tensor& bias, const Tensor& mask_index, const Tensor& past, const Tensor& attention_bias,
    const Tensor& past_sequence_length, const AttentionAttrs& attrs, Loc loc = Loc::current());

struct MultiHeadAttentionAttrs {
  float mask_filter_value = -10000.f;
  std::optional<int64_t> num_heads = {};  // required
  std::optional<float> scale = {};
  int64_t unidirectional = 0;
};
// Attention of query [batch, length, hidden] to key and value, which may come packed or from a
// cache.
// (query: T, key?: T, value?: T, bias?: T, key_padding_mask?: M, attention_bias?: T, past_key?: T,
//   past_value?: T, past_sequence_length?: M, cache_indirection?: M) -> (output: T, present_key?:
//   T, present_value?: T, qk?: QK); T: float, float16, bfloat16; QK: float, float16, bfloat16; M:
//   int32
Tensor MultiHeadAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, const Tensor& key_padding_mask, const Tensor& attention_bias,
    const Tensor& past_key, const Tensor& past_value, const Tensor& past_sequence_length,
    const Tensor& cache_indirection, const MultiHeadAttentionAttrs& attrs,
    Loc loc = Loc::current());
std::vector<Tensor> MultiHeadAttentionOutputs(size_t outputs, const Tensor& query,
    const Tensor& key, const Tensor& value, const Tensor& bias, const Tensor& key_padding_mask,
    const Tensor& attention_bias, const Tensor& past_key, const Tensor& past_value,
    const Tensor& past_sequence_length, const Tensor& cache_indirection,
    const MultiHeadAttentionAttrs& attrs, Loc loc = Loc::current());

struct RotaryEmbeddingAttrs {
  int64_t interleaved = 0;
  int64_t is_packed_batching = 0;
  int64_t num_heads = 0;
  int64_t rotary_embedding_dim = 0;
  float scale = 1.f;
};
// The input with pairs of its last axis rotated by the angles of its positions.
// (input: T, position_ids: M, cos_cache: T, sin_cache: T) -> (output: T); T: float, float16,
//   bfloat16; M: int64
Tensor RotaryEmbedding(const Tensor& input, const Tensor& position_ids, const Tensor& cos_cache,
    const Tensor& sin_cache, const RotaryEmbeddingAttrs& attrs = {}, Loc loc = Loc::current());

struct GroupQueryAttentionAttrs {
  int64_t causal = 1;
  int64_t do_rotary = 0;
  std::string k_quant_type = "NONE";
  int64_t kv_cache_bit_width = 0;
  std::optional<int64_t> kv_num_heads = {};  // required
  int64_t local_window_size = -1;
  std::optional<int64_t> num_heads = {};  // required
  float qk_norm_epsilon = 1e-06f;
  int64_t qk_output = 0;
  int64_t rotary_interleaved = 0;
  std::optional<float> scale = {};
  int64_t sliding_window_cache = 0;
  int64_t smooth_softmax = 0;
  float softcap = 0.f;
  std::string v_quant_type = "NONE";
};
// Causal attention whose heads share keys and values in groups, with a cache of past ones.
// (query: T, key?: T, value?: T, past_key?: T_CACHE, past_value?: T_CACHE, seqlens_k: M,
//   total_sequence_length: M, cos_cache?: T, sin_cache?: T, position_ids?: int64, attention_bias?:
//   T, head_sink?: T, k_scale?: T_KV_SCALE, v_scale?: T_KV_SCALE, q_norm_weight?: T,
//   k_norm_weight?: T) -> (output: T, present_key?: T_CACHE, present_value?: T_CACHE, output_qk?:
//   T); T: float, float16, bfloat16; T_CACHE: float, uint8, int8, float16, bfloat16, float8e4m3fn;
//   T_KV_SCALE: float; M: int32
Tensor GroupQueryAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_key, const Tensor& past_value, const Tensor& seqlens_k,
    const Tensor& total_sequence_length, const Tensor& cos_cache, const Tensor& sin_cache,
    const Tensor& position_ids, const Tensor& attention_bias, const Tensor& head_sink,
    const Tensor& k_scale, const Tensor& v_scale, const Tensor& q_norm_weight,
    const Tensor& k_norm_weight, const GroupQueryAttentionAttrs& attrs, Loc loc = Loc::current());
std::vector<Tensor> GroupQueryAttentionOutputs(size_t outputs, const Tensor& query,
    const Tensor& key, const Tensor& value, const Tensor& past_key, const Tensor& past_value,
    const Tensor& seqlens_k, const Tensor& total_sequence_length, const Tensor& cos_cache,
    const Tensor& sin_cache, const Tensor& position_ids, const Tensor& attention_bias,
    const Tensor& head_sink, const Tensor& k_scale, const Tensor& v_scale,
    const Tensor& q_norm_weight, const Tensor& k_norm_weight, const GroupQueryAttentionAttrs& attrs,
    Loc loc = Loc::current());

struct DecoderMaskedMultiHeadAttentionAttrs {
  float mask_filter_value = -10000.f;
  std::optional<int64_t> num_heads = {};  // required
  int64_t output_qk = 0;
  int64_t past_present_share_buffer = 0;
  std::optional<float> scale = {};
};
// Attention of one new word of each row to its past, which beams may share, or to the keys and
// values of an encoder.
// (query: T, key?: T, value?: T, mask_index?: M, attention_bias?: T, past_key?: T, past_value?: T,
//   past_sequence_length?: M, beam_width?: M, cache_indirection?: M, bias?: T) -> (output: T,
//   present_key?: T, present_value?: T, qk?: QK); T: float, float16, bfloat16; QK: float, float16,
//   bfloat16; M: int32
Tensor DecoderMaskedMultiHeadAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& mask_index, const Tensor& attention_bias, const Tensor& past_key,
    const Tensor& past_value, const Tensor& past_sequence_length, const Tensor& beam_width,
    const Tensor& cache_indirection, const Tensor& bias,
    const DecoderMaskedMultiHeadAttentionAttrs& attrs, Loc loc = Loc::current());
std::vector<Tensor> DecoderMaskedMultiHeadAttentionOutputs(size_t outputs, const Tensor& query,
    const Tensor& key, const Tensor& value, const Tensor& mask_index, const Tensor& attention_bias,
    const Tensor& past_key, const Tensor& past_value, const Tensor& past_sequence_length,
    const Tensor& beam_width, const Tensor& cache_indirection, const Tensor& bias,
    const DecoderMaskedMultiHeadAttentionAttrs& attrs, Loc loc = Loc::current());

struct MRotaryEmbeddingAttrs {
  int64_t interleaved = 0;
  int64_t is_packed_batching = 0;
  int64_t mrope_layout = 0;
  OptionalList<int64_t> mrope_section = {};  // required
  int64_t num_heads = 0;
  int64_t rotary_embedding_dim = 0;
  float scale = 1.f;
};
// The input with pairs of its last axis rotated by the angles of its positions in time, height and
// width, each of which has its own part of the pairs.
// (input: T, position_ids: M, cos_cache: T, sin_cache: T) -> (output: T); T: float, float16,
//   bfloat16; M: int64
Tensor MRotaryEmbedding(const Tensor& input, const Tensor& position_ids, const Tensor& cos_cache,
    const Tensor& sin_cache, const MRotaryEmbeddingAttrs& attrs, Loc loc = Loc::current());

struct SparseAttentionAttrs {
  int64_t do_rotary = 0;
  std::optional<int64_t> kv_num_heads = {};  // required
  std::optional<int64_t> num_heads = {};  // required
  int64_t rotary_interleaved = 0;
  std::optional<float> scale = {};
  std::optional<int64_t> sparse_block_size = {};  // required
};
// Causal attention of query [batch, length, heads * size] to a cache, of which each block of
// queries sees the blocks that its head's layout names.
// (query: T, key?: T, value?: T, past_key: T, past_value: T, block_row_indices: M,
//   block_col_indices: M, total_sequence_length: M, key_total_sequence_lengths: M, cos_cache?: T,
//   sin_cache?: T) -> (output: T, present_key: T, present_value: T); T: float, float16, bfloat16;
//   M: int32
std::vector<Tensor> SparseAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_key, const Tensor& past_value, const Tensor& block_row_indices,
    const Tensor& block_col_indices, const Tensor& total_sequence_length,
    const Tensor& key_total_sequence_lengths, const Tensor& cos_cache, const Tensor& sin_cache,
    const SparseAttentionAttrs& attrs, Loc loc = Loc::current());

struct TokenizerAttrs {
  std::optional<int64_t> mark = {};  // required
  std::optional<int64_t> mincharnum = {};  // required
  std::optional<std::string> pad_value = {};  // required
  std::vector<std::string> separators = {};
  std::optional<std::string> tokenexp = {};
};
// The strings of X [C] or [N, C] cut into tokens, in a further axis filled up with pad_value.
// (X: T) -> (Y: T); T: string
Tensor Tokenizer(const Tensor& X, const TokenizerAttrs& attrs, Loc loc = Loc::current());

struct WordConvEmbeddingAttrs {
  std::optional<int64_t> char_embedding_size = {};
  std::optional<int64_t> conv_window_size = {};
  std::optional<int64_t> embedding_size = {};
};
// Embeddings of words [words, characters] by a convolution over their characters and a maximum:
// [words, size].
// (Sequence: T, W: T1, B: T1, C: T1) -> (Y: T1); T: int32; T1: float
Tensor WordConvEmbedding(const Tensor& Sequence, const Tensor& W, const Tensor& B, const Tensor& C,
    const WordConvEmbeddingAttrs& attrs = {}, Loc loc = Loc::current());

struct TriluAttrs {
  int64_t upper = 1;
};
// The upper or lower triangle of the last two axes from the k-th diagonal, zeros elsewhere.
// (X: T, k?: int64) -> (Y: T); T: integers, floats, bool
Tensor Trilu(const Tensor& X, const Tensor& k = {}, const TriluAttrs& attrs = {},
    Loc loc = Loc::current());

// The distinct elements of x [N] in the order of their first, with inverse indices and counts.
// (x: T) -> (y: T, idx: int64, counts: int64); T: integers, complex, float, string, bool, float16,
//   double
std::vector<Tensor> Unique(const Tensor& x, Loc loc = Loc::current());

struct PadAttrs {
  std::string mode = "constant";
};
// More elements at the begin and end of each axis, as many as `pads` [2 * rank] lists.
// (data: T, pads: int64, value?: T) -> (output: T); T: float, float16, double
Tensor Pad(const Tensor& data, const Tensor& pads, const Tensor& value = {},
    const PadAttrs& attrs = {}, Loc loc = Loc::current());

// X with an axis of size 1 at the place that the scalar `axis` says.
// (X: T, axis: int32) -> (Y: T); T: integers, complex, float, string, bool, float16, double
Tensor ExpandDims(const Tensor& X, const Tensor& axis, Loc loc = Loc::current());

struct GridSampleAttrs {
  int64_t align_corners = 0;
  std::string mode = "bilinear";
  std::string padding_mode = "zeros";
};
// X [N, C, H, W] sampled at the coordinates of a grid [N, h, w, 2], which are in [-1, 1] across the
// image.
// (X: T1, Grid: T1) -> (Y: T2); T1: float, float16, double; T2: float, float16, double
Tensor GridSample(const Tensor& X, const Tensor& Grid, const GridSampleAttrs& attrs = {},
    Loc loc = Loc::current());

// start, start + delta ... up to limit, exclusive; delta is 1 where it is left out.
// (start: T, limit: T, delta?: T) -> (Y: T); T: float, int16, int32, int64, double
Tensor Range(const Tensor& start, const Tensor& limit, const Tensor& delta = {},
    Loc loc = Loc::current());

// The elements or slices of `data` at the places that the rows of `indices` say.
// (data: T, indices: Tind) -> (output: T); T: integers, complex, float, string, bool, float16,
//   double; Tind: int32, int64
Tensor GatherND(const Tensor& data, const Tensor& indices, Loc loc = Loc::current());

struct UnfoldTensorAttrs {
  int64_t dim = -1;
  std::optional<int64_t> size = {};  // required
  int64_t step = 1;
};
// All windows of `size` elements of one axis, each `step` behind the one before: the axis counts
// the windows, a new last one their elements.
// (input: T) -> (output: T); T: integers, complex, float, string, bool, float16, double
Tensor UnfoldTensor(const Tensor& input, const UnfoldTensorAttrs& attrs, Loc loc = Loc::current());

// X, as it is.
// (X: T) -> (Y: T); T: integers, floats
Tensor SampleOp(const Tensor& X, Loc loc = Loc::current());

struct CDistAttrs {
  std::string metric = "sqeuclidean";
};
// The distances, or their squares, between all rows of A [M, K] and B [N, K]: [M, N].
// (A: T, B: T) -> (C: T); T: float, double
Tensor CDist(const Tensor& A, const Tensor& B, const CDistAttrs& attrs = {},
    Loc loc = Loc::current());

// The inverse of the last two axes, which must be square.
// (X: T) -> (Y: T); T: float, float16, double
Tensor Inverse(const Tensor& X, Loc loc = Loc::current());

struct CropAndResizeAttrs {
  float extrapolation_value = 0.f;
  std::string mode = "bilinear";
};
// Each box of rois [boxes, 4] of the image its index says, resized to crop_size: [boxes, C, h, w].
// (X: T1, rois: T1, batch_indices: T2, crop_size: T2) -> (Y: T1); T1: float, float16, double; T2:
//   int32
Tensor CropAndResize(const Tensor& X, const Tensor& rois, const Tensor& batch_indices,
    const Tensor& crop_size, const CropAndResizeAttrs& attrs = {}, Loc loc = Loc::current());

// The sum of quantised tensors, quantised again, broadcast to one shape.
// (A: T, A_scale: float, A_zero_point?: T, B: T, B_scale: float, B_zero_point?: T, C_scale: float,
//   C_zero_point?: T) -> (C: T); T: uint8, int8
Tensor QLinearAdd(const Tensor& A, const Tensor& A_scale, const Tensor& A_zero_point,
    const Tensor& B, const Tensor& B_scale, const Tensor& B_zero_point, const Tensor& C_scale,
    const Tensor& C_zero_point = {}, Loc loc = Loc::current());

// The product of quantised tensors, quantised again, broadcast to one shape: the product of the
// integers times one factor.
// (A: T, A_scale: float, A_zero_point?: T, B: T, B_scale: float, B_zero_point?: T, C_scale: float,
//   C_zero_point?: T) -> (C: T); T: uint8, int8
Tensor QLinearMul(const Tensor& A, const Tensor& A_scale, const Tensor& A_zero_point,
    const Tensor& B, const Tensor& B_scale, const Tensor& B_zero_point, const Tensor& C_scale,
    const Tensor& C_zero_point = {}, Loc loc = Loc::current());

// Sigmoid of quantised elements, quantised again.
// (X: T, X_scale: float, X_zero_point?: T, Y_scale: float, Y_zero_point?: T) -> (Y: T); T: uint8,
//   int8
Tensor QLinearSigmoid(const Tensor& X, const Tensor& X_scale, const Tensor& X_zero_point,
    const Tensor& Y_scale, const Tensor& Y_zero_point = {}, Loc loc = Loc::current());

struct QLinearLeakyReluAttrs {
  float alpha = 0.01f;
};
// LeakyRelu of quantised elements, quantised again.
// (X: T, X_scale: float, X_zero_point?: T, Y_scale: float, Y_zero_point?: T) -> (Y: T); T: uint8,
//   int8
Tensor QLinearLeakyRelu(const Tensor& X, const Tensor& X_scale, const Tensor& X_zero_point,
    const Tensor& Y_scale, const Tensor& Y_zero_point = {}, const QLinearLeakyReluAttrs& attrs = {},
    Loc loc = Loc::current());

struct QLinearSoftmaxAttrs {
  std::optional<int64_t> axis = {};
  std::optional<int64_t> opset = {};  // required
};
// Softmax of quantised elements along `axis`, quantised again.
// (X: T, X_scale: float, x_zero_point?: T, y_scale: float, y_zero_point: T) -> (Y: T); T: uint8,
//   int8
Tensor QLinearSoftmax(const Tensor& X, const Tensor& X_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point, const QLinearSoftmaxAttrs& attrs,
    Loc loc = Loc::current());

struct QLinearReduceMeanAttrs {
  OptionalList<int64_t> axes = {};  // required
  std::optional<int64_t> keepdims = {};  // required
};
// The mean of quantised elements over `axes`, quantised again.
// (data: T, data_scale: float, data_zero_point?: T, reduced_scale: float, reduced_zero_point?: T)
//   -> (reduced: T); T: uint8, int8
Tensor QLinearReduceMean(const Tensor& data, const Tensor& data_scale,
    const Tensor& data_zero_point, const Tensor& reduced_scale, const Tensor& reduced_zero_point,
    const QLinearReduceMeanAttrs& attrs, Loc loc = Loc::current());

struct QLinearAveragePoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0;
  int64_t channels_last = 0;
  int64_t count_include_pad = 0;
  OptionalList<int64_t> kernel_shape = {};  // required
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// AveragePool of quantised elements, quantised again.
// (X: T, x_scale: float, x_zero_point?: T, y_scale: float, y_zero_point?: T) -> (Y: T); T: uint8,
//   int8
Tensor QLinearAveragePool(const Tensor& X, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point, const QLinearAveragePoolAttrs& attrs,
    Loc loc = Loc::current());

struct QLinearGlobalAveragePoolAttrs {
  int64_t channels_last = 0;
};
// GlobalAveragePool of quantised elements, quantised again.
// (X: T, x_scale: float, x_zero_point: T, y_scale: float, y_zero_point: T) -> (Y: T); T: uint8,
//   int8
Tensor QLinearGlobalAveragePool(const Tensor& X, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point,
    const QLinearGlobalAveragePoolAttrs& attrs = {}, Loc loc = Loc::current());

struct NhwcMaxPoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0;
  OptionalList<int64_t> dilations = {};
  OptionalList<int64_t> kernel_shape = {};  // required
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// MaxPool of x [N, spatial..., C].
// (x: T) -> (y: T); T: uint8, int8
Tensor NhwcMaxPool(const Tensor& x, const NhwcMaxPoolAttrs& attrs, Loc loc = Loc::current());

struct QLinearConvAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
  int64_t channels_last = 0;
};
// QLinearConv of x [N, C, spatial...], or of [N, spatial..., C] where `channels_last` says so.
// (x: T1, x_scale: float, x_zero_point?: T1, w: T2, w_scale: float, w_zero_point?: T2, y_scale:
//   float, y_zero_point?: T3, B?: int32) -> (y: T3); T1: uint8, int8; T2: uint8, int8; T3: uint8,
//   int8
Tensor QLinearConv(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& w, const Tensor& w_scale, const Tensor& w_zero_point, const Tensor& y_scale,
    const Tensor& y_zero_point = {}, const Tensor& B = {}, const QLinearConvAttrs& attrs = {},
    Loc loc = Loc::current());

// The matrix product of 16-bit integers, in int32.
// (A: T1, B: T2) -> (Y: T3); T1: int16; T2: int16; T3: int32
Tensor MatMulInteger16(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// Where of quantised tensors, each with its own scale, quantised again.
// (condition: bool, X: T, x_scale: float, x_zero_point: T, Y: T, y_scale: float, y_zero_point: T,
//   z_scale: float, z_zero_point: T) -> (Z: T); T: uint8, int8
Tensor QLinearWhere(const Tensor& condition, const Tensor& X, const Tensor& x_scale,
    const Tensor& x_zero_point, const Tensor& Y, const Tensor& y_scale, const Tensor& y_zero_point,
    const Tensor& z_scale, const Tensor& z_zero_point, Loc loc = Loc::current());

struct QLinearConcatAttrs {
  std::optional<int64_t> axis = {};  // required
};
// Quantised tensors, each with its own scale, joined along `axis` in one scale.
// (Y_scale: float, Y_zero_point: T8, inputs...: TV*) -> (Y: T8); T8: uint8, int8; TV: float, uint8,
//   int8
Tensor QLinearConcat(const Tensor& Y_scale, const Tensor& Y_zero_point,
    const std::vector<Tensor>& inputs, const QLinearConcatAttrs& attrs, Loc loc = Loc::current());

// The matrix product of 8-bit integers, times the scales of both and with a bias, in floats.
// (A: T1, B: T2, a_scale: T3, b_scale: T3, a_zero_point?: T1, b_zero_point?: T2, bias?: T3) -> (Y:
//   T3); T1: uint8, int8; T2: uint8, int8; T3: float, float16
Tensor MatMulIntegerToFloat(const Tensor& A, const Tensor& B, const Tensor& a_scale,
    const Tensor& b_scale, const Tensor& a_zero_point = {}, const Tensor& b_zero_point = {},
    const Tensor& bias = {}, Loc loc = Loc::current());

// The matrix product of floats that are quantised for it and quantised weights, in floats.
// (A: T1, B: T2, b_scale: T1, b_zero_point?: T2, bias?: T1) -> (Y: T1); T1: float; T2: uint8, int8
Tensor DynamicQuantizeMatMul(const Tensor& A, const Tensor& B, const Tensor& b_scale,
    const Tensor& b_zero_point = {}, const Tensor& bias = {}, Loc loc = Loc::current());

struct QGemmAttrs {
  float alpha = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
};
// Gemm of quantised matrices, in floats or quantised again.
// (A: TA, a_scale: T, a_zero_point: TA, B: TB, b_scale: T, b_zero_point: TB, C?: TC, y_scale?: T,
//   y_zero_point?: TYZ) -> (Y: TY); T: float; TA: uint8, int8; TB: uint8, int8; TC: int32; TYZ:
//   uint8, int8; TY: float, uint8, int8
Tensor QGemm(const Tensor& A, const Tensor& a_scale, const Tensor& a_zero_point, const Tensor& B,
    const Tensor& b_scale, const Tensor& b_zero_point, const Tensor& C = {},
    const Tensor& y_scale = {}, const Tensor& y_zero_point = {}, const QGemmAttrs& attrs = {},
    Loc loc = Loc::current());

struct QAttentionAttrs {
  int64_t do_rotary = 0;
  float mask_filter_value = -10000.f;
  std::optional<int64_t> num_heads = {};  // required
  int64_t past_present_share_buffer = 0;
  std::vector<int64_t> qkv_hidden_sizes = {};
  int64_t rotary_embedding_dim = 0;
  std::optional<float> scale = {};
  int64_t unidirectional = 0;
};
// Self-attention whose input and weights are quantised.
// (input: T1, weight: T2, bias: T3, input_scale: T3, weight_scale: T3, mask_index?: T4,
//   input_zero_point?: T1, weight_zero_point?: T2, past?: T3) -> (output: T3, present?: T3); T1:
//   uint8, int8; T2: uint8, int8; T3: float, float16; T4: int32
Tensor QAttention(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const Tensor& input_scale, const Tensor& weight_scale, const Tensor& mask_index,
    const Tensor& input_zero_point, const Tensor& weight_zero_point, const Tensor& past,
    const QAttentionAttrs& attrs, Loc loc = Loc::current());
std::vector<Tensor> QAttentionOutputs(size_t outputs, const Tensor& input, const Tensor& weight,
    const Tensor& bias, const Tensor& input_scale, const Tensor& weight_scale,
    const Tensor& mask_index, const Tensor& input_zero_point, const Tensor& weight_zero_point,
    const Tensor& past, const QAttentionAttrs& attrs, Loc loc = Loc::current());

struct QuantizeLinearAttrs {
  std::optional<int64_t> axis = {};
};
// ONNX's QuantizeLinear by its name here.
// (x: T1, y_scale: T1, y_zero_point?: T2) -> (y: T2); T1: float, float16; T2: uint8, int8, uint16,
//   int16, uint4, int4
Tensor QuantizeLinear(const Tensor& x, const Tensor& y_scale, const Tensor& y_zero_point = {},
    const QuantizeLinearAttrs& attrs = {}, Loc loc = Loc::current());

struct DequantizeLinearAttrs {
  std::optional<int64_t> axis = {};
};
// ONNX's DequantizeLinear by its name here.
// (x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T2); T1: uint8, int8, uint16, int16, int32, uint4,
//   int4; T2: float, float16
Tensor DequantizeLinear(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point = {},
    const DequantizeLinearAttrs& attrs = {}, Loc loc = Loc::current());

struct MatMulNBitsAttrs {
  std::optional<int64_t> K = {};  // required
  std::optional<int64_t> N = {};  // required
  int64_t accuracy_level = 0;
  int64_t bits = 4;
  std::optional<int64_t> block_size = {};  // required
  int64_t weight_prepacked = 0;
};
// The product of A [..., K] and weights [N, K] of 2 to 8 bits in blocks with a scale each: [...,
// N].
// (A: T1, B: T2, scales: T1, zero_points?: T3, g_idx?: T4, bias?: T1) -> (Y: T1); T1: float,
//   float16, bfloat16; T2: uint8; T3: float, uint8, float16, bfloat16; T4: int32
Tensor MatMulNBits(const Tensor& A, const Tensor& B, const Tensor& scales,
    const Tensor& zero_points, const Tensor& g_idx, const Tensor& bias,
    const MatMulNBitsAttrs& attrs, Loc loc = Loc::current());

struct MatMulBnb4Attrs {
  std::optional<int64_t> K = {};  // required
  std::optional<int64_t> N = {};  // required
  std::optional<int64_t> block_size = {};  // required
  std::optional<int64_t> quant_type = {};  // required
  int64_t training_mode = 0;
  int64_t transB = 1;
};
// The product of A [..., K] and weights [N, K] of 4 bits in the steps of a table, in blocks with a
// scale each: [..., N].
// (A: T1, B: T2, absmax: T1) -> (Y: T1); T1: float, float16, bfloat16; T2: uint8
Tensor MatMulBnb4(const Tensor& A, const Tensor& B, const Tensor& absmax,
    const MatMulBnb4Attrs& attrs, Loc loc = Loc::current());

struct GatherBlockQuantizedAttrs {
  int64_t bits = 4;
  int64_t block_size = 128;
  int64_t gather_axis = 0;
  int64_t quantize_axis = 1;
};
// Gather of data that is quantised in blocks, as floats.
// (data: T1, indices: Tind, scales: T2, zero_points?: T1) -> (output: T2); T1: 8-bit floats, uint8,
//   uint4, int4, float4e2m1; T2: float, float16, bfloat16; Tind: int32, int64
Tensor GatherBlockQuantized(const Tensor& data, const Tensor& indices, const Tensor& scales,
    const Tensor& zero_points = {}, const GatherBlockQuantizedAttrs& attrs = {},
    Loc loc = Loc::current());

struct DynamicQuantizeLSTMAttrs {
  OptionalList<float> activation_alpha = {};
  OptionalList<float> activation_beta = {};
  OptionalList<std::string> activations = {};
  std::optional<float> clip = {};
  std::string direction = "forward";
  std::optional<int64_t> hidden_size = {};
  int64_t input_forget = 0;
};
// LSTM whose weights are quantised, and its inputs for each product.
// (X: T, W: T2, R: T2, B?: T, sequence_lens?: T1, initial_h?: T, initial_c?: T, P?: T, W_scale: T,
//   W_zero_point: T2, R_scale: T, R_zero_point: T2) -> (Y?: T, Y_h?: T, Y_c?: T); T: float; T1:
//   int32; T2: uint8, int8
std::vector<Tensor> DynamicQuantizeLSTM(size_t outputs, const Tensor& X, const Tensor& W,
    const Tensor& R, const Tensor& B, const Tensor& sequence_lens, const Tensor& initial_h,
    const Tensor& initial_c, const Tensor& P, const Tensor& W_scale, const Tensor& W_zero_point,
    const Tensor& R_scale, const Tensor& R_zero_point, const DynamicQuantizeLSTMAttrs& attrs = {},
    Loc loc = Loc::current());

struct MurmurHash3Attrs {
  int64_t positive = 1;
  int64_t seed = 0;
};
// The 32-bit MurmurHash3 of each element's bytes, as uint32 where `positive` is set and as int32
// otherwise.
// (X: T1) -> (Y: T2); T1: float, int32, int64, string, double, uint32, uint64; T2: int32, uint32
Tensor MurmurHash3(const Tensor& X, const MurmurHash3Attrs& attrs = {}, Loc loc = Loc::current());

struct NGramRepeatBlockAttrs {
  std::optional<int64_t> ngram_size = {};  // required
};
// scores [batch, vocabulary], -infinity for each token that would repeat an n-gram of input_ids
// [batch, length].
// (input_ids: Tid, scores: T) -> (scores_out: T); Tid: int64; T: float
Tensor NGramRepeatBlock(const Tensor& input_ids, const Tensor& scores,
    const NGramRepeatBlockAttrs& attrs, Loc loc = Loc::current());

struct BifurcationDetectorAttrs {
  std::optional<int64_t> min_ngram_size = {};  // required
  std::optional<int64_t> max_ngram_size = {};  // required
};
// Current tokens and the predicted ones up to the first that the source has not, and where in the
// source their last n-gram ends.
// (src_tokens: T, cur_tokens: T, prev_suffix_match_idx: T, pred_tokens?: T) -> (tokens: T,
//   suffix_match_idx: T); T: int64
std::vector<Tensor> BifurcationDetector(const Tensor& src_tokens, const Tensor& cur_tokens,
    const Tensor& prev_suffix_match_idx, const Tensor& pred_tokens,
    const BifurcationDetectorAttrs& attrs, Loc loc = Loc::current());

// The path [2, length] of rows and columns through costs [M, N] whose sum is least.
// (input: F) -> (output: I); F: float; I: int32
Tensor DynamicTimeWarping(const Tensor& input, Loc loc = Loc::current());

struct MoEAttrs {
  float activation_alpha = 1.f;
  float activation_beta = 0.f;
  std::string activation_type = "relu";
  int64_t k = 1;
  int64_t normalize_routing_weights = 0;
  int64_t swiglu_fusion = 0;
  std::optional<float> swiglu_limit = {};
  int64_t use_sparse_mixer = 0;
};
// For each token [..., hidden] the sum of the answers of the k experts that its router_probs
// [tokens, experts] choose, by their shares.
// (input: T, router_probs: T, fc1_experts_weights: T, fc1_experts_bias?: T, fc2_experts_weights: T,
//   fc2_experts_bias?: T, fc3_experts_weights?: T, fc3_experts_bias?: T) -> (output: T); T: float,
//   float16, bfloat16
Tensor MoE(const Tensor& input, const Tensor& router_probs, const Tensor& fc1_experts_weights,
    const Tensor& fc1_experts_bias, const Tensor& fc2_experts_weights,
    const Tensor& fc2_experts_bias = {}, const Tensor& fc3_experts_weights = {},
    const Tensor& fc3_experts_bias = {}, const MoEAttrs& attrs = {}, Loc loc = Loc::current());

struct QMoEAttrs {
  float activation_alpha = 1.f;
  float activation_beta = 0.f;
  std::string activation_type = "relu";
  int64_t k = 1;
  int64_t normalize_routing_weights = 0;
  int64_t swiglu_fusion = 0;
  std::optional<float> swiglu_limit = {};
  int64_t use_sparse_mixer = 0;
  int64_t accuracy_level = 0;
  int64_t block_size = 0;
  int64_t expert_weight_bits = 4;
  std::string quant_type = "int";
  int64_t weights_prepacked = -1;
};
// MoE with weights of 2, 4 or 8 bits, in blocks or columns that have a scale each.
// (input: T, router_probs: T, fc1_experts_weights: T1, fc1_scales?: T2, fc1_experts_bias?: T,
//   fc2_experts_weights: T1, fc2_scales?: T2, fc2_experts_bias?: T, fc3_experts_weights?: T1,
//   fc3_scales?: T2, fc3_experts_bias?: T, fc1_zero_points?: T1, fc2_zero_points?: T1,
//   fc3_zero_points?: T1, router_weights?: T, fc1_global_scale?: T4, fc2_global_scale?: T4,
//   fc1_act_scale?: T4, fc2_act_scale?: T4, fc1_act_block_scale?: T2, fc2_act_block_scale?: T2) ->
//   (output: T); T: float, float16, bfloat16; T1: uint8, float8e4m3fn; T2: float, float16,
//   bfloat16, float8e4m3fn, float8e8m0; T4: float
Tensor QMoE(const Tensor& input, const Tensor& router_probs, const Tensor& fc1_experts_weights,
    const Tensor& fc1_scales, const Tensor& fc1_experts_bias, const Tensor& fc2_experts_weights,
    const Tensor& fc2_scales = {}, const Tensor& fc2_experts_bias = {},
    const Tensor& fc3_experts_weights = {}, const Tensor& fc3_scales = {},
    const Tensor& fc3_experts_bias = {}, const Tensor& fc1_zero_points = {},
    const Tensor& fc2_zero_points = {}, const Tensor& fc3_zero_points = {},
    const Tensor& router_weights = {}, const Tensor& fc1_global_scale = {},
    const Tensor& fc2_global_scale = {}, const Tensor& fc1_act_scale = {},
    const Tensor& fc2_act_scale = {}, const Tensor& fc1_act_block_scale = {},
    const Tensor& fc2_act_block_scale = {}, const QMoEAttrs& attrs = {}, Loc loc = Loc::current());

struct LinearAttentionAttrs {
  int64_t chunk_size = 64;
  std::optional<int64_t> kv_num_heads = {};  // required
  std::optional<int64_t> q_num_heads = {};  // required
  float scale = 0.f;
  std::string update_rule = "gated_delta";
  int64_t state_window = 0;
};
// ONNX's LinearAttention, whose values may have more heads than query and key and whose state may
// be kept for some of the last positions.
// (query: T, key: T, value: T, past_state?: S, decay?: T, beta?: T) -> (output: T, present_state:
//   S); T: float, float16, bfloat16; S: float, float16, bfloat16
std::vector<Tensor> LinearAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_state, const Tensor& decay, const Tensor& beta,
    const LinearAttentionAttrs& attrs, Loc loc = Loc::current());

// decay_scale * softplus(a + dt_bias) of a [..., heads] and the sigmoid of b, as LinearAttention
// takes them.
// (a: T, dt_bias: float, decay_scale: float, b?: T) -> (decay: T, beta?: T); T: float, float16,
//   bfloat16
Tensor LinearAttentionGate(const Tensor& a, const Tensor& dt_bias, const Tensor& decay_scale,
    const Tensor& b = {}, Loc loc = Loc::current());
std::vector<Tensor> LinearAttentionGateOutputs(size_t outputs, const Tensor& a,
    const Tensor& dt_bias, const Tensor& decay_scale, const Tensor& b = {},
    Loc loc = Loc::current());

struct GatedRMSNormAttrs {
  std::string activation = "silu";
  float epsilon = 1e-05f;
};
// X [..., groups * C] divided by the root mean square of each group, times scale [C], times the
// activation of gate.
// (X: T, scale: T, gate: T) -> (Y: T); T: float, float16, bfloat16
Tensor GatedRMSNorm(const Tensor& X, const Tensor& scale, const Tensor& gate,
    const GatedRMSNormAttrs& attrs = {}, Loc loc = Loc::current());

// X + Y * gate of X and Y [..., C] and a gate [..., 1].
// (X: T, Y: T, gate: T) -> (output: T); T: float, float16, bfloat16
Tensor GatedAdd(const Tensor& X, const Tensor& Y, const Tensor& gate, Loc loc = Loc::current());

struct CausalConvWithStateAttrs {
  std::string activation = "none";
  int64_t channels_last = 0;
  int64_t dilation = 1;
  int64_t ndim = 1;
  int64_t state_window = 0;
};
// ONNX's CausalConvWithState, with dilation, channels in the last dims, and the state of some of
// the last positions, where attributes ask for them.
// (input: T, weight: T, bias?: T, past_state?: T) -> (output: T, present_state: T); T: float,
//   float16, bfloat16
std::vector<Tensor> CausalConvWithState(const Tensor& input, const Tensor& weight,
    const Tensor& bias = {}, const Tensor& past_state = {},
    const CausalConvWithStateAttrs& attrs = {}, Loc loc = Loc::current());

struct PackedMultiHeadAttentionAttrs {
  float mask_filter_value = -10000.f;
  std::optional<int64_t> num_heads = {};  // required
  std::optional<float> scale = {};
};
// MultiHeadAttention of tokens [tokens, hidden] of several sequences, each of which sees its own.
// (query: T, key?: T, value?: T, bias?: T, token_offset: int32, cumulative_sequence_length: int32,
//   attention_bias?: T) -> (output: T); T: float, float16
Tensor PackedMultiHeadAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, const Tensor& token_offset, const Tensor& cumulative_sequence_length,
    const Tensor& attention_bias, const PackedMultiHeadAttentionAttrs& attrs,
    Loc loc = Loc::current());

// X + bias + skip of X and skip [N, S, C] and a bias [C].
// (X: T, bias: T, skip: T) -> (Y: T); T: float, float16
Tensor BiasAdd(const Tensor& X, const Tensor& bias, const Tensor& skip, Loc loc = Loc::current());

// The first half of X + bias [N, S, D] times Gelu of the second: [N, S, D / 2].
// (X: T, bias: T) -> (Y: T); T: float, float16
Tensor BiasSplitGelu(const Tensor& X, const Tensor& bias, Loc loc = Loc::current());

struct BiasSoftmaxAttrs {
  int64_t axis = 1;
  std::optional<int64_t> is_inner_broadcast = {};  // required
};
// Softmax of data + bias over all dims from `axis` on.
// (data: T, bias: T) -> (output: T); T: float, float16, double
Tensor BiasSoftmax(const Tensor& data, const Tensor& bias, const BiasSoftmaxAttrs& attrs,
    Loc loc = Loc::current());

struct BiasDropoutAttrs {
  std::optional<int64_t> seed = {};
};
// Dropout of data + bias, plus a residual, and what was kept.
// (data: T, bias: T, residual?: T, ratio?: T1, training_mode?: bool) -> (output: T, mask?: bool);
//   T: floats; T1: floats
Tensor BiasDropout(const Tensor& data, const Tensor& bias, const Tensor& residual = {},
    const Tensor& ratio = {}, const Tensor& training_mode = {}, const BiasDropoutAttrs& attrs = {},
    Loc loc = Loc::current());
std::vector<Tensor> BiasDropoutOutputs(size_t outputs, const Tensor& data, const Tensor& bias,
    const Tensor& residual = {}, const Tensor& ratio = {}, const Tensor& training_mode = {},
    const BiasDropoutAttrs& attrs = {}, Loc loc = Loc::current());

struct GroupNormAttrs {
  std::optional<int64_t> activation = {};  // required
  int64_t channels_last = 1;
  float epsilon = 1e-05f;
  std::optional<int64_t> groups = {};  // required
};
// Images [N, H, W, C] with each group of channels made of mean 0 and variance 1, times gamma plus
// beta, and perhaps the SiLU of that.
// (X: T, gamma: M, beta: M) -> (Y: T); T: float, float16; M: float, float16
Tensor GroupNorm(const Tensor& X, const Tensor& gamma, const Tensor& beta,
    const GroupNormAttrs& attrs, Loc loc = Loc::current());

struct SkipGroupNormAttrs {
  std::optional<int64_t> activation = {};  // required
  int64_t channels_last = 1;
  float epsilon = 1e-05f;
  std::optional<int64_t> groups = {};  // required
};
// GroupNorm of X + skip + bias, and that sum.
// (X: T, gamma: M, beta: M, skip: T, bias?: T) -> (Y: T, S?: T); T: float, float16; M: float,
//   float16
Tensor SkipGroupNorm(const Tensor& X, const Tensor& gamma, const Tensor& beta, const Tensor& skip,
    const Tensor& bias, const SkipGroupNormAttrs& attrs, Loc loc = Loc::current());
std::vector<Tensor> SkipGroupNormOutputs(size_t outputs, const Tensor& X, const Tensor& gamma,
    const Tensor& beta, const Tensor& skip, const Tensor& bias, const SkipGroupNormAttrs& attrs,
    Loc loc = Loc::current());

struct IsAllFiniteAttrs {
  int64_t isinf_only = 0;
  int64_t isnan_only = 0;
};
// Whether all elements of all inputs are finite, or none is infinite, or none NaN.
// (input...: V) -> (output: bool); V: floats
Tensor IsAllFinite(const std::vector<Tensor>& input, const IsAllFiniteAttrs& attrs = {},
    Loc loc = Loc::current());

// A * B of complex numbers, whose parts are the last axis, broadcast.
// (A: T, B: T) -> (C: T); T: float, float16, double
Tensor ComplexMul(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// A times the conjugate of B of complex numbers, whose parts are the last axis.
// (A: T, B: T) -> (C: T); T: float, float16, double
Tensor ComplexMulConj(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

struct MatMulFpQ4Attrs {
  int64_t blk_quant_type = 1;
};
// The product of A [..., K] and weights of 4 bits in a blob with their scales, of shape B_shape [K,
// N].
// (A: T1, B: uint8, B_shape: int64) -> (Y: T1); T1: float
Tensor MatMulFpQ4(const Tensor& A, const Tensor& B, const Tensor& B_shape,
    const MatMulFpQ4Attrs& attrs = {}, Loc loc = Loc::current());


}  // namespace microsoft


}  // namespace sardonyx::eager::op
