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

// Two's complement: products of either sign have the same bits.
ProductRows ProductRowsOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return product_rows<MultiplyPair, float>;
    case DType::kDouble:
      return product_rows<MultiplyPair, double>;
    case DType::kInt32:
    case DType::kUInt32:
      return product_rows<MultiplyPair, uint32_t>;
    default:
      return nullptr;
  }
}

ProductRows DistanceRowsOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return product_rows<SquaredDifference, float>;
    case DType::kDouble:
      return product_rows<SquaredDifference, double>;
    default:
      return nullptr;
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ProductRowsOf);
HWY_EXPORT(DistanceRowsOf);

ProductRows product_rows_of(DType dtype) {
  return HWY_DYNAMIC_DISPATCH(ProductRowsOf)(dtype);
}

ProductRows distance_rows_of(DType dtype) {
  return HWY_DYNAMIC_DISPATCH(DistanceRowsOf)(dtype);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
