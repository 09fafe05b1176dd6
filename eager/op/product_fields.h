// The fields of the attributes, for conversions.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op/product.h"

namespace sardonyx::eager::op {

template <typename F>
void each_field(const GemmAttrs*, F&& field) {
  field("alpha", &GemmAttrs::alpha);
  field("beta", &GemmAttrs::beta);
  field("transA", &GemmAttrs::transA);
  field("transB", &GemmAttrs::transB);
}
template <typename F>
void each_field(const EinsumAttrs*, F&& field) {
  field("equation", &EinsumAttrs::equation);
}
template <typename F>
void each_field(const RNNAttrs*, F&& field) {
  field("activation_alpha", &RNNAttrs::activation_alpha);
  field("activation_beta", &RNNAttrs::activation_beta);
  field("clip", &RNNAttrs::clip);
  field("direction", &RNNAttrs::direction);
  field("hidden_size", &RNNAttrs::hidden_size);
  field("layout", &RNNAttrs::layout);
  field("activations", &RNNAttrs::activations);
}
template <typename F>
void each_field(const GRUAttrs*, F&& field) {
  field("activation_alpha", &GRUAttrs::activation_alpha);
  field("activation_beta", &GRUAttrs::activation_beta);
  field("clip", &GRUAttrs::clip);
  field("direction", &GRUAttrs::direction);
  field("hidden_size", &GRUAttrs::hidden_size);
  field("layout", &GRUAttrs::layout);
  field("activations", &GRUAttrs::activations);
  field("linear_before_reset", &GRUAttrs::linear_before_reset);
}
template <typename F>
void each_field(const LSTMAttrs*, F&& field) {
  field("activation_alpha", &LSTMAttrs::activation_alpha);
  field("activation_beta", &LSTMAttrs::activation_beta);
  field("clip", &LSTMAttrs::clip);
  field("direction", &LSTMAttrs::direction);
  field("hidden_size", &LSTMAttrs::hidden_size);
  field("layout", &LSTMAttrs::layout);
  field("activations", &LSTMAttrs::activations);
  field("input_forget", &LSTMAttrs::input_forget);
}
template <typename F>
void each_field(const AttentionAttrs*, F&& field) {
  field("is_causal", &AttentionAttrs::is_causal);
  field("kv_num_heads", &AttentionAttrs::kv_num_heads);
  field("q_num_heads", &AttentionAttrs::q_num_heads);
  field("qk_matmul_output_mode", &AttentionAttrs::qk_matmul_output_mode);
  field("scale", &AttentionAttrs::scale);
  field("softcap", &AttentionAttrs::softcap);
  field("softmax_precision", &AttentionAttrs::softmax_precision);
}
template <typename F>
void each_field(const RotaryEmbeddingAttrs*, F&& field) {
  field("interleaved", &RotaryEmbeddingAttrs::interleaved);
  field("num_heads", &RotaryEmbeddingAttrs::num_heads);
  field("rotary_embedding_dim", &RotaryEmbeddingAttrs::rotary_embedding_dim);
}
template <typename F>
void each_field(const LinearAttentionAttrs*, F&& field) {
  field("chunk_size", &LinearAttentionAttrs::chunk_size);
  field("kv_num_heads", &LinearAttentionAttrs::kv_num_heads);
  field("q_num_heads", &LinearAttentionAttrs::q_num_heads);
  field("scale", &LinearAttentionAttrs::scale);
  field("update_rule", &LinearAttentionAttrs::update_rule);
}
template <typename F>
void each_field(const ReduceSumAttrs*, F&& field) {
  field("keepdims", &ReduceSumAttrs::keepdims);
  field("noop_with_empty_axes", &ReduceSumAttrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceMeanAttrs*, F&& field) {
  field("keepdims", &ReduceMeanAttrs::keepdims);
  field("noop_with_empty_axes", &ReduceMeanAttrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceMaxAttrs*, F&& field) {
  field("keepdims", &ReduceMaxAttrs::keepdims);
  field("noop_with_empty_axes", &ReduceMaxAttrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceMinAttrs*, F&& field) {
  field("keepdims", &ReduceMinAttrs::keepdims);
  field("noop_with_empty_axes", &ReduceMinAttrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceProdAttrs*, F&& field) {
  field("keepdims", &ReduceProdAttrs::keepdims);
  field("noop_with_empty_axes", &ReduceProdAttrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceL1Attrs*, F&& field) {
  field("keepdims", &ReduceL1Attrs::keepdims);
  field("noop_with_empty_axes", &ReduceL1Attrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceL2Attrs*, F&& field) {
  field("keepdims", &ReduceL2Attrs::keepdims);
  field("noop_with_empty_axes", &ReduceL2Attrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceLogSumAttrs*, F&& field) {
  field("keepdims", &ReduceLogSumAttrs::keepdims);
  field("noop_with_empty_axes", &ReduceLogSumAttrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceLogSumExpAttrs*, F&& field) {
  field("keepdims", &ReduceLogSumExpAttrs::keepdims);
  field("noop_with_empty_axes", &ReduceLogSumExpAttrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ReduceSumSquareAttrs*, F&& field) {
  field("keepdims", &ReduceSumSquareAttrs::keepdims);
  field("noop_with_empty_axes", &ReduceSumSquareAttrs::noop_with_empty_axes);
}
template <typename F>
void each_field(const ArgMaxAttrs*, F&& field) {
  field("axis", &ArgMaxAttrs::axis);
  field("keepdims", &ArgMaxAttrs::keepdims);
  field("select_last_index", &ArgMaxAttrs::select_last_index);
}
template <typename F>
void each_field(const ArgMinAttrs*, F&& field) {
  field("axis", &ArgMinAttrs::axis);
  field("keepdims", &ArgMinAttrs::keepdims);
  field("select_last_index", &ArgMinAttrs::select_last_index);
}
template <typename F>
void each_field(const TopKAttrs*, F&& field) {
  field("axis", &TopKAttrs::axis);
  field("largest", &TopKAttrs::largest);
  field("sorted", &TopKAttrs::sorted);
}
template <typename F>
void each_field(const CumSumAttrs*, F&& field) {
  field("exclusive", &CumSumAttrs::exclusive);
  field("reverse", &CumSumAttrs::reverse);
}
template <typename F>
void each_field(const CumProdAttrs*, F&& field) {
  field("exclusive", &CumProdAttrs::exclusive);
  field("reverse", &CumProdAttrs::reverse);
}
template <typename F>
void each_field(const TriluAttrs*, F&& field) {
  field("upper", &TriluAttrs::upper);
}
template <typename F>
void each_field(const SoftmaxAttrs*, F&& field) {
  field("axis", &SoftmaxAttrs::axis);
}
template <typename F>
void each_field(const LogSoftmaxAttrs*, F&& field) {
  field("axis", &LogSoftmaxAttrs::axis);
}
template <typename F>
void each_field(const HardmaxAttrs*, F&& field) {
  field("axis", &HardmaxAttrs::axis);
}
template <typename F>
void each_field(const NegativeLogLikelihoodLossAttrs*, F&& field) {
  field("ignore_index", &NegativeLogLikelihoodLossAttrs::ignore_index);
  field("reduction", &NegativeLogLikelihoodLossAttrs::reduction);
}
template <typename F>
void each_field(const SoftmaxCrossEntropyLossAttrs*, F&& field) {
  field("ignore_index", &SoftmaxCrossEntropyLossAttrs::ignore_index);
  field("reduction", &SoftmaxCrossEntropyLossAttrs::reduction);
}
namespace preview {

template <typename F>
void each_field(const FlexAttentionAttrs*, F&& field) {
  field("scale", &FlexAttentionAttrs::scale);
  field("softmax_precision", &FlexAttentionAttrs::softmax_precision);
}

}  // namespace preview


}  // namespace sardonyx::eager::op
