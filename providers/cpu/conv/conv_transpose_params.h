// The parameters of a transposed convolution (deconvolution) by our own kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/core/tensor.h"
#include "ir/kernel.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"
#include "ir/ops/conv/window.h"

namespace sardonyx::cpu {

// The attributes of ConvTranspose or FusedConvTranspose; the former has no activation.
struct TransposedCall {
  const ops::ConvTransposeAttrs& attrs;
  ops::FusedActivation activation;
};
TransposedCall transposed_call(const KernelRequest& request);

// One spatial axis: input i adds, at tap k, to output i * stride - pad + k * dilation.
struct TransposedAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;

  // The distance from the first tap of a window to its last, in elements.
  int64_t reach() const { return (kernel - 1) * dilation; }
  // The inputs that add to outputs [first, last) are [lowest_input(first), end_input(last)).
  int64_t lowest_input(int64_t first) const;
  int64_t end_input(int64_t last) const;
  // The first output that inputs from `end` on can still add to: all outputs below it are complete.
  int64_t completed_by(int64_t end) const;
  // The input that adds to `output` at `tap`; -1: none.
  int64_t input_of(int64_t output, int64_t tap) const {
    const int64_t at = output + pad - tap * dilation;
    return at >= 0 && at % stride == 0 && at / stride < in ? at / stride : -1;
  }
  // True if windows neither overlap nor leave gaps, and fill the output.
  bool is_tiled() const {
    return kernel == stride && dilation == 1 && pad == 0 && out == in * stride;
  }
};

// Pixels of an output row that accumulate the same taps: for each q in [begin, end) the `run`
// pixels from q * stride + first on. Input q + shift adds to the first of them at tap `tap`, and to
// the pixels that follow at the taps that follow.
struct TransposedPattern {
  struct ShiftedTap {
    int64_t tap, shift;
  };
  int64_t first, run;
  std::vector<ShiftedTap> taps;
  int64_t begin = 0, end = 0;  // for these all pixels and all inputs are there
};

struct ConvTransposeParams {
  TransposedAxis rows, columns;
  int64_t images = 1, groups = 1;
  int64_t inputs = 1, outputs = 1;  // channels of a group
  bool is_depthwise = false;        // then all channels are one group
  // Each output has one tap per channel: nothing is accumulated over the window.
  bool is_tiled = false;
  bool merges_runs = false;    // runs are `stride` pixels, with all their channels
  int64_t padded_columns = 1;  // taps of a window row, zero-padded to whole runs
  int64_t chunk = 1;           // output channels of a group in one chunk
  int64_t rows_per_tile = 1;   // input rows

  int64_t taps() const { return rows.kernel * padded_columns; }
  int64_t chunks() const { return (outputs + chunk - 1) / chunk; }
  int64_t chunk_size(int64_t index) const { return std::min(chunk, outputs - index * chunk); }
  int64_t run() const { return merges_runs ? columns.stride : 1; }
  int64_t in_channels() const { return is_depthwise ? inputs : groups * inputs; }
  int64_t out_channels() const { return is_depthwise ? outputs : groups * outputs; }
  // Products of one input row with all taps, and the number of such rows that are kept.
  int64_t row_size() const { return columns.in * taps() * chunk; }
  int64_t rows_kept() const { return rows_per_tile + rows.reach() / rows.stride; }
  int64_t products() const {
    return images * groups * inputs * (is_depthwise ? 1 : outputs) * taps() * rows.in * columns.in;
  }
  // Floats of the packed weights of a chunk, of which there are groups * chunks().
  int64_t weight_size() const;
  int64_t bias_size() const;
};

// `x` [images, channels, columns] or [images, channels, rows, columns], `w` [channels, channels of
// a group, kernel...].
ConvTransposeParams conv_transpose_params(const ops::Window& window, const Shape& x, const Shape& w,
                                          int64_t group, int threads);
std::vector<TransposedPattern> patterns_of(const ConvTransposeParams& form);
// Columns of the output that no pattern computes.
std::vector<int64_t> columns_outside(const ConvTransposeParams& form,
                                     const std::vector<TransposedPattern>& patterns);

// Packs the weights: for each group and chunk [inputs][taps][channels], with is_tiled in one part
// for each row of taps; depthwise: [taps][channels].
void pack_weights(const ConvTransposeParams& form, const LooseFloat* weights, float* to);
// Packs the bias as [channels] for every pixel of a run; `bias` may be empty.
void pack_bias(const ConvTransposeParams& form, std::span<const float> bias, float* to);

}  // namespace sardonyx::cpu
