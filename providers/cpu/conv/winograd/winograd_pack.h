// Weights of 3x3 windows as Winograd's algorithm multiplies with them.
#pragma once

#include <cstdint>

#include "ir/core/memory/evictable_buffer.h"

namespace sardonyx::cpu {

// G w G^T of every window w of weights [outputs][inputs][3][3] (Lavin and Gray,
// "Fast Algorithms for Convolutional Neural Networks", 2015), for tiles of side x side outputs: 2,
// or 4 with the points 0, +-5/8, +-3/2 and infinity. `out` is aligned to 64 bytes and becomes
// [outputs / unit][(side + 2)^2 places][inputs][unit], units of kWinogradUnit, with zeros
// where the last one has none.
void transform_weights(const LooseFloat* values, int64_t outputs, int64_t inputs, int64_t side,
                       float* out, int threads);

}  // namespace sardonyx::cpu
