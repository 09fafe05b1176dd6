#include "ir/ops/reference/transpose_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ir/ops/reference/transpose_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX2

// Two squares of four, one in each half of the vectors.
HWY_INLINE void transpose_squares(const uint32_t* from, int64_t from_step, uint32_t* to,
                                  int64_t to_step) {
  const hn::CappedTag<uint32_t, 8> d;
  const hn::Half<decltype(d)> half;
  const auto row = [&](int64_t i) HWY_ATTR {
    return hn::Combine(d, hn::LoadU(half, from + (i + 4) * from_step),
                       hn::LoadU(half, from + i * from_step));
  };
  const auto a = row(0), b = row(1), c = row(2), e = row(3);
  const auto low_ac = hn::InterleaveLower(d, a, c), high_ac = hn::InterleaveUpper(d, a, c);
  const auto low_be = hn::InterleaveLower(d, b, e), high_be = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, low_ac, low_be), d, to);
  hn::StoreU(hn::InterleaveUpper(d, low_ac, low_be), d, to + to_step);
  hn::StoreU(hn::InterleaveLower(d, high_ac, high_be), d, to + 2 * to_step);
  hn::StoreU(hn::InterleaveUpper(d, high_ac, high_be), d, to + 3 * to_step);
}

int64_t TransposeWords(const uint32_t* from, int64_t from_step, uint32_t* to, int64_t to_step,
                       int64_t rows, int64_t columns) {
  for (int64_t row = 0; row + 4 <= rows; row += 4) {
    for (int64_t column = 0; column + 8 <= columns; column += 8)
      transpose_squares(from + column * from_step + row, from_step, to + row * to_step + column,
                        to_step);
  }
  return columns / 8 * 8;
}

#else

int64_t TransposeWords(const uint32_t*, int64_t, uint32_t*, int64_t, int64_t, int64_t) {
  return 0;
}

#endif

}  // namespace sardonyx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx {

HWY_EXPORT(TransposeWords);

int64_t transpose_words(const uint32_t* from, int64_t from_step, uint32_t* to, int64_t to_step,
                        int64_t rows, int64_t columns) {
  return HWY_DYNAMIC_DISPATCH(TransposeWords)(from, from_step, to, to_step, rows, columns);
}

}  // namespace sardonyx
#endif  // HWY_ONCE
