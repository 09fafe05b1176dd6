#include "providers/cpu/gemm/nbits_product.h"

#include <algorithm>
#include <limits>

namespace sardonyx::cpu {
namespace {

// Rows are processed in parts of this length, some of which fit an L1 cache.
constexpr size_t kSpreadPart = 512;
// Depth of a dequantized panel: an L1 cache holds it beside some rows.
constexpr int64_t kPanelDepth = 256;

int nbits_at(const uint8_t* bytes, size_t index, const NBitsRow& row) {
  const size_t values = row.values_per_byte();
  const int shift = static_cast<int>(index % values) * row.bits;
  return bytes[index / values] >> shift & ((1 << row.bits) - 1);
}

// unpack_nbits() reads columns in words of four bytes.
bool has_whole_words(const NBitsRow& row) {
  return row.blocks * row.block_bytes % 4 == 0;
}

// Adds the products of the blocks of `part`, which begin at `block`.
void add_nbits_part(const NBitsMatrix& m, const NBitsRow& part, size_t block, int64_t first,
                    int64_t count, const float* zeros, const float* in, size_t step, size_t rows,
                    float (*sums)[kNBitsRowsAtOnce]) {
  for (int64_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(first + i) * m.row.blocks + block;
    float products[kNBitsRowsAtOnce];
    multiply_nbits(part, m.weights + at * m.row.block_bytes, m.scales + at,
                   zeros + static_cast<size_t>(i) * m.row.blocks + block,
                   in + block * m.row.block_size(), step, rows, products);
    for (size_t r = 0; r < rows; ++r)
      sums[i][r] += products[r];
  }
}

// The parts of the scratch of a product by panels.
struct PanelScratch {
  float *scales, *zeros, *bias, *none, *panel, *unpacked;

  PanelScratch(const NBitsRow& row, float* scratch) {
    const int64_t of_blocks = static_cast<int64_t>(row.blocks) * kNBitsColumns;
    scales = scratch;
    zeros = scales + of_blocks;
    bias = zeros + of_blocks;
    none = bias + kNBitsColumns;
    panel = none + kNBitsColumns;
    unpacked = panel + kPanelDepth * kNBitsColumns;
  }
};

void prepare_panel_columns(const NBitsMatrix& m, int64_t first, int64_t count,
                           const PanelScratch& work) {
  const auto blocks = static_cast<int64_t>(m.row.blocks);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t b = 0; b < blocks; ++b)
      work.scales[b * kNBitsColumns + i] = m.scales[(first + i) * blocks + b];
    m.read_zeros(first + i, work.zeros + i, kNBitsColumns);
  }
  std::fill_n(work.bias, 2 * kNBitsColumns, 0.0f);
  if (m.bias) std::copy_n(m.bias + first, count, work.bias);
}

// The inputs [at, at + count) of some columns as the panel of a GEMM. `is_whole`: of as many
// columns and inputs as unpack_nbits() takes.
void unpack_panel(const NBitsMatrix& m, int64_t column, int64_t columns, int64_t at, int64_t count,
                  bool is_whole, const PanelScratch& work) {
  const size_t column_bytes = m.row.blocks * m.row.block_bytes;
  const uint8_t* weights = m.weights + static_cast<size_t>(column) * column_bytes;
  if (is_whole) {
    return unpack_nbits(
        {m.row.bits, m.row.block_size(), column_bytes, weights, work.scales, work.zeros},
        static_cast<size_t>(at), static_cast<size_t>(count), work.panel);
  }
  const auto block_size = static_cast<int64_t>(m.row.block_size());
  for (int64_t i = 0; i < columns; ++i, weights += column_bytes) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t block = (at + k) / block_size * kNBitsColumns + i;
      const int number = nbits_at(weights, static_cast<size_t>(at + k), m.row);
      work.unpacked[i * count + k] =
          (static_cast<float>(number) - work.zeros[block]) * work.scales[block];
    }
  }
  pack_gemm_f32(work.unpacked, count, 1, count, columns, work.panel);
}

}  // namespace

