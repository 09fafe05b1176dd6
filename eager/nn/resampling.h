// Images of another size or at other places: x [N, C, spatial...].
#pragma once

#include "eager/nn/module.h"

namespace sardonyx::eager::nn {

struct InterpolateOptions {
  Dims size = {};                         // of the spatial axes: one, or one for each; else
  std::vector<double> scale_factor = {};  // one, or one for each
  // nearest, nearest-exact, linear (also bilinear, trilinear), bicubic, area
  std::string mode = "nearest";
  bool align_corners = false;  // of linear and bicubic
  bool antialias = false;      // of linear and bicubic, when x gets smaller
};
// By Resize (area: adaptive average pooling). Sizes may be those of another tensor in a trace.
Tensor interpolate(const Tensor& x, const InterpolateOptions& options, Loc loc = Loc::current());

// interpolate() as a layer.
using UpsampleOptions = InterpolateOptions;
class Upsample : public Layer<Upsample> {
 public:
  explicit Upsample(UpsampleOptions options, Loc loc = Loc::current());
  Tensor forward(const Tensor& x) const;

 private:
  UpsampleOptions options_;
};

class UpsamplingNearest2d : public Upsample {
 public:
  explicit UpsamplingNearest2d(const UpsampleOptions& options, Loc loc = Loc::current());
};
// With corners aligned, as in torch.
class UpsamplingBilinear2d : public Upsample {
 public:
  explicit UpsamplingBilinear2d(const UpsampleOptions& options, Loc loc = Loc::current());
};

struct GridSampleOptions {
  std::string mode = "bilinear";       // bilinear, nearest, bicubic
  std::string padding_mode = "zeros";  // zeros, border, reflection
  bool align_corners = false;
};
// x [N, C, H, W] at the places grid [N, h, w, 2], (x, y) within [-1, 1]: [N, C, h, w]. Also over
// three axes, grid [N, d, h, w, 3]. ONNX has the op from opset 16 on.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {},
                   Loc loc = Loc::current());
// The grid of an affine map theta [N, 2, 3] (or [N, 3, 4]) for results of `size` [N, C, h, w].
Tensor affine_grid(const Tensor& theta, const Dims& size, bool align_corners = false,
                   Loc loc = Loc::current());

// [N, C*r*r, H, W] to [N, C, H*r, W*r], and back.
Tensor pixel_shuffle(const Tensor& x, int64_t factor, Loc loc = Loc::current());
Tensor pixel_unshuffle(const Tensor& x, int64_t factor, Loc loc = Loc::current());
// Channels of x [N, C, ...] in another order: those of all groups alternate.
Tensor channel_shuffle(const Tensor& x, int64_t groups, Loc loc = Loc::current());
class ChannelShuffle : public Layer<ChannelShuffle> {
 public:
  explicit ChannelShuffle(int64_t groups) : groups_(groups) {}
  Tensor forward(const Tensor& x) const { return channel_shuffle(x, groups_, caller()); }

 private:
  int64_t groups_;
};
// pixel_shuffle() as a layer; channels must be a multiple of factor^2.
class PixelShuffle : public Layer<PixelShuffle> {
 public:
  explicit PixelShuffle(int64_t factor) : factor_(factor) {}
  Tensor forward(const Tensor& x) const { return pixel_shuffle(x, factor_, caller()); }

 private:
  int64_t factor_;
};
// pixel_unshuffle() as a layer; height and width must be multiples of the factor.
class PixelUnshuffle : public Layer<PixelUnshuffle> {
 public:
  explicit PixelUnshuffle(int64_t factor) : factor_(factor) {}
  Tensor forward(const Tensor& x) const { return pixel_unshuffle(x, factor_, caller()); }

 private:
  int64_t factor_;
};

}  // namespace sardonyx::eager::nn
