#include "providers/cpu/gemm/inverse_kernel.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gemm/inverse_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void scale(double* row, size_t n, double factor) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  const auto factors = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), factors), d, row + i);
  for (; i < n; ++i)
    row[i] *= factor;
}

// row -= factor * source
HWY_INLINE void subtract(double* HWY_RESTRICT row, const double* HWY_RESTRICT source, size_t n,
                         double factor) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> single;
  const size_t lanes = hn::Lanes(d);
  const auto factors = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto rest = hn::NegMulAdd(factors, hn::LoadU(d, source + i), hn::LoadU(d, row + i));
    hn::StoreU(rest, d, row + i);
  }
  const auto one_factor = hn::Set(single, factor);
  for (; i < n; ++i) {
    const auto rest =
        hn::NegMulAdd(one_factor, hn::LoadU(single, source + i), hn::LoadU(single, row + i));
    hn::StoreU(rest, single, row + i);
  }
}

// Brings the row with the largest pivot to row `column`; returns where it was.
HWY_INLINE size_t bring_pivot(double* a, size_t n, size_t column) {
  size_t pivot = column;
  for (size_t row = column + 1; row < n; ++row) {
    if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column])) pivot = row;
  }
  double* const source = a + column * n;
  if (pivot != column) std::swap_ranges(source, source + n, a + pivot * n);
  return pivot;
}

size_t EliminateColumn(double* a, size_t n, size_t column) {
  const size_t pivot = bring_pivot(a, n, column);
  double* const source = a + column * n;
  const double factor = 1 / source[column];
  scale(source, n, factor);
  source[column] = factor;
  for (size_t row = 0; row < n; ++row) {
    double* const target = a + row * n;
    if (row == column || target[column] == 0) continue;
    const double share = target[column];
    subtract(target, source, n, share);
    // As if it had been 0. Before, it would have to reach memory for a vector to be loaded.
    target[column] = -share * factor;
  }
  return pivot;
}

double EliminateBelow(double* a, size_t n, size_t column) {
  const size_t pivot = bring_pivot(a, n, column);
  const double* const source = a + column * n;
  const double head = source[column];
  for (size_t row = column + 1; row < n && head != 0; ++row) {
    double* const target = a + row * n;
    subtract(target + column + 1, source + column + 1, n - column - 1, target[column] / head);
  }
  return pivot == column ? head : -head;
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(EliminateColumn);
HWY_EXPORT(EliminateBelow);

size_t eliminate_column(double* a, size_t n, size_t column) {
  return HWY_DYNAMIC_DISPATCH(EliminateColumn)(a, n, column);
}

double eliminate_below(double* a, size_t n, size_t column) {
  return HWY_DYNAMIC_DISPATCH(EliminateBelow)(a, n, column);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
