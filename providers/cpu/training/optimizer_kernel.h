// Updates of parameters in float32, vectorised for the CPU that runs them: by a gradient that is in
// memory, or by one that is the product of two matrices and is never written there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// The operands of one update of a parameter x, as the body of SgdStep defines it. Outputs may
// overlap the inputs of the same name.
struct SgdUpdate {
  float sign = 1, decay = 0, rate = 0;
  float momentum = 0, taken = 1;  // taken: the share of the gradient in the velocity
  bool is_nesterov = false;
  const float* x = nullptr;
  const float* v = nullptr;  // null: no velocity
  float* x_out = nullptr;
  float* v_out = nullptr;
};

// The operands of one update as the body of AdamStep defines it: x becomes kept * x - size * mean /
// (root(square) / scale + epsilon).
struct AdamUpdate {
  float sign = 1, decay = 0, kept = 1;
  float mean_share = 0, square_kept = 0, square_share = 0;
  float size = 0, scale = 1, epsilon = 0;
  const float *x = nullptr, *m = nullptr, *v = nullptr;
  const float* w = nullptr;  // null: the greatest square is not kept
  float *x_out = nullptr, *m_out = nullptr, *v_out = nullptr, *w_out = nullptr;
};

// Updates elements [begin, begin + count) by g[0] to g[count - 1].
void sgd_row(const SgdUpdate& update, const float* g, size_t begin, size_t count);
void adam_row(const AdamUpdate& update, const float* g, size_t begin, size_t count);

constexpr size_t kPanelColumns = 32;
constexpr size_t kTileRows = 8;
constexpr size_t kPanelDepth = 256;  // so that a panel stays in the first or second cache

// Rows [row, row_end) and columns [column, column_end), kPanelColumns of them at most, of the
// product of a (element (m, k) at a[m * a_row + k * a_step]) and b [depth, width], which is the
// gradient of a parameter of that width.
struct ProductPart {
  const float* a = nullptr;
  size_t a_row = 0, a_step = 0;
  const float* b = nullptr;
  size_t depth = 0, width = 0;
  size_t row = 0, row_end = 0, column = 0, column_end = 0;
};

// Floats of scratch that a part of `rows` rows takes.
constexpr size_t part_scratch(size_t rows) {
  const size_t tiles = (rows + kTileRows - 1) / kTileRows;
  return (kPanelDepth + tiles * kTileRows) * kPanelColumns;
}

// Updates the elements that the part covers. `scratch` is aligned to a cache line.
void sgd_part(const SgdUpdate& update, const ProductPart& part, float* scratch);
void adam_part(const AdamUpdate& update, const ProductPart& part, float* scratch);

}  // namespace sardonyx::cpu
