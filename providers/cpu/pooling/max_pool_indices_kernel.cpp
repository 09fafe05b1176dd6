#include "providers/cpu/pooling/max_pool_indices_kernel.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pooling/max_pool_indices_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/pooling/pool_reduce-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Indices = hn::RebindToSigned<D>;

template <class D>
struct Maximum {
  hn::Vec<D> value;
  hn::Vec<Indices<D>> index;

  HWY_INLINE void take(hn::Mask<D> which, const Maximum& other) {
    value = hn::IfThenElse(which, other.value, value);
    index = hn::IfThenElse(hn::RebindMask(Indices<D>(), which), other.index, index);
  }
  // `other` is of elements some of which are before and some behind those of this one.
  HWY_INLINE void merge(const Maximum& other) {
    const auto earlier = hn::RebindMask(D(), hn::Lt(other.index, index));
    const auto later = hn::RebindMask(D(), hn::Gt(other.index, index));
    const auto same = hn::And(hn::Eq(other.value, value), earlier);
    const auto number = hn::Or(hn::Eq(other.value, other.value), later);
    const auto better = hn::Or(hn::Gt(other.value, value), same);
    take(hn::Or(better, hn::And(hn::IsNaN(value), number)), other);
  }
};

// The lines of some rows, each of values and of their indices. What is around the input is NaN,
// with an index before all others.
template <class D, class T = hn::TFromD<D>, class I = MaxIndex<T>>
class MaxIndices {
 public:
  MaxIndices(const cpu::PoolRowArgs<T>& windows, int64_t first, T* scratch)
      : windows_(windows),
        is_vector_(windows.line.in < hn::Lanes(D()) && windows.line.outputs <= hn::Lanes(D()) &&
                   windows.line.kernel <= kMaxLaneTaps),
        step_(line_step(windows.line)),
        values_(scratch),
        indices_(reinterpret_cast<I*>(scratch + windows.rows * step_)),
        lane_taps_(is_vector_ ? windows.line : Window1d()) {
    hn::Store(hn::Iota(Indices<D>(), static_cast<I>(first)), Indices<D>(), columns_);
    for (size_t lane = 0; lane < hn::Lanes(D()); ++lane)
      from_[lane] = static_cast<I>(std::min(lane, windows.line.outputs - 1) * windows.line.stride);
  }

  static size_t line_step(const Window1d& line) {
    const size_t lanes = hn::Lanes(D());  // three vectors of slack, one for rounding up
    return (line.length() + 4 * lanes - 1) / lanes * lanes;
  }

  HWY_INLINE void run(const T* in, T* out, I* indices) const {
    if (is_vector_) return run_lanes(in, out, indices);
    for (size_t row = 0; row < windows_.rows; ++row)
      fill_line(row, in);
    const size_t stride = windows_.line.stride;
    for (size_t row = 0; row < windows_.rows; ++row) {
      const size_t at = row * windows_.row_step;
      if (stride == 1)
        merge_line<1>(row, out + at, indices + at);
      else if (stride == 2)
        merge_line<2>(row, out + at, indices + at);
      else
        merge_line<0>(row, out + at, indices + at);
    }
  }

 private:
  // Handles lines that fit into a vector.
  HWY_INLINE void run_lanes(const T* in, T* out, I* indices) const {
    const Window1d w = windows_.line;
    const Indices<D> di;
    const PartialVector<D> line(D(), w.in), outputs(D(), w.outputs);
    const PartialVector<Indices<D>> index_line(di, w.in), index_outputs(di, w.outputs);
    const auto load = [&](const T* at) HWY_ATTR { return line.load(at); };
    const auto nan = hn::Set(D(), std::numeric_limits<T>::quiet_NaN());
    for (size_t row = 0; row < windows_.rows; ++row) {
      Maximum<D> inside = across_taps(row, in, 0, load);
      inside.value = line.with(inside.value, nan);
      inside.index = index_line.with(inside.index, hn::Set(di, I(-1)));
      Maximum<D> best = at_lanes(inside, lane_taps_.indices[0]);
      for (size_t k = 1; k < w.kernel; ++k)
        best.merge(at_lanes(inside, lane_taps_.indices[k]));
      outputs.store(best.value, out + row * windows_.row_step);
      index_outputs.store(best.index, indices + row * windows_.row_step);
    }
  }
  HWY_INLINE Maximum<D> at_lanes(const Maximum<D>& line,
                                 const typename LaneTaps<D>::Indices& from) const {
    const auto moved = hn::TableLookupLanes(hn::BitCast(D(), line.index), from);
    return {hn::TableLookupLanes(line.value, from), hn::BitCast(Indices<D>(), moved)};
  }

