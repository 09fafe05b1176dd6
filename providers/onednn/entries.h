// What the entries of the provider's table have in common, and their list.
#pragma once

#include <cstdint>
#include <span>

#include "ir/kernel.h"

namespace sardonyx::onednn {

// Refuses tensors that no primitive takes: those without elements and those of 2^31 elements or
// more. nullptr where the request passes.
const char* refusal_of_sizes(const KernelRequest& request);
// Runs `prepare`; errors of oneDNN become refusals.
Prepared prepare_guarded(const KernelRequest& request, size_t checked,
                         Prepared (*prepare)(const KernelRequest&));

template <Prepared (*prepare)(const KernelRequest&), size_t checked = SIZE_MAX>
Prepared guarded(const KernelRequest& request) {
  return prepare_guarded(request, checked, prepare);
}

// The first portable kernel that takes the request; layouts of its tensors mean nothing to them.
Prepared prepare_by_rows(const KernelRequest& request);

// One table per file of kernels.
std::span<const KernelEntry> convolution_kernels();
std::span<const KernelEntry> convolution_backward_kernels();
std::span<const KernelEntry> deconvolution_kernels();
std::span<const KernelEntry> tiled_deconvolution_kernels();
std::span<const KernelEntry> matmul_kernels();
std::span<const KernelEntry> gemm_kernels();
std::span<const KernelEntry> pixel_pool_kernels();
std::span<const KernelEntry> pool_kernels();
std::span<const KernelEntry> normalization_kernels();
std::span<const KernelEntry> elementwise_kernels();
std::span<const KernelEntry> elementwise_in_layout_kernels();
std::span<const KernelEntry> join_kernels();
std::span<const KernelEntry> resize_kernels();
std::span<const KernelEntry> reduce_kernels();
std::span<const KernelEntry> integer_kernels();
std::span<const KernelEntry> quantized_kernels();
std::span<const KernelEntry> quantized_pool_kernels();
std::span<const KernelEntry> quantized_to_float_kernels();
std::span<const KernelEntry> quantized_join_kernels();

}  // namespace sardonyx::onednn
