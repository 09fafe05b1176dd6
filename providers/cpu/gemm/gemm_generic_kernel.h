// Matrix products of doubles or integers, or of squared distances: a few rows, or blocks of more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/core/dtype.h"

namespace sardonyx::cpu {

inline constexpr int64_t kProductRows = 8;

// out[rows, n] = a[rows, k] * b[k, n], all row-major; rows <= kProductRows. Integers wrap.
using ProductRows = void (*)(const void* a, const void* b, void* out, int64_t rows, int64_t n,
                             int64_t k);

// A part of a product with all of its depth: a[rows, k] row-major, b[k, columns] with a step from
// row to row and one from column to column, out[rows, columns] with a step from row to row.
struct ProductBlock {
  const void* a;
  const void* b;
  void* out;
  int64_t rows, columns, k;
  int64_t b_row, b_column, out_row;
};

struct ProductFunctions {
  ProductRows rows = nullptr;  // null where there are none for the type
  // The same bits as `rows`, if the whole product has at least `lanes` columns; k > 0. Panels of b
  // are packed into `packed`, aligned memory of packed_bytes.
  void (*block)(const ProductBlock& block, void* packed) = nullptr;
  int64_t lanes = 0, panel_columns = 0;
  size_t packed_bytes = 0;
};

ProductFunctions products_of(DType dtype);
// The functions that sum the squares of differences, (a[r, i] - b[i, j])^2, in place of products;
// for float and double.
ProductFunctions distances_of(DType dtype);

}  // namespace sardonyx::cpu
