// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op_calls_for_test.h"
#include "eager/op/contrib_fields.h"

namespace sardonyx::eager::op {

namespace microsoft {
namespace {

const NamedCall kContribCalls[] = {
    {"com.microsoft::FusedConv",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{FusedConv(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<FusedConvAttrs>(attrs))};
     }},
    {"com.microsoft::NhwcConv",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{NhwcConv(at(in, 0), at(in, 1), at(in, 2), read<NhwcConvAttrs>(attrs))};
     }},
    {"com.microsoft::NhwcFusedConv",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{NhwcFusedConv(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<NhwcFusedConvAttrs>(attrs))};
     }},
    {"com.microsoft::ConvTransposeWithDynamicPads",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ConvTransposeWithDynamicPads(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<ConvTransposeWithDynamicPadsAttrs>(attrs))};
     }},
    {"com.microsoft::FusedMatMul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{FusedMatMul(at(in, 0), at(in, 1), read<FusedMatMulAttrs>(attrs))};
     }},
    {"com.microsoft::TransposeMatMul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{TransposeMatMul(at(in, 0), at(in, 1), read<TransposeMatMulAttrs>(attrs))};
     }},
    {"com.microsoft::FusedGemm",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{FusedGemm(at(in, 0), at(in, 1), at(in, 2), read<FusedGemmAttrs>(attrs))};
     }},
    {"com.microsoft::SparseToDenseMatMul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SparseToDenseMatMul(at(in, 0), at(in, 1),
           read<SparseToDenseMatMulAttrs>(attrs))};
     }},
    {"com.microsoft::Gelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Gelu(at(in, 0))};
     }},
    {"com.microsoft::BiasGelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BiasGelu(at(in, 0), at(in, 1))};
     }},
    {"com.microsoft::FastGelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{FastGelu(at(in, 0), at(in, 1))};
     }},
    {"com.microsoft::QuickGelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QuickGelu(at(in, 0), read<QuickGeluAttrs>(attrs))};
     }},
    {"com.microsoft::SkipLayerNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{SkipLayerNormalization(at(in, 0), at(in, 1), at(in, 2),
           at(in, 3), at(in, 4), read<SkipLayerNormalizationAttrs>(attrs))};
       return SkipLayerNormalizationOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), read<SkipLayerNormalizationAttrs>(attrs));
     }},
    {"com.microsoft::SkipSimplifiedLayerNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{SkipSimplifiedLayerNormalization(at(in, 0), at(in, 1),
           at(in, 2), at(in, 3), read<SkipSimplifiedLayerNormalizationAttrs>(attrs))};
       return SkipSimplifiedLayerNormalizationOutputs(outputs, at(in, 0), at(in, 1), at(in, 2),
           at(in, 3), read<SkipSimplifiedLayerNormalizationAttrs>(attrs));
     }},
    {"com.microsoft::SimplifiedLayerNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{SimplifiedLayerNormalization(at(in, 0), at(in, 1),
           read<SimplifiedLayerNormalizationAttrs>(attrs))};
       return SimplifiedLayerNormalizationOutputs(outputs, at(in, 0), at(in, 1),
           read<SimplifiedLayerNormalizationAttrs>(attrs));
     }},
    {"com.microsoft::LayerNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{LayerNormalization(at(in, 0), at(in, 1), at(in, 2),
           read<LayerNormalizationAttrs>(attrs))};
       return LayerNormalizationOutputs(outputs, at(in, 0), at(in, 1), at(in, 2),
           read<LayerNormalizationAttrs>(attrs));
     }},
    {"com.microsoft::EmbedLayerNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{EmbedLayerNormalization(at(in, 0), at(in, 1), at(in, 2),
           at(in, 3), at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8),
           read<EmbedLayerNormalizationAttrs>(attrs))};
       return EmbedLayerNormalizationOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8),
           read<EmbedLayerNormalizationAttrs>(attrs));
     }},
    {"com.microsoft::QEmbedLayerNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return QEmbedLayerNormalization(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           at(in, 5), at(in, 6), at(in, 7), at(in, 8), at(in, 9), at(in, 10), at(in, 11),
           at(in, 12), at(in, 13), at(in, 14), at(in, 15), at(in, 16), at(in, 17),
           read<QEmbedLayerNormalizationAttrs>(attrs));
     }},
    {"com.microsoft::Attention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{Attention(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), at(in, 5), at(in, 6), read<AttentionAttrs>(attrs))};
       return AttentionOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           at(in, 5), at(in, 6), read<AttentionAttrs>(attrs));
     }},
    {"com.microsoft::MultiHeadAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{MultiHeadAttention(at(in, 0), at(in, 1), at(in, 2),
           at(in, 3), at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8), at(in, 9),
           read<MultiHeadAttentionAttrs>(attrs))};
       return MultiHeadAttentionOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8), at(in, 9),
           read<MultiHeadAttentionAttrs>(attrs));
     }},
    {"com.microsoft::RotaryEmbedding",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RotaryEmbedding(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<RotaryEmbeddingAttrs>(attrs))};
     }},
    {"com.microsoft::GroupQueryAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{GroupQueryAttention(at(in, 0), at(in, 1), at(in, 2),
           at(in, 3), at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8), at(in, 9), at(in, 10),
           at(in, 11), at(in, 12), at(in, 13), at(in, 14), at(in, 15),
           read<GroupQueryAttentionAttrs>(attrs))};
       return GroupQueryAttentionOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8), at(in, 9), at(in, 10), at(in, 11),
           at(in, 12), at(in, 13), at(in, 14), at(in, 15), read<GroupQueryAttentionAttrs>(attrs));
     }},
    {"com.microsoft::DecoderMaskedMultiHeadAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{DecoderMaskedMultiHeadAttention(at(in, 0), at(in, 1),
           at(in, 2), at(in, 3), at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8), at(in, 9),
           at(in, 10), read<DecoderMaskedMultiHeadAttentionAttrs>(attrs))};
       return DecoderMaskedMultiHeadAttentionOutputs(outputs, at(in, 0), at(in, 1), at(in, 2),
           at(in, 3), at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8), at(in, 9), at(in, 10),
           read<DecoderMaskedMultiHeadAttentionAttrs>(attrs));
     }},
    {"com.microsoft::MRotaryEmbedding",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MRotaryEmbedding(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<MRotaryEmbeddingAttrs>(attrs))};
     }},
    {"com.microsoft::SparseAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return SparseAttention(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7), at(in, 8), at(in, 9), at(in, 10),
           read<SparseAttentionAttrs>(attrs));
     }},
    {"com.microsoft::Tokenizer",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Tokenizer(at(in, 0), read<TokenizerAttrs>(attrs))};
     }},
    {"com.microsoft::WordConvEmbedding",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{WordConvEmbedding(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<WordConvEmbeddingAttrs>(attrs))};
     }},
    {"com.microsoft::Trilu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Trilu(at(in, 0), at(in, 1), read<TriluAttrs>(attrs))};
     }},
    {"com.microsoft::Unique",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Unique(at(in, 0));
     }},
    {"com.microsoft::Pad",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Pad(at(in, 0), at(in, 1), at(in, 2), read<PadAttrs>(attrs))};
     }},
    {"com.microsoft::ExpandDims",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ExpandDims(at(in, 0), at(in, 1))};
     }},
    {"com.microsoft::GridSample",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GridSample(at(in, 0), at(in, 1), read<GridSampleAttrs>(attrs))};
     }},
    {"com.microsoft::Range",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Range(at(in, 0), at(in, 1), at(in, 2))};
     }},
    {"com.microsoft::GatherND",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GatherND(at(in, 0), at(in, 1))};
     }},
    {"com.microsoft::UnfoldTensor",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{UnfoldTensor(at(in, 0), read<UnfoldTensorAttrs>(attrs))};
     }},
    {"com.microsoft::SampleOp",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SampleOp(at(in, 0))};
     }},
    {"com.microsoft::CDist",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{CDist(at(in, 0), at(in, 1), read<CDistAttrs>(attrs))};
     }},
    {"com.microsoft::Inverse",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Inverse(at(in, 0))};
     }},
    {"com.microsoft::CropAndResize",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{CropAndResize(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<CropAndResizeAttrs>(attrs))};
     }},
    {"com.microsoft::QLinearAdd",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearAdd(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7))};
     }},
    {"com.microsoft::QLinearMul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearMul(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7))};
     }},
    {"com.microsoft::QLinearSigmoid",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearSigmoid(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4))};
     }},
    {"com.microsoft::QLinearLeakyRelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearLeakyRelu(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<QLinearLeakyReluAttrs>(attrs))};
     }},
    {"com.microsoft::QLinearSoftmax",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearSoftmax(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<QLinearSoftmaxAttrs>(attrs))};
     }},
    {"com.microsoft::QLinearReduceMean",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearReduceMean(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<QLinearReduceMeanAttrs>(attrs))};
     }},
    {"com.microsoft::QLinearAveragePool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearAveragePool(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<QLinearAveragePoolAttrs>(attrs))};
     }},
    {"com.microsoft::QLinearGlobalAveragePool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearGlobalAveragePool(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), read<QLinearGlobalAveragePoolAttrs>(attrs))};
     }},
    {"com.microsoft::NhwcMaxPool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{NhwcMaxPool(at(in, 0), read<NhwcMaxPoolAttrs>(attrs))};
     }},
    {"com.microsoft::QLinearConv",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearConv(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7), at(in, 8), read<QLinearConvAttrs>(attrs))};
     }},
    {"com.microsoft::MatMulInteger16",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MatMulInteger16(at(in, 0), at(in, 1))};
     }},
    {"com.microsoft::QLinearWhere",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearWhere(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7), at(in, 8))};
     }},
    {"com.microsoft::QLinearConcat",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearConcat(at(in, 0), at(in, 1), rest(in, 2),
           read<QLinearConcatAttrs>(attrs))};
     }},
    {"com.microsoft::MatMulIntegerToFloat",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MatMulIntegerToFloat(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           at(in, 5), at(in, 6))};
     }},
    {"com.microsoft::DynamicQuantizeMatMul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{DynamicQuantizeMatMul(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4))};
     }},
    {"com.microsoft::QGemm",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QGemm(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7), at(in, 8), read<QGemmAttrs>(attrs))};
     }},
    {"com.microsoft::QAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{QAttention(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), at(in, 5), at(in, 6), at(in, 7), at(in, 8), read<QAttentionAttrs>(attrs))};
       return QAttentionOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           at(in, 5), at(in, 6), at(in, 7), at(in, 8), read<QAttentionAttrs>(attrs));
     }},
    {"com.microsoft::QuantizeLinear",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QuantizeLinear(at(in, 0), at(in, 1), at(in, 2),
           read<QuantizeLinearAttrs>(attrs))};
     }},
    {"com.microsoft::DequantizeLinear",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{DequantizeLinear(at(in, 0), at(in, 1), at(in, 2),
           read<DequantizeLinearAttrs>(attrs))};
     }},
    {"com.microsoft::MatMulNBits",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MatMulNBits(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           read<MatMulNBitsAttrs>(attrs))};
     }},
    {"com.microsoft::MatMulBnb4",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MatMulBnb4(at(in, 0), at(in, 1), at(in, 2), read<MatMulBnb4Attrs>(attrs))};
     }},
    {"com.microsoft::GatherBlockQuantized",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GatherBlockQuantized(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<GatherBlockQuantizedAttrs>(attrs))};
     }},
    {"com.microsoft::DynamicQuantizeLSTM",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return DynamicQuantizeLSTM(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           at(in, 5), at(in, 6), at(in, 7), at(in, 8), at(in, 9), at(in, 10), at(in, 11),
           read<DynamicQuantizeLSTMAttrs>(attrs));
     }},
    {"com.microsoft::MurmurHash3",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MurmurHash3(at(in, 0), read<MurmurHash3Attrs>(attrs))};
     }},
    {"com.microsoft::NGramRepeatBlock",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{NGramRepeatBlock(at(in, 0), at(in, 1), read<NGramRepeatBlockAttrs>(attrs))};
     }},
    {"com.microsoft::BifurcationDetector",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return BifurcationDetector(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<BifurcationDetectorAttrs>(attrs));
     }},
    {"com.microsoft::DynamicTimeWarping",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{DynamicTimeWarping(at(in, 0))};
     }},
    {"com.microsoft::MoE",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MoE(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7), read<MoEAttrs>(attrs))};
     }},
    {"com.microsoft::QMoE",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QMoE(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7), at(in, 8), at(in, 9), at(in, 10), at(in, 11), at(in, 12),
           at(in, 13), at(in, 14), at(in, 15), at(in, 16), at(in, 17), at(in, 18), at(in, 19),
           at(in, 20), read<QMoEAttrs>(attrs))};
     }},
    {"com.microsoft::LinearAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return LinearAttention(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           read<LinearAttentionAttrs>(attrs));
     }},
    {"com.microsoft::LinearAttentionGate",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{LinearAttentionGate(at(in, 0), at(in, 1), at(in, 2),
           at(in, 3))};
       return LinearAttentionGateOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3));
     }},
    {"com.microsoft::GatedRMSNorm",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GatedRMSNorm(at(in, 0), at(in, 1), at(in, 2),
           read<GatedRMSNormAttrs>(attrs))};
     }},
    {"com.microsoft::GatedAdd",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GatedAdd(at(in, 0), at(in, 1), at(in, 2))};
     }},
    {"com.microsoft::CausalConvWithState",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return CausalConvWithState(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<CausalConvWithStateAttrs>(attrs));
     }},
    {"com.microsoft::PackedMultiHeadAttention",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{PackedMultiHeadAttention(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), at(in, 5), at(in, 6), read<PackedMultiHeadAttentionAttrs>(attrs))};
     }},
    {"com.microsoft::BiasAdd",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BiasAdd(at(in, 0), at(in, 1), at(in, 2))};
     }},
    {"com.microsoft::BiasSplitGelu",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BiasSplitGelu(at(in, 0), at(in, 1))};
     }},
    {"com.microsoft::BiasSoftmax",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BiasSoftmax(at(in, 0), at(in, 1), read<BiasSoftmaxAttrs>(attrs))};
     }},
    {"com.microsoft::BiasDropout",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{BiasDropout(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), read<BiasDropoutAttrs>(attrs))};
       return BiasDropoutOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<BiasDropoutAttrs>(attrs));
     }},
    {"com.microsoft::GroupNorm",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GroupNorm(at(in, 0), at(in, 1), at(in, 2), read<GroupNormAttrs>(attrs))};
     }},
    {"com.microsoft::SkipGroupNorm",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{SkipGroupNorm(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), read<SkipGroupNormAttrs>(attrs))};
       return SkipGroupNormOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<SkipGroupNormAttrs>(attrs));
     }},
    {"com.microsoft::IsAllFinite",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{IsAllFinite(rest(in, 0), read<IsAllFiniteAttrs>(attrs))};
     }},
    {"com.microsoft::ComplexMul",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ComplexMul(at(in, 0), at(in, 1))};
     }},
    {"com.microsoft::ComplexMulConj",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ComplexMulConj(at(in, 0), at(in, 1))};
     }},
    {"com.microsoft::MatMulFpQ4",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MatMulFpQ4(at(in, 0), at(in, 1), at(in, 2), read<MatMulFpQ4Attrs>(attrs))};
     }},
};

}  // namespace
}  // namespace microsoft

std::vector<std::span<const NamedCall>> contrib_calls() {
  return {microsoft::kContribCalls};
}

}  // namespace sardonyx::eager::op
