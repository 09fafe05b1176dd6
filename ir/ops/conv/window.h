// Windows that slide over the spatial axes of a tensor: the geometry that convolution and pooling
// share. The rules are those of the ONNX operator texts of Conv-22, ConvTranspose-22 and
// AveragePool-22.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/core/symbolic_dim.h"

namespace sardonyx::ops {

using OptionalInts = std::optional<std::vector<int64_t>>;

// The attributes of a node that describe its windows. An empty list stands for ones (strides,
// dilations) or zeros (pads, output_padding) or for "not given" (output_shape).
struct WindowSpec {
  std::string_view op;        // for messages
  std::string_view auto_pad;  // NOTSET (or empty), VALID, SAME_UPPER, SAME_LOWER
  std::span<const int64_t> strides;
  std::span<const int64_t> dilations;
  std::span<const int64_t>
      pads;                // every begin, then every end; not looked at unless auto_pad is NOTSET
  bool ceil_mode = false;  // pooling only
  // Pooling only: a window that exceeds the padded input by a whole stride gives no outputs, where
  // a convolution's is refused.
  bool may_have_no_place = false;
  std::span<const int64_t> output_padding;  // ConvTranspose only
  std::span<const int64_t>
      output_shape;  // ConvTranspose only: spatial sizes, or those after batch and channels
};

// The windows over an input of known size, one entry for each spatial axis.
//
// A convolution's or pool's output o reads, at tap k, input o * stride - pad_begin + k * dilation,
// where that is inside the input. `pads_end` is what the attributes (or auto_pad) say; in
// ceil_mode the last window may reach beyond. A negative pad crops.
//
// A transposed convolution's input i adds, at tap k, to output i * stride - pad_begin + k *
// dilation, where that is inside `out`. There `pads_end` has taken output_padding in (so it may
// be negative) and always out = (in - 1) * stride + (kernel - 1) * dilation + 1 - pad_begin -
// pad_end.
struct Window {
  Shape in, kernel, strides, dilations, pads_begin, pads_end, out;

  size_t rank() const { return kernel.size(); }
  // The size of the window of `axis`, from its first tap to its last.
  int64_t extent(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  // The first element along `axis` of the window of output `output`, in input coordinates; may be
  // negative.
  int64_t start(size_t axis, int64_t output) const {
    return output * strides[axis] - pads_begin[axis];
  }
  // One tap, and nothing around the input.
  bool is_pointwise() const;
  // Each window is one element further than the one before.
  bool has_unit_strides() const;
};

// The taps [begin, end) of the window that begins at `start` which are inside [0, size).
struct TapRange {
  int64_t begin, end;
  int64_t count() const { return end > begin ? end - begin : 0; }
};
TapRange taps_inside(int64_t start, int64_t kernel, int64_t dilation, int64_t size);

// The output's spatial dims. Throws kInvalidModel (naming spec.op) for lists of a wrong length,
// sizes, strides or dilations below 1, an unknown auto_pad, a kernel larger than the padded input,
// pads that crop more than the input; kResourceExhausted where sizes overflow. What depends on
// unknown dims is not checked.
Dims window_dims(const WindowSpec& spec, const Dims& input, const Dims& kernel);
Dims transposed_window_dims(const WindowSpec& spec, const Dims& input, const Dims& kernel);

// The window of inputs whose sizes are known, with the pads worked out.
Window make_window(const WindowSpec& spec, const Shape& input, const Shape& kernel);
Window make_transposed_window(const WindowSpec& spec, const Shape& input, const Shape& kernel);

// `ints` or nothing, for the lists of a WindowSpec.
inline std::span<const int64_t> given_ints(const OptionalInts& ints) {
  return ints ? std::span<const int64_t>(*ints) : std::span<const int64_t>();
}

}  // namespace sardonyx::ops
