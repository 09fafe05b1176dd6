// Integers of few bits to float32, for weights that share a scale by blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/core/dtype.h"

namespace sardonyx::cpu {

// The storage of a tensor's integers: two of 4 bits in a byte (the first in its lower half), or one
// of 8.
enum class Codes : uint8_t { kUnsigned4, kSigned4, kUnsigned8, kSigned8 };

// out[i] = (codes[first + i] - zero) * scale for i < count.
void decode_row(Codes form, const void* codes, int64_t first, float zero, float scale, float* out,
                int64_t count);
// The integer at `index`.
float decoded(Codes form, const void* codes, int64_t index);

}  // namespace sardonyx::cpu
