// Shared by the direct convolutions whose products the micro-kernel of igemm_f32.h computes.
#pragma once

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"
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
  bool multiply(const TiledConvWork& share, ConvolutionRows rows, int64_t count) const;
  void apply(const TiledConvWork& share, int64_t image, const OutputTile& tile) const override;
};

// Prepares such a kernel: `params` gives its form, `why_not` why it refuses that (null: it does
// not), and `made` the result for it.
template <typename Params, typename WhyNot, typename Made>
Prepared prepare_igemm_tiles(const KernelRequest& request, const ops::ConvAttrs& attrs,
                             const ops::FusedActivation& activation, const Params& params,
                             const WhyNot& why_not, const Made& made) {
  if (const char* why = why_unsupported_image(request, true)) return Prepared::refuse(why);
  const auto finish = make_epilogue(activation);
  if (!finish) return Prepared::refuse("unknown activation");
  const ops::Window window =
      ops::conv_window(request.op.name, attrs, request.inputs[0].shape, request.inputs[1].shape);
  const ConvParams form = params(request, window, attrs.group, *finish);
  if (const char* why = why_not(form)) return Prepared::refuse(why);
  return made(form);
}

}  // namespace sardonyx::cpu
