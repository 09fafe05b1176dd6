// Kernel functions of support vector machines on float32, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

enum class VectorKernel : uint8_t { kLinear, kPolynomial, kRadial, kSigmoid };

struct VectorKernelForm {
  VectorKernel kind;
  float gamma, coef0, degree;
};

// Columns of the vectors are padded to a multiple of this.
constexpr size_t kVectorColumns = 64;

// out[i] = the kernel function of x [features] and column i of vectors [features][columns], for
// i < columns, a multiple of kVectorColumns.
void vector_kernel_row(const VectorKernelForm& form, const float* x, size_t features,
                       const float* vectors, size_t columns, float* out);

}  // namespace sardonyx::cpu
