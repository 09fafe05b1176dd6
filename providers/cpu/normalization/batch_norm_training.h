// Batch normalization with the statistics of the batch, and its gradient, on float32.
#pragma once

#include <memory>

#include "ir/kernel.h"

namespace sardonyx::cpu {

// The layout of a tensor [N, C, ...]: groups of `lanes` channels (1 or 16), whose elements at one
// position are adjacent. The last group may be padded with channels of zeros.
struct ChannelGroups {
  int64_t batch = 0, channels = 0, positions = 0;
  int64_t lanes = 1;
  static ChannelGroups of(const Shape& x, int64_t lanes);
  int64_t groups() const { return (channels + lanes - 1) / lanes; }
};

// BatchNormalization in training mode: (X, scale, B, mean, var) -> (Y, running mean, running var).
std::unique_ptr<Kernel> batch_normalization_in_training(const ChannelGroups& x,
                                                        const KernelRequest& request);
// BatchNormalizationGrad: (dY, X, scale) -> (dX, d_scale, d_bias).
std::unique_ptr<Kernel> batch_normalization_gradient(const ChannelGroups& x,
                                                     const KernelRequest& request);

}  // namespace sardonyx::cpu
