// Transpositions of elements of 32 bits, vectorised for the CPU that runs them.
#pragma once

#include <cstdint>

namespace sardonyx {

// to[row * to_step + column] = from[column * from_step + row] for all but the last rows % 4 rows
// and for the first columns, whose number it returns: 0 where the CPU has no longer vectors than
// all others of its kind.
int64_t transpose_words(const uint32_t* from, int64_t from_step, uint32_t* to, int64_t to_step,
                        int64_t rows, int64_t columns);

}  // namespace sardonyx
