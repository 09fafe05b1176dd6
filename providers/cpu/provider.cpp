#include "providers/cpu/provider.h"

#include <vector>

#include "providers/cpu/kernel_list.h"

namespace sardonyx {

namespace cpu {

Prepared prepare_portable(const KernelRequest& request) {
  Prepared prepared = Prepared::refuse("there is no portable kernel");
  const std::string name = full_name(request.op);
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op != name) continue;
    prepared = entry.prepare(request);
    if (prepared.kernel) break;
  }
  return prepared;
}

}  // namespace cpu

const Provider& cpu_provider() {
  static const auto& entries = *new std::vector<KernelEntry>([] {
    std::vector<KernelEntry> all;
    for (const auto part : {cpu::elementwise_f32_kernels(),
                            cpu::linear_model_kernels(),
                            cpu::tree_ensemble_kernels(),
                            cpu::svm_kernels(),
                            cpu::arg_max_top_k_kernels(),
                            cpu::special_functions_kernels(),
                            cpu::elementwise_generic_kernels(),
                            cpu::group_query_attention_kernels(),
                            cpu::group_norm_kernels(),
                            cpu::rotary_embedding_kernels(),
                            cpu::fused_elementwise_kernels(),
                            cpu::softmax_kernels(),
                            cpu::rnn_kernels(),
                            cpu::pool_nchw_kernels(),
                            cpu::reduce_kernels(),
                            cpu::cumulative_kernels(),
                            cpu::quantize_linear_kernels(),
                            cpu::strided_copy_kernels(),
                            cpu::gather_kernels(),
                            cpu::scatter_kernels(),
                            cpu::compare_select_kernels(),
                            cpu::qlinear_elementwise_kernels(),
                            cpu::conv_integer_kernels(),
                            cpu::matmul_integer_kernels(),
                            cpu::matmul_nbits_kernels(),
                            cpu::mixture_of_experts_kernels(),
                            cpu::optimizer_step_kernels(),
                            cpu::fused_gemm_optimizer_kernels(),
                            cpu::pool_grad_kernels(),
                            cpu::layer_norm_grad_kernels(),
                            cpu::softmax_grad_kernels(),
                            cpu::group_norm_grad_kernels(),
                            cpu::resize_kernels(),
                            cpu::layer_norm_kernels(),
                            cpu::attention_kernels(),
                            cpu::fused_attention_kernels(),
                            cpu::gemv_kernels(),
                            cpu::kv_cache_update_kernels(),
                            cpu::blockwise_dequantize_kernels(),
                            cpu::deform_conv_kernels(),
                            cpu::grid_sample_kernels(),
                            cpu::col2im_kernels(),
                            cpu::conv_f64_kernels(),
                            cpu::conv_im2col_kernels(),
                            cpu::roi_align_kernels(),
                            cpu::crop_and_resize_kernels(),
                            cpu::fully_connected_kernels(),
                            cpu::gemm_generic_kernels(),
                            cpu::gemm_tiled_kernels(),
                            cpu::inverse_kernels(),
                            cpu::word_conv_embedding_kernels(),
                            cpu::label_encoder_kernels(),
                            cpu::dynamic_quantize_lstm_kernels(),
                            cpu::softmax_strided_kernels(),
                            cpu::softmax_f64_kernels(),
                            cpu::batch_norm_training_kernels(),
                            cpu::relu_grad_kernels()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }());
  static const Provider provider{"cpu", entries};
  return provider;
}

}  // namespace sardonyx
