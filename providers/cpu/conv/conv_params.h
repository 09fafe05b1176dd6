// The parameters of a direct convolution: sizes, strides, layouts and tiling.
#pragma once

#include <vector>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/window.h"
#include "providers/cpu/image_layout.h"

namespace sardonyx::cpu {

// NCHW, NHWC, and NCHW16c.
enum class ImageOrder { kPlanes, kPixels, kBlocks };

// Rows and columns of the output, computed from one padded tile of the input.
struct OutputTile {
  int64_t row = 0, column = 0, rows, columns;
};

// A tensor of one spatial dim, or of one column, is an image of one row.
struct ConvParams {
  ImageOrder from, read, to;  // the input, the memory windows are read from, the output
  bool is_padded;      // windows are read from padded tiles of the input, else from the input
  bool is_transposed;  // outputs are computed channels last, and written as planes by the tile
  int64_t images, groups, inputs, outputs;  // channels of a group
  int64_t height, width, out_height, out_width;
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {};
  Epilogue finish;
  bool has_residual;
  OutputTile tile;  // the largest; images are tiled by rows, images of one row by columns

  int64_t in_channels() const { return groups * inputs; }
  int64_t out_channels() const { return groups * outputs; }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t elements() const { return inputs * taps(); }  // of a window
  bool is_line() const { return out_height == 1; }
  int64_t length() const { return is_line() ? out_width : out_height; }  // of the tiled axis
  // Rows or columns of the input under `outs` rows or columns of the output.
  int64_t covered(size_t axis, int64_t outs) const {
    return (outs - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1;
  }
  ImageSteps in_steps() const;
  ImageSteps out_steps() const;
  ImageSteps read_steps() const;                     // of the memory windows are read from
  int64_t channels_interleaved() const;              // adjacent in that memory
  int64_t padded_size() const;                       // elements of a padded tile
  int64_t transposed_size() const;                   // of the outputs of a tile to be transposed
  OutputTile cut(int64_t begin, int64_t end) const;  // of length()
};

ConvParams conv_params(const KernelRequest& request, const ops::Window& window, int64_t groups,
                       const Epilogue& finish);

// Null, or why the convolution is left to oneDNN, whose kernels are as fast or faster.
const char* why_unsupported(const ConvParams& form);

// The parameters of the kernel that reads the image in place, tap by tap.
ConvParams conv_kn2row_params(const KernelRequest& request, const ops::Window& window,
                              int64_t groups, const Epilogue& finish);
const char* why_unsupported_kn2row(const ConvParams& form);

// The parameters of the NCHW to NCHW kernels, for convolutions of few output channels.
ConvParams conv_nchw_params(const KernelRequest& request, const ops::Window& window,
                            const Epilogue& finish);
const char* why_unsupported_nchw(const ConvParams& form);

// The parameters of int8 convolutions, whose output is NHWC. One element holds kVnniGroup channels,
// so the channels of a group must be a multiple of it. `is_copied`: windows are always read from a
// padded copy of the input tile.
ConvParams conv_int8_params(const Shape& x, const Shape& w, const Shape& y,
                            const ops::Window& window, int64_t groups, ImageOrder from,
                            bool is_copied);
const char* why_unsupported_int8(const ConvParams& form);

// Adjacent windows along an axis whose same taps, in one piece, read the image.
struct TapsInside {
  IndexRange windows, taps;
};
// All windows along the axis, in order.
std::vector<TapsInside> taps_inside(const ConvParams& form, size_t axis);

// The parameters of int8 convolutions that read NHWC images in place and leave out the taps that
// read padding.
ConvParams conv_int8_inside_params(const Shape& x, const Shape& w, const Shape& y,
                                   const ops::Window& window, int64_t groups);
const char* why_unsupported_int8_inside(const ConvParams& form);

// Those of `windows` windows along an axis of `size` elements whose tap reads it; the tap of window
// 0 is at `place`, which may be outside.
IndexRange windows_inside(int64_t windows, int64_t stride, int64_t place, int64_t size);

// Null for row-major order.
LayoutPtr layout_for(ImageOrder order, const Shape& shape);

// The offset of each element of a window from its first one, and the index of its weight, in the
// order of multiplication.
struct IndirectionBuffer {
  std::vector<int32_t> offsets;
  std::vector<int64_t> order;
};
IndirectionBuffer make_indirection(const ConvParams& form);

}  // namespace sardonyx::cpu
