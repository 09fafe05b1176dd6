#include "providers/cpu/gemm/gemm_generic_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gemm/gemm_generic_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/register_hint-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The product of a pair of numbers.
struct MultiplyPair {
  template <typename V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(a * b);
  }
};
struct SquaredDifference {
  template <typename V>
  HWY_INLINE V operator()(V a, V b) const {
    const V difference = hn::Sub(a, b);
    return hn::Mul(difference, difference);
  }
  template <typename T>
  static T of(T a, T b) {
    return (a - b) * (a - b);
  }
};

// kRows rows and kVectors vectors of columns, from column `at` on.
template <typename Term, typename T, size_t kRows, size_t kVectors>
HWY_INLINE void product_tile(const T* a, const T* b, T* out, int64_t n, int64_t k, int64_t at) {
  const hn::ScalableTag<T> d;
  using Vector = hn::Vec<hn::ScalableTag<T>>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector sums[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors; ++v)
      sums[r][v] = hn::Zero(d);
  }
  for (int64_t i = 0; i < k; ++i) {
    for (size_t v = 0; v < kVectors; ++v) {
      const Vector right = hn::LoadU(d, b + i * n + at + static_cast<int64_t>(v) * lanes);
      for (size_t r = 0; r < kRows; ++r) {
        const Vector left = hn::Set(d, a[static_cast<int64_t>(r) * k + i]);
        sums[r][v] = hn::Add(sums[r][v], Term()(left, right));
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(sums[r][v], d,
                 out + static_cast<int64_t>(r) * n + at + static_cast<int64_t>(v) * lanes);
  }
}

// The columns from `at` on, fewer than a vector has lanes.
template <typename Term, typename T, size_t kRows>
HWY_INLINE void product_end(const T* a, const T* b, T* out, int64_t n, int64_t k, int64_t at) {
  const hn::ScalableTag<T> d;
  const auto count = static_cast<size_t>(n - at);
  hn::Vec<hn::ScalableTag<T>> sums[kRows];
  for (size_t r = 0; r < kRows; ++r)
    sums[r] = hn::Zero(d);
  for (int64_t i = 0; i < k; ++i) {
    const auto right = load_part(d, b + i * n + at, count);
    for (size_t r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, a[static_cast<int64_t>(r) * k + i]);
      sums[r] = hn::Add(sums[r], Term()(left, right));
    }
  }
  for (size_t r = 0; r < kRows; ++r)
    store_part(sums[r], d, out + static_cast<int64_t>(r) * n + at, count);
}

