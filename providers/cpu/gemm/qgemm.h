// Products of matrices of bytes with constant ones by our own kernel, for all sizes.
#pragma once

#include <optional>

#include "providers/cpu/quantization/int8_weights.h"

namespace sardonyx::cpu {

// result = finish(sum over k of (a[m, k] - a_zero) * (b[k, n] - weights.zero()))
struct GemmU8S8 {
  size_t a, b;                // inputs; A row-major
  bool b_transposed = false;  // B is [n, k]
  const CenteredWeights& weights;
  int32_t a_zero = 0;                                 // where it is known ahead
  std::optional<size_t> a_zero_input, a_scale_input;  // else read by the run
  std::vector<float> scales{};   // of all columns or each; with the scale of A where that is known
  const Tensor* bias = nullptr;  // int32, for bytes; the op's input `bias_input`
  std::optional<size_t> bias_input;  // a row of floats, where results are these
  int32_t y_zero = 0;
};

// Results are of the output's type: bytes, int32 or float.
inline constexpr InnerKernel kGemmU8S8[] = {{"qgemm", "providers/cpu/gemm/qgemm.cpp"}};
Prepared prepare_gemm_u8s8(const KernelRequest& request, const GemmU8S8& product);

}  // namespace sardonyx::cpu
