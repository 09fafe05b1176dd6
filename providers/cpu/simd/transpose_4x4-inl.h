// Transposes rows to columns, four at a time. Included once for each target, inside the scheme of
// hwy/foreach_target.h.
#if defined(SARDONYX_TRANSPOSE_4X4_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_TRANSPOSE_4X4_INL
#undef SARDONYX_TRANSPOSE_4X4_INL
#else
#define SARDONYX_TRANSPOSE_4X4_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Loads the first four elements of rows that are 4 * `step` apart.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> four_of_rows(D d, const T* from, int64_t step) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const auto middle = static_cast<int64_t>(hn::MaxLanes(half)) * step;
    return hn::Combine(d, four_of_rows(half, from + middle, step), four_of_rows(half, from, step));
  }
}

// Elements 0 to 3 of as many rows as a vector has lanes.
template <class D>
struct Transposed4 {
  hn::Vec<D> a, b, c, d;
};

// Rows are `step` elements of 4 bytes apart; vectors have at least four lanes.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE Transposed4<D> transpose_4(D d, const T* from, int64_t step) {
  const hn::Repartition<uint64_t, D> pairs;
  const auto low = [&](auto x, auto y) HWY_ATTR {
    return hn::BitCast(d, hn::InterleaveLower(pairs, hn::BitCast(pairs, x), hn::BitCast(pairs, y)));
  };
  const auto high = [&](auto x, auto y) HWY_ATTR {
    return hn::BitCast(d, hn::InterleaveUpper(pairs, hn::BitCast(pairs, x), hn::BitCast(pairs, y)));
  };
  const auto row0 = four_of_rows(d, from, step), row1 = four_of_rows(d, from + step, step);
  const auto row2 = four_of_rows(d, from + 2 * step, step);
  const auto row3 = four_of_rows(d, from + 3 * step, step);
  const auto low01 = hn::InterleaveLower(d, row0, row1), low23 = hn::InterleaveLower(d, row2, row3);
  const auto high01 = hn::InterleaveUpper(d, row0, row1);
  const auto high23 = hn::InterleaveUpper(d, row2, row3);
  return {low(low01, low23), high(low01, low23), low(high01, high23), high(high01, high23)};
}
#endif

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
