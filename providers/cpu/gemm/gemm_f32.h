// Products of rows with a matrix of weights: the pixels of a 1x1 convolution, channels last, and
// the rows of a matrix product.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/core/memory/evictable_buffer.h"

namespace sardonyx::cpu {

// Threads take outputs in multiples of this; biases are padded to it with zeros.
constexpr int64_t kGemmF32Unit = 32;

// out [pixels, outputs] = in [pixels, inputs] weights + bias + residual, clipped: a GEMM, or a 1x1
// convolution of one group. in_step and out_step are the elements from pixel to pixel (row to row).
struct GemmF32Args {
  const float* in;
  const float* weights;   // packed by pack_gemm_f32
  const float* bias;      // [outputs rounded up to whole units]; not read where row_bias is
  const float* residual;  // added, in the layout of `out`, may be `out`; or null
  float* out;
  int64_t in_step, out_step;
  int64_t inputs, outputs;          // channels of the group
  float low, high;                  // results are clipped to these; infinities: not at all
  const float* row_bias = nullptr;  // [pixels], for a bias of each row
};

// Floats of the packed weights of a group.
int64_t packed_gemm_f32_size(int64_t inputs, int64_t outputs);
// The weight of an output and an input is weights[output * output_step + input * input_step].
void pack_gemm_f32(const LooseFloat* weights, int64_t output_step, int64_t input_step,
                   int64_t inputs, int64_t outputs, float* packed, int threads = 1);
// The rows of a tile, given `pixels` rows in all. The packed weights are read once for each tile.
int64_t pixels_per_tile(int64_t inputs, int64_t pixels);

// Outputs [first, last) of pixels [begin, end); `first` is a multiple of the unit, so is `last` or
// it is the number of outputs. Every element is the bias, then the products added in the order of
// the inputs, then the residual, whatever the share. run_gemm_f32_few_rows() does not support
// row_bias.
void run_gemm_f32(const GemmF32Args& rows, int64_t begin, int64_t end, int64_t first, int64_t last);

// The most rows of run_gemm_f32_few_rows(), which reads all weights once, from front to back.
constexpr int64_t kMaxSplitRows = 8;
// Outputs [first, last) of rows [0, rows), at most kMaxSplitRows. Sums of a few rows would wait
// for one another, so every element is made of several, whose number depends on `rows` alone.
void run_gemm_f32_few_rows(const GemmF32Args& product, int64_t rows, int64_t first, int64_t last);

}  // namespace sardonyx::cpu
