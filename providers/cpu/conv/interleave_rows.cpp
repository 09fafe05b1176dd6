#include "providers/cpu/conv/interleave_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/interleave_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole vectors of each of kCount rows; returns how many elements of a row they are.
template <int64_t kCount>
HWY_INLINE int64_t interleave_vectors(const float* rows, int64_t step, int64_t length, float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    const float* from = rows + i;
    const auto load = [&](int64_t k) HWY_ATTR { return hn::LoadU(d, from + k * step); };
    float* at = to + i * kCount;
    if constexpr (kCount == 2) hn::StoreInterleaved2(load(0), load(1), d, at);
    if constexpr (kCount == 3) hn::StoreInterleaved3(load(0), load(1), load(2), d, at);
    if constexpr (kCount == 4) hn::StoreInterleaved4(load(0), load(1), load(2), load(3), d, at);
  }
  return i;
}

void InterleaveRows(const float* rows, int64_t step, int64_t count, int64_t length, float* to) {
  int64_t done = 0;
  if (count == 2) done = interleave_vectors<2>(rows, step, length, to);
  if (count == 3) done = interleave_vectors<3>(rows, step, length, to);
  if (count == 4) done = interleave_vectors<4>(rows, step, length, to);
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t i = done; i < length; ++i)
      to[i * count + k] = rows[k * step + i];
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(InterleaveRows);

void interleave_rows(const float* rows, int64_t step, int64_t count, int64_t length, float* to) {
  HWY_DYNAMIC_DISPATCH(InterleaveRows)(rows, step, count, length, to);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