// For one contiguous column: the sum is split over the lanes of a vector.
template <typename Term, typename T>
HWY_INLINE T product_of_lines(const T* a, const T* b, int64_t k) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kVectors = 4;  // as many sums at a time as additions are under way
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<hn::ScalableTag<T>> sums[kVectors];
  for (auto& sum : sums)
    sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + kVectors * lanes <= k; i += kVectors * lanes) {
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto left = hn::LoadU(d, a + i + v * lanes), right = hn::LoadU(d, b + i + v * lanes);
      sums[v] = hn::Add(sums[v], Term()(left, right));
    }
  }
  for (; i + lanes <= k; i += lanes)
    sums[0] = hn::Add(sums[0], Term()(hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
  T sum =
      hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
  for (; i < k; ++i)
    sum = static_cast<T>(sum + Term::of(a[i], b[i]));
  return sum;
}

// Lanes(d) rows of a matrix of kColumns columns, column by column.
template <size_t kColumns, class D>
HWY_INLINE void load_columns(D d, const hn::TFromD<D>* from, hn::Vec<D> (&columns)[kColumns]) {
  if constexpr (kColumns == 2) hn::LoadInterleaved2(d, from, columns[0], columns[1]);
  if constexpr (kColumns == 3) hn::LoadInterleaved3(d, from, columns[0], columns[1], columns[2]);
  if constexpr (kColumns == 4)
    hn::LoadInterleaved4(d, from, columns[0], columns[1], columns[2], columns[3]);
}

// All of a few columns: sums are split over the lanes of vectors, as of one column.
template <typename Term, typename T, size_t kRows, size_t kColumns>
HWY_INLINE void product_of_few(const T* a, const T* b, T* out, int64_t k) {
  constexpr auto n = static_cast<int64_t>(kColumns);
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  using Vector = hn::Vec<hn::ScalableTag<T>>;
  Vector sums[kRows][kColumns];
  for (auto& row : sums) {
    for (auto& sum : row)
      sum = hn::Zero(d);
  }
  int64_t i = 0;
  for (; i + lanes <= k; i += lanes) {
    Vector right[kColumns];
    load_columns(d, b + i * n, right);
    for (size_t r = 0; r < kRows; ++r) {
      const Vector left = hn::LoadU(d, a + static_cast<int64_t>(r) * k + i);
      for (size_t c = 0; c < kColumns; ++c)
        sums[r][c] = hn::Add(sums[r][c], Term()(left, right[c]));
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kColumns; ++c) {
      T sum = hn::GetLane(hn::SumOfLanes(d, sums[r][c]));
      for (int64_t rest = i; rest < k; ++rest)
        sum = static_cast<T>(
            sum + Term::of(a[static_cast<int64_t>(r) * k + rest], b[rest * n + int64_t(c)]));
      out[r * kColumns + c] = sum;
    }
  }
}

template <typename Term, typename T, size_t kRows>
void product_of(const T* a, const T* b, T* out, int64_t n, int64_t k) {
  if (n == 1) {
    for (size_t r = 0; r < kRows; ++r)
      out[r] = product_of_lines<Term>(a + static_cast<int64_t>(r) * k, b, k);
    return;
  }
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  if (n < lanes && k >= lanes) {
    if (n == 2) return product_of_few<Term, T, kRows, 2>(a, b, out, k);
    if (n == 3) return product_of_few<Term, T, kRows, 3>(a, b, out, k);
    if (n == 4) return product_of_few<Term, T, kRows, 4>(a, b, out, k);
  }
  int64_t at = 0;
  for (; at + 3 * lanes <= n; at += 3 * lanes)
    product_tile<Term, T, kRows, 3>(a, b, out, n, k, at);
  for (; at + lanes <= n; at += lanes)
    product_tile<Term, T, kRows, 1>(a, b, out, n, k, at);
  if (at < n) product_end<Term, T, kRows>(a, b, out, n, k, at);
}

template <typename Term, typename T>
void product_rows(const void* a, const void* b, void* out, int64_t rows, int64_t n, int64_t k) {
  const T* left = static_cast<const T*>(a);
  const T* right = static_cast<const T*>(b);
  T* result = static_cast<T*>(out);
  if constexpr (kRegisters >= 32) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    if (rows == kProductRows && n >= lanes)
      return product_of<Term, T, kProductRows>(left, right, result, n, k);
  }
  constexpr int64_t kFew = 4;  // whose sums any CPU has registers for
  int64_t r = 0;
  for (; r + kFew <= rows; r += kFew)
    product_of<Term, T, kFew>(left + r * k, right, result + r * n, n, k);
  for (; r < rows; ++r)
    product_of<Term, T, 1>(left + r * k, right, result + r * n, n, k);
}

