#include "executor/passes.h"

#include "executor/passes/all_passes.h"

namespace sardonyx {
namespace {

constexpr Pass kFusion[] = {
    {"fuse-integer-scale", passes::fuse_integer_scale,
     "executor/passes/fusion/matmul_integer_fusion.cpp",
     "Mul(Cast(MatMulInteger), scale) becomes MatMulIntegerToFloat"},
    {"fuse-integer-bias", passes::fuse_integer_bias,
     "executor/passes/fusion/matmul_integer_fusion.cpp",
     "an Add of one row behind MatMulIntegerToFloat becomes its bias"},
    {"widen-float16", passes::widen_float16, "executor/passes/precision/float16_promotion.cpp",
     "chains of float16 and bfloat16 arithmetic are computed in float32 and rounded at their end"},
    {"widen-concat", passes::widen_concat, "executor/passes/precision/float16_promotion.cpp",
     "Concat of values cast down to float16 joins them first and is cast down itself"},
    {"cancel-casts", passes::cancel_casts, "executor/passes/precision/float16_promotion.cpp",
     "a Cast down and up again goes where nothing between them rounds"},
    {"einsum-to-matmul", passes::einsum_to_matmul,
     "executor/passes/canonicalize/einsum_to_matmul.cpp",
     "Einsum of two operands becomes MatMul, or Mul where nothing is summed"},
    {"recognize-clip", passes::recognize_clip, "executor/passes/fusion/hard_sigmoid_fusion.cpp",
     "Min of a Max or Relu and a constant becomes Clip"},
    {"recognize-hard-sigmoid", passes::recognize_hard_sigmoid,
     "executor/passes/fusion/hard_sigmoid_fusion.cpp",
     "HardSigmoid and HardSwish written out with Clip become one op"},
    {"recognize-swish", passes::recognize_swish, "executor/passes/fusion/swish_fusion.cpp",
     "x Sigmoid(x) becomes Swish, x HardSigmoid(x) becomes HardSwish"},
    {"recognize-gelu", passes::recognize_gelu, "executor/passes/fusion/gelu_fusion.cpp",
     "GELU and Swish written out in simpler ops become one op"},
    {"recognize-channel-shuffle", passes::recognize_channel_shuffle,
     "executor/passes/fusion/channel_shuffle_fusion.cpp",
     "Reshape, Transpose, Reshape that shuffle channels become ChannelShuffle"},
    {"recognize-normalization", passes::recognize_normalization,
     "executor/passes/fusion/layer_norm_fusion.cpp",
     "layer and RMS normalization written out become LayerNormalization and RMSNormalization"},
    {"fuse-normalization-scale", passes::fuse_normalization_scale,
     "executor/passes/fusion/layer_norm_fusion.cpp",
     "Mul and Add behind a normalization become its scale and bias"},
    {"recognize-attention", passes::recognize_attention,
     "executor/passes/fusion/attention_fusion.cpp",
     "products around a Softmax, with scale and mask, become FusedAttention",
     /*dequantizes_weights=*/false,
     /*is_float32_only=*/true},
    {"merge-transposes", passes::merge_transposes,
     "executor/passes/layout/transpose_propagation.cpp", "Transpose of a Transpose becomes one"},
    {"move-transposes", passes::move_transposes, "executor/passes/layout/transpose_propagation.cpp",
     "Transposes move along elementwise ops, Concat, Split ... until they meet and cancel"},
    {"recognize-global-pool", passes::recognize_global_pool,
     "executor/passes/canonicalize/global_pool.cpp",
     "a mean over all pixels becomes GlobalAveragePool"},
    {"sink-views", passes::sink_views, "executor/passes/canonicalize/sink_views.cpp",
     "a view between a product and what can be fused into it moves behind both"},
    {"pad-into-conv", passes::pad_into_conv, "executor/passes/fusion/pad_fusion.cpp",
     "a Pad with zeros becomes pads of Conv or AveragePool"},
    {"space-to-depth-into-conv", passes::space_to_depth_into_conv,
     "executor/passes/fusion/conv_space_to_depth_fusion.cpp",
     "Conv on the phases of an image becomes Conv on the image"},
    {"fold-batch-norm", passes::fold_batch_norm,
     "executor/passes/fusion/conv_batch_norm_fusion.cpp",
     "BatchNormalization becomes other weights of the Conv, ConvTranspose or Gemm before it"},
    {"scale-batch-norm", passes::scale_batch_norm, "executor/passes/fusion/batch_norm_lowering.cpp",
     "Mul and Add by constants of each channel become scale and bias of a BatchNormalization"},
    {"fold-conv-scale", passes::fold_conv_scale, "executor/passes/fusion/conv_scale_fusion.cpp",
     "Mul and Add by constants of each channel become weights and bias of Conv, ConvTranspose or "
     "Gemm"},
    {"fuse-conv-bias", passes::fuse_conv_bias, "executor/passes/fusion/conv_scale_fusion.cpp",
     "an Add of one number for each channel becomes the bias of Conv"},
    {"fuse-conv-residual", passes::fuse_conv_residual,
     "executor/passes/fusion/conv_activation_fusion.cpp",
     "an Add of a tensor of the output's shape becomes the residual of FusedConv"},
    {"fuse-conv-activation", passes::fuse_conv_activation,
     "executor/passes/fusion/conv_activation_fusion.cpp",
     "an activation becomes that of FusedConv or FusedConvTranspose"},
    {"split-gemm-addend", passes::split_gemm_addend, "executor/passes/fusion/matmul_fusion.cpp",
     "Gemm whose C is no row becomes Gemm and Add"},
    {"fuse-matmul-transpose", passes::fuse_matmul_transpose,
     "executor/passes/fusion/matmul_fusion.cpp",
     "a Transpose of the last two dims becomes a flag of FusedMatMul"},
    {"fuse-matmul-scale", passes::fuse_matmul_scale, "executor/passes/fusion/matmul_fusion.cpp",
     "a factor becomes alpha of FusedMatMul"},
    {"fuse-matmul-bias", passes::fuse_matmul_bias, "executor/passes/fusion/matmul_fusion.cpp",
     "an Add of one row becomes the bias of FusedMatMul"},
    {"fuse-matmul-residual", passes::fuse_matmul_residual,
     "executor/passes/fusion/matmul_fusion.cpp",
     "an Add of a tensor of the output's shape becomes the residual of FusedMatMul",
     /*dequantizes_weights=*/false,
     /*is_float32_only=*/true},
    {"fuse-matmul-activation", passes::fuse_matmul_activation,
     "executor/passes/fusion/matmul_fusion.cpp", "an activation becomes that of FusedMatMul"},
    {"fuse-product-step", passes::fuse_product_step,
     "executor/passes/fusion/matmul_optimizer_fusion.cpp",
     "an optimiser's step whose gradient is a product computes the product itself"},
};

constexpr Pass kQuantization[] = {
    {"standard-quantize", passes::standard_quantize,
     "executor/passes/quantization/dequantize_propagation.cpp",
     "com.microsoft's QuantizeLinear and DequantizeLinear become ONNX's"},
    {"move-dequantize", passes::move_dequantize,
     "executor/passes/quantization/dequantize_propagation.cpp",
     "DequantizeLinear moves behind ops that only pick and place elements"},
    {"quantize-conv", passes::quantize_conv, "executor/passes/quantization/qdq_conv_matmul.cpp",
     "Conv between DequantizeLinear and QuantizeLinear becomes QLinearConv"},
    {"quantize-matmul", passes::quantize_matmul, "executor/passes/quantization/qdq_conv_matmul.cpp",
     "MatMul between them becomes QLinearMatMul or MatMulIntegerToFloat"},
    {"quantize-gemm", passes::quantize_gemm, "executor/passes/quantization/qdq_conv_matmul.cpp",
     "Gemm between them becomes QGemm"},
    {"quantize-binary", passes::quantize_binary, "executor/passes/quantization/qdq_elementwise.cpp",
     "Add and Mul between them become QLinearAdd and QdqMul"},
    {"quantize-pool", passes::quantize_pool, "executor/passes/quantization/qdq_elementwise.cpp",
     "average pools between them become QLinear pools"},
    {"quantize-concat", passes::quantize_concat, "executor/passes/quantization/qdq_elementwise.cpp",
     "Concat between them becomes QLinearConcat"},
    {"quantize-unary", passes::quantize_unary, "executor/passes/quantization/qdq_elementwise.cpp",
     "elementwise ops of one quantized tensor become a table of 256 bytes"},
};

constexpr Pass kLowering[] = {
    {"transpose-before-reshape", passes::transpose_before_reshape,
     "executor/passes/layout/transpose_reshape_swap.cpp",
     "Transpose(Reshape(image)) becomes Reshape(Transpose(image))"},
    {"transpose-behind-reshape", passes::transpose_behind_reshape,
     "executor/passes/layout/transpose_reshape_swap.cpp",
     "Reshape(Transpose(x)) to an image becomes Transpose(Reshape(x))"},
    {"merge-sibling-convs", passes::merge_sibling_convs,
     "executor/passes/fusion/sibling_conv_fusion.cpp",
     "Convs of few channels that read one value become one, and a Split"},
    {"merge-depthwise-convs", passes::merge_depthwise_convs,
     "executor/passes/fusion/sibling_conv_fusion.cpp",
     "depthwise Convs of the parts of a Split become one before it"},
    {"allow-winograd", passes::allow_winograd, "executor/passes/fusion/winograd_selection.cpp",
     "Conv of dense 3x3 windows may be computed by Winograd's algorithm"},
    {"spell-batch-norm", passes::spell_batch_norm, "executor/passes/fusion/batch_norm_lowering.cpp",
     "a BatchNormalization between elementwise ops becomes Mul and Add"},
    {"group-elementwise", passes::group_elementwise,
     "executor/passes/fusion/elementwise_fusion.cpp",
     "chains of elementwise ops become one node that goes over memory once"},
};

// The passes repeat: pairs of casts cancel until no float32 node is left between two bfloat16 ones.
constexpr Pass kNarrowing[] = {
    {"narrow-products", passes::narrow_products, "executor/passes/precision/bfloat16_lowering.cpp",
     "products and convolutions are computed in bfloat16"},
    {"narrow-between", passes::narrow_between, "executor/passes/precision/bfloat16_lowering.cpp",
     "the values between two such products stay in bfloat16"},
    {"cancel-widening", passes::cancel_widening, "executor/passes/precision/bfloat16_lowering.cpp",
     "casts up and down that meet cancel"},
};

}  // namespace

std::span<const Pass> quantization_passes() {
  return kQuantization;
}

std::span<const Pass> fusion_passes() {
  return kFusion;
}

std::span<const Pass> lowering_passes() {
  return kLowering;
}

std::span<const Pass> narrowing_passes() {
  return kNarrowing;
}

}  // namespace sardonyx
