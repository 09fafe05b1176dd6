// What the entries of the provider's table have in common, and their list.
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
std::span<const KernelEntry> layout_movement_kernels();
std::span<const KernelEntry> convolution_kernels();
std::span<const KernelEntry> convolution_backward_kernels();
std::span<const KernelEntry> deconvolution_kernels();
std::span<const KernelEntry> tiled_deconvolution_kernels();
std::span<const KernelEntry> matmul_kernels();
std::span<const KernelEntry> gemm_kernels();
std::span<const KernelEntry> pool_kernels();
std::span<const KernelEntry> normalization_kernels();
std::span<const KernelEntry> elementwise_kernels();
std::span<const KernelEntry> join_kernels();
std::span<const KernelEntry> einsum_kernels();
std::span<const KernelEntry> resize_kernels();
std::span<const KernelEntry> integer_kernels();
std::span<const KernelEntry> quantized_kernels();
std::span<const KernelEntry> quantized_to_float_kernels();

}  // namespace sardonyx::onednn
