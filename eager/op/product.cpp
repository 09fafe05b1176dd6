// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/product.h"

#include "eager/op/product_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

Tensor MatMul(const Tensor& A, const Tensor& B, Loc loc) {
  static const OpRow row("MatMul");
  return row.call({A, B}, nullptr, loc);
}
Tensor Gemm(const Tensor& A, const Tensor& B, const Tensor& C, const GemmAttrs& attrs, Loc loc) {
  static const OpRow row("Gemm", fields_of(attrs));
  return row.call({A, B, C}, &attrs, loc);
}
Tensor MatMulInteger(const Tensor& A, const Tensor& B, const Tensor& a_zero_point,
    const Tensor& b_zero_point, Loc loc) {
  static const OpRow row("MatMulInteger");
  return row.call({A, B, a_zero_point, b_zero_point}, nullptr, loc);
}
Tensor QLinearMatMul(const Tensor& a, const Tensor& a_scale, const Tensor& a_zero_point,
    const Tensor& b, const Tensor& b_scale, const Tensor& b_zero_point, const Tensor& y_scale,
    const Tensor& y_zero_point, Loc loc) {
  static const OpRow row("QLinearMatMul");
  return row.call({a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point},
      nullptr, loc);
}
Tensor Det(const Tensor& X, Loc loc) {
  static const OpRow row("Det");
  return row.call({X}, nullptr, loc);
}
Tensor Einsum(const std::vector<Tensor>& Inputs, const EinsumAttrs& attrs, Loc loc) {
  static const OpRow row("Einsum", fields_of(attrs));
  return row.call(Inputs, &attrs, loc);
}
std::vector<Tensor> RNN(size_t outputs, const Tensor& X, const Tensor& W, const Tensor& R,
    const Tensor& B, const Tensor& sequence_lens, const Tensor& initial_h, const RNNAttrs& attrs,
    Loc loc) {
  static const OpRow row("RNN", fields_of(attrs));
  return row.call_many({X, W, R, B, sequence_lens, initial_h}, &attrs, outputs, loc);
}
std::vector<Tensor> GRU(size_t outputs, const Tensor& X, const Tensor& W, const Tensor& R,
    const Tensor& B, const Tensor& sequence_lens, const Tensor& initial_h, const GRUAttrs& attrs,
    Loc loc) {
  static const OpRow row("GRU", fields_of(attrs));
  return row.call_many({X, W, R, B, sequence_lens, initial_h}, &attrs, outputs, loc);
}
std::vector<Tensor> LSTM(size_t outputs, const Tensor& X, const Tensor& W, const Tensor& R,
    const Tensor& B, const Tensor& sequence_lens, const Tensor& initial_h, const Tensor& initial_c,
    const Tensor& P, const LSTMAttrs& attrs, Loc loc) {
  static const OpRow row("LSTM", fields_of(attrs));
  return row.call_many({X, W, R, B, sequence_lens, initial_h, initial_c, P}, &attrs, outputs, loc);
}
Tensor Attention(const Tensor& Q, const Tensor& K, const Tensor& V, const Tensor& attn_mask,
    const Tensor& past_key, const Tensor& past_value, const Tensor& nonpad_kv_seqlen,
    const AttentionAttrs& attrs, Loc loc) {
  static const OpRow row("Attention", fields_of(attrs));
  return row.call({Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen}, &attrs, loc);
}
std::vector<Tensor> AttentionOutputs(size_t outputs, const Tensor& Q, const Tensor& K,
    const Tensor& V, const Tensor& attn_mask, const Tensor& past_key, const Tensor& past_value,
    const Tensor& nonpad_kv_seqlen, const AttentionAttrs& attrs, Loc loc) {
  static const OpRow row("Attention", fields_of(attrs));
  return row.call_many({Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen}, &attrs,
      outputs, loc);
}
Tensor RotaryEmbedding(const Tensor& X, const Tensor& cos_cache, const Tensor& sin_cache,
    const Tensor& position_ids, const RotaryEmbeddingAttrs& attrs, Loc loc) {
  static const OpRow row("RotaryEmbedding", fields_of(attrs));
  return row.call({X, cos_cache, sin_cache, position_ids}, &attrs, loc);
}
std::vector<Tensor> LinearAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_state, const Tensor& decay, const Tensor& beta,
    const LinearAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("LinearAttention", fields_of(attrs));
  return row.call_many({query, key, value, past_state, decay, beta}, &attrs, 2, loc);
}
Tensor ReduceSum(const Tensor& data, const Tensor& axes, const ReduceSumAttrs& attrs, Loc loc) {
  static const OpRow row("ReduceSum", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceMean(const Tensor& data, const Tensor& axes, const ReduceMeanAttrs& attrs, Loc loc) {
  static const OpRow row("ReduceMean", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceMax(const Tensor& data, const Tensor& axes, const ReduceMaxAttrs& attrs, Loc loc) {
  static const OpRow row("ReduceMax", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceMin(const Tensor& data, const Tensor& axes, const ReduceMinAttrs& attrs, Loc loc) {
  static const OpRow row("ReduceMin", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceProd(const Tensor& data, const Tensor& axes, const ReduceProdAttrs& attrs, Loc loc) {
  static const OpRow row("ReduceProd", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceL1(const Tensor& data, const Tensor& axes, const ReduceL1Attrs& attrs, Loc loc) {
  static const OpRow row("ReduceL1", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceL2(const Tensor& data, const Tensor& axes, const ReduceL2Attrs& attrs, Loc loc) {
  static const OpRow row("ReduceL2", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceLogSum(const Tensor& data, const Tensor& axes, const ReduceLogSumAttrs& attrs,
    Loc loc) {
  static const OpRow row("ReduceLogSum", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceLogSumExp(const Tensor& data, const Tensor& axes, const ReduceLogSumExpAttrs& attrs,
    Loc loc) {
  static const OpRow row("ReduceLogSumExp", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ReduceSumSquare(const Tensor& data, const Tensor& axes, const ReduceSumSquareAttrs& attrs,
    Loc loc) {
  static const OpRow row("ReduceSumSquare", fields_of(attrs));
  return row.call({data, axes}, &attrs, loc);
}
Tensor ArgMax(const Tensor& data, const ArgMaxAttrs& attrs, Loc loc) {
  static const OpRow row("ArgMax", fields_of(attrs));
  return row.call({data}, &attrs, loc);
}
Tensor ArgMin(const Tensor& data, const ArgMinAttrs& attrs, Loc loc) {
  static const OpRow row("ArgMin", fields_of(attrs));
  return row.call({data}, &attrs, loc);
}
std::vector<Tensor> TopK(const Tensor& X, const Tensor& K, const TopKAttrs& attrs, Loc loc) {
  static const OpRow row("TopK", fields_of(attrs));
  return row.call_many({X, K}, &attrs, 2, loc);
}
Tensor CumSum(const Tensor& x, const Tensor& axis, const CumSumAttrs& attrs, Loc loc) {
  static const OpRow row("CumSum", fields_of(attrs));
  return row.call({x, axis}, &attrs, loc);
}
Tensor CumProd(const Tensor& x, const Tensor& axis, const CumProdAttrs& attrs, Loc loc) {
  static const OpRow row("CumProd", fields_of(attrs));
  return row.call({x, axis}, &attrs, loc);
}
Tensor Trilu(const Tensor& input, const Tensor& k, const TriluAttrs& attrs, Loc loc) {
  static const OpRow row("Trilu", fields_of(attrs));
  return row.call({input, k}, &attrs, loc);
}
Tensor Softmax(const Tensor& input, const SoftmaxAttrs& attrs, Loc loc) {
  static const OpRow row("Softmax", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor LogSoftmax(const Tensor& input, const LogSoftmaxAttrs& attrs, Loc loc) {
  static const OpRow row("LogSoftmax", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor Hardmax(const Tensor& input, const HardmaxAttrs& attrs, Loc loc) {
  static const OpRow row("Hardmax", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor NegativeLogLikelihoodLoss(const Tensor& input, const Tensor& target, const Tensor& weight,
    const NegativeLogLikelihoodLossAttrs& attrs, Loc loc) {
  static const OpRow row("NegativeLogLikelihoodLoss", fields_of(attrs));
  return row.call({input, target, weight}, &attrs, loc);
}
Tensor SoftmaxCrossEntropyLoss(const Tensor& scores, const Tensor& labels, const Tensor& weights,
    const SoftmaxCrossEntropyLossAttrs& attrs, Loc loc) {
  static const OpRow row("SoftmaxCrossEntropyLoss", fields_of(attrs));
  return row.call({scores, labels, weights}, &attrs, loc);
}
std::vector<Tensor> SoftmaxCrossEntropyLossOutputs(size_t outputs, const Tensor& scores,
    const Tensor& labels, const Tensor& weights, const SoftmaxCrossEntropyLossAttrs& attrs,
    Loc loc) {
  static const OpRow row("SoftmaxCrossEntropyLoss", fields_of(attrs));
  return row.call_many({scores, labels, weights}, &attrs, outputs, loc);
}
namespace preview {

Tensor FlexAttention(const Tensor& Q, const Tensor& K, const Tensor& V,
    const FlexAttentionAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.preview::FlexAttention", fields_of(attrs));
  return row.call({Q, K, V}, &attrs, loc);
}

}  // namespace preview


}  // namespace sardonyx::eager::op
