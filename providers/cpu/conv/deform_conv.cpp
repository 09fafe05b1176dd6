// DeformConv in two dims on float32 by deformable im2col: the samples at the moved taps are written
// to a matrix, which is multiplied with the weights.
#include <algorithm>
#include <limits>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/conv_inference.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/resampling/interpolation_weights.h"
#include "providers/cpu/resampling/nchw_to_nhwc_tiles.h"

namespace sardonyx::cpu {
namespace {

// Pixels of a tile, which stay in a near cache while they are multiplied with all weights of a
// group.
constexpr int64_t kPixelsPerTile = 4 * kGemmF32Unit;

constexpr int64_t kCorners = 4;  // around a point

struct DeformInput {
  enum : size_t { kX, kW, kOffset, kB, kMask };
};

class DeformKernel : public Kernel {
 public:
  explicit DeformKernel(const KernelRequest& request)
      : has_bias_(request.has(DeformInput::kB)), has_mask_(request.has(DeformInput::kMask)) {
    const auto& attrs = request.attrs<ops::DeformConvAttrs>();
    const Shape &x = request.inputs[DeformInput::kX].shape,
                &w = request.inputs[DeformInput::kW].shape;
    window_ = ops::make_window(ops::window_spec(request.op.name, attrs), ops::spatial_shape(x),
                               ops::spatial_shape(w));
    batch_ = x[0];
    channels_ = x[1];
    outputs_ = w[0];
    groups_ = attrs.group;
    offset_groups_ = attrs.offset_group;
    taps_ = w[2] * w[3];
    in_size_ = x[2] * x[3];
    out_size_ = window_.out[0] * window_.out[1];
    const int64_t work = channels_ * taps_ * out_size_;
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, work / kElementsPerThread + 1));
    axes_[0].size = window_.in[0];
    axes_[1].size = window_.in[1];
    tiles_ = NhwcTiles(channels_ / offset_groups_, in_size_, kCorners * taps_ * out_size_);
  }

  // Scratch: the samples, for each thread a packed panel of them and a zero bias, and the image.
  size_t scratch_bytes() const override {
    return static_cast<size_t>(samples_size() + threads_ * panel_size()) * sizeof(float) +
           tiles_.scratch_bytes();
  }

  void run(const KernelArgs& args) const override {
    auto* samples = reinterpret_cast<float*>(args.scratch);
    const int64_t members = outputs_ / groups_;
    const int64_t panels = (out_size_ + kPixelsPerTile - 1) / kPixelsPerTile;
    for (int64_t image = 0; image < batch_; ++image) {
      for (int64_t group = 0; group < offset_groups_; ++group)
        sample(args, image, group, samples);
      const int64_t products = members * channels_ / groups_ * taps_ * kPixelsPerTile;
      for_each_task(groups_ * panels, threads_, products, [&](int64_t i, int64_t thread) {
        multiply(args, image, i / panels, i % panels * kPixelsPerTile, samples,
                 samples + samples_size() + thread * panel_size());
      });
    }
  }

 private:
  int64_t samples_size() const { return (channels_ * taps_ * out_size_ + 15) / 16 * 16; }
  int64_t panel_size() const { return (channels_ / groups_ * taps_ + 1) * kPixelsPerTile; }

  // Samples all channels of an offset group at all taps: rows of `samples`, [channel][tap].
  void sample(const KernelArgs& args, int64_t image, int64_t group, float* samples) const {
    const int64_t members = channels_ / offset_groups_;
    const float* planes = static_cast<const float*>(args.inputs[DeformInput::kX]) +
                          (image * channels_ + group * members) * in_size_;
    float* rows = samples + group * members * taps_ * out_size_;
    const int64_t row = (image * offset_groups_ + group) * taps_;
    if (!tiles_.is_worthwhile()) {
      for_points(args, row, members, [&](const PointParts& parts, int64_t at) {
        for (int64_t channel = 0; channel < members; ++channel)
          blend_plane(parts, planes + channel * in_size_, rows + channel * taps_ * out_size_ + at);
      });
      return;
    }
    const ChannelBlocks& blocks = tiles_.blocks();
    float* memory = samples + samples_size() + threads_ * panel_size();
    tiles_.for_each_group(planes, memory, threads_, [&](const NhwcTiles::BlockGroup& tile) {
      const int64_t channels = (tile.end - tile.begin) * blocks.lanes;
      for_points(args, row, channels, [&](const PointParts& parts, int64_t at) {
        for (int64_t block = tile.begin; block < tile.end; ++block) {
          interpolate_pixels(parts, tile.pixels(block), blocks.lanes, blocks.used(),
                             rows + blocks.begin(block) * taps_ * out_size_ + at,
                             taps_ * out_size_);
        }
      });
    });
  }

