#include "providers/cpu/pooling/max_pool_grad_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pooling/max_pool_grad_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The gradients of the four elements of each window, in the order in which they are compared.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void share(D, V a, V b, V c, V last, V d_y, V out[4]) {
  using M = hn::Mask<D>;
  const auto beats = [](V x, V best) { return hn::Or(hn::IsNaN(best), hn::Gt(x, best)); };
  const M second = beats(b, a);
  V best = hn::IfThenElse(second, b, a);
  const M third = beats(c, best);
  best = hn::IfThenElse(third, c, best);
  const M fourth = beats(last, best);
  const V for_last = hn::IfThenElseZero(fourth, d_y);
  V rest = hn::IfThenZeroElse(fourth, d_y);
  out[3] = for_last;
  out[2] = hn::IfThenElseZero(third, rest);
  rest = hn::IfThenZeroElse(third, rest);
  out[1] = hn::IfThenElseZero(second, rest);
  out[0] = hn::IfThenZeroElse(second, rest);
}

// The tail of a row, one output at a time.
HWY_INLINE void one_window(const float* top, const float* bottom, float d_y, size_t step,
                           float* d_top, float* d_bottom) {
  const hn::CappedTag<float, 1> d;
  hn::Vec<decltype(d)> out[4];
  share(d, hn::Load(d, top), hn::Load(d, top + step), hn::Load(d, bottom),
        hn::Load(d, bottom + step), hn::Set(d, d_y), out);
  hn::Store(out[0], d, d_top);
  hn::Store(out[1], d, d_top + step);
  hn::Store(out[2], d, d_bottom);
  hn::Store(out[3], d, d_bottom + step);
}

void SingleLanes(const float* top, const float* bottom, const float* d_y, size_t outputs,
                 float* d_top, float* d_bottom) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= outputs; i += hn::Lanes(d)) {
    V a, b, c, last, out[4];
    hn::LoadInterleaved2(d, top + 2 * i, a, b);
    hn::LoadInterleaved2(d, bottom + 2 * i, c, last);
    share(d, a, b, c, last, hn::LoadU(d, d_y + i), out);
    hn::StoreInterleaved2(out[0], out[1], d, d_top + 2 * i);
    hn::StoreInterleaved2(out[2], out[3], d, d_bottom + 2 * i);
  }
  for (; i < outputs; ++i)
    one_window(top + 2 * i, bottom + 2 * i, d_y[i], 1, d_top + 2 * i, d_bottom + 2 * i);
}

void MaxPoolGradientPairs(const float* top, const float* bottom, const float* d_y, size_t outputs,
                          size_t lanes, float* d_top, float* d_bottom) {
  if (lanes == 1) return SingleLanes(top, bottom, d_y, outputs, d_top, d_bottom);
  const hn::CappedTag<float, 16> d;
  hn::Vec<decltype(d)> out[4];
  for (size_t i = 0; i < outputs; ++i) {
    for (size_t lane = 0; lane < lanes; lane += hn::Lanes(d)) {
      const size_t left = 2 * i * lanes + lane, right = left + lanes;
      share(d, hn::LoadU(d, top + left), hn::LoadU(d, top + right), hn::LoadU(d, bottom + left),
            hn::LoadU(d, bottom + right), hn::LoadU(d, d_y + i * lanes + lane), out);
      hn::StoreU(out[0], d, d_top + left);
      hn::StoreU(out[1], d, d_top + right);
      hn::StoreU(out[2], d, d_bottom + left);
      hn::StoreU(out[3], d, d_bottom + right);
    }
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(MaxPoolGradientPairs);

void max_pool_gradient_pairs(const float* top, const float* bottom, const float* d_y,
                             size_t outputs, size_t lanes, float* d_top, float* d_bottom) {
  HWY_DYNAMIC_DISPATCH(MaxPoolGradientPairs)(top, bottom, d_y, outputs, lanes, d_top, d_bottom);
}

}  // namespace sardonyx::cpu
#endif
