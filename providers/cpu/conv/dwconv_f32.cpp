#include "providers/cpu/conv/dwconv_f32.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/dwconv_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/clamp-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/register_hint-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Columns of a tile: enough independent sums to hide the latency of an FMA.
constexpr int64_t kColumns = 4;

// The strides of image and weights, in elements.
struct DepthwiseStrides {
  explicit DepthwiseStrides(const DepthwiseImage& p)
      : in_row(p.in_steps.row),
        in_column(p.in_steps.column),
        out_row(p.out_steps.row),
        out_column(p.out_steps.column),
        weight((p.channels + kChannelBlock - 1) / kChannelBlock * kChannelBlock) {}
  int64_t in_row, in_column, out_row, out_column;
  int64_t weight;  // from one element of the kernel to the next
};

template <class D>
HWY_INLINE void store_clipped(D d, hn::Vec<D> sum, const DepthwiseImage& p, float* out) {
  hn::StoreU(clipped(sum, hn::Set(d, p.low), hn::Set(d, p.high)), d, out);
}

// Reads the channels of the input that belong to a vector of channels of the output.
template <bool kRepeated, class D>
class ChannelLoader {
 public:
  HWY_INLINE ChannelLoader(D d, const DepthwiseImage& p)
      : count_(std::max<size_t>(hn::Lanes(d) >> p.repeat, 1)),
        lanes_(hn::IndicesFromVec(
            d, hn::ShiftRightSame(hn::Iota(hn::RebindToSigned<D>(), 0), p.repeat))) {}
  HWY_INLINE hn::Vec<D> load(const float* at) const {
    if constexpr (kRepeated)
      return hn::TableLookupLanes(load_part(D(), at, count_), lanes_);
    else
      return hn::LoadU(D(), at);
  }

 private:
  size_t count_;
  decltype(hn::IndicesFromVec(D(), hn::Zero(hn::RebindToSigned<D>()))) lanes_;
};

// The rows or columns of a tile's input that are inside the image, counted from the tile's first.
struct ValidRange {
  int64_t first, last;
  bool has(int64_t index) const { return index >= first && index < last; }
};

// A dense square kernel of kSize.
template <int64_t kSize, int64_t kStride, bool kRepeated>
struct Dense {
  // Rows of a tile, which share the input that they load.
  static constexpr int64_t kRows = kSize > 3 && kStride > 1 ? 1 : 2;
  static constexpr int64_t kInRows = (kRows - 1) * kStride + kSize;
  static constexpr int64_t kInColumns = (kColumns - 1) * kStride + kSize;

  // Computes a tile of kRows x kColumns outputs, loading each element of the input once. `in` is
  // the address of the tile's first row and column, which may be outside the image; columns outside
  // of `columns` are skipped with kChecked. Not inlined, since it has several callers and its code
  // is large.
  template <bool kChecked, class D>
  static HWY_NOINLINE void tile(D d, const DepthwiseImage& p, const DepthwiseStrides& s,
                                ValidRange rows, ValidRange columns, const float* in,
                                const float* weights, const float* bias, float* out) {
    using V = hn::Vec<D>;
    const ChannelLoader<kRepeated, D> source(d, p);
    V sums[kRows * kColumns];
    const V start = hn::LoadU(d, bias);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      sums[i] = start;
#pragma GCC unroll 16
    for (int64_t row = 0; row < kInRows; ++row) {
      if (!rows.has(row)) continue;
      V w[kRows * kSize];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kRows * kSize; ++i) {
        const int64_t kernel_row = row - i / kSize * kStride;
        if (kernel_row < 0 || kernel_row >= kSize) continue;
        w[i] = in_register(hn::LoadU(d, weights + (kernel_row * kSize + i % kSize) * s.weight));
      }
#pragma GCC unroll 16
      for (int64_t column = 0; column < kInColumns; ++column) {
        if (kChecked && !columns.has(column)) continue;
        const V x = in_register(source.load(in + row * s.in_row + column * s.in_column));
#pragma GCC unroll 16
        for (int64_t i = 0; i < kRows * kColumns; ++i) {
          const int64_t kernel_row = row - i / kColumns * kStride;
          const int64_t kernel_column = column - i % kColumns * kStride;
          if (kernel_row < 0 || kernel_row >= kSize) continue;
          if (kernel_column < 0 || kernel_column >= kSize) continue;
          sums[i] = hn::MulAdd(x, w[i / kColumns * kSize + kernel_column], sums[i]);
        }
      }
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      store_clipped(d, sums[i], p, out + i / kColumns * s.out_row + i % kColumns * s.out_column);
  }
};