  // Calls visit(parts, place among the [tap][pixel]) for all points of `taps_` rows of offsets, of
  // which `row` is the first.
  template <typename Visit>
  void for_points(const KernelArgs& args, int64_t row, int64_t channels, const Visit& visit) const {
    constexpr auto kTilePoints = static_cast<int64_t>(kPointsPerTile);
    const int64_t pieces = (out_size_ + kTilePoints - 1) / kTilePoints;
    for_each_task(taps_ * pieces, threads_, kCorners * kTilePoints * channels, [&](int64_t task) {
      const int64_t tap = task / pieces, first = task % pieces * kTilePoints;
      const int64_t count = std::min(out_size_ - first, kTilePoints);
      PointList lists[3];
      list_corners(args, row + tap, tap, first, count, lists);
      visit(lists[2].of(static_cast<size_t>(count)), tap * out_size_ + first);
    });
  }

  // Lists the interpolation neighbours of points at one tap; the result is in the last of `lists`.
  void list_corners(const KernelArgs& args, int64_t row, int64_t tap, int64_t first, int64_t count,
                    PointList* lists) const {
    alignas(64) float coordinates[2][kPointsPerTile] = {};
    const float* offsets =
        static_cast<const float*>(args.inputs[DeformInput::kOffset]) + 2 * row * out_size_ + first;
    const int64_t tap_y = tap / window_.kernel[1] * window_.dilations[0];
    const int64_t tap_x = tap % window_.kernel[1] * window_.dilations[1];
    int64_t y = first / window_.out[1], x = first % window_.out[1];
    for (int64_t i = 0; i < count; ++i) {
      coordinates[0][i] = static_cast<float>(window_.start(0, y) + tap_y) + offsets[i];
      coordinates[1][i] = static_cast<float>(window_.start(1, x) + tap_x) + offsets[out_size_ + i];
      if (++x == window_.out[1]) x = 0, ++y;
    }
    lists[0].start();
    add_axis(axes_[0], coordinates[0], lists[0], lists[1]);
    add_axis(axes_[1], coordinates[1], lists[1], lists[2]);
    weigh(lists[2],
          has_mask_
              ? static_cast<const float*>(args.inputs[DeformInput::kMask]) + row * out_size_ + first
              : nullptr,
          static_cast<size_t>(count));
  }

  static void weigh(PointList& list, const float* masks, size_t count) {
    for (size_t part = 0; part < list.parts; ++part) {
      int32_t* at = list.at + part * kPointsPerTile;
      float* weights = list.weights + part * kPointsPerTile;
      for (size_t i = 0; i < count; ++i)  // elements of weight 0 may be infinite
        at[i] = weights[i] != 0 ? at[i] : -1;
      for (size_t i = 0; masks && i < count; ++i)
        weights[i] *= masks[i];
    }
  }

  // Computes all outputs of a group at the pixels from `first` on.
  void multiply(const KernelArgs& args, int64_t image, int64_t group, int64_t first,
                const float* samples, float* panel) const {
    const int64_t length = channels_ / groups_ * taps_, members = outputs_ / groups_;
    const int64_t count = std::min(kPixelsPerTile, out_size_ - first);
    float* none = panel + length * kPixelsPerTile;
    std::fill_n(none, kPixelsPerTile, 0.0f);
    pack_gemm_f32(samples + group * length * out_size_ + first, 1, out_size_, length, count, panel);
    GemmF32Args product{};
    product.in = static_cast<const float*>(args.inputs[DeformInput::kW]) + group * members * length;
    product.weights = panel;
    product.bias = none;
    product.out = static_cast<float*>(args.outputs[0]) +
                  (image * outputs_ + group * members) * out_size_ + first;
    product.in_step = product.inputs = length;
    product.out_step = out_size_;
    product.outputs = count;
    product.low = -std::numeric_limits<float>::infinity();
    product.high = -product.low;
    run_gemm_f32(product, 0, members, 0, count);
    for (int64_t member = 0; has_bias_ && member < members; ++member) {
      const float* bias =
          static_cast<const float*>(args.inputs[DeformInput::kB]) + group * members + member;
      float* row = product.out + member * out_size_;
      binary_row(Binary::kAdd, row, true, bias, false, row, static_cast<size_t>(count));
    }
  }

  ops::Window window_;
  SampledAxis axes_[2];
  NhwcTiles tiles_;
  bool has_bias_, has_mask_;
  int64_t batch_, channels_, outputs_, groups_, offset_groups_, taps_, in_size_, out_size_;
  int threads_;
};

Prepared prepare_deform(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  if (request.inputs[DeformInput::kX].shape.size() != 4)
    return Prepared::refuse("only two dims are moved here");
  const Shape& x = request.inputs[DeformInput::kX].shape;
  if (element_count(request.outputs[0].shape) == 0 || element_count(x) == 0)
    return Prepared::refuse("there are no elements");
  if (x[2] * x[3] > kMaxSampled)
    return Prepared::refuse("images of this size are left to the reference");
  return Prepared::accept(std::make_unique<DeformKernel>(request), "deform_conv");
}

constexpr KernelEntry kDeformEntries[] = {{"DeformConv", "deform_conv", prepare_deform}};

}  // namespace

std::span<const KernelEntry> deform_conv_kernels() {
  return kDeformEntries;
}

}  // namespace sardonyx::cpu