void NBitsMatrix::read_zeros(int64_t column, float* to, size_t step) const {
  const auto* bytes = static_cast<const uint8_t*>(zero_points);
  const auto at = static_cast<size_t>(column);
  for (size_t b = 0; b < row.blocks; ++b) {
    auto zero = static_cast<float>(1 << (row.bits - 1));
    if (zeros == NBitsZeros::kFloat)
      zero = static_cast<const float*>(zero_points)[at * row.blocks + b];
    else if (zeros == NBitsZeros::kPacked)
      zero = static_cast<float>(nbits_at(bytes + column * zero_bytes(), b, row));
    else if (zeros == NBitsZeros::kPackedColumns)
      zero = static_cast<float>(nbits_at(bytes, at, row));
    to[b * step] = zero;
  }
}

void spread_nbits_row(const NBitsMatrix& matrix, const float* from, float* block, float* to) {
  const auto size = static_cast<int64_t>(matrix.row.block_size());
  for (int64_t first = 0; first < static_cast<int64_t>(matrix.row.length()); first += size) {
    const int64_t count = std::min(size, matrix.depth - first);
    std::copy_n(from + first, count, block);
    std::fill(block + count, block + size, 0.0f);
    spread_block(matrix.row, block, to + first);
  }
}

void multiply_nbits_directly(const NBitsMatrix& m, const NBitsProduct& p, int64_t first,
                             int64_t count, float* zeros) {
  const auto blocks = static_cast<int64_t>(m.row.blocks);
  for (int64_t i = 0; i < count; ++i)
    m.read_zeros(first + i, zeros + i * blocks, 1);
  for (int64_t row = 0; row < p.rows; row += kNBitsRowsAtOnce) {
    const int64_t rows = std::min<int64_t>(kNBitsRowsAtOnce, p.rows - row);
    float sums[kNBitsColumns][kNBitsRowsAtOnce] = {};
    const bool is_short = p.rows < static_cast<int64_t>(kNBitsRowsAtOnce);
    const size_t step =
        is_short ? m.row.blocks : std::max<size_t>(1, kSpreadPart / m.row.block_size());
    for (size_t block = 0; block < m.row.blocks; block += step) {
      const NBitsRow part{m.row.bits, std::min(step, m.row.blocks - block), m.row.block_bytes};
      add_nbits_part(m, part, block, first, count, zeros, p.in + row * p.in_step,
                     static_cast<size_t>(p.in_step), static_cast<size_t>(rows), sums);
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t r = 0; r < rows; ++r)
        p.out[(row + r) * p.out_step + first + i] = sums[i][r] + (m.bias ? m.bias[first + i] : 0);
    }
  }
}

void multiply_nbits_by_panels(const NBitsMatrix& m, const NBitsProduct& p, int64_t first,
                              int64_t count, float* scratch) {
  const PanelScratch work(m.row, scratch);
  prepare_panel_columns(m, first, count, work);
  GemmF32Args gemm{};
  gemm.weights = work.panel;
  gemm.in_step = p.in_step;
  gemm.out = p.out + first;
  gemm.out_step = p.out_step;
  gemm.outputs = count;
  gemm.low = -std::numeric_limits<float>::infinity();
  gemm.high = -gemm.low;
  constexpr auto kUnit = static_cast<int64_t>(kNBitsInputsUnit);
  for (int64_t at = 0; at < m.depth; at += gemm.inputs) {
    gemm.inputs = std::min(kPanelDepth, m.depth - at);
    const bool is_whole = count == kNBitsColumns && gemm.inputs >= kUnit && has_whole_words(m.row);
    if (is_whole) gemm.inputs = gemm.inputs / kUnit * kUnit;
    unpack_panel(m, first, count, at, gemm.inputs, is_whole, work);
    gemm.in = p.in + at;
    gemm.bias = at == 0 ? work.bias : work.none;
    gemm.residual = at == 0 ? nullptr : gemm.out;
    run_gemm_f32(gemm, 0, p.rows, 0, count);
  }
}

int64_t nbits_panel_floats(const NBitsRow& row) {
  return kNBitsColumns * (2 * static_cast<int64_t>(row.blocks) + 2 + 2 * kPanelDepth);
}

}  // namespace sardonyx::cpu
