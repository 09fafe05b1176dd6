// Products, recurrent layers, attention, reductions and losses.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

// The matrix product of the last two axes, the others broadcast; rank 1 is a row on the left and a
// column on the right.
// (A: T, B: T) -> (Y: T); T: floats, int32, int64, uint32, uint64
Tensor MatMul(const Tensor& A, const Tensor& B, Loc loc = Loc::current());

struct GemmAttrs {
  float alpha = 1.f;
  float beta = 1.f;
  int64_t transA = 0;
  int64_t transB = 0;
};
// alpha * A' * B' + beta * C: matrices [M, K] and [K, N], transposed before where the attributes
// say so, and C broadcast to [M, N].
// (A: T, B: T, C?: T) -> (Y: T); T: floats, int32, int64, uint32, uint64
Tensor Gemm(const Tensor& A, const Tensor& B, const Tensor& C = {}, const GemmAttrs& attrs = {},
    Loc loc = Loc::current());

// The matrix product of 8-bit integers less their zero points, summed up in int32.
// (A: T1, B: T2, a_zero_point?: T1, b_zero_point?: T2) -> (Y: T3); T1: uint8, int8; T2: uint8,
//   int8; T3: int32
Tensor MatMulInteger(const Tensor& A, const Tensor& B, const Tensor& a_zero_point = {},
    const Tensor& b_zero_point = {}, Loc loc = Loc::current());

// The matrix product of quantised values, quantised again.
// (a: T1, a_scale: TS, a_zero_point: T1, b: T2, b_scale: TS, b_zero_point: T2, y_scale: TS,
//   y_zero_point: T3) -> (y: T3); TS: float, float16, bfloat16; T1: 8-bit floats, uint8, int8; T2:
//   8-bit floats, uint8, int8; T3: 8-bit floats, uint8, int8
Tensor QLinearMatMul(const Tensor& a, const Tensor& a_scale, const Tensor& a_zero_point,
    const Tensor& b, const Tensor& b_scale, const Tensor& b_zero_point, const Tensor& y_scale,
    const Tensor& y_zero_point, Loc loc = Loc::current());

// The determinant of the last two axes, which must be square.
// (X: T) -> (Y: T); T: floats
Tensor Det(const Tensor& X, Loc loc = Loc::current());

struct EinsumAttrs {
  std::optional<std::string> equation = {};  // required
};
// The sum of products that the equation says; letters name axes, "..." broadcasts others.
// (Inputs...: T) -> (Output: T); T: integers, float, float16, double
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
// A recurrent layer over X [seq, batch, input]: Y [seq, directions, batch, hidden] and the last
// state [directions, batch, hidden].
// (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T) -> (Y?: T, Y_h?: T); T: floats; T1:
//   int32
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
// A gated recurrent layer over X [seq, batch, input], gates in the order z, r, h: Y [seq,
// directions, batch, hidden] and the last state.
// (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T) -> (Y?: T, Y_h?: T); T: floats; T1:
//   int32
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
// A long short-term memory over X [seq, batch, input], gates in the order i, o, f, c: Y [seq,
// directions, batch, hidden] and the last state and cell.
// (X: T, W: T, R: T, B?: T, sequence_lens?: T1, initial_h?: T, initial_c?: T, P?: T) -> (Y?: T,
//   Y_h?: T, Y_c?: T); T: floats; T1: int32
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
// softmax(Q K' * scale + mask) V for each head, of [batch, heads, length, size] or [batch, length,
// heads * size], with a cache of past keys and values.
// (Q: T1, K: T1, V: T2, attn_mask?: U, past_key?: T1, past_value?: T2, nonpad_kv_seqlen?: int64) ->
//   (Y: T1, present_key?: T1, present_value?: T2, qk_matmul_output?: T1); T1: floats; T2: floats;
//   U: integers, floats, bool
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
// X with pairs of its last axis rotated by the angles whose cosines and sines are given for each
// position.
// (X: T, cos_cache: T, sin_cache: T, position_ids?: M) -> (Y: T); T: float, float16, bfloat16; M:
//   int64
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
// Attention whose state, keys times values, is carried along the sequence in place of all scores.
// (query: T, key: T, value: T, past_state?: S, decay?: T, beta?: T) -> (output: T, present_state:
//   S); T: float, float16, bfloat16; S: float, float16, bfloat16
std::vector<Tensor> LinearAttention(const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& past_state, const Tensor& decay, const Tensor& beta,
    const LinearAttentionAttrs& attrs, Loc loc = Loc::current());

