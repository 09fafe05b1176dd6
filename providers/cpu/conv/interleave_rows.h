// Rows that become every k-th element of one row, vectorised for the CPU that runs it.
#pragma once

#include <cstdint>

namespace sardonyx::cpu {

// to[i * count + k] = rows[k * step + i] for k < count, i < length.
void interleave_rows(const float* rows, int64_t step, int64_t count, int64_t length, float* to);

}  // namespace sardonyx::cpu
