// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/contrib.h"

#include "eager/op/contrib_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

namespace microsoft {

Tensor FusedConv(const Tensor& X, const Tensor& W, const Tensor& B, const Tensor& Z,
    const FusedConvAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::FusedConv", fields_of(attrs));
  return row.call({X, W, B, Z}, &attrs, loc);
}
Tensor NhwcConv(const Tensor& X, const Tensor& W, const Tensor& B, const NhwcConvAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::NhwcConv", fields_of(attrs));
  return row.call({X, W, B}, &attrs, loc);
}
Tensor NhwcFusedConv(const Tensor& X, const Tensor& W, const Tensor& B, const Tensor& Z,
    const NhwcFusedConvAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::NhwcFusedConv", fields_of(attrs));
  return row.call({X, W, B, Z}, &attrs, loc);
}
Tensor ConvTransposeWithDynamicPads(const Tensor& X, const Tensor& W, const Tensor& Pads,
    const Tensor& B, const ConvTransposeWithDynamicPadsAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::ConvTransposeWithDynamicPads", fields_of(attrs));
  return row.call({X, W, Pads, B}, &attrs, loc);
}
Tensor FusedMatMul(const Tensor& A, const Tensor& B, const FusedMatMulAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::FusedMatMul", fields_of(attrs));
  return row.call({A, B}, &attrs, loc);
}
Tensor TransposeMatMul(const Tensor& A, const Tensor& B, const TransposeMatMulAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::TransposeMatMul", fields_of(attrs));
  return row.call({A, B}, &attrs, loc);
}
Tensor FusedGemm(const Tensor& A, const Tensor& B, const Tensor& C, const FusedGemmAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::FusedGemm", fields_of(attrs));
  return row.call({A, B, C}, &attrs, loc);
}
Tensor SparseToDenseMatMul(const Tensor& A, const Tensor& B, const SparseToDenseMatMulAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::SparseToDenseMatMul", fields_of(attrs));
  return row.call({A, B}, &attrs, loc);
}
Tensor Gelu(const Tensor& X, Loc loc) {
  static const OpRow row("com.microsoft::Gelu");
  return row.call({X}, nullptr, loc);
}
Tensor BiasGelu(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("com.microsoft::BiasGelu");
  return row.call({A, B}, nullptr, loc);
}
Tensor FastGelu(const Tensor& X, const Tensor& bias, Loc loc) {
  static const OpRow row("com.microsoft::FastGelu");
  return row.call({X, bias}, nullptr, loc);
}
Tensor QuickGelu(const Tensor& X, const QuickGeluAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QuickGelu", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor SkipLayerNormalization(const Tensor& input, const Tensor& skip, const Tensor& gamma,
    const Tensor& beta, const Tensor& bias, const SkipLayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::SkipLayerNormalization", fields_of(attrs));
  return row.call({input, skip, gamma, beta, bias}, &attrs, loc);
}
std::vector<Tensor> SkipLayerNormalizationOutputs(size_t outputs, const Tensor& input,
    const Tensor& skip, const Tensor& gamma, const Tensor& beta, const Tensor& bias,
    const SkipLayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::SkipLayerNormalization", fields_of(attrs));
  return row.call_many({input, skip, gamma, beta, bias}, &attrs, outputs, loc);
}
Tensor SkipSimplifiedLayerNormalization(const Tensor& input, const Tensor& skip,
    const Tensor& gamma, const Tensor& bias, const SkipSimplifiedLayerNormalizationAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::SkipSimplifiedLayerNormalization", fields_of(attrs));
  return row.call({input, skip, gamma, bias}, &attrs, loc);
}
std::vector<Tensor> SkipSimplifiedLayerNormalizationOutputs(size_t outputs, const Tensor& input,
    const Tensor& skip, const Tensor& gamma, const Tensor& bias,
    const SkipSimplifiedLayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::SkipSimplifiedLayerNormalization", fields_of(attrs));
  return row.call_many({input, skip, gamma, bias}, &attrs, outputs, loc);
}
Tensor SimplifiedLayerNormalization(const Tensor& X, const Tensor& scale,
    const SimplifiedLayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::SimplifiedLayerNormalization", fields_of(attrs));
  return row.call({X, scale}, &attrs, loc);
}
std::vector<Tensor> SimplifiedLayerNormalizationOutputs(size_t outputs, const Tensor& X,
    const Tensor& scale, const SimplifiedLayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::SimplifiedLayerNormalization", fields_of(attrs));
  return row.call_many({X, scale}, &attrs, outputs, loc);
}
Tensor LayerNormalization(const Tensor& X, const Tensor& Scale, const Tensor& B,
    const LayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::LayerNormalization", fields_of(attrs));
  return row.call({X, Scale, B}, &attrs, loc);
}
std::vector<Tensor> LayerNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& Scale,
    const Tensor& B, const LayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::LayerNormalization", fields_of(attrs));
  return row.call_many({X, Scale, B}, &attrs, outputs, loc);
}
Tensor EmbedLayerNormalization(const Tensor& input_ids, const Tensor& segment_ids,
    const Tensor& word_embedding, const Tensor& position_embedding, const Tensor& segment_embedding,
    const Tensor& gamma, const Tensor& beta, const Tensor& mask, const Tensor& position_ids,
    const EmbedLayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::EmbedLayerNormalization", fields_of(attrs));
  return row.call({input_ids, segment_ids, word_embedding, position_embedding, segment_embedding,
      gamma, beta, mask, position_ids}, &attrs, loc);
}
std::vector<Tensor> EmbedLayerNormalizationOutputs(size_t outputs, const Tensor& input_ids,
    const Tensor& segment_ids, const Tensor& word_embedding, const Tensor& position_embedding,
    const Tensor& segment_embedding, const Tensor& gamma, const Tensor& beta, const Tensor& mask,
    const Tensor& position_ids, const EmbedLayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::EmbedLayerNormalization", fields_of(attrs));
  return row.call_many({input_ids, segment_ids, word_embedding, position_embedding,
      segment_embedding, gamma, beta, mask, position_ids}, &attrs, outputs, loc);
}
std::vector<Tensor> QEmbedLayerNormalization(const Tensor& input_ids, const Tensor& segment_ids,
    const Tensor& word_embedding_quant, const Tensor& position_embedding_quant,
    const Tensor& segment_embedding, const Tensor& gamma_quant, const Tensor& beta_quant,
    const Tensor& mask, const Tensor& word_embedding_scale, const Tensor& position_embedding_scale,
    const Tensor& segment_embedding_scale, const Tensor& gamma_scale, const Tensor& beta_scale,
    const Tensor& word_embedding_zero_point, const Tensor& position_embedding_zero_point,
    const Tensor& segment_embedding_zero_point, const Tensor& gamma_zero_point,
    const Tensor& beta_zero_point, const QEmbedLayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QEmbedLayerNormalization", fields_of(attrs));
  return row.call_many({input_ids, segment_ids, word_embedding_quant, position_embedding_quant,
      segment_embedding, gamma_quant, beta_quant, mask, word_embedding_scale,
      position_embedding_scale, segment_embedding_scale, gamma_scale, beta_scale,
      word_embedding_zero_point, position_embedding_zero_point, segment_embedding_zero_point,
      gamma_zero_point, beta_zero_point}, &attrs, 2, loc);
}
Tensor Attention(const Tensor& input, const Tensor& weights, const Tensor& bias,
    const Tensor& mask_index, const Tensor& past, const Tensor& attention_bias,
    const Tensor& past_sequence_length, const AttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::Attention", fields_of(attrs));
  return row.call({input, weights, bias, mask_index, past, attention_bias, past_sequence_length},
      &attrs, loc);
}
std::vector<Tensor> AttentionOutputs(size_t outputs, const Tensor& input, const Tensor& weights,
    const Tensor& bias, const Tensor& mask_index, const Tensor& past, const Tensor& attention_bias,
    const Tensor& past_sequence_length, const AttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::Attention", fields_of(attrs));
  return row.call_many({input, weights, bias, mask_index, past, attention_bias,
      past_sequence_length}, &attrs, outputs, loc);
}
Tensor MultiHeadAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, const Tensor& key_padding_mask, const Tensor& attention_bias,
    const Tensor& past_key, const Tensor& past_value, const Tensor& past_sequence_length,
    const Tensor& cache_indirection, const MultiHeadAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::MultiHeadAttention", fields_of(attrs));
  return row.call({query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value,
      past_sequence_length, cache_indirection}, &attrs, loc);
}
std::vector<Tensor> MultiHeadAttentionOutputs(size_t outputs, const Tensor& query,
    const Tensor& key, const Tensor& value, const Tensor& bias, const Tensor& key_padding_mask,
    const Tensor& attention_bias, const Tensor& past_key, const Tensor& past_value,
    const Tensor& past_sequence_length, const Tensor& cache_indirection,
    const MultiHeadAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::MultiHeadAttention", fields_of(attrs));
  return row.call_many({query, key, value, bias, key_padding_mask, attention_bias, past_key,
      past_value, past_sequence_length, cache_indirection}, &attrs, outputs, loc);
}
Tensor RotaryEmbedding(const Tensor& input, const Tensor& position_ids, const Tensor& cos_cache,
    const Tensor& sin_cache, const RotaryEmbeddingAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::RotaryEmbedding", fields_of(attrs));
  return row.call({input, position_ids, cos_cache, sin_cache}, &attrs, loc);
}
Tensor GroupQueryAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_key, const Tensor& past_value, const Tensor& seqlens_k,
    const Tensor& total_sequence_length, const Tensor& cos_cache, const Tensor& sin_cache,
    const Tensor& position_ids, const Tensor& attention_bias, const Tensor& head_sink,
    const Tensor& k_scale, const Tensor& v_scale, const Tensor& q_norm_weight,
    const Tensor& k_norm_weight, const GroupQueryAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::GroupQueryAttention", fields_of(attrs));
  return row.call({query, key, value, past_key, past_value, seqlens_k, total_sequence_length,
      cos_cache, sin_cache, position_ids, attention_bias, head_sink, k_scale, v_scale,
      q_norm_weight, k_norm_weight}, &attrs, loc);
}
std::vector<Tensor> GroupQueryAttentionOutputs(size_t outputs, const Tensor& query,
    const Tensor& key, const Tensor& value, const Tensor& past_key, const Tensor& past_value,
    const Tensor& seqlens_k, const Tensor& total_sequence_length, const Tensor& cos_cache,
    const Tensor& sin_cache, const Tensor& position_ids, const Tensor& attention_bias,
    const Tensor& head_sink, const Tensor& k_scale, const Tensor& v_scale,
    const Tensor& q_norm_weight, const Tensor& k_norm_weight, const GroupQueryAttentionAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::GroupQueryAttention", fields_of(attrs));
  return row.call_many({query, key, value, past_key, past_value, seqlens_k, total_sequence_length,
      cos_cache, sin_cache, position_ids, attention_bias, head_sink, k_scale, v_scale,
      q_norm_weight, k_norm_weight}, &attrs, outputs, loc);
}
Tensor DecoderMaskedMultiHeadAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& mask_index, const Tensor& attention_bias, const Tensor& past_key,
    const Tensor& past_value, const Tensor& past_sequence_length, const Tensor& beam_width,
    const Tensor& cache_indirection, const Tensor& bias,
    const DecoderMaskedMultiHeadAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::DecoderMaskedMultiHeadAttention", fields_of(attrs));
  return row.call({query, key, value, mask_index, attention_bias, past_key, past_value,
      past_sequence_length, beam_width, cache_indirection, bias}, &attrs, loc);
}
std::vector<Tensor> DecoderMaskedMultiHeadAttentionOutputs(size_t outputs, const Tensor& query,
    const Tensor& key, const Tensor& value, const Tensor& mask_index, const Tensor& attention_bias,
    const Tensor& past_key, const Tensor& past_value, const Tensor& past_sequence_length,
    const Tensor& beam_width, const Tensor& cache_indirection, const Tensor& bias,
    const DecoderMaskedMultiHeadAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::DecoderMaskedMultiHeadAttention", fields_of(attrs));
  return row.call_many({query, key, value, mask_index, attention_bias, past_key, past_value,
      past_sequence_length, beam_width, cache_indirection, bias}, &attrs, outputs, loc);
}
Tensor MRotaryEmbedding(const Tensor& input, const Tensor& position_ids, const Tensor& cos_cache,
    const Tensor& sin_cache, const MRotaryEmbeddingAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::MRotaryEmbedding", fields_of(attrs));
  return row.call({input, position_ids, cos_cache, sin_cache}, &attrs, loc);
}
std::vector<Tensor> SparseAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_key, const Tensor& past_value, const Tensor& block_row_indices,
    const Tensor& block_col_indices, const Tensor& total_sequence_length,
    const Tensor& key_total_sequence_lengths, const Tensor& cos_cache, const Tensor& sin_cache,
    const SparseAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::SparseAttention", fields_of(attrs));
  return row.call_many({query, key, value, past_key, past_value, block_row_indices,
      block_col_indices, total_sequence_length, key_total_sequence_lengths, cos_cache, sin_cache},
      &attrs, 3, loc);
}
Tensor Tokenizer(const Tensor& X, const TokenizerAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::Tokenizer", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor WordConvEmbedding(const Tensor& Sequence, const Tensor& W, const Tensor& B, const Tensor& C,
    const WordConvEmbeddingAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::WordConvEmbedding", fields_of(attrs));
  return row.call({Sequence, W, B, C}, &attrs, loc);
}
Tensor Trilu(const Tensor& X, const Tensor& k, const TriluAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::Trilu", fields_of(attrs));
  return row.call({X, k}, &attrs, loc);
}
std::vector<Tensor> Unique(const Tensor& x, Loc loc) {
  static const OpRow row("com.microsoft::Unique");
  return row.call_many({x}, nullptr, 3, loc);
}
Tensor Pad(const Tensor& data, const Tensor& pads, const Tensor& value, const PadAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::Pad", fields_of(attrs));
  return row.call({data, pads, value}, &attrs, loc);
}
Tensor ExpandDims(const Tensor& X, const Tensor& axis, Loc loc) {
  static const OpRow row("com.microsoft::ExpandDims");
  return row.call({X, axis}, nullptr, loc);
}
Tensor GridSample(const Tensor& X, const Tensor& Grid, const GridSampleAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::GridSample", fields_of(attrs));
  return row.call({X, Grid}, &attrs, loc);
}
Tensor Range(const Tensor& start, const Tensor& limit, const Tensor& delta, Loc loc) {
  static const OpRow row("com.microsoft::Range");
  return row.call({start, limit, delta}, nullptr, loc);
}
Tensor GatherND(const Tensor& data, const Tensor& indices, Loc loc) {
  static const OpRow row("com.microsoft::GatherND");
  return row.call({data, indices}, nullptr, loc);
}
Tensor UnfoldTensor(const Tensor& input, const UnfoldTensorAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::UnfoldTensor", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor SampleOp(const Tensor& X, Loc loc) {
  static const OpRow row("com.microsoft::SampleOp");
  return row.call({X}, nullptr, loc);
}
Tensor CDist(const Tensor& A, const Tensor& B, const CDistAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::CDist", fields_of(attrs));
  return row.call({A, B}, &attrs, loc);
}
Tensor Inverse(const Tensor& X, Loc loc) {
  static const OpRow row("com.microsoft::Inverse");
  return row.call({X}, nullptr, loc);
}
Tensor CropAndResize(const Tensor& X, const Tensor& rois, const Tensor& batch_indices,
    const Tensor& crop_size, const CropAndResizeAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::CropAndResize", fields_of(attrs));
  return row.call({X, rois, batch_indices, crop_size}, &attrs, loc);
}
Tensor QLinearAdd(const Tensor& A, const Tensor& A_scale, const Tensor& A_zero_point,
    const Tensor& B, const Tensor& B_scale, const Tensor& B_zero_point, const Tensor& C_scale,
    const Tensor& C_zero_point, Loc loc) {
  static const OpRow row("com.microsoft::QLinearAdd");
  return row.call({A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point},
      nullptr, loc);
}
Tensor QLinearMul(const Tensor& A, const Tensor& A_scale, const Tensor& A_zero_point,
    const Tensor& B, const Tensor& B_scale, const Tensor& B_zero_point, const Tensor& C_scale,
    const Tensor& C_zero_point, Loc loc) {
  static const OpRow row("com.microsoft::QLinearMul");
  return row.call({A, A_scale, A_zero_point, B, B_scale, B_zero_point, C_scale, C_zero_point},
      nullptr, loc);
}
Tensor QLinearSigmoid(const Tensor& X, const Tensor& X_scale, const Tensor& X_zero_point,
    const Tensor& Y_scale, const Tensor& Y_zero_point, Loc loc) {
  static const OpRow row("com.microsoft::QLinearSigmoid");
  return row.call({X, X_scale, X_zero_point, Y_scale, Y_zero_point}, nullptr, loc);
}
Tensor QLinearLeakyRelu(const Tensor& X, const Tensor& X_scale, const Tensor& X_zero_point,
    const Tensor& Y_scale, const Tensor& Y_zero_point, const QLinearLeakyReluAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::QLinearLeakyRelu", fields_of(attrs));
  return row.call({X, X_scale, X_zero_point, Y_scale, Y_zero_point}, &attrs, loc);
}
Tensor QLinearSoftmax(const Tensor& X, const Tensor& X_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point, const QLinearSoftmaxAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QLinearSoftmax", fields_of(attrs));
  return row.call({X, X_scale, x_zero_point, y_scale, y_zero_point}, &attrs, loc);
}
Tensor QLinearReduceMean(const Tensor& data, const Tensor& data_scale,
    const Tensor& data_zero_point, const Tensor& reduced_scale, const Tensor& reduced_zero_point,
    const QLinearReduceMeanAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QLinearReduceMean", fields_of(attrs));
  return row.call({data, data_scale, data_zero_point, reduced_scale, reduced_zero_point}, &attrs,
      loc);
}
Tensor QLinearAveragePool(const Tensor& X, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point, const QLinearAveragePoolAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::QLinearAveragePool", fields_of(attrs));
  return row.call({X, x_scale, x_zero_point, y_scale, y_zero_point}, &attrs, loc);
}
Tensor QLinearGlobalAveragePool(const Tensor& X, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& y_scale, const Tensor& y_zero_point, const QLinearGlobalAveragePoolAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::QLinearGlobalAveragePool", fields_of(attrs));
  return row.call({X, x_scale, x_zero_point, y_scale, y_zero_point}, &attrs, loc);
}
Tensor NhwcMaxPool(const Tensor& x, const NhwcMaxPoolAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::NhwcMaxPool", fields_of(attrs));
  return row.call({x}, &attrs, loc);
}
Tensor QLinearConv(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& w, const Tensor& w_scale, const Tensor& w_zero_point, const Tensor& y_scale,
    const Tensor& y_zero_point, const Tensor& B, const QLinearConvAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QLinearConv", fields_of(attrs));
  return row.call({x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B},
      &attrs, loc);
}
Tensor MatMulInteger16(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("com.microsoft::MatMulInteger16");
  return row.call({A, B}, nullptr, loc);
}
Tensor QLinearWhere(const Tensor& condition, const Tensor& X, const Tensor& x_scale,
    const Tensor& x_zero_point, const Tensor& Y, const Tensor& y_scale, const Tensor& y_zero_point,
    const Tensor& z_scale, const Tensor& z_zero_point, Loc loc) {
  static const OpRow row("com.microsoft::QLinearWhere");
  return row.call({condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale,
      z_zero_point}, nullptr, loc);
}
Tensor QLinearConcat(const Tensor& Y_scale, const Tensor& Y_zero_point,
    const std::vector<Tensor>& inputs, const QLinearConcatAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QLinearConcat", fields_of(attrs));
  return row.call(joined({Y_scale, Y_zero_point}, inputs), &attrs, loc);
}
Tensor MatMulIntegerToFloat(const Tensor& A, const Tensor& B, const Tensor& a_scale,
    const Tensor& b_scale, const Tensor& a_zero_point, const Tensor& b_zero_point,
    const Tensor& bias, Loc loc) {
  static const OpRow row("com.microsoft::MatMulIntegerToFloat");
  return row.call({A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias}, nullptr, loc);
}
Tensor DynamicQuantizeMatMul(const Tensor& A, const Tensor& B, const Tensor& b_scale,
    const Tensor& b_zero_point, const Tensor& bias, Loc loc) {
  static const OpRow row("com.microsoft::DynamicQuantizeMatMul");
  return row.call({A, B, b_scale, b_zero_point, bias}, nullptr, loc);
}
Tensor QGemm(const Tensor& A, const Tensor& a_scale, const Tensor& a_zero_point, const Tensor& B,
    const Tensor& b_scale, const Tensor& b_zero_point, const Tensor& C, const Tensor& y_scale,
    const Tensor& y_zero_point, const QGemmAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QGemm", fields_of(attrs));
  return row.call({A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, y_zero_point},
      &attrs, loc);
}
Tensor QAttention(const Tensor& input, const Tensor& weight, const Tensor& bias,
    const Tensor& input_scale, const Tensor& weight_scale, const Tensor& mask_index,
    const Tensor& input_zero_point, const Tensor& weight_zero_point, const Tensor& past,
    const QAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QAttention", fields_of(attrs));
  return row.call({input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point,
      weight_zero_point, past}, &attrs, loc);
}
std::vector<Tensor> QAttentionOutputs(size_t outputs, const Tensor& input, const Tensor& weight,
    const Tensor& bias, const Tensor& input_scale, const Tensor& weight_scale,
    const Tensor& mask_index, const Tensor& input_zero_point, const Tensor& weight_zero_point,
    const Tensor& past, const QAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QAttention", fields_of(attrs));
  return row.call_many({input, weight, bias, input_scale, weight_scale, mask_index,
      input_zero_point, weight_zero_point, past}, &attrs, outputs, loc);
}
Tensor QuantizeLinear(const Tensor& x, const Tensor& y_scale, const Tensor& y_zero_point,
    const QuantizeLinearAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QuantizeLinear", fields_of(attrs));
  return row.call({x, y_scale, y_zero_point}, &attrs, loc);
}
Tensor DequantizeLinear(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point,
    const DequantizeLinearAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::DequantizeLinear", fields_of(attrs));
  return row.call({x, x_scale, x_zero_point}, &attrs, loc);
}
Tensor MatMulNBits(const Tensor& A, const Tensor& B, const Tensor& scales,
    const Tensor& zero_points, const Tensor& g_idx, const Tensor& bias,
    const MatMulNBitsAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::MatMulNBits", fields_of(attrs));
  return row.call({A, B, scales, zero_points, g_idx, bias}, &attrs, loc);
}
Tensor MatMulBnb4(const Tensor& A, const Tensor& B, const Tensor& absmax,
    const MatMulBnb4Attrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::MatMulBnb4", fields_of(attrs));
  return row.call({A, B, absmax}, &attrs, loc);
}
Tensor GatherBlockQuantized(const Tensor& data, const Tensor& indices, const Tensor& scales,
    const Tensor& zero_points, const GatherBlockQuantizedAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::GatherBlockQuantized", fields_of(attrs));
  return row.call({data, indices, scales, zero_points}, &attrs, loc);
}
std::vector<Tensor> DynamicQuantizeLSTM(size_t outputs, const Tensor& X, const Tensor& W,
    const Tensor& R, const Tensor& B, const Tensor& sequence_lens, const Tensor& initial_h,
    const Tensor& initial_c, const Tensor& P, const Tensor& W_scale, const Tensor& W_zero_point,
    const Tensor& R_scale, const Tensor& R_zero_point, const DynamicQuantizeLSTMAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::DynamicQuantizeLSTM", fields_of(attrs));
  return row.call_many({X, W, R, B, sequence_lens, initial_h, initial_c, P, W_scale, W_zero_point,
      R_scale, R_zero_point}, &attrs, outputs, loc);
}
Tensor MurmurHash3(const Tensor& X, const MurmurHash3Attrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::MurmurHash3", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor NGramRepeatBlock(const Tensor& input_ids, const Tensor& scores,
    const NGramRepeatBlockAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::NGramRepeatBlock", fields_of(attrs));
  return row.call({input_ids, scores}, &attrs, loc);
}
std::vector<Tensor> BifurcationDetector(const Tensor& src_tokens, const Tensor& cur_tokens,
    const Tensor& prev_suffix_match_idx, const Tensor& pred_tokens,
    const BifurcationDetectorAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::BifurcationDetector", fields_of(attrs));
  return row.call_many({src_tokens, cur_tokens, prev_suffix_match_idx, pred_tokens}, &attrs, 2,
      loc);
}
Tensor DynamicTimeWarping(const Tensor& input, Loc loc) {
  static const OpRow row("com.microsoft::DynamicTimeWarping");
  return row.call({input}, nullptr, loc);
}
Tensor MoE(const Tensor& input, const Tensor& router_probs, const Tensor& fc1_experts_weights,
    const Tensor& fc1_experts_bias, const Tensor& fc2_experts_weights,
    const Tensor& fc2_experts_bias, const Tensor& fc3_experts_weights,
    const Tensor& fc3_experts_bias, const MoEAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::MoE", fields_of(attrs));
  return row.call({input, router_probs, fc1_experts_weights, fc1_experts_bias, fc2_experts_weights,
      fc2_experts_bias, fc3_experts_weights, fc3_experts_bias}, &attrs, loc);
}
Tensor QMoE(const Tensor& input, const Tensor& router_probs, const Tensor& fc1_experts_weights,
    const Tensor& fc1_scales, const Tensor& fc1_experts_bias, const Tensor& fc2_experts_weights,
    const Tensor& fc2_scales, const Tensor& fc2_experts_bias, const Tensor& fc3_experts_weights,
    const Tensor& fc3_scales, const Tensor& fc3_experts_bias, const Tensor& fc1_zero_points,
    const Tensor& fc2_zero_points, const Tensor& fc3_zero_points, const Tensor& router_weights,
    const Tensor& fc1_global_scale, const Tensor& fc2_global_scale, const Tensor& fc1_act_scale,
    const Tensor& fc2_act_scale, const Tensor& fc1_act_block_scale,
    const Tensor& fc2_act_block_scale, const QMoEAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::QMoE", fields_of(attrs));
  return row.call({input, router_probs, fc1_experts_weights, fc1_scales, fc1_experts_bias,
      fc2_experts_weights, fc2_scales, fc2_experts_bias, fc3_experts_weights, fc3_scales,
      fc3_experts_bias, fc1_zero_points, fc2_zero_points, fc3_zero_points, router_weights,
      fc1_global_scale, fc2_global_scale, fc1_act_scale, fc2_act_scale, fc1_act_block_scale,
      fc2_act_block_scale}, &attrs, loc);
}
std::vector<Tensor> LinearAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_state, const Tensor& decay, const Tensor& beta,
    const LinearAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::LinearAttention", fields_of(attrs));
  return row.call_many({query, key, value, past_state, decay, beta}, &attrs, 2, loc);
}
Tensor LinearAttentionGate(const Tensor& a, const Tensor& dt_bias, const Tensor& decay_scale,
    const Tensor& b, Loc loc) {
  static const OpRow row("com.microsoft::LinearAttentionGate");
  return row.call({a, dt_bias, decay_scale, b}, nullptr, loc);
}
std::vector<Tensor> LinearAttentionGateOutputs(size_t outputs, const Tensor& a,
    const Tensor& dt_bias, const Tensor& decay_scale, const Tensor& b, Loc loc) {
  static const OpRow row("com.microsoft::LinearAttentionGate");
  return row.call_many({a, dt_bias, decay_scale, b}, nullptr, outputs, loc);
}
Tensor GatedRMSNorm(const Tensor& X, const Tensor& scale, const Tensor& gate,
    const GatedRMSNormAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::GatedRMSNorm", fields_of(attrs));
  return row.call({X, scale, gate}, &attrs, loc);
}
Tensor GatedAdd(const Tensor& X, const Tensor& Y, const Tensor& gate, Loc loc) {
  static const OpRow row("com.microsoft::GatedAdd");
  return row.call({X, Y, gate}, nullptr, loc);
}
std::vector<Tensor> CausalConvWithState(const Tensor& input, const Tensor& weight,
    const Tensor& bias, const Tensor& past_state, const CausalConvWithStateAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::CausalConvWithState", fields_of(attrs));
  return row.call_many({input, weight, bias, past_state}, &attrs, 2, loc);
}
Tensor PackedMultiHeadAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, const Tensor& token_offset, const Tensor& cumulative_sequence_length,
    const Tensor& attention_bias, const PackedMultiHeadAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::PackedMultiHeadAttention", fields_of(attrs));
  return row.call({query, key, value, bias, token_offset, cumulative_sequence_length,
      attention_bias}, &attrs, loc);
}
Tensor BiasAdd(const Tensor& X, const Tensor& bias, const Tensor& skip, Loc loc) {
  static const OpRow row("com.microsoft::BiasAdd");
  return row.call({X, bias, skip}, nullptr, loc);
}
Tensor BiasSplitGelu(const Tensor& X, const Tensor& bias, Loc loc) {
  static const OpRow row("com.microsoft::BiasSplitGelu");
  return row.call({X, bias}, nullptr, loc);
}
Tensor BiasSoftmax(const Tensor& data, const Tensor& bias, const BiasSoftmaxAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::BiasSoftmax", fields_of(attrs));
  return row.call({data, bias}, &attrs, loc);
}
Tensor BiasDropout(const Tensor& data, const Tensor& bias, const Tensor& residual,
    const Tensor& ratio, const Tensor& training_mode, const BiasDropoutAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::BiasDropout", fields_of(attrs));
  return row.call({data, bias, residual, ratio, training_mode}, &attrs, loc);
}
std::vector<Tensor> BiasDropoutOutputs(size_t outputs, const Tensor& data, const Tensor& bias,
    const Tensor& residual, const Tensor& ratio, const Tensor& training_mode,
    const BiasDropoutAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::BiasDropout", fields_of(attrs));
  return row.call_many({data, bias, residual, ratio, training_mode}, &attrs, outputs, loc);
}
Tensor GroupNorm(const Tensor& X, const Tensor& gamma, const Tensor& beta,
    const GroupNormAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::GroupNorm", fields_of(attrs));
  return row.call({X, gamma, beta}, &attrs, loc);
}
Tensor SkipGroupNorm(const Tensor& X, const Tensor& gamma, const Tensor& beta, const Tensor& skip,
    const Tensor& bias, const SkipGroupNormAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::SkipGroupNorm", fields_of(attrs));
  return row.call({X, gamma, beta, skip, bias}, &attrs, loc);
}
std::vector<Tensor> SkipGroupNormOutputs(size_t outputs, const Tensor& X, const Tensor& gamma,
    const Tensor& beta, const Tensor& skip, const Tensor& bias, const SkipGroupNormAttrs& attrs,
    Loc loc) {
  static const OpRow row("com.microsoft::SkipGroupNorm", fields_of(attrs));
  return row.call_many({X, gamma, beta, skip, bias}, &attrs, outputs, loc);
}
Tensor IsAllFinite(const std::vector<Tensor>& input, const IsAllFiniteAttrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::IsAllFinite", fields_of(attrs));
  return row.call(input, &attrs, loc);
}
Tensor ComplexMul(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("com.microsoft::ComplexMul");
  return row.call({A, B}, nullptr, loc);
}
Tensor ComplexMulConj(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("com.microsoft::ComplexMulConj");
  return row.call({A, B}, nullptr, loc);
}
Tensor MatMulFpQ4(const Tensor& A, const Tensor& B, const Tensor& B_shape,
    const MatMulFpQ4Attrs& attrs, Loc loc) {
  static const OpRow row("com.microsoft::MatMulFpQ4", fields_of(attrs));
  return row.call({A, B, B_shape}, &attrs, loc);
}

}  // namespace microsoft


}  // namespace sardonyx::eager::op