  HWY_INLINE void fill_line(size_t row, const T* in) const {
    const Window1d& w = windows_.line;
    T* values = values_ + row * step_;
    I* indices = indices_ + row * step_;
    std::fill_n(values, w.before, std::numeric_limits<T>::quiet_NaN());
    std::fill_n(indices, w.before, I(-1));
    if (w.before + w.in < w.length()) {
      std::fill(values + w.before + w.in, values + w.length(), std::numeric_limits<T>::quiet_NaN());
      std::fill(indices + w.before + w.in, indices + w.length(), I(-1));
    }
    const D d;
    const Indices<D> di;
    const size_t lanes = hn::Lanes(d);
    values += w.before, indices += w.before;
    const auto whole = [&](const T* at) HWY_ATTR { return hn::LoadU(d, at); };
    for (size_t i = 0; i < w.in && w.in >= lanes; i += lanes) {
      i = std::min(i, w.in - lanes);  // some of the last ones twice
      const Maximum<D> best = across_taps(row, in, i, whole);
      hn::StoreU(best.value, d, values + i);
      hn::StoreU(best.index, di, indices + i);
    }
    if (w.in >= lanes) return;
    const PartialVector<D> line(d, w.in);
    const PartialVector<Indices<D>> index_line(di, w.in);
    const auto part = [&](const T* at) HWY_ATTR { return line.load(at); };
    const Maximum<D> best = across_taps(row, in, 0, part);
    line.store(best.value, values);
    index_line.store(best.index, indices);
  }

  // Rows are merged in order; a NaN loses to every later element.
  template <class Load>
  HWY_INLINE Maximum<D> across_taps(size_t row, const T* in, size_t i, const Load& load) const {
    const Indices<D> di;
    const int64_t* taps = windows_.taps + windows_.tap_starts[row];
    const int64_t* end = windows_.taps + windows_.tap_starts[row + 1];
    Maximum<D> best{load(in + *taps + i), hn::Set(di, static_cast<I>(*taps))};
    while (++taps < end) {
      const Maximum<D> next{load(in + *taps + i), hn::Set(di, static_cast<I>(*taps))};
      best.take(hn::Or(hn::IsNaN(best.value), hn::Gt(next.value, best.value)), next);
    }
    const auto column = hn::Add(hn::Load(di, columns_), hn::Set(di, static_cast<I>(i)));
    best.index = hn::Add(best.index, column);
    return best;
  }

  // kStride 0 stands for any stride.
  template <size_t kStride>
  HWY_INLINE void merge_line(size_t row, T* out, I* indices) const {
    const D d;
    const Indices<D> di;
    const size_t lanes = hn::Lanes(d);
    const Window1d w = windows_.line;
    for (size_t i = 0; i < w.outputs; i += lanes) {
      if (w.outputs >= lanes) i = std::min(i, w.outputs - lanes);
      const size_t count = std::min(lanes, w.outputs - i);
      const size_t at = row * step_ + i * w.stride;
      Maximum<D> best = load_windows<kStride>(at);
      for (size_t k = 1; k < w.kernel; ++k)
        best.merge(load_windows<kStride>(at + k * w.dilation));
      if (count == lanes) {
        hn::StoreU(best.value, d, out + i);
        hn::StoreU(best.index, di, indices + i);
      } else {
        store_part(best.value, d, out + i, count);
        PartialVector<Indices<D>>(di, count).store(best.index, indices + i);
      }
    }
  }

  // An element of a vector of windows each, the first of which is at `at`.
  template <size_t kStride>
  HWY_INLINE Maximum<D> load_windows(size_t at) const {
    const D d;
    const Indices<D> di;
    if constexpr (kStride == 1) return {hn::LoadU(d, values_ + at), hn::LoadU(di, indices_ + at)};
    if constexpr (kStride == 2) {
      hn::Vec<D> even, odd;
      hn::Vec<Indices<D>> even_index, odd_index;
      hn::LoadInterleaved2(d, values_ + at, even, odd);
      hn::LoadInterleaved2(di, indices_ + at, even_index, odd_index);
      return {even, even_index};
    }
    const auto from = hn::Load(di, from_);
    return {hn::GatherIndex(d, values_ + at, from), hn::GatherIndex(di, indices_ + at, from)};
  }