// Calls visit(tag, channel) for vectors that cover channels [first, last). The last vector may
// overlap the one before; channels that are computed twice get the same result.
template <typename Visit>
HWY_INLINE void for_channels(int64_t first, int64_t last, const Visit& visit) {
  const hn::CappedTag<float, kChannelBlock> whole;
  const hn::CappedTag<float, kChannelBlock / 2> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(whole));
  const auto half_lanes = static_cast<int64_t>(hn::Lanes(half));
  int64_t channel = first;
  for (; channel + lanes <= last; channel += lanes)
    visit(whole, channel);
  if (channel == last) return;
  if (last - channel <= half_lanes)
    visit(half, last - half_lanes);
  else
    visit(whole, last - lanes);
}

HWY_INLINE int64_t place_of(const ImageSteps& steps, int64_t channel) {
  return channel / kChannelBlock * steps.block + channel % kChannelBlock;
}

// The elements of [0, size) within a window of `extent` elements from `begin` on.
ValidRange inside(int64_t begin, int64_t extent, int64_t size) {
  const int64_t first = std::clamp<int64_t>(-begin, 0, extent);
  return {first, std::clamp<int64_t>(size - begin, first, extent)};
}

struct OutputBlock {
  int64_t first_row, last_row, first_channel, last_channel;
};

template <int64_t kSize, int64_t kStride, bool kRepeated>
void convolve_dense(const DepthwiseImage& p, const OutputBlock& share) {
  using Kernel = Dense<kSize, kStride, kRepeated>;
  const DepthwiseStrides s(p);
  for (int64_t y = share.first_row; y < share.last_row; y += Kernel::kRows) {
    const int64_t top = std::min(y, share.last_row - Kernel::kRows);
    const int64_t in_top = top * kStride - p.pad[0];
    const ValidRange rows = inside(in_top, Kernel::kInRows, p.height);
    for (int64_t x = 0; x < p.out_width; x += kColumns) {
      const int64_t left = std::min(x, p.out_width - kColumns);
      const int64_t in_left = left * kStride - p.pad[1];
      const ValidRange columns = inside(in_left, Kernel::kInColumns, p.width);
      const float* in = p.in + in_top * s.in_row + in_left * s.in_column;
      float* out = p.out + top * s.out_row + left * s.out_column;
      const auto visit = [&](auto checked, auto d, int64_t channel) HWY_ATTR {
        Kernel::template tile<decltype(checked)::value>(
            d, p, s, rows, columns, in + place_of(p.in_steps, channel >> p.repeat),
            p.weights + channel, p.bias + channel, out + place_of(p.out_steps, channel));
      };
      if (columns.first == 0 && columns.last == Kernel::kInColumns) {
        for_channels(share.first_channel, share.last_channel,
                     [&](auto d, int64_t channel)
                         HWY_ATTR { visit(std::false_type(), d, channel); });
      } else {
        for_channels(share.first_channel, share.last_channel,
                     [&](auto d, int64_t channel)
                         HWY_ATTR { visit(std::true_type(), d, channel); });
      }
    }
  }
}

// The taps of a dilated kernel that are inside the image; the first tap is at `begin`.
ValidRange taps_inside(int64_t begin, int64_t taps, int64_t dilation, int64_t size) {
  const int64_t first = begin < 0 ? std::min(taps, (-begin + dilation - 1) / dilation) : 0;
  const int64_t last_start = size - 1 - begin;
  return {first, last_start < 0 ? first : std::clamp(last_start / dilation + 1, first, taps)};
}

