// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op_calls_for_test.h"
#include "eager/op/product_fields.h"

namespace sardonyx::eager::op {

namespace {

const NamedCall kProductCalls[] = {
    {"MatMul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MatMul(at(in, 0), at(in, 1))};
     }},
    {"Gemm",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Gemm(at(in, 0), at(in, 1), at(in, 2), read<GemmAttrs>(attrs))};
     }},
    {"MatMulInteger",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MatMulInteger(at(in, 0), at(in, 1), at(in, 2), at(in, 3))};
     }},
    {"QLinearMatMul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearMatMul(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           at(in, 5), at(in, 6), at(in, 7))};
     }},
    {"Det",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Det(at(in, 0))};
     }},
    {"Einsum",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Einsum(rest(in, 0), read<EinsumAttrs>(attrs))};
     }},
    {"RNN",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return RNN(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           read<RNNAttrs>(attrs));
     }},
    {"GRU",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return GRU(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           read<GRUAttrs>(attrs));
     }},
    {"LSTM",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return LSTM(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7), read<LSTMAttrs>(attrs));
     }},
    {"Attention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{Attention(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), at(in, 5), at(in, 6), read<AttentionAttrs>(attrs))};
       return AttentionOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           at(in, 5), at(in, 6), read<AttentionAttrs>(attrs));
     }},
    {"RotaryEmbedding",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RotaryEmbedding(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<RotaryEmbeddingAttrs>(attrs))};
     }},
    {"LinearAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return LinearAttention(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           read<LinearAttentionAttrs>(attrs));
     }},
    {"ReduceSum",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceSum(at(in, 0), at(in, 1), read<ReduceSumAttrs>(attrs))};
     }},
    {"ReduceMean",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceMean(at(in, 0), at(in, 1), read<ReduceMeanAttrs>(attrs))};
     }},
    {"ReduceMax",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceMax(at(in, 0), at(in, 1), read<ReduceMaxAttrs>(attrs))};
     }},
    {"ReduceMin",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceMin(at(in, 0), at(in, 1), read<ReduceMinAttrs>(attrs))};
     }},
    {"ReduceProd",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceProd(at(in, 0), at(in, 1), read<ReduceProdAttrs>(attrs))};
     }},
    {"ReduceL1",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceL1(at(in, 0), at(in, 1), read<ReduceL1Attrs>(attrs))};
     }},
    {"ReduceL2",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceL2(at(in, 0), at(in, 1), read<ReduceL2Attrs>(attrs))};
     }},
    {"ReduceLogSum",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceLogSum(at(in, 0), at(in, 1), read<ReduceLogSumAttrs>(attrs))};
     }},
    {"ReduceLogSumExp",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceLogSumExp(at(in, 0), at(in, 1), read<ReduceLogSumExpAttrs>(attrs))};
     }},
    {"ReduceSumSquare",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReduceSumSquare(at(in, 0), at(in, 1), read<ReduceSumSquareAttrs>(attrs))};
     }},
    {"ArgMax",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ArgMax(at(in, 0), read<ArgMaxAttrs>(attrs))};
     }},
    {"ArgMin",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ArgMin(at(in, 0), read<ArgMinAttrs>(attrs))};
     }},
    {"TopK",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return TopK(at(in, 0), at(in, 1), read<TopKAttrs>(attrs));
     }},
    {"CumSum",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{CumSum(at(in, 0), at(in, 1), read<CumSumAttrs>(attrs))};
     }},
    {"CumProd",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{CumProd(at(in, 0), at(in, 1), read<CumProdAttrs>(attrs))};
     }},
    {"Trilu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Trilu(at(in, 0), at(in, 1), read<TriluAttrs>(attrs))};
     }},
    {"Softmax",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Softmax(at(in, 0), read<SoftmaxAttrs>(attrs))};
     }},
    {"LogSoftmax",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{LogSoftmax(at(in, 0), read<LogSoftmaxAttrs>(attrs))};
     }},
    {"Hardmax",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Hardmax(at(in, 0), read<HardmaxAttrs>(attrs))};
     }},
    {"NegativeLogLikelihoodLoss",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{NegativeLogLikelihoodLoss(at(in, 0), at(in, 1), at(in, 2),
           read<NegativeLogLikelihoodLossAttrs>(attrs))};
     }},
    {"SoftmaxCrossEntropyLoss",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{SoftmaxCrossEntropyLoss(at(in, 0), at(in, 1), at(in, 2),
           read<SoftmaxCrossEntropyLossAttrs>(attrs))};
       return SoftmaxCrossEntropyLossOutputs(outputs, at(in, 0), at(in, 1), at(in, 2),
           read<SoftmaxCrossEntropyLossAttrs>(attrs));
     }},
};

}  // namespace

namespace preview {
namespace {

const NamedCall kProductCalls[] = {
    {"ai.onnx.preview::FlexAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{FlexAttention(at(in, 0), at(in, 1), at(in, 2),
           read<FlexAttentionAttrs>(attrs))};
     }},
};

}  // namespace
}  // namespace preview

std::vector<std::span<const NamedCall>> product_calls() {
  return {kProductCalls, preview::kProductCalls};
}

}  // namespace sardonyx::eager::op
