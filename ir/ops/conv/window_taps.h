// The taps of single windows, listed: what reference kernels of convolution and pooling sum over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/ops/conv/window.h"

namespace sardonyx::ops {

// One tap of a window: its flat index in the kernel, and that of the element of the input it meets.
struct Tap {
  int64_t kernel;
  int64_t element;
};

// The taps through which output `position` (one index for each spatial axis) reads the input, in
// row-major order. Taps outside the input are left out.
void list_taps(const Window& window, std::span<const int64_t> position, std::vector<Tap>& taps);
// Lists the taps of a transposed convolution through which inputs add to output `position`.
void list_transposed_taps(const Window& window, std::span<const int64_t> position,
                          std::vector<Tap>& taps);

// Moves `index` to the next position of `shape` in row-major order; after the last it is the first
// again.
void next_position(std::span<int64_t> index, std::span<const int64_t> shape);

}  // namespace sardonyx::ops