struct ReduceSumAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The sum over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, int32, int64, uint32, uint64
Tensor ReduceSum(const Tensor& data, const Tensor& axes = {}, const ReduceSumAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceMeanAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The mean over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, int32, int64, uint32, uint64
Tensor ReduceMean(const Tensor& data, const Tensor& axes = {}, const ReduceMeanAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceMaxAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The largest element over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, uint8, int8, int32, int64, bool, uint32,
//   uint64
Tensor ReduceMax(const Tensor& data, const Tensor& axes = {}, const ReduceMaxAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceMinAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The smallest element over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, uint8, int8, int32, int64, bool, uint32,
//   uint64
Tensor ReduceMin(const Tensor& data, const Tensor& axes = {}, const ReduceMinAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceProdAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The product over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, int32, int64, uint32, uint64
Tensor ReduceProd(const Tensor& data, const Tensor& axes = {}, const ReduceProdAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceL1Attrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The sum of magnitudes over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, int32, int64, uint32, uint64
Tensor ReduceL1(const Tensor& data, const Tensor& axes = {}, const ReduceL1Attrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceL2Attrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The root of the sum of squares over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, int32, int64, uint32, uint64
Tensor ReduceL2(const Tensor& data, const Tensor& axes = {}, const ReduceL2Attrs& attrs = {},
    Loc loc = Loc::current());

struct ReduceLogSumAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The logarithm of the sum over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, int32, int64, uint32, uint64
Tensor ReduceLogSum(const Tensor& data, const Tensor& axes = {},
    const ReduceLogSumAttrs& attrs = {}, Loc loc = Loc::current());

struct ReduceLogSumExpAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The logarithm of the sum of exponentials over `axes`, all where none are given, without overflow.
// (data: T, axes?: int64) -> (reduced: T); T: floats, int32, int64, uint32, uint64
Tensor ReduceLogSumExp(const Tensor& data, const Tensor& axes = {},
    const ReduceLogSumExpAttrs& attrs = {}, Loc loc = Loc::current());

struct ReduceSumSquareAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};
// The sum of squares over `axes`, all where none are given.
// (data: T, axes?: int64) -> (reduced: T); T: floats, int32, int64, uint32, uint64
Tensor ReduceSumSquare(const Tensor& data, const Tensor& axes = {},
    const ReduceSumSquareAttrs& attrs = {}, Loc loc = Loc::current());

struct ArgMaxAttrs {
  int64_t axis = 0;
  int64_t keepdims = 1;
  int64_t select_last_index = 0;
};
// The index along `axis` (int64) of the largest element, the first or the last such.
// (data: T) -> (reduced: int64); T: integers, floats
Tensor ArgMax(const Tensor& data, const ArgMaxAttrs& attrs = {}, Loc loc = Loc::current());

struct ArgMinAttrs {
  int64_t axis = 0;
  int64_t keepdims = 1;
  int64_t select_last_index = 0;
};
// The index along `axis` (int64) of the smallest element, the first or the last such.
// (data: T) -> (reduced: int64); T: integers, floats
Tensor ArgMin(const Tensor& data, const ArgMinAttrs& attrs = {}, Loc loc = Loc::current());

struct TopKAttrs {
  int64_t axis = -1;
  int64_t largest = 1;
  int64_t sorted = 1;
};
// The K largest or smallest elements along `axis`, and their indices (int64); K must not exceed the
// axis.
// (X: T, K: int64) -> (Values: T, Indices: I); T: integers, floats; I: int64
std::vector<Tensor> TopK(const Tensor& X, const Tensor& K, const TopKAttrs& attrs = {},
    Loc loc = Loc::current());

struct CumSumAttrs {
  int64_t exclusive = 0;
  int64_t reverse = 0;
};
// Running sums along an axis, which may leave out the element itself and go backwards.
// (x: T, axis: T2) -> (y: T); T: floats, int32, int64, uint32, uint64; T2: int32, int64
Tensor CumSum(const Tensor& x, const Tensor& axis, const CumSumAttrs& attrs = {},
    Loc loc = Loc::current());

struct CumProdAttrs {
  int64_t exclusive = 0;
  int64_t reverse = 0;
};
// Running products along an axis, which may leave out the element itself and go backwards.
// (x: T, axis: T2) -> (y: T); T: floats, int32, int64, uint32, uint64; T2: int32, int64
Tensor CumProd(const Tensor& x, const Tensor& axis, const CumProdAttrs& attrs = {},
    Loc loc = Loc::current());

struct TriluAttrs {
  int64_t upper = 1;
};
// The upper or lower triangle of the last two axes from the k-th diagonal, zeros elsewhere.
// (input: T, k?: int64) -> (output: T); T: integers, floats, complex, string, bool
Tensor Trilu(const Tensor& input, const Tensor& k = {}, const TriluAttrs& attrs = {},
    Loc loc = Loc::current());

struct SoftmaxAttrs {
  int64_t axis = -1;
};
// exp(input) divided by its sum along `axis`, without overflow.
// (input: T) -> (output: T); T: floats
Tensor Softmax(const Tensor& input, const SoftmaxAttrs& attrs = {}, Loc loc = Loc::current());

struct LogSoftmaxAttrs {
  int64_t axis = -1;
};
// The logarithm of Softmax along `axis`, without overflow.
// (input: T) -> (output: T); T: floats
Tensor LogSoftmax(const Tensor& input, const LogSoftmaxAttrs& attrs = {}, Loc loc = Loc::current());

struct HardmaxAttrs {
  int64_t axis = -1;
};
// 1 for the first largest element along `axis`, else 0.
// (input: T) -> (output: T); T: floats
Tensor Hardmax(const Tensor& input, const HardmaxAttrs& attrs = {}, Loc loc = Loc::current());

struct NegativeLogLikelihoodLossAttrs {
  std::optional<int64_t> ignore_index = {};
  std::string reduction = "mean";
};
// The negated log-probabilities [N, C, ...] of the classes [N, ...], weighted by class [C], reduced
// as `reduction` says; ignore_index counts for nothing.
// (input: T, target: Tind, weight?: T) -> (loss: T); T: floats; Tind: int32, int64
Tensor NegativeLogLikelihoodLoss(const Tensor& input, const Tensor& target,
    const Tensor& weight = {}, const NegativeLogLikelihoodLossAttrs& attrs = {},
    Loc loc = Loc::current());

struct SoftmaxCrossEntropyLossAttrs {
  std::optional<int64_t> ignore_index = {};
  std::string reduction = "mean";
};
// The cross entropy of scores [N, C, ...] and classes [N, ...], weighted by class [C], reduced as
// `reduction` says; the log-probabilities come as well.
// (scores: T, labels: Tind, weights?: T) -> (output: T, log_prob?: T); T: floats; Tind: int32,
//   int64
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
// Attention of [batch, heads, length, size] whose scores a function of theirs may change.
// (Q: T1, K: T1, V: T1) -> (Y: T1); T1: floats
Tensor FlexAttention(const Tensor& Q, const Tensor& K, const Tensor& V,
    const FlexAttentionAttrs& attrs = {}, Loc loc = Loc::current());


}  // namespace preview


}  // namespace sardonyx::eager::op
