// sardonyx::ChannelShuffle: the channels of `groups` groups are dealt out in turns, what
// ShuffleNets write as Reshape, Transpose and Reshape.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>

#include "ir/attributes.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {

struct ChannelShuffleAttrs {
  int64_t groups = 1;  // divides the channels, which are dim 1
  static auto fields() { return std::tuple{required("groups", &ChannelShuffleAttrs::groups)}; }
};

// The moves of the op on a tensor of this shape, dims [batch, channel in its group, group, inner],
// where channels are `channel` elements apart and images `image`; the inner elements are evenly,
// `inner` apart. The same on both sides.
StridedBlock channel_shuffle_block(int64_t groups, std::span<const int64_t> shape, int64_t image,
                                   int64_t channel, int64_t inner);

}  // namespace sardonyx::ops
