// The kernels of this provider, by file.
#pragma once

#include <span>

#include "ir/kernel.h"

namespace sardonyx::cpu {

// The first of this provider's kernels for row-major tensors that accepts the request.
Prepared prepare_portable(const KernelRequest& request);

// Kernels for images in a layout, and for weights that are known ahead; in the list of the provider
// that has layouts they are among others of their op (providers/onednn/provider.cpp).
std::span<const KernelEntry> dwconv_kernels();
std::span<const KernelEntry> conv_1x1_kernels();
std::span<const KernelEntry> conv_1x1_nchw_kernels();
std::span<const KernelEntry> fully_connected_kernels();
std::span<const KernelEntry> conv_transpose_nchw_kernels();
std::span<const KernelEntry> conv_transpose_kernels();
std::span<const KernelEntry> reduce_in_layout_kernels();
std::span<const KernelEntry> pool_nhwc_kernels();
std::span<const KernelEntry> elementwise_in_layout_kernels();
std::span<const KernelEntry> qlinear_avg_pool_kernels();
std::span<const KernelEntry> qlinear_concat_kernels();
std::span<const KernelEntry> gradients_in_layout_kernels();

// Kernels for row-major tensors.
std::span<const KernelEntry> elementwise_f32_kernels();
std::span<const KernelEntry> special_functions_kernels();
std::span<const KernelEntry> softmax_strided_kernels();
std::span<const KernelEntry> softmax_f64_kernels();
std::span<const KernelEntry> deform_conv_kernels();
std::span<const KernelEntry> grid_sample_kernels();
std::span<const KernelEntry> col2im_kernels();
std::span<const KernelEntry> conv_f64_kernels();
std::span<const KernelEntry> conv_im2col_kernels();
std::span<const KernelEntry> roi_align_kernels();
std::span<const KernelEntry> crop_and_resize_kernels();
std::span<const KernelEntry> blockwise_dequantize_kernels();
std::span<const KernelEntry> group_query_attention_kernels();
std::span<const KernelEntry> group_norm_kernels();
std::span<const KernelEntry> rotary_embedding_kernels();
std::span<const KernelEntry> elementwise_generic_kernels();
std::span<const KernelEntry> gemm_generic_kernels();
std::span<const KernelEntry> gemm_tiled_kernels();
std::span<const KernelEntry> inverse_kernels();
std::span<const KernelEntry> fused_elementwise_kernels();
std::span<const KernelEntry> rnn_kernels();
std::span<const KernelEntry> quantize_linear_kernels();
std::span<const KernelEntry> reduce_kernels();
std::span<const KernelEntry> cumulative_kernels();
std::span<const KernelEntry> gather_kernels();
std::span<const KernelEntry> scatter_kernels();
std::span<const KernelEntry> pool_nchw_kernels();
std::span<const KernelEntry> pool_grad_kernels();
std::span<const KernelEntry> layer_norm_grad_kernels();
std::span<const KernelEntry> softmax_grad_kernels();
std::span<const KernelEntry> group_norm_grad_kernels();
std::span<const KernelEntry> strided_copy_kernels();
std::span<const KernelEntry> optimizer_step_kernels();
std::span<const KernelEntry> fused_gemm_optimizer_kernels();
std::span<const KernelEntry> compare_select_kernels();
std::span<const KernelEntry> resize_kernels();
std::span<const KernelEntry> softmax_kernels();
std::span<const KernelEntry> attention_kernels();
std::span<const KernelEntry> fused_attention_kernels();
std::span<const KernelEntry> layer_norm_kernels();
std::span<const KernelEntry> qlinear_elementwise_kernels();
std::span<const KernelEntry> conv_integer_kernels();
std::span<const KernelEntry> matmul_integer_kernels();
std::span<const KernelEntry> matmul_nbits_kernels();
std::span<const KernelEntry> mixture_of_experts_kernels();
std::span<const KernelEntry> gemv_kernels();
std::span<const KernelEntry> linear_model_kernels();
std::span<const KernelEntry> kv_cache_update_kernels();
std::span<const KernelEntry> word_conv_embedding_kernels();
std::span<const KernelEntry> label_encoder_kernels();
std::span<const KernelEntry> dynamic_quantize_lstm_kernels();
std::span<const KernelEntry> svm_kernels();
std::span<const KernelEntry> tree_ensemble_kernels();
std::span<const KernelEntry> arg_max_top_k_kernels();
std::span<const KernelEntry> relu_grad_kernels();
std::span<const KernelEntry> batch_norm_training_kernels();

// Whether all tensors that are given have this element type.
inline bool all_of(std::span<const KernelTensor> tensors, DType dtype) {
  for (const KernelTensor& tensor : tensors) {
    if (tensor && tensor.dtype != dtype) return false;
  }
  return true;
}

}  // namespace sardonyx::cpu