// Computes kCount adjacent outputs of a kernel of any size; the same columns of the kernel are
// inside the image for all.
template <size_t kCount, bool kRepeated, class D>
HWY_INLINE void any_outputs(D d, const DepthwiseImage& p, const DepthwiseStrides& s,
                            ValidRange rows, ValidRange columns, const float* in,
                            const float* weights, const float* bias, float* out) {
  const ChannelLoader<kRepeated, D> source(d, p);
  const auto start = hn::LoadU(d, bias);
  auto a = start, b = start, c = start, e = start;
  const int64_t next = p.stride[1] * s.in_column;
  for (int64_t row = rows.first; row < rows.last; ++row) {
    for (int64_t k = columns.first; k < columns.last; ++k) {
      const auto w = hn::LoadU(d, weights + (row * p.kernel[1] + k) * s.weight);
      const float* from = in + row * p.dilation[0] * s.in_row + k * p.dilation[1] * s.in_column;
      a = hn::MulAdd(source.load(from), w, a);
      if constexpr (kCount == 1) continue;
      b = hn::MulAdd(source.load(from + next), w, b);
      c = hn::MulAdd(source.load(from + 2 * next), w, c);
      e = hn::MulAdd(source.load(from + 3 * next), w, e);
    }
  }
  store_clipped(d, a, p, out);
  if constexpr (kCount == 1) return;
  store_clipped(d, b, p, out + s.out_column);
  store_clipped(d, c, p, out + 2 * s.out_column);
  store_clipped(d, e, p, out + 3 * s.out_column);
}

template <bool kRepeated>
void convolve_any(const DepthwiseImage& p, const OutputBlock& share) {
  constexpr int64_t kCount = 4;
  const DepthwiseStrides s(p);
  for (int64_t y = share.first_row; y < share.last_row; ++y) {
    const int64_t in_top = y * p.stride[0] - p.pad[0];
    const ValidRange rows = taps_inside(in_top, p.kernel[0], p.dilation[0], p.height);
    for (int64_t x = 0; x < p.out_width;) {
      const auto columns_of = [&](int64_t at) {
        return taps_inside(at * p.stride[1] - p.pad[1], p.kernel[1], p.dilation[1], p.width);
      };
      const ValidRange columns = columns_of(x);
      const float* in = p.in + in_top * s.in_row + (x * p.stride[1] - p.pad[1]) * s.in_column;
      float* out = p.out + y * s.out_row + x * s.out_column;
      const auto visit = [&](auto count, auto d, int64_t channel) HWY_ATTR {
        any_outputs<decltype(count)::value, kRepeated>(
            d, p, s, rows, columns, in + place_of(p.in_steps, channel >> p.repeat),
            p.weights + channel, p.bias + channel, out + place_of(p.out_steps, channel));
      };
      const ValidRange all =
          x + kCount <= p.out_width ? columns_of(x + kCount - 1) : ValidRange{0, 0};
      const bool is_same = columns.first == 0 && columns.last == p.kernel[1] && all.first == 0 &&
                           all.last == p.kernel[1];
      if (is_same) {
        for_channels(share.first_channel, share.last_channel,
                     [&](auto d, int64_t channel)
                         HWY_ATTR { visit(std::integral_constant<size_t, kCount>(), d, channel); });
      } else {
        for_channels(share.first_channel, share.last_channel,
                     [&](auto d, int64_t channel)
                         HWY_ATTR { visit(std::integral_constant<size_t, 1>(), d, channel); });
      }
      x += is_same ? kCount : 1;
    }
  }
}

// a / b rounded up, for positive a and b.
int64_t divided_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// One axis of a phase of a dilated convolution: every dilation-th output, which is a dense
// convolution of every dilation-th input.
struct Phase {
  Phase(const DepthwiseImage& p, size_t axis, int64_t size, int64_t phase) {
    const int64_t begin = phase - p.pad[axis], step = p.dilation[axis];
    offset = (begin % step + step) % step;
    pad = (offset - begin) / step;
    this->size = size > offset ? divided_up(size - offset, step) : 0;
  }
  int64_t offset, pad, size;  // the phase's first input, its padding, its number of inputs
};

