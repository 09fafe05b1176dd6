// Max pooling with indices (argmax pooling) over rows of float or double in NCHW, vectorised for
// the CPU that runs it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "providers/cpu/pooling/pool_nchw_kernel.h"

namespace sardonyx::cpu {

// Counts elements of a channel, in lanes as wide as those of T.
template <typename T>
using MaxIndex = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Elements of scratch memory that find_maxima() wants.
template <typename T>
size_t max_pool_scratch(const Window1d& line, size_t rows);

// The channels whose maxima and indices are found.
template <typename T>
struct MaxPoolChannels {
  size_t count = 1;
  const T* in = nullptr;  // the first element of the first one
  size_t in_step = 0;     // from one channel to the next
  int64_t begin = 0;      // the index of the first element
  int64_t first = 0;      // the place in a row of the element that lines take first
  T* out = nullptr;  // rows of each channel are windows.row_step apart, and no more than outputs
  int64_t* indices = nullptr;
  size_t out_step = 0;
};

// The maximum of each window, and its index. Of equal elements the first is the maximum. A NaN
// loses to every number, and the last of a window without a number is taken. `windows` has no
// scales, and each window has an element of the input. A channel's elements can be counted by
// MaxIndex<T>.
template <typename T>
void find_max_indices(const PoolRowArgs<T>& windows, const MaxPoolChannels<T>& channels,
                      T* scratch);

}  // namespace sardonyx::cpu
