// Weights of bytes in the layouts of integer convolutions, whose sums take four products at once:
// the same place of the window in four inputs next to each other are adjacent.
#pragma once

#include <cstddef>

#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

// Writes all of `out` from elements of one byte that are at `from` without gaps, `strides` apart.
// Returns false and writes nothing where the layout is another one or pads inputs.
bool pack_quads(const std::byte* from, const Extents& strides, const BlockedForm& to,
                std::byte* out, int threads);

}  // namespace sardonyx::onednn