// Whether there is a dense kernel of this size and stride, which has computed the share then.
template <bool kRepeated>
bool convolved_dense(const DepthwiseImage& p, const OutputBlock& share) {
#if HWY_TARGET != HWY_SCALAR  // has no vectors for which the tiles are made
  if (p.dilation[0] > 1 || p.dilation[1] > 1 || p.out_width < kColumns) return false;
  if (share.last_row - share.first_row <= 1) return false;
  const auto has = [&](int64_t size, int64_t stride) {
    return p.kernel[0] == size && p.kernel[1] == size && p.stride[0] == stride &&
           p.stride[1] == stride;
  };
  if (has(3, 1)) return convolve_dense<3, 1, kRepeated>(p, share), true;
  if (has(3, 2)) return convolve_dense<3, 2, kRepeated>(p, share), true;
  if (has(5, 1)) return convolve_dense<5, 1, kRepeated>(p, share), true;
  if (has(5, 2)) return convolve_dense<5, 2, kRepeated>(p, share), true;
  if constexpr (!kRepeated) {
    if (has(7, 1)) return convolve_dense<7, 1, kRepeated>(p, share), true;
  }
#else
  static_cast<void>(p), static_cast<void>(share);
#endif
  return false;
}

template <bool kRepeated>
void convolve_dense_or_any(const DepthwiseImage& p, const OutputBlock& share) {
  if (!convolved_dense<kRepeated>(p, share)) convolve_any<kRepeated>(p, share);
}

template <bool kRepeated>
void convolve_phases(const DepthwiseImage& p, const OutputBlock& share) {
  const int64_t high = p.dilation[0], wide = p.dilation[1];
  for (int64_t y = 0; y < std::min(high, share.last_row); ++y) {
    OutputBlock rows = share;
    rows.first_row = share.first_row > y ? divided_up(share.first_row - y, high) : 0;
    rows.last_row = divided_up(share.last_row - y, high);
    for (int64_t x = 0; x < std::min(wide, p.out_width); ++x) {
      const Phase down(p, 0, p.height, y), across(p, 1, p.width, x);
      DepthwiseImage image = p;
      image.in += down.offset * p.in_steps.row + across.offset * p.in_steps.column;
      image.out += y * p.out_steps.row + x * p.out_steps.column;
      for (ImageSteps* steps : {&image.in_steps, &image.out_steps})
        steps->row *= high, steps->column *= wide;
      image.height = down.size;
      image.width = across.size;
      image.out_width = divided_up(p.out_width - x, wide);
      image.pad[0] = down.pad;
      image.pad[1] = across.pad;
      image.dilation[0] = image.dilation[1] = 1;
      convolve_dense_or_any<kRepeated>(image, rows);
    }
  }
}

// In NCHW16c the phases of one block of channels follow each other: its plane stays in a near
// cache.
template <bool kRepeated>
void convolve_dilated(const DepthwiseImage& p, const OutputBlock& share) {
  const bool is_blocked = p.out_steps.column == kChannelBlock;
  const int64_t step = is_blocked ? kChannelBlock : share.last_channel - share.first_channel;
  OutputBlock part = share;
  for (int64_t channel = share.first_channel; channel < share.last_channel; channel += step) {
    part.first_channel = channel;
    part.last_channel = std::min(channel + step, share.last_channel);
    convolve_phases<kRepeated>(p, part);
  }
}

template <bool kRepeated>
void convolve_share(const DepthwiseImage& p, const OutputBlock& share) {
  const bool is_dilated = p.dilation[0] > 1 || p.dilation[1] > 1;
  if (is_dilated && p.stride[0] == 1 && p.stride[1] == 1)
    return convolve_dilated<kRepeated>(p, share);
  convolve_dense_or_any<kRepeated>(p, share);
}

void ConvolveDepthwise(const DepthwiseImage& p, int64_t first_row, int64_t last_row,
                       int64_t first_channel, int64_t last_channel) {
  const OutputBlock share{first_row, last_row, first_channel, last_channel};
  if (p.repeat > 0)
    convolve_share<true>(p, share);
  else
    convolve_share<false>(p, share);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ConvolveDepthwise);

void convolve_depthwise(const DepthwiseImage& image, int64_t first_row, int64_t last_row,
                        int64_t first_channel, int64_t last_channel) {
  HWY_DYNAMIC_DISPATCH(ConvolveDepthwise)
  (image, first_row, last_row, first_channel, last_channel);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
