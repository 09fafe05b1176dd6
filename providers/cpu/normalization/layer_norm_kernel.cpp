#include "providers/cpu/normalization/layer_norm_kernel.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/normalization/layer_norm_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The sum of add(sum, x) over a row, in four sums none of which waits for another. `add` is for
// vectors; elements that fill none come in one whose other lanes are `neutral`.
template <typename Add>
HWY_INLINE float sum_row(const float* in, size_t count, float neutral, const Add& add) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; ++k)
      sums[k] = add(sums[k], hn::LoadU(d, in + i + k * lanes));
  }
  for (; i + lanes <= count; i += lanes)
    sums[0] = add(sums[0], hn::LoadU(d, in + i));
  if (i < count) {
    HWY_ALIGN float rest[hn::MaxLanes(D())];
    for (size_t k = 0; k < lanes; ++k)
      rest[k] = i + k < count ? in[i + k] : neutral;
    sums[1] = add(sums[1], hn::Load(d, rest));
  }
  return hn::GetLane(
      hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

template <bool kHasBias>
HWY_INLINE void apply(const float* in, const float* scale, const float* bias, float mean,
                      float factor, float* out, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V taken = hn::Set(d, mean), times = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V scaled = hn::Mul(hn::Sub(hn::LoadU(d, in + i), taken), times);
    V y = hn::Mul(scaled, hn::LoadU(d, scale + i));
    if constexpr (kHasBias) y = hn::Add(y, hn::LoadU(d, bias + i));
    hn::StoreU(y, d, out + i);
  }
  for (; i < count; ++i) {
    const float y = (in[i] - mean) * factor * scale[i];
    out[i] = kHasBias ? y + bias[i] : y;
  }
}

RowStatistics NormalizeRow(const float* in, const float* scale, const float* bias, float epsilon,
                           bool is_centered, float* out, size_t count) {
  const D d;
  const auto length = static_cast<float>(count);
  RowStatistics row;
  if (is_centered) {
    row.mean = sum_row(in, count, 0, [](V sum, V x) HWY_ATTR { return hn::Add(sum, x); }) / length;
  }
  const V mean = hn::Set(d, row.mean);
  const float squares = sum_row(in, count, row.mean, [&](V sum, V x) HWY_ATTR {
    const V rest = hn::Sub(x, mean);
    return hn::MulAdd(rest, rest, sum);
  });
  row.factor = 1 / std::sqrt(squares / length + epsilon);
  bias ? apply<true>(in, scale, bias, row.mean, row.factor, out, count)
       : apply<false>(in, scale, bias, row.mean, row.factor, out, count);
  return row;
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(NormalizeRow);

RowStatistics normalize_row(const float* in, const float* scale, const float* bias, float epsilon,
                            bool is_centered, float* out, size_t count) {
  return HWY_DYNAMIC_DISPATCH(NormalizeRow)(in, scale, bias, epsilon, is_centered, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
