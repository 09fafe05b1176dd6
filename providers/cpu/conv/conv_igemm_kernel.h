// Shared by the direct convolutions whose products the micro-kernel of igemm_f32.h computes.
#pragma once

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/conv/igemm_f32.h"
#include "providers/cpu/conv/tiled_conv.h"

namespace sardonyx::cpu {

class IgemmTileKernel : public TiledConvKernel {
 public:
  IgemmTileKernel(const ConvParams& form, TiledConvWeights weights, int threads)
      : TiledConvKernel(form, std::move(weights), threads, /*may_share_outputs=*/true) {}

 protected:
  // The place of a tile's first output of the group, in elements from the first image.
  int64_t first_output(int64_t image, int64_t group, const OutputTile& tile) const;
  // The rows of a tile with the group's bias and clipping; the caller sets what is read.
  ConvolutionRows rows_to(const TiledConvWork& share, int64_t group, const OutputTile& tile,
                          int64_t place) const;
  // Multiplies all rows by the share's outputs. Returns false once the run is cancelled.
  bool multiply(const TiledConvWork& share, const ConvolutionRows& rows, int64_t count) const;
  void apply(const TiledConvWork& share, int64_t image, const OutputTile& tile) const override;
};

}  // namespace sardonyx::cpu
