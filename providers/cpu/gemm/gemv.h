// Products with so few rows that reading the other matrix takes longer than the arithmetic: MatMul,
// Gemm and FusedMatMul in float32 or bfloat16 with up to kMaxThinRows rows, or of one column.
#pragma once

#include "ir/kernel.h"

namespace sardonyx::cpu {

// With more rows the arithmetic takes longer than memory, and weights are better packed for it. So
// they are for more than kFewRows, where they are constant and so small that packing costs nothing.
constexpr int64_t kMaxThinRows = 8;
constexpr int64_t kFewRows = 2;
constexpr int64_t kMinUnpackedWeights = 1 << 18;

// Is this a call of one of these ops that is better left to this kernel? It reads weights as they
// lie, so that they need not be held packed as well.
bool is_thin_product(const KernelRequest& request);

}  // namespace sardonyx::cpu
