// GEMV kernels of MatMul, Gemm and FusedMatMul in float32 or bfloat16, for up to kMaxGemvRows rows
// or one column: so few that loading the other matrix takes longer than the arithmetic.
#pragma once

#include "ir/kernel.h"

namespace sardonyx::cpu {

// With more rows the arithmetic takes longer than memory, and weights are better packed for it. So
// they are for more than kFewRows, where they are constant and so small that packing costs nothing.
constexpr int64_t kMaxGemvRows = 8;
constexpr int64_t kFewRows = 2;
constexpr int64_t kMinUnpackedWeights = 1 << 18;

// True if the GEMV kernel is the best one for this request. It reads weights unpacked, so that no
// second, packed copy stays in memory.
bool is_gemv(const KernelRequest& request);

}  // namespace sardonyx::cpu
