// The provider's table of kernels, and the helpers that its entries share.
#pragma once

#include <cstdint>
#include <span>

#include "ir/kernel.h"

namespace sardonyx::onednn {

// Runs `prepare` on requests of supported sizes (unsupported_size) and layouts; errors of oneDNN
// become refusals.
Prepared prepare_guarded(const KernelRequest& request, size_t checked,
                         Prepared (*prepare)(const KernelRequest&));

template <Prepared (*prepare)(const KernelRequest&), size_t checked = SIZE_MAX>
Prepared guarded(const KernelRequest& request) {
  return prepare_guarded(request, checked, prepare);
}

// One table per file of kernels.
std::span<const KernelEntry> copy_in_layout_kernels();
std::span<const KernelEntry> conv_kernels();
std::span<const KernelEntry> conv_backward_kernels();
std::span<const KernelEntry> conv_transpose_kernels();
std::span<const KernelEntry> conv_transpose_bf16_kernels();
std::span<const KernelEntry> matmul_kernels();
std::span<const KernelEntry> gemm_kernels();
std::span<const KernelEntry> pooling_kernels();
std::span<const KernelEntry> normalization_kernels();
std::span<const KernelEntry> elementwise_kernels();
std::span<const KernelEntry> concat_kernels();
std::span<const KernelEntry> einsum_kernels();
std::span<const KernelEntry> resampling_kernels();
std::span<const KernelEntry> matmul_integer_kernels();
std::span<const KernelEntry> qlinear_kernels();
std::span<const KernelEntry> matmul_integer_to_float_kernels();
std::span<const KernelEntry> rnn_backward_kernels();

}  // namespace sardonyx::onednn
