#include "providers/cpu/reduction/cumulative_kernel.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/reduction/cumulative_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/partial_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Totals as vectors of D, elements of T as in memory: those of a vector, or its first `count`.
template <bool kWhole, typename T, class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const T* from, size_t count) {
  const hn::Rebind<T, D> narrow;
  hn::Vec<decltype(narrow)> elements;
  if constexpr (kWhole)
    elements = hn::LoadU(narrow, from);
  else
    elements = load_part(narrow, from, count);
  if constexpr (std::is_same_v<T, hn::TFromD<D>>)
    return elements;
  else
    return hn::PromoteTo(d, elements);
}
template <bool kWhole, typename T, class D>
HWY_INLINE void store_narrowed(hn::Vec<D> v, D, T* to, size_t count) {
  const hn::Rebind<T, D> narrow;
  hn::Vec<decltype(narrow)> elements;
  if constexpr (std::is_same_v<T, hn::TFromD<D>>)
    elements = v;
  else
    elements = hn::DemoteTo(narrow, v);
  if constexpr (kWhole)
    hn::StoreU(elements, narrow, to);
  else
    store_part(elements, narrow, to, count);
}

// Takes a vector of columns of kRows rows into their totals.
template <bool is_product, size_t kRows, bool kWhole, typename T, class D>
HWY_INLINE void take_in(D d, const CumulativeColumns& c, const T* x, size_t count,
                        hn::TFromD<D>* totals, T* y) {
  auto total = hn::LoadU(d, totals);
#pragma GCC unroll 8
  for (size_t row = 0; row < kRows; ++row, x += c.step, y += c.step) {
    const auto before = total, in = load_widened<kWhole>(d, x, count);
    if constexpr (is_product)
      total = hn::Mul(before, in);
    else
      total = hn::Add(before, in);
    store_narrowed<kWhole>(c.is_exclusive ? before : total, d, y, count);
  }
  hn::StoreU(total, d, totals);
}

template <bool is_product, size_t kRows, typename T, typename Total>
HWY_INLINE void take_rows(const CumulativeColumns& c, const T* x, Total* totals, T* y) {
  const hn::ScalableTag<Total> d;
  const size_t lanes = hn::Lanes(d);
  size_t at = 0;
  for (; at + lanes <= c.columns; at += lanes)
    take_in<is_product, kRows, true>(d, c, x + at, lanes, totals + at, y + at);
  if (at < c.columns)
    take_in<is_product, kRows, false>(d, c, x + at, c.columns - at, totals + at, y + at);
}

// A few rows are handled at a time: memory is read nearly in order, and totals are not reloaded for
// each row.
template <typename T, typename Total, bool is_product>
void run_columns(const CumulativeColumns& c) {
  constexpr ptrdiff_t kRows = 4;
  const size_t lanes = hn::Lanes(hn::ScalableTag<Total>());
  HWY_ALIGN Total totals[kMaxCumulativeColumns];
  std::fill_n(totals, (c.columns + lanes - 1) / lanes * lanes, static_cast<Total>(is_product));
  const T* x = static_cast<const T*>(c.x);
  T* y = static_cast<T*>(c.y);
  auto rows = static_cast<ptrdiff_t>(c.rows);
  for (; rows >= kRows; rows -= kRows, x += kRows * c.step, y += kRows * c.step)
    take_rows<is_product, kRows>(c, x, totals, y);
  for (; rows > 0; --rows, x += c.step, y += c.step)
    take_rows<is_product, 1>(c, x, totals, y);
}

CumulativeRun CumulativeRunOf(DType dtype, bool is_product) {
  switch (dtype) {
    case DType::kFloat:
      return is_product ? run_columns<float, double, true> : run_columns<float, double, false>;
    case DType::kDouble:
      return is_product ? run_columns<double, double, true> : run_columns<double, double, false>;
    case DType::kInt32:
      return is_product ? nullptr : run_columns<int32_t, int32_t, false>;
    case DType::kInt64:
      return is_product ? nullptr : run_columns<int64_t, int64_t, false>;
    default:
      return nullptr;
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(CumulativeRunOf);

CumulativeRun cumulative_run_of(DType dtype, bool is_product) {
  return HWY_DYNAMIC_DISPATCH(CumulativeRunOf)(dtype, is_product);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
