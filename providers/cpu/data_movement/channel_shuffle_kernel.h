// Dealing out the channels of pixels.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// Whether there is a vector kernel for this number of groups.
inline bool has_shuffle(size_t groups) {
  return groups >= 2 && groups <= 4;
}

// out[pixel][c][g] = in[pixel][g][c] for g < groups and c < channels; groups that has_shuffle.
void shuffle_pixels(const float* in, float* out, size_t pixels, size_t groups, size_t channels);

}  // namespace sardonyx::cpu
