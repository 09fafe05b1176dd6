#include "providers/cpu/conv/deconv_accumulate.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/deconv_accumulate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/clamp-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Whole = hn::ScalableTag<float>;

// One vector of channels of one pixel. `kWhole`: all its lanes are channels; else the first `used`.
template <bool kWhole, class D>
HWY_INLINE void sum_vector(D d, const TapRow& row, int64_t pixel, int64_t channel, size_t used) {
  const auto load = [&](const float* from)
                        HWY_ATTR { return kWhole ? hn::LoadU(d, from) : load_part(d, from, used); };
  const int64_t at = pixel * row.tap_step + channel;
  hn::Vec<D> sum = load(row.bias + channel);
  if (row.factors) {
    for (size_t i = 0; i < row.count; ++i)
      sum = hn::MulAdd(load(row.taps[i] + at), load(row.factors[i] + channel), sum);
  } else {
    for (size_t i = 0; i < row.count; ++i)
      sum = hn::Add(sum, load(row.taps[i] + at));
  }
  sum = clipped(sum, hn::Set(d, row.low), hn::Set(d, row.high));
  float* out = row.out + pixel * row.out_step + channel;
  if (kWhole)
    hn::StoreU(sum, d, out);
  else
    store_part(sum, d, out, used);
}

void SumTaps(const TapRow& row, int64_t pixels) {
  const Whole d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = row.channels - row.channels % lanes;
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (int64_t channel = 0; channel < whole; channel += lanes)
      sum_vector<true>(d, row, pixel, channel, 0);
    if (whole < row.channels)
      sum_vector<false>(d, row, pixel, whole, static_cast<size_t>(row.channels - whole));
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(SumTaps);

void sum_taps(const TapRow& row, int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(SumTaps)(row, pixels);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
