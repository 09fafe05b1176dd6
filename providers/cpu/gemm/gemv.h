// GEMV kernels of MatMul, Gemm and FusedMatMul in float32 or bfloat16, for up to kMaxGemvRows rows
// or one column: so few that loading the other matrix takes longer than the arithmetic.
#pragma once

#include "ir/kernel.h"

namespace sardonyx::cpu {

// Beyond kMaxGemvRows rows a product is bound by arithmetic, not by memory, and prepacked weights
// are faster. So they are beyond kFewRows rows for constant weights of less than
// kMinUnpackedWeights elements, whose packing costs nothing.
constexpr int64_t kMaxGemvRows = 8;
constexpr int64_t kFewRows = 2;
constexpr int64_t kMinUnpackedWeights = 1 << 18;

// True if the GEMV kernel is the best one for this request. It reads weights unpacked, so that no
// second, packed copy stays in memory.
bool is_gemv(const KernelRequest& request);

}  // namespace sardonyx::cpu
