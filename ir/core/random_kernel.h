// Random numbers of consecutive blocks (see random.h), vectorised for the CPU that runs them. All
// CPUs give the same bits: nothing but whole numbers and correctly rounded operations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx {

// One number of [0, 1) for each of the blocks first, first + 1 ...
void uniform_blocks(uint64_t key, uint64_t first, size_t blocks, double* out);
// Two normal numbers for each of them.
void normal_blocks(uint64_t key, uint64_t first, size_t blocks, double* out);

}  // namespace sardonyx