  const cpu::PoolRowArgs<T>& windows_;
  bool is_vector_;
  size_t step_;
  T* values_;
  I* indices_;
  LaneTaps<D> lane_taps_;
  HWY_ALIGN I columns_[hn::MaxLanes(D())];  // of the first vector of a line
  HWY_ALIGN I from_[hn::MaxLanes(D())];     // of the lanes of windows, where they are far apart
};

// `count` rounded up to whole vectors.
template <class D>
size_t count_of_indices(size_t count) {
  return (count + hn::Lanes(D()) - 1) / hn::Lanes(D()) * hn::Lanes(D());
}

template <typename T>
HWY_INLINE void find_maxima(const cpu::PoolRowArgs<T>& windows, const MaxPoolChannels<T>& channels,
                            T* scratch) {
  using D = hn::ScalableTag<T>;
  const size_t count = windows.rows * windows.row_step;
  auto* found = reinterpret_cast<MaxIndex<T>*>(scratch);
  const MaxIndices<D> maxima(windows, channels.first, scratch + 2 * count_of_indices<D>(count));
  // Indices are read one channel later: what has just been stored is slow to load.
  const size_t padded = count_of_indices<D>(count);
  const auto widen = [&](size_t channel) HWY_ATTR {
    const int64_t begin = channels.begin + static_cast<int64_t>(channel * channels.in_step);
    const MaxIndex<T>* from = found + channel % 2 * padded;
    int64_t* to = channels.indices + channel * channels.out_step;
    for (size_t i = 0; i < count; ++i)
      to[i] = begin + static_cast<int64_t>(from[i]);
  };
  for (size_t channel = 0; channel < channels.count; ++channel) {
    maxima.run(channels.in + channel * channels.in_step + channels.first,
               channels.out + channel * channels.out_step, found + channel % 2 * padded);
    if (channel > 0) widen(channel - 1);
  }
  if (channels.count > 0) widen(channels.count - 1);
}

void MaxPoolIndicesF32(const cpu::PoolRowArgs<float>& windows,
                       const MaxPoolChannels<float>& channels, float* scratch) {
  find_maxima(windows, channels, scratch);
}
void MaxPoolIndicesF64(const cpu::PoolRowArgs<double>& windows,
                       const MaxPoolChannels<double>& channels, double* scratch) {
  find_maxima(windows, channels, scratch);
}
template <class D>
size_t indices_scratch(const Window1d& line, size_t rows) {
  return 2 * count_of_indices<D>(rows * line.outputs) + 2 * rows * MaxIndices<D>::line_step(line);
}
size_t MaxPoolScratchF32(const Window1d& line, size_t rows) {
  return indices_scratch<hn::ScalableTag<float>>(line, rows);
}
size_t MaxPoolScratchF64(const Window1d& line, size_t rows) {
  return indices_scratch<hn::ScalableTag<double>>(line, rows);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(MaxPoolIndicesF32);
HWY_EXPORT(MaxPoolIndicesF64);
HWY_EXPORT(MaxPoolScratchF32);
HWY_EXPORT(MaxPoolScratchF64);

template <>
size_t max_pool_scratch<float>(const Window1d& line, size_t rows) {
  return HWY_DYNAMIC_DISPATCH(MaxPoolScratchF32)(line, rows);
}
template <>
size_t max_pool_scratch<double>(const Window1d& line, size_t rows) {
  return HWY_DYNAMIC_DISPATCH(MaxPoolScratchF64)(line, rows);
}

template <>
void find_max_indices(const PoolRowArgs<float>& windows, const MaxPoolChannels<float>& channels,
                      float* scratch) {
  HWY_DYNAMIC_DISPATCH(MaxPoolIndicesF32)(windows, channels, scratch);
}
template <>
void find_max_indices(const PoolRowArgs<double>& windows, const MaxPoolChannels<double>& channels,
                      double* scratch) {
  HWY_DYNAMIC_DISPATCH(MaxPoolIndicesF64)(windows, channels, scratch);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
