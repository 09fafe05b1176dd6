// All passes of the executor, by subject; docs/passes.md names the source of each.
#pragma once

#include "ir/pass.h"

namespace sardonyx::passes {

// Convolutions.
bool pad_into_conv(Graph& graph, Node& node);
bool space_to_depth_into_conv(Graph& graph, Node& node);
bool fold_batch_norm(Graph& graph, Node& node);
bool scale_batch_norm(Graph& graph, Node& node);
bool fold_conv_scale(Graph& graph, Node& node);
bool fuse_conv_bias(Graph& graph, Node& node);
bool fuse_conv_residual(Graph& graph, Node& node);
bool fuse_conv_activation(Graph& graph, Node& node);
bool allow_winograd(Graph& graph, Node& node);
bool merge_sibling_convs(Graph& graph, Node& node);
bool merge_depthwise_convs(Graph& graph, Node& node);

// Matrix products.
bool einsum_to_matmul(Graph& graph, Node& node);
bool split_gemm_addend(Graph& graph, Node& node);
bool fuse_matmul_transpose(Graph& graph, Node& node);
bool fuse_matmul_scale(Graph& graph, Node& node);
bool fuse_matmul_bias(Graph& graph, Node& node);
bool fuse_matmul_residual(Graph& graph, Node& node);
bool fuse_matmul_activation(Graph& graph, Node& node);
bool fuse_product_step(Graph& graph, Node& node);

// Layouts written out as Transposes.
bool merge_transposes(Graph& graph, Node& node);
bool move_transposes(Graph& graph, Node& node);

// Quantised graphs.
bool standard_quantize(Graph& graph, Node& node);
bool move_dequantize(Graph& graph, Node& node);
bool quantize_conv(Graph& graph, Node& node);
bool quantize_matmul(Graph& graph, Node& node);
bool quantize_gemm(Graph& graph, Node& node);
bool quantize_binary(Graph& graph, Node& node);
bool quantize_pool(Graph& graph, Node& node);
bool quantize_concat(Graph& graph, Node& node);
bool quantize_unary(Graph& graph, Node& node);

// Sums of dynamically quantised products.
bool fuse_integer_scale(Graph& graph, Node& node);
bool fuse_integer_bias(Graph& graph, Node& node);

// Narrow floats.
bool widen_float16(Graph& graph, Node& node);
bool cancel_casts(Graph& graph, Node& node);
bool widen_concat(Graph& graph, Node& node);

// Lowering of float32 products to bfloat16.
bool narrow_products(Graph& graph, Node& node);
bool narrow_between(Graph& graph, Node& node);
bool cancel_widening(Graph& graph, Node& node);

// Activations written out in simpler ops.
bool recognize_clip(Graph& graph, Node& node);
bool recognize_hard_sigmoid(Graph& graph, Node& node);
bool recognize_swish(Graph& graph, Node& node);
bool recognize_gelu(Graph& graph, Node& node);
// Channel shuffles written out in simpler ops.
bool recognize_channel_shuffle(Graph& graph, Node& node);
bool transpose_before_reshape(Graph& graph, Node& node);
bool transpose_behind_reshape(Graph& graph, Node& node);
// Normalizations written out in simpler ops.
bool recognize_normalization(Graph& graph, Node& node);
// Attention written out in simpler ops.
bool recognize_attention(Graph& graph, Node& node);
// Reductions over the pixels of images.
bool recognize_global_pool(Graph& graph, Node& node);
bool fuse_normalization_scale(Graph& graph, Node& node);

// Groups of elementwise ops, once nothing else is left to fuse.
bool spell_batch_norm(Graph& graph, Node& node);
bool group_elementwise(Graph& graph, Node& node);
// Moving views (Reshape and the like) out of the way of fusions.
bool sink_views(Graph& graph, Node& node);

}  // namespace sardonyx::passes
