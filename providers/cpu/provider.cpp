#include "providers/cpu/provider.h"

#include <vector>

#include "providers/cpu/elementwise/relu_grad.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/ml/svm.h"
#include "providers/cpu/ml/tree_ensemble.h"
#include "providers/cpu/normalization/batch_norm_training.h"
#include "providers/cpu/reduction/arg_max_top_k.h"

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
    for (const auto part : {cpu::elementwise_entries(),
                            cpu::linear_model_entries(),
                            cpu::tree_entries(),
                            cpu::support_vector_entries(),
                            cpu::order_entries(),
                            cpu::function_entries(),
                            cpu::number_entries(),
                            cpu::grouped_attention_entries(),
                            cpu::group_normalization_entries(),
                            cpu::rotary_entries(),
                            cpu::elementwise_group_entries(),
                            cpu::softmax_entries(),
                            cpu::recurrent_entries(),
                            cpu::pool_entries(),
                            cpu::reduce_entries(),
                            cpu::convert_entries(),
                            cpu::movement_entries(),
                            cpu::gather_entries(),
                            cpu::scatter_entries(),
                            cpu::logic_entries(),
                            cpu::quantized_entries(),
                            cpu::integer_convolution_entries(),
                            cpu::integer_product_entries(),
                            cpu::nbits_entries(),
                            cpu::optimizer_entries(),
                            cpu::product_step_entries(),
                            cpu::pool_gradient_entries(),
                            cpu::normalization_gradient_entries(),
                            cpu::group_normalization_gradient_entries(),
                            cpu::resize_entries(),
                            cpu::normalization_entries(),
                            cpu::attention_entries(),
                            cpu::fused_attention_entries(),
                            cpu::gemv_entries(),
                            cpu::cache_entries(),
                            cpu::block_entries(),
                            cpu::deform_entries(),
                            cpu::grid_sample_entries(),
                            cpu::col2im_entries(),
                            cpu::double_convolution_entries(),
                            cpu::roi_align_entries(),
                            cpu::crop_entries(),
                            cpu::gemm_generic_entries(),
                            cpu::gemm_f64_entries(),
                            cpu::word_embedding_entries(),
                            cpu::encoder_entries(),
                            cpu::quantized_recurrent_entries(),
                            cpu::softmax_column_entries(),
                            cpu::batch_normalization_entries(),
                            cpu::activation_gradient_entries()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }());
  static const Provider provider{"cpu", entries};
  return provider;
}

}  // namespace sardonyx
