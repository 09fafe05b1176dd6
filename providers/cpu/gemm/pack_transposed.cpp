#include "providers/cpu/gemm/pack_transposed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gemm/pack_transposed.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/transpose_4x4-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

#if HWY_TARGET != HWY_SCALAR
// As many rows as a vector has lanes; stops where fewer than four elements are left, and gives how
// many are done.
template <class D>
HWY_INLINE int64_t transpose_vectors(D d, const float* from, int64_t from_step, int64_t count,
                                     float* to, int64_t to_step) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4, to += 4 * to_step) {
    const auto transposed = transpose_4(d, from + i, from_step);
    hn::StoreU(transposed.a, d, to);
    hn::StoreU(transposed.b, d, to + to_step);
    hn::StoreU(transposed.c, d, to + 2 * to_step);
    hn::StoreU(transposed.d, d, to + 3 * to_step);
  }
  return i;
}
#endif

}  // namespace

void TurnRows(const LooseFloat* from, int64_t from_step, int64_t rows, int64_t count, float* to,
              int64_t to_step) {
  int64_t row = 0;
  const auto transpose_each = [&](int64_t first, int64_t last, int64_t begin) {
    for (int64_t i = begin; i < count; ++i) {
      for (int64_t each = first; each < last; ++each)
        to[i * to_step + each] = from[each * from_step + i];
    }
  };
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; lanes >= 4 && row + lanes <= rows; row += lanes) {
    // Loads of vectors don't mind the address.
    const auto* first = reinterpret_cast<const float*>(from + row * from_step);
    transpose_each(row, row + lanes,
                   transpose_vectors(d, first, from_step, count, to + row, to_step));
  }
#endif
  transpose_each(row, rows, 0);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(TurnRows);

void pack_transposed(const LooseFloat* from, int64_t from_step, int64_t rows, int64_t count,
                     float* to, int64_t to_step) {
  HWY_DYNAMIC_DISPATCH(TurnRows)(from, from_step, rows, count, to, to_step);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
