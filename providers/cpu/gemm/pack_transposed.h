// Transposes rows of floats while weights are packed from the layout of the model's file.
#pragma once

#include <cstdint>

#include "ir/core/memory/evictable_buffer.h"

namespace sardonyx::cpu {

// to[i * to_step + row] = from[row * from_step + i] for `rows` rows of `count` elements.
void pack_transposed(const LooseFloat* from, int64_t from_step, int64_t rows, int64_t count,
                     float* to, int64_t to_step);

}  // namespace sardonyx::cpu
