#include "providers/cpu/reduction/cumulative_kernel.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/reduction/cumulative_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Totals as vectors of D, elements of T as in memory.
template <typename T, class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const T* from) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>>)
    return hn::LoadU(d, from);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
}
template <typename T, class D>
HWY_INLINE void store_narrowed(hn::Vec<D> v, D d, T* to) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Rebind<T, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, v), narrow, to);
  }
}

// Takes Lanes(d) elements of a row into their totals.
template <bool is_product, typename T, class D>
HWY_INLINE void take_in(D d, const T* x, hn::TFromD<D>* totals, bool is_exclusive, T* y) {
  const auto before = hn::LoadU(d, totals), in = load_widened(d, x);
  hn::Vec<D> total;
  if constexpr (is_product)
    total = hn::Mul(before, in);
  else
    total = hn::Add(before, in);
  hn::StoreU(total, d, totals);
  store_narrowed(is_exclusive ? before : total, d, y);
}

// Row by row, so that memory is read in order.
template <typename T, typename Total, bool is_product>
void run_columns(const CumulativeColumns& c) {
  const hn::ScalableTag<Total> d;
  const hn::CappedTag<Total, 1> single;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN Total totals[kMaxCumulativeColumns];
  std::fill_n(totals, c.columns, static_cast<Total>(is_product));
  const T* x = static_cast<const T*>(c.x);
  T* y = static_cast<T*>(c.y);
  for (size_t row = 0; row < c.rows; ++row, x += c.step, y += c.step) {
    size_t at = 0;
    for (; at + lanes <= c.columns; at += lanes)
      take_in<is_product>(d, x + at, totals + at, c.is_exclusive, y + at);
    for (; at < c.columns; ++at)
      take_in<is_product>(single, x + at, totals + at, c.is_exclusive, y + at);
  }
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
