#include "providers/cpu/window_rows.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/window_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Max {
  template <class V>
  HWY_INLINE V operator()(V best, V x) const {
    return hn::IfThenElse(hn::Or(hn::IsNaN(best), hn::Gt(x, best)), x, best);
  }
};
struct Sum {
  template <class V>
  HWY_INLINE V operator()(V sum, V x) const {
    return hn::Add(sum, x);
  }
};

template <class Run>
HWY_INLINE void with_merge(Merge merge, const Run& run) {
  if (merge == Merge::kMax) return run(Max());
  run(Sum());
}

void MergeRow(Merge merge, const float* in, float* out, size_t count) {
  const hn::ScalableTag<float> d;
  with_merge(merge, [&](auto op) HWY_ATTR {
    size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
      hn::StoreU(op(hn::LoadU(d, out + i), hn::LoadU(d, in + i)), d, out + i);
    const hn::CappedTag<float, 1> one;
    for (; i < count; ++i)
      hn::StoreU(op(hn::LoadU(one, out + i), hn::LoadU(one, in + i)), one, out + i);
  });
}

// Elements phase, phase + stride, phase + 2 * stride, ... one behind the other, for each phase.
HWY_INLINE void split_phases(const float* in, size_t count, size_t stride, size_t size,
                             float* out) {
  const hn::ScalableTag<float> d;
  size_t i = 0;
  if (stride == 2) {
    for (; 2 * (i + hn::Lanes(d)) <= count; i += hn::Lanes(d)) {
      hn::Vec<decltype(d)> even, odd;
      hn::LoadInterleaved2(d, in + 2 * i, even, odd);
      hn::StoreU(even, d, out + i);
      hn::StoreU(odd, d, out + size + i);
    }
  }
  for (size_t at = i * stride; at < count; at += stride, ++i) {
    for (size_t phase = 0; phase < std::min(stride, count - at); ++phase)
      out[phase * size + i] = in[at + phase];
  }
}

// Windows [first, first + kVectors * lanes): element by element of all of them at once.
template <size_t kVectors, class D, class Op, class Load>
HWY_INLINE void across_windows(D d, Op op, const RowWindows& w, const float* in, size_t size,
                               const Load& load, hn::Vec<D>* HWY_RESTRICT merged) {
  for (size_t v = 0; v < kVectors; ++v)
    merged[v] = load(in + v * hn::Lanes(d));
  size_t phase = 0, at = 0;
  for (size_t k = 1; k < w.kernel; ++k) {
    phase += w.dilation % w.stride;
    at += w.dilation / w.stride;
    if (phase >= w.stride) phase -= w.stride, ++at;
    const float* tap = in + phase * size + at;
    for (size_t v = 0; v < kVectors; ++v)
      merged[v] = op(merged[v], load(tap + v * hn::Lanes(d)));
  }
}

// Windows whose elements are found in `phases`, `size` elements apart from each other.
template <class Op>
HWY_INLINE void merge_phases(Op op, const RowWindows& w, const float* phases, size_t size,
                             float* out, size_t count) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t kVectors = 4;
  const size_t lanes = hn::Lanes(d);
  const auto whole = [&](const float* at) HWY_ATTR { return hn::LoadU(d, at); };
  size_t i = 0;
  for (; i + kVectors * lanes <= count; i += kVectors * lanes) {
    V merged[kVectors];
    across_windows<kVectors>(d, op, w, phases + i, size, whole, merged);
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(merged[v], d, out + i + v * lanes);
  }
  for (; i < count && count >= lanes; i += lanes) {
    i = std::min(i, count - lanes);  // some of the last ones twice
    V merged[1];
    across_windows<1>(d, op, w, phases + i, size, whole, merged);
    hn::StoreU(merged[0], d, out + i);
  }
  if (i < count) {
    const auto part = [&](const float* at) HWY_ATTR { return load_part(d, at, count); };
    V merged[1];
    across_windows<1>(d, op, w, phases, size, part, merged);
    store_part(merged[0], d, out, count);
  }
}

// What `count` elements in a row merge into; at least 4 vectors of them.
template <class Op>
HWY_INLINE float merge_all(Op op, const float* in, size_t count) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + lanes), c = hn::LoadU(d, in + 2 * lanes),
       e = hn::LoadU(d, in + 3 * lanes);
  size_t i = 4 * lanes;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = op(a, hn::LoadU(d, in + i));
    b = op(b, hn::LoadU(d, in + i + lanes));
    c = op(c, hn::LoadU(d, in + i + 2 * lanes));
    e = op(e, hn::LoadU(d, in + i + 3 * lanes));
  }
  float merged[hn::MaxLanes(d)];
  hn::StoreU(op(op(a, b), op(c, e)), d, merged);
  const hn::CappedTag<float, 1> one;
  auto last = hn::LoadU(one, merged);
  for (size_t lane = 1; lane < lanes; ++lane)
    last = op(last, hn::LoadU(one, merged + lane));
  for (; i < count; ++i)
    last = op(last, hn::LoadU(one, in + i));
  return hn::GetLane(last);
}

void MergeWindows(Merge merge, RowWindows w, const float* in, float* scratch, float* out,
                  size_t count) {
  const hn::ScalableTag<float> d;
  if (count == 1) w.stride = 1;
  with_merge(merge, [&](auto op) HWY_ATTR {
    if (w.dilation == 1 && w.kernel >= 4 * hn::Lanes(d)) {
      for (size_t i = 0; i < count; ++i)
        out[i] = merge_all(op, in + i * w.stride, w.kernel);
      return;
    }
    const size_t length = w.length(count), size = (length + w.stride - 1) / w.stride;
    if (w.stride == 1) return merge_phases(op, w, in, 0, out, count);
    split_phases(in, length, w.stride, size, scratch);
    merge_phases(op, w, scratch, size, out, count);
  });
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(MergeRow);
HWY_EXPORT(MergeWindows);

float neutral_of(Merge merge) {
  return merge == Merge::kMax ? std::numeric_limits<float>::quiet_NaN() : 0;
}

void merge_row(Merge merge, const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(MergeRow)(merge, in, out, count);
}

size_t window_scratch(const RowWindows& windows, size_t count) {
  return windows.stride == 1 || count == 1 ? 0 : windows.length(count) + windows.stride;
}

void merge_windows(Merge merge, const RowWindows& windows, const float* in, float* scratch,
                   float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(MergeWindows)(merge, windows, in, scratch, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
