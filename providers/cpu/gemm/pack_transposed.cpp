#include "providers/cpu/gemm/pack_transposed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gemm/pack_transposed.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/transpose_4x4-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

#if HWY_TARGET != HWY_SCALAR
// As many rows as a vector has lanes, of four elements or more. The last four may overlap those
// before them, which get the same values.
template <class D>
HWY_INLINE void transpose_vectors(D d, const float* from, int64_t from_step, int64_t count,
                                  float* to, int64_t to_step) {
  for (int64_t next = 0; next < count; next += 4) {
    const int64_t i = std::min(next, count - 4);
    const auto transposed = transpose_4(d, from + i, from_step);
    float* const first = to + i * to_step;
    hn::StoreU(transposed.a, d, first);
    hn::StoreU(transposed.b, d, first + to_step);
    hn::StoreU(transposed.c, d, first + 2 * to_step);
    hn::StoreU(transposed.d, d, first + 3 * to_step);
  }
}
#endif

}  // namespace

void TurnRows(const LooseFloat* from, int64_t from_step, int64_t rows, int64_t count, float* to,
              int64_t to_step) {
  int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto transpose_groups = [&](auto d) HWY_ATTR {
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; lanes >= 4 && count >= 4 && row + lanes <= rows; row += lanes) {
      // Loads of vectors don't mind the address.
      const auto* first = reinterpret_cast<const float*>(from + row * from_step);
      transpose_vectors(d, first, from_step, count, to + row, to_step);
    }
  };
  transpose_groups(hn::ScalableTag<float>());
  transpose_groups(hn::CappedTag<float, 8>());
  transpose_groups(hn::CappedTag<float, 4>());
#endif
  for (; row < rows; ++row) {
    for (int64_t i = 0; i < count; ++i)
      to[i * to_step + row] = from[row * from_step + i];
  }
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
