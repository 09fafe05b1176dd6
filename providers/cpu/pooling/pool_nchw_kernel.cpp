#include "providers/cpu/pooling/pool_nchw_kernel.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pooling/pool_nchw_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/pooling/pool_reduce-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"

// How the windows of a line are merged.
#ifndef SARDONYX_POOL_WINDOW_ALGORITHM
#define SARDONYX_POOL_WINDOW_ALGORITHM
namespace sardonyx::cpu {
enum class WindowAlgorithm : uint8_t {
  kLanes,  // the line is a vector, whose lanes change places
  kTaps,   // many windows at once, element by element; strides of 1 and 2
  kSums,   // each window by vectors along it
  kPowers  // reductions of 1, 2, 4 ... elements by doubling, combined to the window
};
}  // namespace sardonyx::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Elements i of the rows of all taps, merged; kTapCount of them, or any number where it is 0.
template <size_t kTapCount, class D, class Op, class Of, class T, class Load>
HWY_INLINE hn::Vec<D> across_taps(D d, Op op, Of of, const T* at, const int64_t* taps,
                                  size_t tap_count, const Load& load) {
  const size_t count = kTapCount > 0 ? kTapCount : tap_count;
  hn::Vec<D> merged = op.first();
  for (size_t k = 0; k < count; ++k)
    merged = op(merged, of(d, load(at + taps[k])));
  return merged;
}

// kVectors of them, the last of which begins at `last`.
template <size_t kVectors, size_t kTapCount, class D, class Op, class Of, class T = hn::TFromD<D>>
HWY_INLINE void reduce_taps(D d, Op op, Of of, const T* in, const int64_t* taps, size_t tap_count,
                            T* line, size_t i, size_t last) {
  const size_t count = kTapCount > 0 ? kTapCount : tap_count, lanes = hn::Lanes(d);
  hn::Vec<D> merged[kVectors];
  for (size_t v = 0; v < kVectors; ++v)
    merged[v] = op.first();
  for (size_t k = 0; k < count; ++k) {
    const T* from = in + taps[k];
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t at = v + 1 < kVectors ? i + v * lanes : last;
      merged[v] = op(merged[v], of(d, hn::LoadU(d, from + at)));
    }
  }
  for (size_t v = 0; v < kVectors; ++v)
    hn::StoreU(merged[v], d, line + (v + 1 < kVectors ? i + v * lanes : last));
}

// line[i] = the elements i of all taps, merged, for i < count.
template <size_t kTapCount, class D, class Op, class Of, class T = hn::TFromD<D>>
HWY_INLINE void merge_taps(D d, Op op, Of of, const T* in, const int64_t* taps, size_t tap_count,
                           T* line, size_t count) {
  const size_t lanes = hn::Lanes(d);
  if (count < lanes) {
    const auto part = [&](const T* at) HWY_ATTR { return load_part(d, at, count); };
    return store_part(across_taps<kTapCount>(d, op, of, in, taps, tap_count, part), d, line, count);
  }
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes)
    reduce_taps<4, kTapCount>(d, op, of, in, taps, tap_count, line, i, i + 3 * lanes);
  const size_t left = count - i, last = count - lanes;  // the last vector begins earlier
  if (left > 3 * lanes)
    reduce_taps<4, kTapCount>(d, op, of, in, taps, tap_count, line, i, last);
  else if (left > 2 * lanes)
    reduce_taps<3, kTapCount>(d, op, of, in, taps, tap_count, line, i, last);
  else if (left > lanes)
    reduce_taps<2, kTapCount>(d, op, of, in, taps, tap_count, line, i, last);
  else if (left > 0)
    reduce_taps<1, kTapCount>(d, op, of, in, taps, tap_count, line, i, last);
}

// The elements of one vector of windows that are kStride apart, tap by tap; kKernel of them one
// behind the other, or as many as `w` says where it is 0.
template <size_t kStride, size_t kKernel, class D, class Op, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> across_windows(D d, Op op, const Window1d& w, const T* at) {
  using V = hn::Vec<D>;
  const size_t kernel = kKernel > 0 ? kKernel : w.kernel;
  const size_t dilation = kKernel > 0 ? 1 : w.dilation;
  V merged = op.first();
  size_t k = 0;
  if constexpr (kStride == 1) {
    for (; k < kernel; ++k)
      merged = op(merged, hn::LoadU(d, at + k * dilation));
  } else {
    V even, odd;
    for (; dilation == 1 && k + 2 <= kernel; k += 2) {
      hn::LoadInterleaved2(d, at + k, even, odd);
      merged = op(op(merged, even), odd);
    }
    for (; k < kernel; ++k) {
      hn::LoadInterleaved2(d, at + k * dilation, even, odd);
      merged = op(merged, even);
    }
  }
  return merged;
}