// kRows rows of sums, `columns` of them, of which all vectors but the last are whole, over a part
// of the depth; `panel` is that part of b, vector by vector, filled up. Later parts of the depth go
// on with the sums of those before, so that the order of additions is that of product_tile().
template <typename Term, typename T, size_t kRows, size_t kVectors>
HWY_INLINE void panel_tile(const T* a, int64_t a_row, const T* panel, T* out, int64_t out_row,
                           size_t columns, int64_t depth, bool is_first) {
  const hn::ScalableTag<T> d;
  using Vector = hn::Vec<hn::ScalableTag<T>>;
  const size_t lanes = hn::Lanes(d), whole = (kVectors - 1) * lanes;
  const PartialVector<hn::ScalableTag<T>> last(d, columns - whole);
  Vector sums[kRows][kVectors];
  for (size_t r = 0; r < kRows; ++r) {
    const T* row = out + static_cast<int64_t>(r) * out_row;
    for (size_t v = 0; v + 1 < kVectors; ++v)
      sums[r][v] = is_first ? hn::Zero(d) : hn::LoadU(d, row + v * lanes);
    sums[r][kVectors - 1] = is_first ? hn::Zero(d) : last.load(row + whole);
  }
  for (int64_t i = 0; i < depth; ++i, panel += kVectors * lanes) {
    Vector right[kVectors];
    for (size_t v = 0; v < kVectors; ++v)
      right[v] = in_register(hn::Load(d, panel + v * lanes));
    for (size_t r = 0; r < kRows; ++r) {
      const Vector left = in_register(hn::Set(d, a[static_cast<int64_t>(r) * a_row + i]));
      for (size_t v = 0; v < kVectors; ++v)
        sums[r][v] = hn::Add(sums[r][v], Term()(left, right[v]));
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    T* row = out + static_cast<int64_t>(r) * out_row;
    for (size_t v = 0; v + 1 < kVectors; ++v)
      hn::StoreU(sums[r][v], d, row + v * lanes);
    last.store(sums[r][kVectors - 1], row + whole);
  }
}

// panel[depth, width] = the first `columns` columns of b, zeros behind.
template <typename T>
void pack_panel(const T* b, int64_t row_step, int64_t column_step, T* panel, int64_t depth,
                size_t columns, size_t width) {
  for (int64_t i = 0; column_step == 1 && i < depth; ++i) {
    std::copy_n(b + i * row_step, columns, panel + static_cast<size_t>(i) * width);
    std::fill_n(panel + static_cast<size_t>(i) * width + columns, width - columns, T());
  }
  for (size_t c = 0; column_step != 1 && c < width; ++c) {
    const T* column = b + static_cast<int64_t>(c) * column_step;
    for (int64_t i = 0; i < depth; ++i)
      panel[static_cast<size_t>(i) * width + c] = c < columns ? column[i * row_step] : T();
  }
}

// A panel and the rows of `a` that meet it in a tile share the nearest cache.
constexpr int64_t kPanelDepth = 128;
constexpr size_t kPanelVectors = 3;
constexpr size_t kTileRows = kRegisters >= 32 ? 8 : 4;

template <typename Term, typename T, size_t kVectors>
void panel_rows(const ProductBlock& block, int64_t from, int64_t column, size_t columns, T* panel) {
  const int64_t depth = std::min(kPanelDepth, block.k - from);
  pack_panel(static_cast<const T*>(block.b) + from * block.b_row + column * block.b_column,
             block.b_row, block.b_column, panel, depth, columns,
             kVectors * hn::Lanes(hn::ScalableTag<T>()));
  const auto tile = [&]<size_t kRows>(int64_t row) {
    panel_tile<Term, T, kRows, kVectors>(static_cast<const T*>(block.a) + row * block.k + from,
                                         block.k, panel,
                                         static_cast<T*>(block.out) + row * block.out_row + column,
                                         block.out_row, columns, depth, from == 0);
  };
  int64_t row = 0;
  constexpr auto kRows = static_cast<int64_t>(kTileRows);
  for (; row + kRows <= block.rows; row += kRows)
    tile.template operator()<kTileRows>(row);
  if (row < block.rows) {
    with_constant<kTileRows - 1>(static_cast<size_t>(block.rows - row), [&](auto rest) {
      tile.template operator()<decltype(rest)::value>(row);
    });
  }
}

template <typename Term, typename T>
void product_block(const ProductBlock& block, void* packed) {
  const size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const auto width = static_cast<int64_t>(kPanelVectors * lanes);
  for (int64_t from = 0; from < block.k; from += kPanelDepth) {
    for (int64_t column = 0; column < block.columns; column += width) {
      const auto columns = static_cast<size_t>(std::min(width, block.columns - column));
      with_constant<kPanelVectors>((columns + lanes - 1) / lanes, [&](auto vectors) {
        panel_rows<Term, T, decltype(vectors)::value>(block, from, column, columns,
                                                      static_cast<T*>(packed));
      });
    }
  }
}

template <typename Term, typename T>
ProductFunctions functions_of() {
  const size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  return {product_rows<Term, T>, product_block<Term, T>, static_cast<int64_t>(lanes),
          static_cast<int64_t>(kPanelVectors * lanes),
          static_cast<size_t>(kPanelDepth) * kPanelVectors * lanes * sizeof(T)};
}

// Two's complement: products of either sign have the same bits.
ProductFunctions ProductsOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return functions_of<MultiplyPair, float>();
    case DType::kDouble:
      return functions_of<MultiplyPair, double>();
    case DType::kInt32:
    case DType::kUInt32:
      return functions_of<MultiplyPair, uint32_t>();
    default:
      return {};
  }
}

ProductFunctions DistancesOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return functions_of<SquaredDifference, float>();
    case DType::kDouble:
      return functions_of<SquaredDifference, double>();
    default:
      return {};
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ProductsOf);
HWY_EXPORT(DistancesOf);

ProductFunctions products_of(DType dtype) {
  return HWY_DYNAMIC_DISPATCH(ProductsOf)(dtype);
}

ProductFunctions distances_of(DType dtype) {
  return HWY_DYNAMIC_DISPATCH(DistancesOf)(dtype);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
