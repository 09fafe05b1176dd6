#include "providers/cpu/data_movement/channel_shuffle_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/data_movement/channel_shuffle_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lanes(d) channels of each group, from channel `c` on.
template <size_t kGroups, class D>
HWY_INLINE void deal(D d, const float* in, float* out, size_t c, size_t channels) {
  float* to = out + c * kGroups;
  const auto group = [&](size_t g) HWY_ATTR { return hn::LoadU(d, in + g * channels + c); };
  if constexpr (kGroups == 2) hn::StoreInterleaved2(group(0), group(1), d, to);
  if constexpr (kGroups == 3) hn::StoreInterleaved3(group(0), group(1), group(2), d, to);
  if constexpr (kGroups == 4) hn::StoreInterleaved4(group(0), group(1), group(2), group(3), d, to);
}

template <size_t kGroups>
void shuffle(const float* in, float* out, size_t pixels, size_t channels) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t pixel = 0; pixel < pixels; ++pixel) {
    size_t c = 0;
    for (; c + lanes <= channels; c += lanes)
      deal<kGroups>(d, in, out, c, channels);
    // The last vector may begin in the one before.
    if (c < channels && channels >= lanes) deal<kGroups>(d, in, out, channels - lanes, channels);
    for (; channels < lanes && c < channels; ++c) {
      for (size_t g = 0; g < kGroups; ++g)
        out[c * kGroups + g] = in[g * channels + c];
    }
    in += kGroups * channels;
    out += kGroups * channels;
  }
}

void ShufflePixels(const float* in, float* out, size_t pixels, size_t groups, size_t channels) {
  switch (groups) {
    case 2:
      return shuffle<2>(in, out, pixels, channels);
    case 3:
      return shuffle<3>(in, out, pixels, channels);
    default:
      return shuffle<4>(in, out, pixels, channels);
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ShufflePixels);

void shuffle_pixels(const float* in, float* out, size_t pixels, size_t groups, size_t channels) {
  HWY_DYNAMIC_DISPATCH(ShufflePixels)(in, out, pixels, groups, channels);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
