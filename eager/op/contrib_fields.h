// The fields of the attributes, for conversions.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op/contrib.h"

namespace sardonyx::eager::op {

namespace microsoft {

template <typename F>
void each_field(const FusedConvAttrs*, F&& field) {
  field("auto_pad", &FusedConvAttrs::auto_pad);
  field("dilations", &FusedConvAttrs::dilations);
  field("group", &FusedConvAttrs::group);
  field("kernel_shape", &FusedConvAttrs::kernel_shape);
  field("pads", &FusedConvAttrs::pads);
  field("strides", &FusedConvAttrs::strides);
  field("activation", &FusedConvAttrs::activation);
  field("activation_params", &FusedConvAttrs::activation_params);
}
template <typename F>
void each_field(const NhwcConvAttrs*, F&& field) {
  field("auto_pad", &NhwcConvAttrs::auto_pad);
  field("dilations", &NhwcConvAttrs::dilations);
  field("group", &NhwcConvAttrs::group);
  field("kernel_shape", &NhwcConvAttrs::kernel_shape);
  field("pads", &NhwcConvAttrs::pads);
  field("strides", &NhwcConvAttrs::strides);
}
template <typename F>
void each_field(const NhwcFusedConvAttrs*, F&& field) {
  field("auto_pad", &NhwcFusedConvAttrs::auto_pad);
  field("dilations", &NhwcFusedConvAttrs::dilations);
  field("group", &NhwcFusedConvAttrs::group);
  field("kernel_shape", &NhwcFusedConvAttrs::kernel_shape);
  field("pads", &NhwcFusedConvAttrs::pads);
  field("strides", &NhwcFusedConvAttrs::strides);
  field("activation", &NhwcFusedConvAttrs::activation);
  field("activation_params", &NhwcFusedConvAttrs::activation_params);
}
template <typename F>
void each_field(const ConvTransposeWithDynamicPadsAttrs*, F&& field) {
  field("auto_pad", &ConvTransposeWithDynamicPadsAttrs::auto_pad);
  field("dilations", &ConvTransposeWithDynamicPadsAttrs::dilations);
  field("group", &ConvTransposeWithDynamicPadsAttrs::group);
  field("kernel_shape", &ConvTransposeWithDynamicPadsAttrs::kernel_shape);
  field("output_padding", &ConvTransposeWithDynamicPadsAttrs::output_padding);
  field("strides", &ConvTransposeWithDynamicPadsAttrs::strides);
}
template <typename F>
void each_field(const FusedMatMulAttrs*, F&& field) {
  field("alpha", &FusedMatMulAttrs::alpha);
  field("transA", &FusedMatMulAttrs::transA);
  field("transB", &FusedMatMulAttrs::transB);
  field("transBatchA", &FusedMatMulAttrs::transBatchA);
  field("transBatchB", &FusedMatMulAttrs::transBatchB);
}
template <typename F>
void each_field(const TransposeMatMulAttrs*, F&& field) {
  field("alpha", &TransposeMatMulAttrs::alpha);
  field("transA", &TransposeMatMulAttrs::transA);
  field("transB", &TransposeMatMulAttrs::transB);
  field("transBatchA", &TransposeMatMulAttrs::transBatchA);
  field("transBatchB", &TransposeMatMulAttrs::transBatchB);
}
template <typename F>
void each_field(const FusedGemmAttrs*, F&& field) {
  field("alpha", &FusedGemmAttrs::alpha);
  field("beta", &FusedGemmAttrs::beta);
  field("transA", &FusedGemmAttrs::transA);
  field("transB", &FusedGemmAttrs::transB);
  field("activation", &FusedGemmAttrs::activation);
  field("activation_alpha", &FusedGemmAttrs::activation_alpha);
  field("activation_beta", &FusedGemmAttrs::activation_beta);
  field("activation_gamma", &FusedGemmAttrs::activation_gamma);
}
template <typename F>
void each_field(const SparseToDenseMatMulAttrs*, F&& field) {
  field("alpha", &SparseToDenseMatMulAttrs::alpha);
  field("transA", &SparseToDenseMatMulAttrs::transA);
  field("transB", &SparseToDenseMatMulAttrs::transB);
}
template <typename F>
void each_field(const QuickGeluAttrs*, F&& field) {
  field("alpha", &QuickGeluAttrs::alpha);
}
template <typename F>
void each_field(const SkipLayerNormalizationAttrs*, F&& field) {
  field("epsilon", &SkipLayerNormalizationAttrs::epsilon);
}
template <typename F>
void each_field(const SkipSimplifiedLayerNormalizationAttrs*, F&& field) {
  field("epsilon", &SkipSimplifiedLayerNormalizationAttrs::epsilon);
}
template <typename F>
void each_field(const SimplifiedLayerNormalizationAttrs*, F&& field) {
  field("axis", &SimplifiedLayerNormalizationAttrs::axis);
  field("epsilon", &SimplifiedLayerNormalizationAttrs::epsilon);
  field("stash_type", &SimplifiedLayerNormalizationAttrs::stash_type);
}
template <typename F>
void each_field(const LayerNormalizationAttrs*, F&& field) {
  field("axis", &LayerNormalizationAttrs::axis);
  field("epsilon", &LayerNormalizationAttrs::epsilon);
  field("stash_type", &LayerNormalizationAttrs::stash_type);
}
template <typename F>
void each_field(const EmbedLayerNormalizationAttrs*, F&& field) {
  field("epsilon", &EmbedLayerNormalizationAttrs::epsilon);
  field("mask_index_type", &EmbedLayerNormalizationAttrs::mask_index_type);
}
template <typename F>
void each_field(const QEmbedLayerNormalizationAttrs*, F&& field) {
  field("epsilon", &QEmbedLayerNormalizationAttrs::epsilon);
}
template <typename F>
void each_field(const AttentionAttrs*, F&& field) {
  field("do_rotary", &AttentionAttrs::do_rotary);
  field("mask_filter_value", &AttentionAttrs::mask_filter_value);
  field("num_heads", &AttentionAttrs::num_heads);
  field("past_present_share_buffer", &AttentionAttrs::past_present_share_buffer);
  field("qkv_hidden_sizes", &AttentionAttrs::qkv_hidden_sizes);
  field("rotary_embedding_dim", &AttentionAttrs::rotary_embedding_dim);
  field("scale", &AttentionAttrs::scale);
  field("unidirectional", &AttentionAttrs::unidirectional);
}
template <typename F>
void each_field(const MultiHeadAttentionAttrs*, F&& field) {
  field("mask_filter_value", &MultiHeadAttentionAttrs::mask_filter_value);
  field("num_heads", &MultiHeadAttentionAttrs::num_heads);
  field("scale", &MultiHeadAttentionAttrs::scale);
  field("unidirectional", &MultiHeadAttentionAttrs::unidirectional);
}
template <typename F>
void each_field(const RotaryEmbeddingAttrs*, F&& field) {
  field("interleaved", &RotaryEmbeddingAttrs::interleaved);
  field("is_packed_batching", &RotaryEmbeddingAttrs::is_packed_batching);
  field("num_heads", &RotaryEmbeddingAttrs::num_heads);
  field("rotary_embedding_dim", &RotaryEmbeddingAttrs::rotary_embedding_dim);
  field("scale", &RotaryEmbeddingAttrs::scale);
}
template <typename F>
void each_field(const GroupQueryAttentionAttrs*, F&& field) {
  field("causal", &GroupQueryAttentionAttrs::causal);
  field("do_rotary", &GroupQueryAttentionAttrs::do_rotary);
  field("k_quant_type", &GroupQueryAttentionAttrs::k_quant_type);
  field("kv_cache_bit_width", &GroupQueryAttentionAttrs::kv_cache_bit_width);
  field("kv_num_heads", &GroupQueryAttentionAttrs::kv_num_heads);
  field("local_window_size", &GroupQueryAttentionAttrs::local_window_size);
  field("num_heads", &GroupQueryAttentionAttrs::num_heads);
  field("qk_norm_epsilon", &GroupQueryAttentionAttrs::qk_norm_epsilon);
  field("qk_output", &GroupQueryAttentionAttrs::qk_output);
  field("rotary_interleaved", &GroupQueryAttentionAttrs::rotary_interleaved);
  field("scale", &GroupQueryAttentionAttrs::scale);
  field("sliding_window_cache", &GroupQueryAttentionAttrs::sliding_window_cache);
  field("smooth_softmax", &GroupQueryAttentionAttrs::smooth_softmax);
  field("softcap", &GroupQueryAttentionAttrs::softcap);
  field("v_quant_type", &GroupQueryAttentionAttrs::v_quant_type);
}
template <typename F>
void each_field(const DecoderMaskedMultiHeadAttentionAttrs*, F&& field) {
  field("mask_filter_value", &DecoderMaskedMultiHeadAttentionAttrs::mask_filter_value);
  field("num_heads", &DecoderMaskedMultiHeadAttentionAttrs::num_heads);
  field("output_qk", &DecoderMaskedMultiHeadAttentionAttrs::output_qk);
  field("past_present_share_buffer",
      &DecoderMaskedMultiHeadAttentionAttrs::past_present_share_buffer);
  field("scale", &DecoderMaskedMultiHeadAttentionAttrs::scale);
}
template <typename F>
void each_field(const MRotaryEmbeddingAttrs*, F&& field) {
  field("interleaved", &MRotaryEmbeddingAttrs::interleaved);
  field("is_packed_batching", &MRotaryEmbeddingAttrs::is_packed_batching);
  field("mrope_layout", &MRotaryEmbeddingAttrs::mrope_layout);
  field("mrope_section", &MRotaryEmbeddingAttrs::mrope_section);
  field("num_heads", &MRotaryEmbeddingAttrs::num_heads);
  field("rotary_embedding_dim", &MRotaryEmbeddingAttrs::rotary_embedding_dim);
  field("scale", &MRotaryEmbeddingAttrs::scale);
}
template <typename F>
void each_field(const SparseAttentionAttrs*, F&& field) {
  field("do_rotary", &SparseAttentionAttrs::do_rotary);
  field("kv_num_heads", &SparseAttentionAttrs::kv_num_heads);
  field("num_heads", &SparseAttentionAttrs::num_heads);
  field("rotary_interleaved", &SparseAttentionAttrs::rotary_interleaved);
  field("scale", &SparseAttentionAttrs::scale);
  field("sparse_block_size", &SparseAttentionAttrs::sparse_block_size);
}
template <typename F>
void each_field(const TokenizerAttrs*, F&& field) {
  field("mark", &TokenizerAttrs::mark);
  field("mincharnum", &TokenizerAttrs::mincharnum);
  field("pad_value", &TokenizerAttrs::pad_value);
  field("separators", &TokenizerAttrs::separators);
  field("tokenexp", &TokenizerAttrs::tokenexp);
}
template <typename F>
void each_field(const WordConvEmbeddingAttrs*, F&& field) {
  field("char_embedding_size", &WordConvEmbeddingAttrs::char_embedding_size);
  field("conv_window_size", &WordConvEmbeddingAttrs::conv_window_size);
  field("embedding_size", &WordConvEmbeddingAttrs::embedding_size);
}
template <typename F>
void each_field(const TriluAttrs*, F&& field) {
  field("upper", &TriluAttrs::upper);
}
template <typename F>
void each_field(const PadAttrs*, F&& field) {
  field("mode", &PadAttrs::mode);
}
template <typename F>
void each_field(const GridSampleAttrs*, F&& field) {
  field("align_corners", &GridSampleAttrs::align_corners);
  field("mode", &GridSampleAttrs::mode);
  field("padding_mode", &GridSampleAttrs::padding_mode);
}
template <typename F>
void each_field(const UnfoldTensorAttrs*, F&& field) {
  field("dim", &UnfoldTensorAttrs::dim);
  field("size", &UnfoldTensorAttrs::size);
  field("step", &UnfoldTensorAttrs::step);
}
template <typename F>
void each_field(const CDistAttrs*, F&& field) {
  field("metric", &CDistAttrs::metric);
}
template <typename F>
void each_field(const CropAndResizeAttrs*, F&& field) {
  field("extrapolation_value", &CropAndResizeAttrs::extrapolation_value);
  field("mode", &CropAndResizeAttrs::mode);
}
template <typename F>
void each_field(const QLinearLeakyReluAttrs*, F&& field) {
  field("alpha", &QLinearLeakyReluAttrs::alpha);
}
template <typename F>
void each_field(const QLinearSoftmaxAttrs*, F&& field) {
  field("axis", &QLinearSoftmaxAttrs::axis);
  field("opset", &QLinearSoftmaxAttrs::opset);
}
template <typename F>
void each_field(const QLinearReduceMeanAttrs*, F&& field) {
  field("axes", &QLinearReduceMeanAttrs::axes);
  field("keepdims", &QLinearReduceMeanAttrs::keepdims);
}
template <typename F>
void each_field(const QLinearAveragePoolAttrs*, F&& field) {
  field("auto_pad", &QLinearAveragePoolAttrs::auto_pad);
  field("ceil_mode", &QLinearAveragePoolAttrs::ceil_mode);
  field("channels_last", &QLinearAveragePoolAttrs::channels_last);
  field("count_include_pad", &QLinearAveragePoolAttrs::count_include_pad);
  field("kernel_shape", &QLinearAveragePoolAttrs::kernel_shape);
  field("pads", &QLinearAveragePoolAttrs::pads);
  field("strides", &QLinearAveragePoolAttrs::strides);
}
template <typename F>
void each_field(const QLinearGlobalAveragePoolAttrs*, F&& field) {
  field("channels_last", &QLinearGlobalAveragePoolAttrs::channels_last);
}
template <typename F>
void each_field(const NhwcMaxPoolAttrs*, F&& field) {
  field("auto_pad", &NhwcMaxPoolAttrs::auto_pad);
  field("ceil_mode", &NhwcMaxPoolAttrs::ceil_mode);
  field("dilations", &NhwcMaxPoolAttrs::dilations);
  field("kernel_shape", &NhwcMaxPoolAttrs::kernel_shape);
  field("pads", &NhwcMaxPoolAttrs::pads);
  field("strides", &NhwcMaxPoolAttrs::strides);
}
template <typename F>
void each_field(const QLinearConvAttrs*, F&& field) {
  field("auto_pad", &QLinearConvAttrs::auto_pad);
  field("dilations", &QLinearConvAttrs::dilations);
  field("group", &QLinearConvAttrs::group);
  field("kernel_shape", &QLinearConvAttrs::kernel_shape);
  field("pads", &QLinearConvAttrs::pads);
  field("strides", &QLinearConvAttrs::strides);
  field("channels_last", &QLinearConvAttrs::channels_last);
}
template <typename F>
void each_field(const QLinearConcatAttrs*, F&& field) {
  field("axis", &QLinearConcatAttrs::axis);
}
template <typename F>
void each_field(const QGemmAttrs*, F&& field) {
  field("alpha", &QGemmAttrs::alpha);
  field("transA", &QGemmAttrs::transA);
  field("transB", &QGemmAttrs::transB);
}
template <typename F>
void each_field(const QAttentionAttrs*, F&& field) {
  field("do_rotary", &QAttentionAttrs::do_rotary);
  field("mask_filter_value", &QAttentionAttrs::mask_filter_value);
  field("num_heads", &QAttentionAttrs::num_heads);
  field("past_present_share_buffer", &QAttentionAttrs::past_present_share_buffer);
  field("qkv_hidden_sizes", &QAttentionAttrs::qkv_hidden_sizes);
  field("rotary_embedding_dim", &QAttentionAttrs::rotary_embedding_dim);
  field("scale", &QAttentionAttrs::scale);
  field("unidirectional", &QAttentionAttrs::unidirectional);
}
template <typename F>
void each_field(const QuantizeLinearAttrs*, F&& field) {
  field("axis", &QuantizeLinearAttrs::axis);
}
template <typename F>
void each_field(const DequantizeLinearAttrs*, F&& field) {
  field("axis", &DequantizeLinearAttrs::axis);
}
template <typename F>
void each_field(const MatMulNBitsAttrs*, F&& field) {
  field("K", &MatMulNBitsAttrs::K);
  field("N", &MatMulNBitsAttrs::N);
  field("accuracy_level", &MatMulNBitsAttrs::accuracy_level);
  field("bits", &MatMulNBitsAttrs::bits);
  field("block_size", &MatMulNBitsAttrs::block_size);
  field("weight_prepacked", &MatMulNBitsAttrs::weight_prepacked);
}
template <typename F>
void each_field(const MatMulBnb4Attrs*, F&& field) {
  field("K", &MatMulBnb4Attrs::K);
  field("N", &MatMulBnb4Attrs::N);
  field("block_size", &MatMulBnb4Attrs::block_size);
  field("quant_type", &MatMulBnb4Attrs::quant_type);
  field("training_mode", &MatMulBnb4Attrs::training_mode);
  field("transB", &MatMulBnb4Attrs::transB);
}
template <typename F>
void each_field(const GatherBlockQuantizedAttrs*, F&& field) {
  field("bits", &GatherBlockQuantizedAttrs::bits);
  field("block_size", &GatherBlockQuantizedAttrs::block_size);
  field("gather_axis", &GatherBlockQuantizedAttrs::gather_axis);
  field("quantize_axis", &GatherBlockQuantizedAttrs::quantize_axis);
}
template <typename F>
void each_field(const DynamicQuantizeLSTMAttrs*, F&& field) {
  field("activation_alpha", &DynamicQuantizeLSTMAttrs::activation_alpha);
  field("activation_beta", &DynamicQuantizeLSTMAttrs::activation_beta);
  field("activations", &DynamicQuantizeLSTMAttrs::activations);
  field("clip", &DynamicQuantizeLSTMAttrs::clip);
  field("direction", &DynamicQuantizeLSTMAttrs::direction);
  field("hidden_size", &DynamicQuantizeLSTMAttrs::hidden_size);
  field("input_forget", &DynamicQuantizeLSTMAttrs::input_forget);
}
template <typename F>
void each_field(const MurmurHash3Attrs*, F&& field) {
  field("positive", &MurmurHash3Attrs::positive);
  field("seed", &MurmurHash3Attrs::seed);
}
template <typename F>
void each_field(const NGramRepeatBlockAttrs*, F&& field) {
  field("ngram_size", &NGramRepeatBlockAttrs::ngram_size);
}
template <typename F>
void each_field(const BifurcationDetectorAttrs*, F&& field) {
  field("min_ngram_size", &BifurcationDetectorAttrs::min_ngram_size);
  field("max_ngram_size", &BifurcationDetectorAttrs::max_ngram_size);
}
template <typename F>
void each_field(const MoEAttrs*, F&& field) {
  field("activation_alpha", &MoEAttrs::activation_alpha);
  field("activation_beta", &MoEAttrs::activation_beta);
  field("activation_type", &MoEAttrs::activation_type);
  field("k", &MoEAttrs::k);
  field("normalize_routing_weights", &MoEAttrs::normalize_routing_weights);
  field("swiglu_fusion", &MoEAttrs::swiglu_fusion);
  field("swiglu_limit", &MoEAttrs::swiglu_limit);
  field("use_sparse_mixer", &MoEAttrs::use_sparse_mixer);
}
template <typename F>
void each_field(const QMoEAttrs*, F&& field) {
  field("activation_alpha", &QMoEAttrs::activation_alpha);
  field("activation_beta", &QMoEAttrs::activation_beta);
  field("activation_type", &QMoEAttrs::activation_type);
  field("k", &QMoEAttrs::k);
  field("normalize_routing_weights", &QMoEAttrs::normalize_routing_weights);
  field("swiglu_fusion", &QMoEAttrs::swiglu_fusion);
  field("swiglu_limit", &QMoEAttrs::swiglu_limit);
  field("use_sparse_mixer", &QMoEAttrs::use_sparse_mixer);
  field("accuracy_level", &QMoEAttrs::accuracy_level);
  field("block_size", &QMoEAttrs::block_size);
  field("expert_weight_bits", &QMoEAttrs::expert_weight_bits);
  field("quant_type", &QMoEAttrs::quant_type);
  field("weights_prepacked", &QMoEAttrs::weights_prepacked);
}
template <typename F>
void each_field(const LinearAttentionAttrs*, F&& field) {
  field("chunk_size", &LinearAttentionAttrs::chunk_size);
  field("kv_num_heads", &LinearAttentionAttrs::kv_num_heads);
  field("q_num_heads", &LinearAttentionAttrs::q_num_heads);
  field("scale", &LinearAttentionAttrs::scale);
  field("update_rule", &LinearAttentionAttrs::update_rule);
  field("state_window", &LinearAttentionAttrs::state_window);
}
template <typename F>
void each_field(const GatedRMSNormAttrs*, F&& field) {
  field("activation", &GatedRMSNormAttrs::activation);
  field("epsilon", &GatedRMSNormAttrs::epsilon);
}
template <typename F>
void each_field(const CausalConvWithStateAttrs*, F&& field) {
  field("activation", &CausalConvWithStateAttrs::activation);
  field("channels_last", &CausalConvWithStateAttrs::channels_last);
  field("dilation", &CausalConvWithStateAttrs::dilation);
  field("ndim", &CausalConvWithStateAttrs::ndim);
  field("state_window", &CausalConvWithStateAttrs::state_window);
}
template <typename F>
void each_field(const PackedMultiHeadAttentionAttrs*, F&& field) {
  field("mask_filter_value", &PackedMultiHeadAttentionAttrs::mask_filter_value);
  field("num_heads", &PackedMultiHeadAttentionAttrs::num_heads);
  field("scale", &PackedMultiHeadAttentionAttrs::scale);
}
template <typename F>
void each_field(const BiasSoftmaxAttrs*, F&& field) {
  field("axis", &BiasSoftmaxAttrs::axis);
  field("is_inner_broadcast", &BiasSoftmaxAttrs::is_inner_broadcast);
}
template <typename F>
void each_field(const BiasDropoutAttrs*, F&& field) {
  field("seed", &BiasDropoutAttrs::seed);
}
template <typename F>
void each_field(const GroupNormAttrs*, F&& field) {
  field("activation", &GroupNormAttrs::activation);
  field("channels_last", &GroupNormAttrs::channels_last);
  field("epsilon", &GroupNormAttrs::epsilon);
  field("groups", &GroupNormAttrs::groups);
}
template <typename F>
void each_field(const SkipGroupNormAttrs*, F&& field) {
  field("activation", &SkipGroupNormAttrs::activation);
  field("channels_last", &SkipGroupNormAttrs::channels_last);
  field("epsilon", &SkipGroupNormAttrs::epsilon);
  field("groups", &SkipGroupNormAttrs::groups);
}
template <typename F>
void each_field(const IsAllFiniteAttrs*, F&& field) {
  field("isinf_only", &IsAllFiniteAttrs::isinf_only);
  field("isnan_only", &IsAllFiniteAttrs::isnan_only);
}
template <typename F>
void each_field(const MatMulFpQ4Attrs*, F&& field) {
  field("blk_quant_type", &MatMulFpQ4Attrs::blk_quant_type);
}

}  // namespace microsoft


}  // namespace sardonyx::eager::op
