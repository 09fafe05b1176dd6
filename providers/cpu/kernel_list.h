// The kernels of this provider, by file.
#pragma once

#include <span>

#include "ir/kernel.h"

namespace sardonyx::cpu {

// The first kernel of this provider that takes the request; those look at no layouts.
Prepared prepare_portable(const KernelRequest& request);

// Kernels for images in a layout, and for weights that are known ahead; in the provider's list they
// come together with others of their op (providers/onednn/provider.cpp).
std::span<const KernelEntry> depthwise_kernels();
std::span<const KernelEntry> pointwise_kernels();
std::span<const KernelEntry> fully_connected_kernels();
std::span<const KernelEntry> transposed_convolution_kernels();
std::span<const KernelEntry> reduce_kernels();
std::span<const KernelEntry> pool_nhwc_kernels();
std::span<const KernelEntry> elementwise_in_layout_kernels();
std::span<const KernelEntry> quantized_pool_kernels();
std::span<const KernelEntry> quantized_join_kernels();
std::span<const KernelEntry> blocked_gradient_kernels();

// Kernels for row-major tensors.
std::span<const KernelEntry> elementwise_entries();
std::span<const KernelEntry> function_entries();
std::span<const KernelEntry> softmax_column_entries();
std::span<const KernelEntry> deform_entries();
std::span<const KernelEntry> grid_sample_entries();
std::span<const KernelEntry> col2im_entries();
std::span<const KernelEntry> double_convolution_entries();
std::span<const KernelEntry> roi_align_entries();
std::span<const KernelEntry> crop_entries();
std::span<const KernelEntry> block_entries();
std::span<const KernelEntry> grouped_attention_entries();
std::span<const KernelEntry> group_normalization_entries();
std::span<const KernelEntry> rotary_entries();
std::span<const KernelEntry> number_entries();
std::span<const KernelEntry> gemm_generic_entries();
std::span<const KernelEntry> gemm_f64_entries();
std::span<const KernelEntry> elementwise_group_entries();
std::span<const KernelEntry> recurrent_entries();
std::span<const KernelEntry> convert_entries();
std::span<const KernelEntry> reduce_entries();
std::span<const KernelEntry> gather_entries();
std::span<const KernelEntry> scatter_entries();
std::span<const KernelEntry> pool_entries();
std::span<const KernelEntry> pool_gradient_entries();
std::span<const KernelEntry> normalization_gradient_entries();
std::span<const KernelEntry> group_normalization_gradient_entries();
std::span<const KernelEntry> movement_entries();
std::span<const KernelEntry> optimizer_entries();
std::span<const KernelEntry> product_step_entries();
std::span<const KernelEntry> logic_entries();
std::span<const KernelEntry> resize_entries();
std::span<const KernelEntry> softmax_entries();
std::span<const KernelEntry> attention_entries();
std::span<const KernelEntry> fused_attention_entries();
std::span<const KernelEntry> normalization_entries();
std::span<const KernelEntry> quantized_entries();
std::span<const KernelEntry> integer_convolution_entries();
std::span<const KernelEntry> integer_product_entries();
std::span<const KernelEntry> nbits_entries();
std::span<const KernelEntry> gemv_entries();
std::span<const KernelEntry> linear_model_entries();
std::span<const KernelEntry> cache_entries();
std::span<const KernelEntry> word_embedding_entries();
std::span<const KernelEntry> encoder_entries();
std::span<const KernelEntry> quantized_recurrent_entries();

// Row-major only: what every kernel here asks of its inputs, whatever they come as.
inline bool all_of(std::span<const KernelTensor> tensors, DType dtype) {
  for (const KernelTensor& tensor : tensors) {
    if (tensor && tensor.dtype != dtype) return false;
  }
  return true;
}

}  // namespace sardonyx::cpu
