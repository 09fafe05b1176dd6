// Sizes and places of a direct convolution: what its windows are, and where they lie.
#pragma once

#include <vector>

#include "ir/ops/conv/window.h"
#include "providers/cpu/image_layout.h"

namespace sardonyx::cpu {

// How the channels of an image lie: one after the other, side by side, or in blocks.
enum class ImageOrder { kPlanes, kPixels, kBlocks };

// Rows and columns of the output that are computed from one padded strip of the input.
struct OutputTile {
  int64_t row = 0, column = 0, rows, columns;
};

// A line is an image of one row, and so is an image of one column.
struct ConvParams {
  ImageOrder from, read, to;  // the input, what windows are read from, and the output
  bool is_padded;  // windows are read from padded strips of the input, else from the input
  int64_t images, groups, inputs, outputs;  // channels of a group
  int64_t height, width, out_height, out_width;
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {};
  Epilogue finish;
  bool has_residual;
  OutputTile strip;  // the largest; images are cut into rows, lines into columns

  int64_t in_channels() const { return groups * inputs; }
  int64_t out_channels() const { return groups * outputs; }
  int64_t elements() const { return inputs * kernel[0] * kernel[1]; }  // of a window
  bool is_line() const { return out_height == 1; }
  int64_t length() const { return is_line() ? out_width : out_height; }  // of what is cut
  // Rows or columns of the input under those of the output.
  int64_t covered(size_t axis, int64_t outs) const {
    return (outs - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1;
  }
  ImageSteps in_steps() const;
  ImageSteps out_steps() const;
  ImageSteps read_steps() const;                     // of what windows are read from
  int64_t channels_together() const;                 // that lie side by side there
  int64_t padded_size() const;                       // elements of a padded strip
  OutputTile cut(int64_t begin, int64_t end) const;  // of the length
};

ConvParams conv_params(const KernelRequest& request, const ops::Window& window, int64_t groups,
                       const Epilogue& finish);

// Null, or why the convolution is left to oneDNN, whose kernels are as fast or faster.
const char* refusal_of(const ConvParams& form);

// The same for few output channels, which are read from planes and come to lie in planes.
ConvParams conv_nchw_params(const KernelRequest& request, const ops::Window& window,
                            const Epilogue& finish);
const char* refusal_of_planes(const ConvParams& form);

// The same for bytes, which come to lie side by side. Elements of inputs are quads of channels:
// those of a group must be whole ones. With `is_copied` windows are read from strips in any case.
ConvParams byte_form(const Shape& x, const Shape& w, const Shape& y, const ops::Window& window,
                     int64_t groups, ImageOrder from, bool is_copied);
const char* refusal_of_bytes(const ConvParams& form);

// Null where it is row-major.
LayoutPtr layout_for(ImageOrder lie, const Shape& shape);

// Where the elements of a window lie from its first one, and in an output's weights, in the order
// in which they are multiplied.
struct IndirectionBuffer {
  std::vector<int32_t> offsets;
  std::vector<int64_t> order;
};
IndirectionBuffer make_indirection(const ConvParams& form);

}  // namespace sardonyx::cpu
