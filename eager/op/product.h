// Products, recurrent layers, attention, reductions and losses.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

// (A: T, B: T) -> (Y: T)
Tensor MatMul(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

struct GemmAttrs {
  float alpha = 1.f;
  float beta = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
};
// (A: T, B: T, C?: T) -> (Y: T)
Tensor Gemm(const Tensor& A, const Tensor& B, const Tensor& C = {}, const GemmAttrs& attrs = {},
    Loc loc = Loc::current());

// (A: T1, B: T2, a_zero_point?: T1, b_zero_point?: T2) -> (Y: T3)
Tensor MatMulInteger(const Tensor& A, const Tensor& B, const Tensor& a_zero_point = {},
    const Tensor& b_zero_point = {}, Loc loc = Loc::current());

// (a: T1, a_scale: TS, a_zero_point: T1, b: T2, b_scale: TS, b_zero_point: T2, y_scale: TS,
//   y_zero_point: T3) -> (y: T3)
Tensor QLinearMatMul(const Tensor& a, const Tensor& a_scale, const Tensor& a_zero_point,
    const Tensor& b, const Tensor& b_scale, const Tensor& b_zero_point, const Tensor& y_scale,
    const Tensor& y_zero_point, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor Det(const Tensor& X, Loc loc = Loc::current());

struct EinsumAttrs {
  std::optional<std::string> equation = {};  // required
};
// (Inputs...: T) -> (Output: T)
Tensor Einsum(const std::vector<Tensor>& Inputs, const EinsumAttrs& attrs,
    Loc loc = Loc::current());

struct RNNAttrs {
  OptionalList<float> activation_alpha = {};
  OptionalList<float> activation_beta = {};
  std::optional<float> clip = {};
  std::string direction = "forward";
  std::optional<int64_t> hidden_size = {};
  int64_t layout = 0;
  std::vector<std::string> activations = {"Tanh", "Tanh"};
};
// (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T) -> (Y?: T, Y_h?: T)
std::vector<Tensor> RNN(size_t outputs, const Tensor& X, const Tensor& W, const Tensor& R,
    const Tensor& B = {}, const Tensor& sequence_lens = {}, const Tensor& initial_h = {},
    const RNNAttrs& attrs = {}, Loc loc = Loc::current());

struct GRUAttrs {
  OptionalList<float> activation_alpha = {};
  OptionalList<float> activation_beta = {};
  std::optional<float> clip = {};
  std::string direction = "forward";
  std::optional<int64_t> hidden_size = {};
  int64_t layout = 0;
  OptionalList<std::string> activations = {};
  int64_t linear_before_reset = 0;
};
// (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T) -> (Y?: T, Y_h?: T)
std::vector<Tensor> GRU(size_t outputs, const Tensor& X, const Tensor& W, const Tensor& R,
    const Tensor& B = {}, const Tensor& sequence_lens = {}, const Tensor& initial_h = {},
    const GRUAttrs& attrs = {}, Loc loc = Loc::current());

struct LSTMAttrs {
  OptionalList<float> activation_alpha = {};
  OptionalList<float> activation_beta = {};
  std::optional<float> clip = {};
  std::string direction = "forward";
  std::optional<int64_t> hidden_size = {};
  int64_t layout = 0;
  OptionalList<std::string> activations = {};
  int64_t input_forget = 0;
};
// (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T, initial_c?: T, P?: T) -> (Y?: T,
//   Y_h?: T, Y_c?: T)
std::vector<Tensor> LSTM(size_t outputs, const Tensor& X, const Tensor& W, const Tensor& R,
    const Tensor& B = {}, const Tensor& sequence_lens = {}, const Tensor& initial_h = {},
    const Tensor& initial_c = {}, const Tensor& P = {}, const LSTMAttrs& attrs = {},
    Loc loc = Loc::current());

struct AttentionAttrs {
  int64_t is_causal = 0;
  std::optional<int64_t> kv_num_heads = {};
  std::optional<int64_t> q_num_heads = {};
  int64_t qk_matmul_output_mode = 0;
  std::optional<float> scale = {};
  float softcap = 0.f;
  std::optional<DType> softmax_precision = {};
};
// (Q: T1, K: T1, V: T2, attn_mask?: U, past_key?: T1, past_value?: T2, nonpad_kv_seqlen?: int64) ->
//   (Y: T1, present_key?: T1, present_value?: T2, qk_matmul_output?: T1)
Tensor Attention(const Tensor& Q, const Tensor& K, const Tensor& V, const Tensor& attn_mask = {},
    const Tensor& past_key = {}, const Tensor& past_value = {}, const Tensor& nonpad_kv_seqlen = {},
    const AttentionAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> AttentionOutputs(size_t outputs, const Tensor& Q, const Tensor& K,
    const Tensor& V, const Tensor& attn_mask = {}, const Tensor& past_key = {},
    const Tensor& past_value = {}, const Tensor& nonpad_kv_seqlen = {},
    const AttentionAttrs& attrs = {}, Loc loc = Loc::current());

struct RotaryEmbeddingAttrs {
  int64_t interleaved = 0;
  std::optional<int64_t> num_heads = {};
  int64_t rotary_embedding_dim = 0;
};
// (X: T, cos_cache: T, sin_cache: T, position_ids?: M) -> (Y: T)
Tensor RotaryEmbedding(const Tensor& X, const Tensor& cos_cache, const Tensor& sin_cache,
    const Tensor& position_ids = {}, const RotaryEmbeddingAttrs& attrs = {},
    Loc loc = Loc::current());

struct LinearAttentionAttrs {
  int64_t chunk_size = 64;
  std::optional<int64_t> kv_num_heads = {};  // required
  std::optional<int64_t> q_num_heads = {};  // required
  float scale = 0.f;
  std::string update_rule = "gated_delta";
};
// (query: T, key: T, value: T, past_state?: S, decay?: T, beta?: T) -> (output: T, present_state:
//   S)
std::vector<Tensor> LinearAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_state, const Tensor& decay, const Tensor& beta,
    const LinearAttentionAttrs& attrs, Loc loc = Loc::current());

struct ReduceSumAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceSum(const Tensor& data, const Tensor& axes = {}, const ReduceSumAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceMeanAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceMean(const Tensor& data, const Tensor& axes = {}, const ReduceMeanAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceMaxAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceMax(const Tensor& data, const Tensor& axes = {}, const ReduceMaxAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceMinAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceMin(const Tensor& data, const Tensor& axes = {}, const ReduceMinAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceProdAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceProd(const Tensor& data, const Tensor& axes = {}, const ReduceProdAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceL1Attrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceL1(const Tensor& data, const Tensor& axes = {}, const ReduceL1Attrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceL2Attrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceL2(const Tensor& data, const Tensor& axes = {}, const ReduceL2Attrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceLogSumAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceLogSum(const Tensor& data, const Tensor& axes = {},
    const ReduceLogSumAttrs& attrs = {}, Loc loc = Loc::current());

struct ReduceLogSumExpAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceLogSumExp(const Tensor& data, const Tensor& axes = {},
    const ReduceLogSumExpAttrs& attrs = {}, Loc loc = Loc::current());

struct ReduceSumSquareAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// (data: T, axes?: int64) -> (reduced: T)
Tensor ReduceSumSquare(const Tensor& data, const Tensor& axes = {},
    const ReduceSumSquareAttrs& attrs = {}, Loc loc = Loc::current());

struct ArgMaxAttrs {
  int64_t axis = 0;
  int64_t keepdims = 1;
  int64_t select_last_index = 0;
};
// (data: T) -> (reduced: int64)
Tensor ArgMax(const Tensor& data, const ArgMaxAttrs& attrs = {}, Loc loc = Loc::current());

struct ArgMinAttrs {
  int64_t axis = 0;
  int64_t keepdims = 1;
  int64_t select_last_index = 0;
};
// (data: T) -> (reduced: int64)
Tensor ArgMin(const Tensor& data, const ArgMinAttrs& attrs = {}, Loc loc = Loc::current());

struct TopKAttrs {
  int64_t axis = -1;
  int64_t largest = 1;
  int64_t sorted = 1;
};
// (X: T, K: int64) -> (Values: T, Indices: I)
std::vector<Tensor> TopK(const Tensor& X, const Tensor& K, const TopKAttrs& attrs = {},
    Loc loc = Loc::current());

struct CumSumAttrs {
  int64_t exclusive = 0;
  int64_t reverse = 0;
};
// (x: T, axis: T2) -> (y: T)
Tensor CumSum(const Tensor& x, const Tensor& axis, const CumSumAttrs& attrs = {},
    Loc loc = Loc::current());

struct CumProdAttrs {
  int64_t exclusive = 0;
  int64_t reverse = 0;
};
// (x: T, axis: T2) -> (y: T)
Tensor CumProd(const Tensor& x, const Tensor& axis, const CumProdAttrs& attrs = {},
    Loc loc = Loc::current());

struct TriluAttrs {
  int64_t upper = 1;
};
// (input: T, k?: int64) -> (output: T)
Tensor Trilu(const Tensor& input, const Tensor& k = {}, const TriluAttrs& attrs = {},
    Loc loc = Loc::current());

struct SoftmaxAttrs {
  int64_t axis = -1;
};
// (input: T) -> (output: T)
Tensor Softmax(const Tensor& input, const SoftmaxAttrs& attrs = {}, Loc loc = Loc::current());

struct LogSoftmaxAttrs {
  int64_t axis = -1;
};
// (input: T) -> (output: T)
Tensor LogSoftmax(const Tensor& input, const LogSoftmaxAttrs& attrs = {}, Loc loc = Loc::current());

struct HardmaxAttrs {
  int64_t axis = -1;
};
// (input: T) -> (output: T)
Tensor Hardmax(const Tensor& input, const HardmaxAttrs& attrs = {}, Loc loc = Loc::current());

struct NegativeLogLikelihoodLossAttrs {
  std::optional<int64_t> ignore_index = {};
  std::string reduction = "mean";
};
// (input: T, target: Tind, weight?: T) -> (loss: T)
Tensor NegativeLogLikelihoodLoss(const Tensor& input, const Tensor& target,
    const Tensor& weight = {}, const NegativeLogLikelihoodLossAttrs& attrs = {},
    Loc loc = Loc::current());

struct SoftmaxCrossEntropyLossAttrs {
  std::optional<int64_t> ignore_index = {};
  std::string reduction = "mean";
};
// (scores: T, labels: Tind, weights?: T) -> (output: T, log_prob?: T)
Tensor SoftmaxCrossEntropyLoss(const Tensor& scores, const Tensor& labels,
    const Tensor& weights = {}, const SoftmaxCrossEntropyLossAttrs& attrs = {},
    Loc loc = Loc::current());
std::vector<Tensor> SoftmaxCrossEntropyLossOutputs(size_t outputs, const Tensor& scores,
    const Tensor& labels, const Tensor& weights = {},
    const SoftmaxCrossEntropyLossAttrs& attrs = {}, Loc loc = Loc::current());

namespace preview {

struct FlexAttentionAttrs {
  std::optional<float> scale = {};
  std::optional<DType> softmax_precision = {};
};
// (Q: T1, K: T1, V: T1) -> (Y: T1)
Tensor FlexAttention(const Tensor& Q, const Tensor& K, const Tensor& V,
    const FlexAttentionAttrs& attrs = {}, Loc loc = Loc::current());


}  // namespace preview


}  // namespace sardonyx::eager::op