// Reads up to two vectors more than the line has where kStride is 2 or the windows are few.
template <size_t kStride, size_t kKernel, class D, class Op, class Out>
HWY_INLINE void by_taps(D d, Op op, const Window1d& w, const hn::TFromD<D>* line, Out& out) {
  const size_t lanes = hn::Lanes(d);
  const auto windows = [&](size_t i) HWY_ATTR {
    return across_windows<kStride, kKernel>(d, op, w, line + i * kStride);
  };
  if (w.outputs < lanes) return out.part(windows(0), 0, PartialVector<D>(d, w.outputs));
  size_t i = 0;
  for (; i + 2 * lanes <= w.outputs; i += 2 * lanes) {
    const auto a = windows(i), b = windows(i + lanes);
    out.whole(a, i);
    out.whole(b, i + lanes);
  }
  if (i + lanes < w.outputs) out.whole(windows(i), i);
  if (i < w.outputs) out.whole(windows(w.outputs - lanes), w.outputs - lanes);
}

// The reduction of `count` consecutive elements.
template <class D, class Op, class T = hn::TFromD<D>>
HWY_INLINE T merge_all(D d, Op op, const T* in, size_t count) {
  const size_t lanes = hn::Lanes(d);
  auto a = op.first(), b = a, c = a, e = a;
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = op(a, hn::LoadU(d, in + i));
    b = op(b, hn::LoadU(d, in + i + lanes));
    c = op(c, hn::LoadU(d, in + i + 2 * lanes));
    e = op(e, hn::LoadU(d, in + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes)
    a = op(a, hn::LoadU(d, in + i));
  if (i < count) {
    const auto last = load_part(d, in + i, count - i);
    b = op(b, hn::IfThenElse(hn::FirstN(d, count - i), last, op.first()));
  }
  return op.of_lanes(op(op(a, b), op(c, e)));
}

template <class D, class Op, class Out, class T = hn::TFromD<D>>
HWY_INLINE void by_sums(D d, Op op, const Window1d& w, const T* line, Out& out) {
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN T merged[hn::MaxLanes(d)] = {};
  for (size_t i = 0; i < w.outputs; i += lanes) {
    const size_t count = std::min(lanes, w.outputs - i);
    for (size_t k = 0; k < count; ++k)
      merged[k] = merge_all(d, op, line + (i + k) * w.stride, w.kernel);
    if (count == lanes)
      out.whole(hn::Load(d, merged), i);
    else
      out.part(hn::Load(d, merged), i, PartialVector<D>(d, count));
  }
}

// out[i] = op(line[i], ahead[i]) for i < count and up to a vector more. `out` may be one of the
// operands: elements ahead are overwritten only after they are read.
template <class D, class Op, class T = hn::TFromD<D>>
HWY_INLINE void merge_ahead(D d, Op op, const T* line, const T* ahead, T* out, size_t count) {
  for (size_t i = 0; i < count; i += hn::Lanes(d))
    hn::StoreU(op(hn::LoadU(d, line + i), hn::LoadU(d, ahead + i)), d, out + i);
}

// sums[i] = the reduction of `kernel` elements of `line`, `dilation` apart, from i on, within
// `length` elements. Overwrites `line`.
template <class D, class Op, class T = hn::TFromD<D>>
HWY_INLINE void merge_powers(D d, Op op, size_t kernel, size_t dilation, size_t length, T* line,
                             T* sums) {
  size_t done = 0;
  for (size_t width = 1;; width *= 2) {
    if ((kernel & width) && done == 0) {
      for (size_t i = 0; i < length; i += hn::Lanes(d))
        hn::StoreU(hn::LoadU(d, line + i), d, sums + i);
    } else if (kernel & width) {
      merge_ahead(d, op, line, sums + width * dilation, sums,
                  length - (done + width - 1) * dilation);
    }
    done += kernel & width;
    if (2 * width > kernel) return;
    merge_ahead(d, op, line, line + width * dilation, line, length - (2 * width - 1) * dilation);
  }
}

// Stores every `stride`-th of the reductions.
template <class D, class Out, class T = hn::TFromD<D>>
HWY_INLINE void take_sums(D d, const Window1d& w, T* sums, Out& out) {
  for (size_t i = 0, from = 0; w.stride > 1 && i < w.outputs; ++i, from += w.stride)
    sums[i] = sums[from];
  size_t i = 0;
  for (; i + hn::Lanes(d) <= w.outputs; i += hn::Lanes(d))
    out.whole(hn::LoadU(d, sums + i), i);
  if (i < w.outputs) out.part(hn::LoadU(d, sums + i), i, PartialVector<D>(d, w.outputs - i));
}

template <class D>
WindowAlgorithm choose_algorithm(D d, const Window1d& w) {
  if (w.in < hn::Lanes(d) && w.outputs <= hn::Lanes(d) && w.kernel <= kMaxLaneTaps)
    return WindowAlgorithm::kLanes;
  const auto lanes = static_cast<double>(hn::Lanes(d)), kernel = static_cast<double>(w.kernel);
  const auto outputs = static_cast<double>(w.outputs), length = static_cast<double>(w.length());
  constexpr double kLaneReduction = 10, kElementMoved = 1;  // in operations on vectors
  double steps = 1;
  for (size_t width = 1; 2 * width <= w.kernel; width *= 2)
    steps += (w.kernel & width) ? 5 : 3;
  const double taps = (outputs / lanes + 1) * kernel * (w.stride == 1 ? 2 : 3);
  const double sums = outputs * (kernel / lanes + kLaneReduction);
  const double powers = (length / lanes + 1) * steps + (w.stride > 1 ? outputs * kElementMoved : 0);
  if (w.dilation == 1 && sums <= powers && (w.stride > 2 || sums <= taps))
    return WindowAlgorithm::kSums;
  return w.stride <= 2 && taps <= powers ? WindowAlgorithm::kTaps : WindowAlgorithm::kPowers;
}

// The distance from one line to the next. kPowers needs no slack between them, since it merges all
// lines at once as if they were one.
template <class D>
HWY_INLINE size_t line_step(D d, WindowAlgorithm algorithm, size_t length) {
  const size_t lanes = hn::Lanes(d), slack = algorithm == WindowAlgorithm::kPowers ? 0 : 3 * lanes;
  return (length + slack + lanes - 1) / lanes * lanes;
}

// Whether rows of the input can be the lines.
template <class D>
HWY_INLINE bool needs_no_line(D d, WindowAlgorithm algorithm, const Window1d& w) {
  if (w.in != w.length()) return false;
  return algorithm == WindowAlgorithm::kSums ||
         (algorithm == WindowAlgorithm::kTaps && w.stride == 1 && w.outputs >= hn::Lanes(d));
}

// Computes the rows of outputs, channel by channel.
template <class D, class Op, class Of, class T = hn::TFromD<D>>
class WindowRows {
 public:
  using Out = Outputs<D, Op::kMaxima>;
  WindowRows(const cpu::PoolRowArgs<T>& windows, Of of, T* scratch)
      : windows_(windows),
        of_(of),
        algorithm_(choose_algorithm(D(), windows.whole_line ? *windows.whole_line : windows.line)),
        step_(line_step(D(), algorithm_, windows.line.length())),
        lines_(scratch),
        sums_(scratch + windows.rows * step_ + slack()),
        found_(sums_ + (algorithm_ == WindowAlgorithm::kPowers ? windows.rows * step_ : 0) +
               slack()) {
    size_t single = 0;
    for (size_t row = 0; row < windows.rows; ++row) {
      surround(row);
      single += windows.tap_starts[row + 1] == windows.tap_starts[row] + 1 ? 1 : 0;
    }
    takes_rows_ = std::is_same_v<Of, Itself> && single == windows.rows &&
                  needs_no_line(D(), algorithm_, windows.line);
  }

  // Each of the channels, `in_step` and `out_step` elements apart.
  void run(size_t channels, const T* in, size_t in_step, T* out, size_t out_step) const {
    if (algorithm_ == WindowAlgorithm::kLanes)
      return run_lanes(channels, in, in_step, out, out_step);
    for (size_t channel = 0; channel < channels; ++channel, in += in_step, out += out_step) {
      // First all lines, then all windows: a load right after its store stalls.
      if (!takes_rows_) fill_lines(in);
      Out merged(windows_.column_scales, windows_.takes_root);
      merge_lines(in, out, merged);
      if constexpr (Op::kMaxima && std::is_same_v<Of, Itself>) {
        if (merged.has_least()) restore_nan(in, out);
      }
    }
  }

 private:
  // Common window sizes are compile-time constants for floats without powers, as models have them.
  // Instantiating them for all other cases would take the compiler longer than all other pool
  // kernels.
  static constexpr bool kHasConstantSizes =
      std::is_same_v<T, float> && std::is_same_v<Of, Itself> && HWY_TARGET != HWY_SCALAR;

  // Calls visit with `size` as a constant where it is one of kSizes, and otherwise with 0.
  template <size_t... kSizes, class Visit>
  HWY_INLINE static void with_size(size_t size, const Visit& visit) {
    if constexpr (kHasConstantSizes) {
      const bool is_done =
          ((size == kSizes && (visit(std::integral_constant<size_t, kSizes>()), true)) || ...);
      if (is_done) return;
    }
    visit(std::integral_constant<size_t, 0>());
  }

  // The slack behind the last line, which vectors may read.
  static size_t slack() { return 4 * hn::Lanes(D()); }
  T row_scale(size_t row) const { return Op::kMaxima ? T(1) : windows_.row_scales[row]; }
  const T* line_of(size_t row, const T* in) const {
    return takes_rows_ ? in + windows_.taps[windows_.tap_starts[row]] : lines_ + row * step_;
  }

  // Neutral elements before and behind, up to a vector too many: the lines are filled later, from
  // the first to the last.
  HWY_INLINE void surround(size_t row) const {
    const Window1d& w = windows_.line;
    T* line = lines_ + row * step_;
    const auto neutral = Op().first();
    for (size_t i = 0; i < w.before; i += hn::Lanes(D()))
      hn::StoreU(neutral, D(), line + i);
    for (size_t i = w.before + w.in; i < w.length(); i += hn::Lanes(D()))
      hn::StoreU(neutral, D(), line + i);
  }

  // Calls visit(number of taps as a constant or 0, row, its taps, their number) for each row.
  template <class Visit>
  HWY_INLINE void for_each_row(const Visit& visit) const {
    const size_t rows = windows_.rows;
    const int64_t *starts = windows_.tap_starts, *all = windows_.taps;
    for (size_t row = 0; row < rows; ++row) {
      const int64_t* taps = all + starts[row];
      const auto count = static_cast<size_t>(starts[row + 1] - starts[row]);
      with_size<3, 2, 5>(
          count, [&](auto size) HWY_ATTR
          __attribute__((always_inline)) { visit(size, row, taps, count); });
    }
  }

  HWY_NOINLINE void fill_lines(const T* in) const {
    const size_t step = step_, count = windows_.line.in;
    const bool is_used_up = algorithm_ == WindowAlgorithm::kPowers;
    T* lines = lines_ + windows_.line.before;
    for_each_row([&](auto constant, size_t row, const int64_t* taps,
                     size_t tap_count) HWY_ATTR __attribute__((always_inline)) {
      constexpr size_t kTapCount = decltype(constant)::value;
      if (is_used_up) surround(row);
      merge_taps<kTapCount>(D(), Op(), of_, in, taps, tap_count, lines + row * step, count);
    });
  }

  template <class MergeLine>
  HWY_INLINE void for_each_line(const T* in, T* out, Out& merged, const MergeLine& merge) const {
    const Window1d w = windows_.line;  // a copy that no store can change
    const size_t rows = windows_.rows, row_step = windows_.row_step;
    for (size_t row = 0; row < rows; ++row) {
      merged.start_row(out + row * row_step, row_scale(row));
      merge(w, line_of(row, in), merged);
    }
  }

  template <size_t kStride, size_t kKernel>
  HWY_NOINLINE void merge_by_taps(const T* in, T* out, Out& result) const {
    Out merged = result;
    for_each_line(
        in, out, merged,
        [](const Window1d& w, const T* line, Out& to) HWY_ATTR
        __attribute__((always_inline)) { by_taps<kStride, kKernel>(D(), Op(), w, line, to); });
    result = merged;
  }

  void merge_lines(const T* in, T* out, Out& merged) const {
    const Window1d& w = windows_.line;
    const size_t kernel = algorithm_ == WindowAlgorithm::kTaps && w.dilation == 1 ? w.kernel : 0;
    if (algorithm_ == WindowAlgorithm::kSums) {
      for_each_line(in, out, merged, [](const Window1d& own, const T* line, Out& to) HWY_ATTR {
        by_sums(D(), Op(), own, line, to);
      });
    } else if (algorithm_ == WindowAlgorithm::kPowers) {
      merge_powers(D(), Op(), w.kernel, w.dilation, (windows_.rows - 1) * step_ + w.length(),
                   lines_, sums_);
      for_each_line(in, out, merged, [&](const Window1d& own, const T* line, Out& to) HWY_ATTR {
        take_sums(D(), own, sums_ + (line - lines_), to);
      });
    } else if (w.stride == 1) {
      with_size<3, 5>(kernel, [&](auto size) HWY_ATTR {
        merge_by_taps<1, decltype(size)::value>(in, out, merged);
      });
    } else {
      with_size<2, 3>(kernel, [&](auto size) HWY_ATTR {
        merge_by_taps<2, decltype(size)::value>(in, out, merged);
      });
    }
  }

  // Handles lines that fit into a vector.
  HWY_NOINLINE void run_lanes(size_t channels, const T* in, size_t in_step, T* out,
                              size_t out_step) const {
    const LaneTaps<D> lanes(windows_.line);
    for (size_t channel = 0; channel < channels; ++channel, in += in_step, out += out_step) {
      Out merged(windows_.column_scales, windows_.takes_root);
      with_size<3, 2>(
          windows_.line.kernel, [&](auto size) HWY_ATTR __attribute__((always_inline)) {
            merge_lanes<decltype(size)::value>(lanes, in, out, merged);
          });
      if constexpr (Op::kMaxima && std::is_same_v<Of, Itself>) {
        if (merged.has_least()) restore_nan(in, out);
      }
    }
  }

  template <size_t kKernel>
  HWY_INLINE void merge_lanes(const LaneTaps<D>& lanes, const T* in, T* out, Out& merged) const {
    const D d;
    const Op op;
    const PartialVector<D> line(d, windows_.line.in), outputs(d, windows_.line.outputs);
    const size_t kernel = kKernel > 0 ? kKernel : windows_.line.kernel;
    const size_t row_step = windows_.row_step;
    const auto load = [&](const T* at) HWY_ATTR { return line.load(at); };
    for_each_row([&](auto constant, size_t row, const int64_t* taps,
                     size_t tap_count) HWY_ATTR __attribute__((always_inline)) {
      constexpr size_t kTapCount = decltype(constant)::value;
      const auto inside =
          line.with(across_taps<kTapCount>(d, op, of_, in, taps, tap_count, load), op.first());
      auto result = hn::TableLookupLanes(inside, lanes.indices[0]);
      for (size_t k = 1; k < kernel; ++k)
        result = op(result, hn::TableLookupLanes(inside, lanes.indices[k]));
      merged.start_row(out + row * row_step, row_scale(row));
      merged.part(result, 0, outputs);
    });
  }

  // Windows of NaNs alone have the lowest value as their maximum: finds them and stores NaN.
  HWY_NOINLINE void restore_nan(const T* in, T* out) const {
    const size_t outputs = windows_.line.outputs;
    T *found = found_, *rest = found + line_step(D(), WindowAlgorithm::kTaps, outputs);
    cpu::PoolRowArgs<T> one = windows_;
    one.rows = 1;
    for (size_t row = 0; row < windows_.rows; ++row, out += windows_.row_step) {
      one.tap_starts = windows_.tap_starts + row;
      WindowRows<D, Op, IsNumber>(one, IsNumber(), rest).run(1, in, 0, found, 0);
      for (size_t i = 0; i < outputs; ++i)
        out[i] = found[i] == 0 ? out[i] : std::numeric_limits<T>::quiet_NaN();
    }
  }

  const cpu::PoolRowArgs<T>& windows_;
  Of of_;
  WindowAlgorithm algorithm_;
  bool takes_rows_;
  size_t step_;
  T *lines_, *sums_, *found_;
};

template <class Op, class Of, typename T>
HWY_INLINE void merge_channel_rows(const cpu::PoolRowArgs<T>& windows, Of of, size_t channels,
                                   const T* in, size_t in_step, T* out, size_t out_step,
                                   T* scratch) {
  const WindowRows<hn::ScalableTag<T>, Op, Of> rows(windows, of, scratch);
  rows.run(channels, in, in_step, out, out_step);
}

template <typename T>
HWY_INLINE void merge_channels(const cpu::PoolRowArgs<T>& windows, size_t channels, const T* in,
                               size_t in_step, T* out, size_t out_step, T* scratch) {
  using D = hn::ScalableTag<T>;
  if (windows.merge == Merge::kMax)
    merge_channel_rows<Max<D>>(windows, Itself(), channels, in, in_step, out, out_step, scratch);
  else if (windows.power > 0)
    merge_channel_rows<Sum<D>>(windows, Power{windows.power}, channels, in, in_step, out, out_step,
                               scratch);
  else
    merge_channel_rows<Sum<D>>(windows, Itself(), channels, in, in_step, out, out_step, scratch);
}

void MergeFloatRows(const cpu::PoolRowArgs<float>& windows, size_t channels, const float* in,
                    size_t in_step, float* out, size_t out_step, float* scratch) {
  merge_channels(windows, channels, in, in_step, out, out_step, scratch);
}
void MergeDoubleRows(const cpu::PoolRowArgs<double>& windows, size_t channels, const double* in,
                     size_t in_step, double* out, size_t out_step, double* scratch) {
  merge_channels(windows, channels, in, in_step, out, out_step, scratch);
}

template <typename T>
HWY_INLINE size_t scratch_elements(const Window1d& line, size_t rows) {
  const hn::ScalableTag<T> d;
  const size_t step = line_step(d, WindowAlgorithm::kTaps, line.length());
  // Scratch: the lines, their reductions, and both of one row for restore_nan().
  return 2 * (rows + 1) * step + line_step(d, WindowAlgorithm::kTaps, line.outputs) +
         16 * hn::Lanes(d);
}
size_t ScratchOfFloats(const Window1d& line, size_t rows) {
  return scratch_elements<float>(line, rows);
}
size_t ScratchOfDoubles(const Window1d& line, size_t rows) {
  return scratch_elements<double>(line, rows);
}

bool FloatsNeedNoLine(const Window1d& line) {
  const hn::ScalableTag<float> d;
  return needs_no_line(d, choose_algorithm(d, line), line);
}
bool DoublesNeedNoLine(const Window1d& line) {
  const hn::ScalableTag<double> d;
  return needs_no_line(d, choose_algorithm(d, line), line);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(MergeFloatRows);
HWY_EXPORT(MergeDoubleRows);
HWY_EXPORT(ScratchOfFloats);
HWY_EXPORT(ScratchOfDoubles);
HWY_EXPORT(FloatsNeedNoLine);
HWY_EXPORT(DoublesNeedNoLine);

template <>
size_t window_scratch<float>(const Window1d& line, size_t rows) {
  return HWY_DYNAMIC_DISPATCH(ScratchOfFloats)(line, rows);
}
template <>
size_t window_scratch<double>(const Window1d& line, size_t rows) {
  return HWY_DYNAMIC_DISPATCH(ScratchOfDoubles)(line, rows);
}

template <>
bool merges_in_place<float>(const Window1d& line) {
  return HWY_DYNAMIC_DISPATCH(FloatsNeedNoLine)(line);
}
template <>
bool merges_in_place<double>(const Window1d& line) {
  return HWY_DYNAMIC_DISPATCH(DoublesNeedNoLine)(line);
}

template <>
void pool_rows(const PoolRowArgs<float>& windows, size_t channels, const float* in, size_t in_step,
               float* out, size_t out_step, float* scratch) {
  HWY_DYNAMIC_DISPATCH(MergeFloatRows)(windows, channels, in, in_step, out, out_step, scratch);
}
template <>
void pool_rows(const PoolRowArgs<double>& windows, size_t channels, const double* in,
               size_t in_step, double* out, size_t out_step, double* scratch) {
  HWY_DYNAMIC_DISPATCH(MergeDoubleRows)(windows, channels, in, in_step, out, out_step, scratch);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
