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
// (X: T, W: T, B?: T, Z?: T) -> (Y: T)
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
// (X: T, W: T, B?: T) -> (Y: T)
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
// (X: T, W: T, B?: T, Z?: T) -> (Y: T)
Tensor NhwcFusedConv(const Tensor& X, const Tensor& W, const Tensor& B = {}, const Tensor& Z = {},
    const NhwcFusedConvAttrs& attrs = {}, Loc loc = Loc::current());

struct FusedMatMulAttrs {
  float alpha = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
  int64_t transBatchA = 0;
  int64_t transBatchB = 0;
};
// (A: T, B: T) -> (Y: T)
Tensor FusedMatMul(const Tensor& A, const Tensor& B, const FusedMatMulAttrs& attrs = {},
    Loc loc = Loc::current());

struct TransposeMatMulAttrs {
  float alpha = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
  int64_t transBatchA = 0;
  int64_t transBatchB = 0;
};
// (A: T, B: T) -> (Y: T)
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
// (A: T, B: T, C?: T) -> (Y: T)
Tensor FusedGemm(const Tensor& A, const Tensor& B, const Tensor& C = {},
    const FusedGemmAttrs& attrs = {}, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Gelu(const Tensor& X, Loc loc = Loc::current());

// (A: T, B: T) -> (C: T)
Tensor BiasGelu(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

// (X: T, bias?: T) -> (Y: T)
Tensor FastGelu(const Tensor& X, const Tensor& bias = {}, Loc loc = Loc::current());

struct QuickGeluAttrs {
  float alpha = 1.702f;
};
// (X: T) -> (Y: T)
Tensor QuickGelu(const Tensor& X, const QuickGeluAttrs& attrs = {}, Loc loc = Loc::current());

struct SkipLayerNormalizationAttrs {
  float epsilon = 1e-12f;
};
// (input: T, skip: T, gamma: T, beta?: T, bias?: T) -> (output: T, mean?: U, inv_std_var?: U,
//   input_skip_bias_sum?: T)
Tensor SkipLayerNormalization(const Tensor& input, const Tensor& skip, const Tensor& gamma,
    const Tensor& beta = {}, const Tensor& bias = {}, const SkipLayerNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());
std::vector<Tensor> SkipLayerNormalizationOutputs(size_t outputs, const Tensor& input,
    const Tensor& skip, const Tensor& gamma, const Tensor& beta = {}, const Tensor& bias = {},
    const SkipLayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct SkipSimplifiedLayerNormalizationAttrs {
  float epsilon = 1e-12f;
};
// (input: T, skip: T, gamma: T, bias?: T) -> (output: T, mean?: U, inv_std_var?: U,
//   input_skip_bias_sum?: T)
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
// (X: T, scale: V) -> (Y: V, inv_std_var?: U)
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
// (X: T, Scale: T, B?: T) -> (Y: T, Mean?: U, InvStdDev?: U)
Tensor LayerNormalization(const Tensor& X, const Tensor& Scale, const Tensor& B = {},
    const LayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> LayerNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& Scale,
    const Tensor& B = {}, const LayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct EmbedLayerNormalizationAttrs {
  float epsilon = 1e-12f;
  int64_t mask_index_type = 1;
};
// (input_ids: T1, segment_ids?: T1, word_embedding: T, position_embedding: T, segment_embedding?:
//   T, gamma: T, beta: T, mask?: T1, position_ids?: T1) -> (output: T, mask_index?: T1,
//   embedding_sum?: T)
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
// (input: T, weights: T, bias?: T, mask_index?: M, past?: T, attention_bias?: T,
//   past_sequence_length?: M) -> (output: T, present?: T)
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
// (query: T, key?: T, value?: T, bias?: T, key_padding_mask?: M, attention_bias?: T, past_key?: T,
//   past_value?: T, past_sequence_length?: M, cache_indirection?: M) -> (output: T, present_key?:
//   T, present_value?: T, qk?: QK)
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
// (input: T, position_ids: M, cos_cache: T, sin_cache: T) -> (output: T)
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
// (query: T, key?: T, value?: T, past_key?: T_CACHE, past_value?: T_CACHE, seqlens_k: M,
//   total_sequence_length: M, cos_cache?: T, sin_cache?: T, position_ids?: int64, attention_bias?:
//   T, head_sink?: T, k_scale?: T_KV_SCALE, v_scale?: T_KV_SCALE, q_norm_weight?: T,
//   k_norm_weight?: T) -> (output: T, present_key?: T_CACHE, present_value?: T_CACHE, output_qk?:
//   T)
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

struct TokenizerAttrs {
  std::optional<int64_t> mark = {};  // required
  std::optional<int64_t> mincharnum = {};  // required
  std::optional<std::string> pad_value = {};  // required
  std::vector<std::string> separators = {};
  std::optional<std::string> tokenexp = {};
};
// (X: T) -> (Y: T)
Tensor Tokenizer(const Tensor& X, const TokenizerAttrs& attrs, Loc loc = Loc::current());

struct WordConvEmbeddingAttrs {
  std::optional<int64_t> char_embedding_size = {};
  std::optional<int64_t> conv_window_size = {};
  std::optional<int64_t> embedding_size = {};
};
// (Sequence: T, W: T1, B: T1, C: T1) -> (Y: T1)
Tensor WordConvEmbedding(const Tensor& Sequence, const Tensor& W, const Tensor& B, const Tensor& C,
    const WordConvEmbeddingAttrs& attrs = {}, Loc loc = Loc::current());

struct TriluAttrs {
  int64_t upper = 1;
};
// (X: T, k?: int64) -> (Y: T)
Tensor Trilu(const Tensor& X, const Tensor& k = {}, const TriluAttrs& attrs = {},
    Loc loc = Loc::current());

// (x: T) -> (y: T, idx: int64, counts: int64)
std::vector<Tensor> Unique(const Tensor& x, Loc loc = Loc::current());

struct PadAttrs {
  std::string mode = "constant";
};
// (data: T, pads: int64, value?: T) -> (output: T)
Tensor Pad(const Tensor& data, const Tensor& pads, const Tensor& value = {},
    const PadAttrs& attrs = {}, Loc loc = Loc::current());

// (X: T, axis: int32) -> (Y: T)
Tensor ExpandDims(const Tensor& X, const Tensor& axis, Loc loc = Loc::current());

struct GridSampleAttrs {
  int64_t align_corners = 0;
  std::string mode = "bilinear";
  std::string padding_mode = "zeros";
};
// (X: T1, Grid: T1) -> (Y: T2)
Tensor GridSample(const Tensor& X, const Tensor& Grid, const GridSampleAttrs& attrs = {},
    Loc loc = Loc::current());

struct CDistAttrs {
  std::string metric = "sqeuclidean";
};
// (A: T, B: T) -> (C: T)
Tensor CDist(const Tensor& A, const Tensor& B, const CDistAttrs& attrs = {},
    Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Inverse(const Tensor& X, Loc loc = Loc::current());

struct CropAndResizeAttrs {
  float extrapolation_value = 0.f;
  std::string mode = "bilinear";
};
// (X: T1, rois: T1, batch_indices: T2, crop_size: T2) -> (Y: T1)
Tensor CropAndResize(const Tensor& X, const Tensor& rois, const Tensor& batch_indices,
    const Tensor& crop_size, const CropAndResizeAttrs& attrs = {}, Loc loc = Loc::current());

// (A: T, A_scale: float, A_zero_point?: T, B: T, B_scale: float, B_zero_point?: T, C_scale: float,
//   C_zero_point?: T) -> (C: T)
Tensor QLinearAdd(const Tensor& A, const Tensor& A_scale, const Tensor& A_zero_point,
    const Tensor& B, const Tensor& B_scale, const Tensor& B_zero_point, const Tensor& C_scale,
    const Tensor& C_zero_point = {}, Loc loc = Loc::current());

// (A: T, A_scale: float, A_zero_point?: T, B: T, B_scale: float, B_zero_point?: T, C_scale: float,
//   C_zero_point?: T) -> (C: T)
Tensor QLinearMul(const Tensor& A, const Tensor& A_scale, const Tensor& A_zero_point,
    const Tensor& B, const Tensor& B_scale, const Tensor& B_zero_point, const Tensor& C_scale,
    const Tensor& C_zero_point = {}, Loc loc = Loc::current());

// (X: T, X_scale: float, X_zero_point?: T, Y_scale: float, Y_zero_point?: T) -> (Y: T)
Tensor QLinearSigmoid(const Tensor& X, const Tensor& X_scale, const Tensor& X_zero_point,
    const Tensor& Y_scale, const Tensor& Y_zero_point = {}, Loc loc = Loc::current());

struct QLinearLeakyReluAttrs {
  float alpha = 0.01f;
};
// (X: T, X_scale: float, X_zero_point?: T, Y_scale: float, Y_zero_point?: T) -> (Y: T)
Tensor QLinearLeakyRelu(const Tensor& X, const Tensor& X_scale, const Tensor& X_zero_point,
    const Tensor& Y_scale, const Tensor& Y_zero_point = {}, const QLinearLeakyReluAttrs& attrs = {},
    Loc loc = Loc::current());

struct QLinearSoftmaxAttrs {
  std::optional<int64_t> axis = {};
  std::optional<int64_t> opset = {};  // required
};
// (X: T, X_scale: float, x_zero_point?: T, y_scale: float, y_zero_point: T) -> (Y: T)
Tensor QLinearSoftmax(const Tensor& X, const Tensor& X_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point, const QLinearSoftmaxAttrs& attrs,
    Loc loc = Loc::current());

struct QLinearReduceMeanAttrs {
  OptionalList<int64_t> axes = {};  // required
  std::optional<int64_t> keepdims = {};  // required
};
// (data: T, data_scale: float, data_zero_point?: T, reduced_scale: float, reduced_zero_point?: T)
//   -> (reduced: T)
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
// (X: T, x_scale: float, x_zero_point?: T, y_scale: float, y_zero_point?: T) -> (Y: T)
Tensor QLinearAveragePool(const Tensor& X, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point, const QLinearAveragePoolAttrs& attrs,
    Loc loc = Loc::current());

struct QLinearGlobalAveragePoolAttrs {
  int64_t channels_last = 0;
};
// (X: T, x_scale: float, x_zero_point: T, y_scale: float, y_zero_point: T) -> (Y: T)
Tensor QLinearGlobalAveragePool(const Tensor& X, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point,
    const QLinearGlobalAveragePoolAttrs& attrs = {}, Loc loc = Loc::current());

// (condition: bool, X: T, x_scale: float, x_zero_point: T, Y: T, y_scale: float, y_zero_point: T,
//   z_scale: float, z_zero_point: T) -> (Z: T)
Tensor QLinearWhere(const Tensor& condition, const Tensor& X, const Tensor& x_scale,
    const Tensor& x_zero_point, const Tensor& Y, const Tensor& y_scale, const Tensor& y_zero_point,
    const Tensor& z_scale, const Tensor& z_zero_point, Loc loc = Loc::current());

struct QLinearConcatAttrs {
  std::optional<int64_t> axis = {};  // required
};
// (Y_scale: float, Y_zero_point: T8, inputs...: TV*) -> (Y: T8)
Tensor QLinearConcat(const Tensor& Y_scale, const Tensor& Y_zero_point,
    const std::vector<Tensor>& inputs, const QLinearConcatAttrs& attrs, Loc loc = Loc::current());

// (A: T1, B: T2, a_scale: T3, b_scale: T3, a_zero_point?: T1, b_zero_point?: T2, bias?: T3) -> (Y:
//   T3)
Tensor MatMulIntegerToFloat(const Tensor& A, const Tensor& B, const Tensor& a_scale,
    const Tensor& b_scale, const Tensor& a_zero_point = {}, const Tensor& b_zero_point = {},
    const Tensor& bias = {}, Loc loc = Loc::current());

// (A: T1, B: T2, b_scale: T1, b_zero_point?: T2, bias?: T1) -> (Y: T1)
Tensor DynamicQuantizeMatMul(const Tensor& A, const Tensor& B, const Tensor& b_scale,
    const Tensor& b_zero_point = {}, const Tensor& bias = {}, Loc loc = Loc::current());

struct QGemmAttrs {
  float alpha = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
};
// (A: TA, a_scale: T, a_zero_point: TA, B: TB, b_scale: T, b_zero_point: TB, C?: TC, y_scale?: T,
//   y_zero_point?: TYZ) -> (Y: TY)
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
// (input: T1, weight: T2, bias: T3, input_scale: T3, weight_scale: T3, mask_index?: T4,
//   input_zero_point?: T1, weight_zero_point?: T2, past?: T3) -> (output: T3, present?: T3)
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
// (x: T1, y_scale: T1, y_zero_point?: T2) -> (y: T2)
Tensor QuantizeLinear(const Tensor& x, const Tensor& y_scale, const Tensor& y_zero_point = {},
    const QuantizeLinearAttrs& attrs = {}, Loc loc = Loc::current());

struct DequantizeLinearAttrs {
  std::optional<int64_t> axis = {};
};
// (x: T1, x_scale: T2, x_zero_point?: T1) -> (y: T2)
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
// (A: T1, B: T2, scales: T1, zero_points?: T3, g_idx?: T4, bias?: T1) -> (Y: T1)
Tensor MatMulNBits(const Tensor& A, const Tensor& B, const Tensor& scales,
    const Tensor& zero_points, const Tensor& g_idx, const Tensor& bias,
    const MatMulNBitsAttrs& attrs, Loc loc = Loc::current());

struct GatherBlockQuantizedAttrs {
  int64_t bits = 4;
  int64_t block_size = 128;
  int64_t gather_axis = 0;
  int64_t quantize_axis = 1;
};
// (data: T1, indices: Tind, scales: T2, zero_points?: T1) -> (output: T2)
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
// (X: T, W: T2, R: T2, B?: T, sequence_lens?: T1, initial_h?: T, initial_c?: T, P?: T, W_scale: T,
//   W_zero_point: T2, R_scale: T, R_zero_point: T2) -> (Y?: T, Y_h?: T, Y_c?: T)
std::vector<Tensor> DynamicQuantizeLSTM(size_t outputs, const Tensor& X, const Tensor& W,
    const Tensor& R, const Tensor& B, const Tensor& sequence_lens, const Tensor& initial_h,
    const Tensor& initial_c, const Tensor& P, const Tensor& W_scale, const Tensor& W_zero_point,
    const Tensor& R_scale, const Tensor& R_zero_point, const DynamicQuantizeLSTMAttrs& attrs = {},
    Loc loc = Loc::current());


}  // namespace microsoft


}  // namespace sardonyx::eager::op
