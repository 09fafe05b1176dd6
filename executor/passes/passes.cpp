#include "executor/passes.h"

#include "executor/passes/fusion.h"

namespace sardonyx {
namespace {

constexpr Pass kPasses[] = {
    {"fuse-integer-scale", passes::fuse_integer_scale},
    {"fuse-integer-bias", passes::fuse_integer_bias},
    {"widen-float16", passes::widen_float16},
    {"widen-concat", passes::widen_concat},
    {"cancel-casts", passes::cancel_casts},
    {"einsum-to-matmul", passes::einsum_to_matmul},
    {"recognize-clip", passes::recognize_clip},
    {"recognize-hard-sigmoid", passes::recognize_hard_sigmoid},
    {"recognize-swish", passes::recognize_swish},
    {"recognize-gelu", passes::recognize_gelu},
    {"recognize-channel-shuffle", passes::recognize_channel_shuffle},
    {"recognize-normalization", passes::recognize_normalization},
    {"fuse-normalization-scale", passes::fuse_normalization_scale},
    {"recognize-attention", passes::recognize_attention},
    {"merge-transposes", passes::merge_transposes},
    {"move-transposes", passes::move_transposes},
    {"recognize-global-pool", passes::recognize_global_pool},
    {"sink-views", passes::sink_views},
    {"pad-into-conv", passes::pad_into_conv},
    {"space-to-depth-into-conv", passes::space_to_depth_into_conv},
    {"fold-batch-norm", passes::fold_batch_norm},
    {"scale-batch-norm", passes::scale_batch_norm},
    {"fold-conv-scale", passes::fold_conv_scale},
    {"fuse-conv-bias", passes::fuse_conv_bias},
    {"fuse-conv-residual", passes::fuse_conv_residual},
    {"fuse-conv-activation", passes::fuse_conv_activation},
    {"split-gemm-addend", passes::split_gemm_addend},
    {"fuse-matmul-transpose", passes::fuse_matmul_transpose},
    {"fuse-matmul-scale", passes::fuse_matmul_scale},
    {"fuse-matmul-bias", passes::fuse_matmul_bias},
    {"fuse-matmul-residual", passes::fuse_matmul_residual},
    {"fuse-matmul-activation", passes::fuse_matmul_activation},
    {"fuse-product-step", passes::fuse_product_step},
};

constexpr Pass kQuantization[] = {
    {"standard-quantize", passes::standard_quantize}, {"move-dequantize", passes::move_dequantize},
    {"quantize-conv", passes::quantize_conv},         {"quantize-matmul", passes::quantize_matmul},
    {"quantize-gemm", passes::quantize_gemm},         {"quantize-binary", passes::quantize_binary},
    {"quantize-pool", passes::quantize_pool},         {"quantize-concat", passes::quantize_concat},
    {"quantize-unary", passes::quantize_unary},
};

constexpr Pass kChoices[] = {
    {"transpose-before-reshape", passes::transpose_before_reshape},
    {"transpose-behind-reshape", passes::transpose_behind_reshape},
    {"merge-sibling-convs", passes::merge_sibling_convs},
    {"merge-depthwise-convs", passes::merge_depthwise_convs},
    {"allow-winograd", passes::allow_winograd},
    {"spell-batch-norm", passes::spell_batch_norm},
    {"group-elementwise", passes::group_elementwise},
};

// A value is cast up and down again until no node is left between.
constexpr Pass kNarrowing[] = {
    {"narrow-products", passes::narrow_products},
    {"narrow-between", passes::narrow_between},
    {"cancel-widening", passes::cancel_widening},
};

}  // namespace

std::span<const Pass> quantization_passes() {
  return kQuantization;
}

std::span<const Pass> fusion_passes() {
  return kPasses;
}

std::span<const Pass> choosing_passes() {
  return kChoices;
}

std::span<const Pass> narrowing_passes() {
  return kNarrowing;
}

}  // namespace sardonyx
